"""What a model's call came to: its response or its error, read as untrusted input."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

import httpx
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import errors, types
from pydantic import ValidationError

from navigator.planner.arguments import map_texts
from navigator.state.usage import TokenUsage
from repo_map.messages import one_line, printable
from repo_map.secrets.masking import mask_text
from repo_map.text.tokens import count

MAX_CALLS = 8
MAX_ARGUMENT_CHARS = 100_000
"""Of all arguments of one response; a plan of 500 rules has fewer."""
MAX_DEPTH = 12
"""Nesting of arguments; a plan has six levels."""
MAX_TEXT_CHARS = 4_000
"""Of an argument that people read."""
_TEXT_ARGUMENTS: Final = ("reasoning", "summary")
_MAX_SIGNATURE_BYTES = 100_000
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)|\x9b[0-?]*[ -/]*[@-~]")
"""Terminal escapes with their parameters: colours, positions, titles."""


class ModelError(NamedTuple):
    """Why a call gave no usable answer."""

    message: str
    """Completes a sentence that begins with the model's name."""
    is_temporary: bool = True
    is_free: bool = False


class UnavailableError(Exception):
    """A model that can't be called; the message completes a sentence that begins with its name."""


_TEMPORARY_STATUS: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_STATUS_MESSAGES: Final = {
    401: "refused the key",
    403: "refused the key",
    404: "does not know the model",
    429: "is over its quota",
}
_NOT_SENT: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
    httpx.LocalProtocolError,
    ConnectionRefusedError,
    UnavailableError,
)
_UNREADABLE: Final = (
    ValidationError,
    json.JSONDecodeError,
    UnicodeDecodeError,
    RecursionError,
    errors.UnknownApiResponseError,
)


def explain(error: BaseException) -> ModelError:
    """Return what an exception means for the call that raised it."""
    if isinstance(error, UnavailableError):
        return ModelError(str(error), is_temporary=False)
    if isinstance(error, TimeoutError):
        return ModelError("did not answer in time")
    status = status_of(error)
    if status is not None:
        message = _STATUS_MESSAGES.get(status, "had an error" if status >= 500 else "refused the request")
        return ModelError(f"{message} (HTTP {status})", status in _TEMPORARY_STATUS)
    # OpenAI's client wraps what ours raises; it is an extra, so its class is known by name alone.
    is_wrapped = type(error).__name__ == "APIConnectionError"
    if is_wrapped or isinstance(error, ConnectionError | httpx.TransportError):
        return ModelError(f"can't be reached ({_first_line(error)})")
    if isinstance(error, _UNREADABLE):
        return ModelError("sent an unreadable response", is_temporary=False)
    return ModelError(f"can't be used ({_first_line(error)})", is_temporary=False)


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status of an error; None if it has none."""
    # google-genai has `code`, openai `status_code`.
    values = (getattr(error, name, None) for name in ("status_code", "code"))
    return next((value for value in values if isinstance(value, int)), None)


def may_be_billed(error: BaseException) -> bool:
    """Return True if the provider may have answered, and so bill the call that failed."""
    return status_of(error) is None and not any(isinstance(each, _NOT_SENT) for each in _chain(error))


def refuses_tool_choice(error: BaseException) -> bool:
    """Return True if the provider does not support forcing a tool call."""
    text = str(error).lower()
    is_named = any(name in text for name in ("tool_choice", "tool_config", "toolconfig", "function_calling"))
    return is_named and status_of(error) in (400, 404, 422, 501)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes: client libraries wrap what our HTTP client raises."""
    seen: set[int] = set()
    inner: BaseException | None = error
    while inner is not None and id(inner) not in seen:
        yield inner
        seen.add(id(inner))
        inner = inner.__cause__ or inner.__context__


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return clean_text(lines[0] if lines else type(error).__name__, 160)


def read_response(response: LlmResponse, request: LlmRequest) -> LlmResponse | ModelError:
    """Return the tool calls of a response, cleaned, or why it is unusable.

    Small models write a call as text although a call is required; it is read as a call. Thoughts and other
    text are dropped.
    """
    if response.error_code:
        return ModelError(f"sent no usable answer ({clean_text(one_line(str(response.error_code)), 80)})")
    parts = response.content.parts or [] if response.content else []
    called = [part for part in parts if part.function_call]
    if not called:
        text = "".join(part.text for part in parts if part.text and not part.thought)
        called = [types.Part(function_call=each) for each in parse_written_calls(text, request.tools_dict)]
    if not called:
        return ModelError("answered without calling a tool")
    if len(called) > MAX_CALLS:
        return ModelError(f"called {len(called):,} tools at once")
    calls = [part.function_call for part in called if part.function_call]
    unknown = [call.name for call in calls if call.name not in request.tools_dict]
    if unknown:
        return ModelError(
            f'called a tool that does not exist ("{clean_text(one_line(str(unknown[0])), 80)}")'
        )
    try:
        cleaned = [_clean_part(part, call) for part, call in zip(called, calls, strict=True)]
        size = len(json.dumps([each.function_call.args for each in cleaned if each.function_call]))
    except (TypeError, ValueError, RecursionError):
        return ModelError("sent unreadable arguments")
    if size > MAX_ARGUMENT_CHARS:
        return ModelError(f"sent arguments of {size:,} characters")
    content = types.Content(role="model", parts=cleaned)
    return LlmResponse(content=content)


def clean_text(text: str, limit: int) -> str:
    """Return text without escapes, invisible characters and secrets, cut with an ellipsis at ``limit``."""
    visible = mask_text(printable(_ESCAPE.sub("", text[: limit * 4]))).strip()
    return visible if len(visible) <= limit else f"{visible[: limit - 1]}…"


def _clean_part(part: types.Part, call: types.FunctionCall) -> types.Part:
    """Return a call with clean arguments, and with the signature that its provider requires back."""
    arguments = dict(call.args) if isinstance(call.args, dict) else {}
    for name in _TEXT_ARGUMENTS:
        if isinstance(arguments.get(name), str):
            arguments[name] = clean_text(arguments[name], MAX_TEXT_CHARS)
    call_id = call.id if call.id and len(call.id) <= 200 and call.id.isprintable() else None
    cleaned = map_texts(lambda text: printable(_ESCAPE.sub("", text)), arguments, MAX_DEPTH)
    signature = part.thought_signature
    return types.Part(
        function_call=types.FunctionCall(id=call_id, name=call.name, args=cleaned),
        thought_signature=signature if signature and len(signature) <= _MAX_SIGNATURE_BYTES else None,
    )


_OBJECT = re.compile(r"^[ \t]*(?:<tool_call>\s*)?(?:\{(?=\{))?(?=\{)", re.MULTILINE)
"""Start of a JSON object: Qwen2.5's template shows calls in doubled braces, and the model copies them."""
_MAX_OBJECTS = 8
"""Objects of a text that are parsed: each may be read to the text's end in vain."""
_MAX_WRITTEN_CHARS = 20_000
_DECODER = json.JSONDecoder()


def parse_written_calls(text: str, tools: Collection[str]) -> list[types.FunctionCall]:
    """Return the calls of ``tools`` that a text writes as JSON objects with a name and arguments.

    An object counts if it begins a line, fenced or not: one that is quoted within a sentence is no decision.
    """
    text, at, calls = text[:_MAX_WRITTEN_CHARS], 0, list[types.FunctionCall]()
    for _ in range(_MAX_OBJECTS):
        if (found := _OBJECT.search(text, at)) is None:
            break
        try:
            value, at = _DECODER.raw_decode(text, found.end())
            names = (name for name in ("arguments", "args", "parameters") if name in value)
            arguments = value.get(next(names, ""))
            arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
        except (ValueError, RecursionError):
            at = max(at, found.end() + 1)
            continue
        if value.get("name") in tools and isinstance(arguments, dict):
            calls.append(types.FunctionCall(name=value["name"], args=arguments))
    return calls


def usage_of(response: LlmResponse) -> TokenUsage | None:
    """Return the tokens that a provider bills for a response; None if it reports none."""
    usage = response.usage_metadata
    if usage is None or not usage.prompt_token_count:
        return None
    prompt = usage.prompt_token_count + (usage.tool_use_prompt_token_count or 0)
    output, thinking = usage.candidates_token_count or 0, usage.thoughts_token_count or 0
    if usage.total_token_count is not None:
        # Providers report thinking beside the output, within it, or in the total only.
        additional = usage.total_token_count - prompt - output
        thinking = max(thinking, additional) if additional > 0 else min(thinking, output)
        output -= 0 if additional > 0 else thinking
    cached = min(usage.cached_content_token_count or 0, prompt)
    return TokenUsage(input=prompt, cached=cached, output=output, thinking=thinking, calls=1)


def usage_metadata(usage: TokenUsage) -> types.GenerateContentResponseUsageMetadata:
    """Return booked usage as ADK stores it."""
    return types.GenerateContentResponseUsageMetadata(
        prompt_token_count=usage.input,
        cached_content_token_count=usage.cached,
        candidates_token_count=usage.output,
        thoughts_token_count=usage.thinking,
        total_token_count=usage.input + usage.output + usage.thinking,
    )


def is_plausible(usage: TokenUsage, expected: TokenUsage, received: int) -> bool:
    """Return True unless reported usage is negative or far above the request and our count of the answer."""
    answered = usage.output + usage.thinking
    is_bounded = usage.input <= 10 * expected.input + 10_000
    return min(usage) >= 0 and is_bounded and answered <= max(expected.output, 2 * received) + 1_000


def count_received(response: LlmResponse) -> int:
    """Return our own token count of an answer."""
    parts = response.content.parts or [] if response.content else []
    return sum(map(_count_part, parts))


def _count_part(part: types.Part) -> int:
    call = part.function_call
    text = (part.text or "") if call is None else f"{call.name} {call.args}"
    # A tokenizer can take very long over text that is no language; beyond this, an estimate is enough.
    return count(printable(text[:20_000])) + max(len(text) - 20_000, 0) // 3
