"""A model's reply, read as if it were made to hurt: nothing of it is believed, kept or run unread."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from navigator.agent.models.model_errors import ModelError
from navigator.models.model_text import characters, cleaned, cleaned_name, cleaned_values
from navigator.state.usage import TokenUsage
from repo_map.messages import printable
from repo_map.text.tokens import count

MOST_CALLS = 8
"""Tools called in one answer; the first that holds decides."""
MOST_CHARACTERS = 100_000
"""Of all arguments of one answer: a plan of 500 rules has fewer."""
DEEPEST = 12
"""Levels that arguments may be nested; a plan has six."""
MOST_SIGNATURE_BYTES = 100_000
WORDS = ("reasoning", "summary")
"""Arguments that say something to people."""
MOST_WORDS = 4_000
"""Characters of each of them."""
WIDE = 10
"""Times our own count of a request that a provider's may be: it counts otherwise, and what it remembers."""
SLACK = 10_000
"""Tokens that it may be more in any case."""
COUNTED = 20_000
"""Characters of a part that are really counted."""
CHARACTERS_PER_TOKEN = 3
_OBJECT = re.compile(r"^[ \t]*(?:<tool_call>\s*)?(?:\{(?=\{))?(?=\{)", re.MULTILINE)
"""Where one begins: Qwen2.5's template shows calls between doubled braces, and the model writes them so."""
_MOST_TRIES = 8
"""Places of a text where a call is looked for: each may be read to the text's end in vain."""
_MOST_CHARACTERS = 20_000
"""Of a text, what is looked through."""
_ARGUMENTS = ("arguments", "args", "parameters")
_DECODER = json.JSONDecoder()


def read_reply(response: LlmResponse, request: LlmRequest) -> LlmResponse | ModelError:
    """Return the calls of a reply alone, cleaned, or what is wrong with it.

    A call may be spelled out in words: small models do that although a call was asked for. What else a model
    says, its thoughts for one, is of no use and is not kept.
    """
    if response.error_code:
        return ModelError(f"gave no usable answer ({cleaned_name(response.error_code)})", passing=True)
    parts = response.content.parts or [] if response.content else []
    called = [part for part in parts if part.function_call]
    if not called:
        words = "".join(part.text for part in parts if part.text and not part.thought)
        called = [types.Part(function_call=each) for each in written_calls(words, request.tools_dict)]
    if not called:
        return ModelError("answered without calling a tool", passing=True)
    if len(called) > MOST_CALLS:
        return ModelError(f"called {len(called):,} tools at once", passing=True)
    calls = [_read_call(part.function_call) for part in called if part.function_call]
    unknown = [call.name for call in calls if call.name not in request.tools_dict]
    if unknown:
        return ModelError(f'called a tool that does not exist ("{unknown[0]}")', passing=True)
    try:
        size = sum(characters(call.args, DEEPEST) for call in calls)
    except (ValueError, RecursionError):
        return ModelError("gave arguments that can't be read", passing=True)
    if size > MOST_CHARACTERS:
        return ModelError(f"gave arguments of {size:,} characters", passing=True)
    kept = [
        types.Part(
            function_call=types.FunctionCall(id=call.id, name=call.name, args=cleaned_values(call.args)),
            thought_signature=_signature(part),
        )
        for call, part in zip(calls, called, strict=True)
    ]
    return LlmResponse(
        content=types.Content(role="model", parts=kept), interaction_id=_id(response.interaction_id)
    )


def usage_of(response: LlmResponse) -> TokenUsage | None:
    """Return the tokens that a provider says it bills for a response; None where it tells no counts."""
    usage = response.usage_metadata
    if usage is None:
        return None
    if not usage.prompt_token_count:
        return None
    prompt = usage.prompt_token_count + (usage.tool_use_prompt_token_count or 0)
    output, thinking = usage.candidates_token_count or 0, usage.thoughts_token_count or 0
    if usage.total_token_count is not None:
        # Some count thinking beside the output, some into it, and some show it in the total alone.
        beside = usage.total_token_count - prompt - output
        if beside > 0:
            thinking = max(thinking, beside)
        else:
            thinking = min(thinking, output)
            output -= thinking
    return TokenUsage(
        input=prompt,
        cached=min(usage.cached_content_token_count or 0, prompt),
        output=output,
        thinking=thinking,
        calls=1,
    )


def metadata_of(usage: TokenUsage) -> types.GenerateContentResponseUsageMetadata:
    """Return what was booked of a call as ADK records it."""
    return types.GenerateContentResponseUsageMetadata(
        prompt_token_count=usage.input,
        cached_content_token_count=usage.cached,
        candidates_token_count=usage.output,
        thoughts_token_count=usage.thinking,
        total_token_count=usage.input + usage.output + usage.thinking,
    )


def is_plausible(message: TokenUsage, most: TokenUsage, received: int) -> bool:
    """Tell whether a provider's count of a call can be true.

    Args:
        most: what the call was expected to use at most.
        received: our own count of the answer; servers that know no limit give longer ones than asked for.
    """
    if min(message) < 0:
        return False
    answered = message.output + message.thinking
    return (
        message.input <= WIDE * most.input + SLACK
        and answered <= max(most.output, 2 * received) + SLACK // 10
    )


def count_received(response: LlmResponse) -> int:
    """Return our own count of the tokens of an answer."""
    parts = response.content.parts or [] if response.content else []
    return sum(map(_count_part, parts))


def _count_part(part: types.Part) -> int:
    call = part.function_call
    text = (part.text or "") if call is None else f"{call.name} {call.args}"
    # An encoder can take very long over what no language is; of such a length nobody needs to know exactly.
    return count(printable(text[:COUNTED])) + max(len(text) - COUNTED, 0) // CHARACTERS_PER_TOKEN


def _read_call(call: types.FunctionCall) -> types.FunctionCall:
    """Return a call with a name and an id that can be told, and with words that are not too long."""
    args: dict[str, Any] = dict(call.args) if isinstance(call.args, dict) else {}
    for name in WORDS:
        if isinstance(args.get(name), str):
            args[name] = cleaned(args[name], MOST_WORDS)
    return types.FunctionCall(id=_id(call.id), name=cleaned_name(call.name), args=args)


def _id(given: str | None) -> str | None:
    return given if given and len(given) <= 200 and given.isprintable() else None


def _signature(part: types.Part) -> bytes | None:
    """Return what some providers want to be given back with a call."""
    signature = part.thought_signature
    return signature if signature and len(signature) <= MOST_SIGNATURE_BYTES else None


def written_calls(text: str, tools: Collection[str]) -> list[types.FunctionCall]:
    """Return the calls of ``tools`` that a text spells out as JSON objects with a name and arguments.

    An object counts where a line begins with it, be it fenced or between a template's marks: what is quoted
    within a sentence is no decision.
    """
    return [
        types.FunctionCall(name=each["name"], args=arguments)
        for each in _objects(text[:_MOST_CHARACTERS])
        if each.get("name") in tools and (arguments := _arguments(each)) is not None
    ]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    at = 0
    for _ in range(_MOST_TRIES):
        found = _OBJECT.search(text, at)
        if found is None:
            return
        try:
            value, at = _DECODER.raw_decode(text, found.end())
        except (ValueError, RecursionError):
            at = found.end() + 1
            continue
        if isinstance(value, dict):
            yield value


def _arguments(written: dict[str, Any]) -> dict[str, Any] | None:
    """Return the arguments of a call, which its wire tells as an object or as the text of one."""
    given = next((written[name] for name in _ARGUMENTS if name in written), None)
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return None
    return given if isinstance(given, dict) else None
