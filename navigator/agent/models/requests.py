"""A model request built and trimmed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from google.adk.models.llm_request import LlmRequest
from google.genai import types

from navigator.state.usage import RequestTokens
from repo_map.text.tokens import count

MAX_OUTPUT_TOKENS = 4_096
"""Of one model call, thinking included: what a projection has to allow for."""
ONE_TOOL = types.ToolConfig(
    function_calling_config=types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.ANY)
)
"""Words alone decide nothing: where a provider can be told so, it answers with a tool call."""

EMPTY_LINES = "\n\n\n\n"
"""What a small model writes up to the limit that may not end without a call; no call holds it."""

if TYPE_CHECKING:
    from navigator.planner.prompt import MapDelta


def attempt_of(request: LlmRequest, model: str, *, forced: bool = True, local: bool = False) -> LlmRequest:
    """Return a copy for one attempt by ``model``: providers change the request that they are given.

    Unless ``forced``, the model is free to answer in words. A ``local`` one is stopped where it has said all
    and goes on with empty lines; others refuse to be told where to stop, or know it.
    """
    config = request.config.model_copy(deep=True)
    if not forced:
        config.tool_config = None
    if local:
        config.stop_sequences = [EMPTY_LINES]
    return request.model_copy(
        update={
            "model": model,
            "contents": [content.model_copy(deep=True) for content in request.contents],
            "config": config,
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


def _text_of(part: types.Part) -> str:
    return part.text if part.text is not None else part.model_dump_json(exclude_none=True)


class RequestTokenCounter:
    """Counts the requests of one session; what stays the same from one to the next is counted once."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._said: dict[str, tuple[str, ...]] = {}
        """By provider, the texts of the last request that it answered."""
        self._weighed: tuple[LlmRequest, tuple[str, ...]] | None = None

    def weigh(self, provider: str, request: LlmRequest, delta: MapDelta | None) -> RequestTokens:
        """Return what ``request``, in which a map is told as ``frame`` says, amounts to for ``provider``."""
        texts = self._texts(request)
        stable = len(stable_texts(request))
        base = stable + len(texts_of(request.contents[: base_length(request)]))
        counts = [self._counts[text] for text in texts]
        total = sum(counts)
        whole = total
        if delta is not None and base > stable:
            whole += delta.current.tokens - delta.message - delta.keyframe.tokens
        return RequestTokens(
            stable=sum(counts[:stable]),
            base=sum(counts[stable:base]),
            changing=sum(counts[base:]),
            repeated=sum(counts[: shared_length(texts, self._said.get(provider, ()))]),
            step_scoped=whole,
        )

    def said(self, provider: str, request: LlmRequest) -> None:
        """Note that ``provider`` has been told what ``request`` says."""
        self._said[provider] = self._texts(request)

    def _texts(self, request: LlmRequest) -> tuple[str, ...]:
        if self._weighed is None or self._weighed[0] is not request:
            texts = (*stable_texts(request), *texts_of(request.contents))
            self._counts = {
                text: self._counts[text] if text in self._counts else count(text) for text in texts
            }
            self._weighed = request, texts
        return self._weighed[1]
