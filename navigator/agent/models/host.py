"""The assistant's own model as an ADK model, asked through whatever port is handed in."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import PrivateAttr

from navigator.agent.models.model_errors import UnusableError
from navigator.agent.models.requests import MAX_OUTPUT_TOKENS
from navigator.models.sampling_port import HOST, AskHost, HostError, HostMessage, HostQuestion, HostTool


class HostModel(BaseLlm):
    """Passes each request on to the host, and its answer back as one tool call."""

    _ask: AskHost = PrivateAttr()

    def __init__(self, ask: AskHost) -> None:
        super().__init__(model=HOST)
        self._ask = ask

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Yield the host's answer.

        Raises:
            UnusableError: The host can't or won't answer.
        """
        try:
            answer = await self._ask(question_of(llm_request))
        except HostError as error:
            raise UnusableError(str(error)) from error
        parts = [types.Part(text=answer.text)] if answer.text else []
        if answer.tool:
            parts.append(types.Part.from_function_call(name=answer.tool, args=dict(answer.arguments)))
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def question_of(request: LlmRequest) -> HostQuestion:
    """Return what ``request`` asks, its tool calls told in words: not every host passes on calls."""
    config = request.config
    declared = [
        declaration
        for tool in config.tools or []
        if isinstance(tool, types.Tool)
        for declaration in tool.function_declarations or []
    ]
    return HostQuestion(
        system=config.system_instruction if isinstance(config.system_instruction, str) else "",
        messages=tuple(_messages(request.contents)),
        tools=tuple(_tool(declaration) for declaration in declared),
        max_tokens=config.max_output_tokens or MAX_OUTPUT_TOKENS,
    )


def _tool(declaration: types.FunctionDeclaration) -> HostTool:
    schema = declaration.parameters_json_schema
    return HostTool(declaration.name or "", declaration.description or "", schema or {"type": "object"})


def _messages(contents: list[types.Content]) -> list[HostMessage]:
    messages: list[HostMessage] = []
    for content in contents:
        text = "\n".join(filter(None, map(_words, content.parts or [])))
        if text:
            messages.append(HostMessage(content.role == "model", text))
    return messages


def _words(part: types.Part) -> str:
    if part.function_call is not None:
        return f"(I called {part.function_call.name} with {json.dumps(part.function_call.args)})"
    if part.function_response is not None:
        return f"{part.function_response.name} answered: {json.dumps(part.function_response.response)}"
    return part.text or ""
