"""Requests and responses of models: copied, counted, judged."""

from __future__ import annotations

import json
from collections.abc import Sequence

from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from navigator.adk.faults import Fault
from navigator.pricing import TokenUsage


def attempt_of(request: LlmRequest, model: str) -> LlmRequest:
    """Return a copy for one attempt by ``model``: providers change the request that they are given."""
    return request.model_copy(
        update={
            "model": model,
            "contents": [content.model_copy(deep=True) for content in request.contents],
            "config": request.config.model_copy(deep=True),
            "cache_metadata": None,
        }
    )


def base_length(request: LlmRequest) -> int:
    """Return how many leading contents stay the same for several steps, as the request's layout says."""
    return request.cache_metadata.contents_count if request.cache_metadata else 0


def stable_texts(request: LlmRequest) -> list[str]:
    """Return what never changes within a task: the instruction, then each tool."""
    instruction = request.config.system_instruction
    tools = [tool for tool in request.config.tools or [] if isinstance(tool, types.Tool)]
    return [
        instruction if isinstance(instruction, str) else str(instruction or ""),
        *(tool.model_dump_json(exclude_none=True) for tool in tools),
    ]


def texts_of(contents: Sequence[types.Content]) -> list[str]:
    """Return each part of the contents as text."""
    return [_text_of(part) for content in contents for part in content.parts or []]


def shared_length(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many texts both begin with."""
    shared = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        shared += 1
    return shared


def says_more(request: LlmRequest) -> bool:
    """Tell whether the request goes on with what a model said in the same step."""
    return any(content.role == "model" for content in request.contents)


def usage_of(response: LlmResponse) -> TokenUsage | None:
    """Return the tokens that a provider billed for a response; None where it tells nothing."""
    usage = response.usage_metadata
    if usage is None:
        return None
    prompt = (usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0)
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
