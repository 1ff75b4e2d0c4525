"""Clients of models: Gemini and OpenAI-compatible servers by ADK's own classes, the MCP client by sampling.

HTTP follows no redirect, which would send the key and the source to an address that the user did not set.
Proxies of the environment (``HTTPS_PROXY``, ``NO_PROXY``, …) apply.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from typing import Any, NamedTuple

import httpx
from google.adk.models import BaseLlm, Gemini
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import PrivateAttr

from navigator.agent.models.responses import UnavailableError
from navigator.models.catalogue import Provider, price_of, provider_of
from navigator.models.sampling import (
    HOST,
    SamplingError,
    SamplingFn,
    SamplingRequest,
    SamplingText,
    SamplingTool,
)
from navigator.settings import NavigatorSettings
from navigator.state.pricing import ModelPrice

MAX_OUTPUT_TOKENS = 4_096
"""Of one model call, thinking included; the cost limit allows for it."""


class ModelClient(NamedTuple):
    """A model by its name, with its price and the connection to close."""

    name: str
    llm: BaseLlm | None
    price: ModelPrice
    close: Callable[[], Awaitable[None]] | None = None
    reason: str = ""
    """Why there is no model; completes a sentence that begins with its name."""


def open_model(name: str, settings: NavigatorSettings, custom: Mapping[str, BaseLlm]) -> ModelClient:
    """Return the client of a model; one that can't be set up fails with the reason when it is called."""
    price = price_of(name, settings, custom)
    if name in custom:
        return ModelClient(name, custom[name], price)
    provider = provider_of(name)
    assert provider is not None, "a model with a price has a provider"
    provider.require_package(name)
    # A client that is built without its key may leave a broken task behind.
    if variable := provider.missing_key(settings.model_urls, os.environ):
        return ModelClient(name, None, price, reason=f"has no key: set {variable}")
    if variable := provider.malformed_key(os.environ):
        reason = f"has an invalid key, with blanks or characters that no header can carry: correct {variable}"
        return ModelClient(name, None, price, reason=reason)
    url = provider.base_url(settings.model_urls)
    llm, close = open_gemini(name, url) if provider.api == "gemini" else _open_openai(name, provider, url)
    return ModelClient(name, llm, price, close)


def open_gemini(model: str, url: str | None) -> tuple[Gemini, Callable[[], Awaitable[None]]]:
    """Return ADK's Gemini over our HTTP client without retries of its own, and what closes both."""
    http = httpx.AsyncClient(timeout=None)
    # Nothing calls the synchronous client; it follows no redirect either.
    options = types.HttpOptions(httpx_async_client=http, client_args={"follow_redirects": False})
    llm = Gemini(
        model=model,
        base_url=url,
        retry_options=types.HttpRetryOptions(attempts=1),
        client_kwargs={"http_options": options},
    )

    async def close() -> None:
        await llm.api_client.aio.aclose()
        llm.api_client.close()
        await http.aclose()

    return llm, close


def _open_openai(
    name: str, provider: Provider, url: str | None
) -> tuple[BaseLlm, Callable[[], Awaitable[None]]]:
    from google.adk.integrations.openai import OpenAILlm  # noqa: PLC0415 - only for a model that is named
    from openai import AsyncOpenAI  # noqa: PLC0415 - an extra that may be missing

    # The client requires a key even if the server needs none.
    key = next(filter(None, map(os.environ.get, provider.key_variables)), provider.name)

    class Client(AsyncOpenAI):
        async def _prepare_options(self, options: Any) -> Any:
            # ADK sends what a tool returned as JSON, where a model would read source with escaped line ends.
            for message in (options.json_data or {}).get("messages", ()):
                if message["role"] == "tool":
                    message["content"] = result_text(json.loads(message["content"]))
            return await super()._prepare_options(options)

    http = httpx.AsyncClient(timeout=None)
    client = Client(base_url=url, api_key=key.strip(), max_retries=0, http_client=http)
    return OpenAILlm(model=name.removeprefix(provider.prefix), client=client), client.close


class SamplingModel(BaseLlm):
    """The MCP client's own model; earlier tool calls are sent as text, which every client takes."""

    _sample: SamplingFn = PrivateAttr()

    def __init__(self, sample: SamplingFn) -> None:
        super().__init__(model=HOST)
        self._sample = sample

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Yield the client's answer; raise ``UnavailableError`` if the client did not sample its model."""
        config = llm_request.config
        request = SamplingRequest(
            system=str(config.system_instruction or ""),
            messages=tuple(_messages(llm_request.contents)),
            tools=tuple(
                SamplingTool(each.name or "", each.description or "", each.parameters_json_schema or {})
                for tool in config.tools or []
                if isinstance(tool, types.Tool)
                for each in tool.function_declarations or []
            ),
            max_tokens=config.max_output_tokens or MAX_OUTPUT_TOKENS,
        )
        try:
            result = await self._sample(request)
        except SamplingError as error:
            raise UnavailableError(str(error)) from error
        parts = [types.Part(text=result.text)] if result.text else []
        if result.tool:
            parts.append(types.Part.from_function_call(name=result.tool, args=dict(result.arguments)))
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def _messages(contents: list[types.Content]) -> Iterator[SamplingText]:
    for content in contents:
        text = "\n".join(filter(None, map(_part_text, content.parts or [])))
        if text:
            yield SamplingText(content.role == "model", text)


def _part_text(part: types.Part) -> str:
    if (call := part.function_call) is not None:
        return f"(I called {call.name} with {json.dumps(call.args)})"
    if (response := part.function_response) is not None:
        return f"{response.name} answered:\n{result_text(response.response or {})}"
    return part.text or ""


def result_text(result: Mapping[str, Any]) -> str:
    """Return what a tool returned as a model reads it: a text as it is, a record as JSON."""
    match result:
        case {"output": str(text)}:
            return text
        case {"error": str(error)}:
            return f"Error: {error}"
    return json.dumps(result)
