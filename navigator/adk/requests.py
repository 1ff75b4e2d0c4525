"""Requests and responses of models: copied, counted, judged."""

from __future__ import annotations

import json
from typing import NamedTuple

from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from navigator.adk.faults import Fault
from navigator.pricing import TokenUsage
from repo_map.tokens import count


def attempt_of(request: LlmRequest, model: str) -> LlmRequest:
    """Return a copy for one attempt by ``model``: providers change the request that they are given."""
    return request.model_copy(
        update={
            "model": model,
            "contents": [content.model_copy(deep=True) for content in request.contents],
            "config": request.config.model_copy(deep=True),
        }
    )


class RequestTokens(NamedTuple):
    """Our count of the tokens that a request sends."""

    stable: int
    """Instruction and tools: the same in every request of a task."""
    changing: int

    @property
    def total(self) -> int:
        """All that is sent."""
        return self.stable + self.changing


def request_tokens(request: LlmRequest) -> RequestTokens:
    """Count the tokens of a request: instruction, tools and contents."""
    tools = [tool for tool in request.config.tools or [] if isinstance(tool, types.Tool)]
    stable = [_text_of_instruction(request), *(tool.model_dump_json(exclude_none=True) for tool in tools)]
    changing = [_text_of(part) for content in request.contents for part in content.parts or []]
    return RequestTokens(count("\n".join(stable)), count("\n".join(changing)))


def usage_of(response: LlmResponse) -> TokenUsage:
    """Return the tokens that a provider billed for a response; one that is silent about it billed none."""
    usage = response.usage_metadata
    if usage is None:
        return TokenUsage(calls=1)
    prompt = (usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0)
    output = usage.candidates_token_count or 0
    # Some models leave thinking out of the parts and show it in the total alone.
    unexplained = (usage.total_token_count or 0) - prompt - output
    thinking = max(usage.thoughts_token_count or 0, unexplained, 0)
    return TokenUsage(
        input=prompt,
        cached=min(usage.cached_content_token_count or 0, prompt),
        output=output,
        thinking=thinking,
        calls=1,
    )


def usable(response: LlmResponse, request: LlmRequest) -> LlmResponse | Fault:
    """Return the response when it calls a tool that exists, else what is wrong with it."""
    if response.error_code:
        return Fault(f"gave no usable answer ({response.error_code})", passing=True)
    calls = response.get_function_calls()
    if not calls:
        return Fault("answered without calling a tool", passing=True)
    unknown = [call.name for call in calls if call.name not in request.tools_dict]
    if unknown:
        return Fault(f"called a tool that does not exist ({json.dumps(unknown[0])[:80]})", passing=True)
    return response


def _text_of(part: types.Part) -> str:
    return part.text if part.text is not None else part.model_dump_json(exclude_none=True)


def _text_of_instruction(request: LlmRequest) -> str:
    instruction = request.config.system_instruction
    return instruction if isinstance(instruction, str) else str(instruction or "")
