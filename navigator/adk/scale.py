"""How much a request says, and how much of it a provider has been told before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.adk.models.llm_request import LlmRequest

from navigator.account import RequestTokens
from navigator.adk.requests import base_length, shared_length, stable_texts, texts_of
from repo_map.tokens import count

if TYPE_CHECKING:
    from navigator.keyframes import Frame


class Scale:
    """Counts the requests of one session; what stays the same from one to the next is counted once."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._said: dict[str, tuple[str, ...]] = {}
        """By provider, the texts of the last request that it answered."""
        self._weighed: tuple[LlmRequest, tuple[str, ...]] | None = None

    def weigh(self, provider: str, request: LlmRequest, frame: Frame | None) -> RequestTokens:
        """Return what ``request``, in which a map is told as ``frame`` says, amounts to for ``provider``."""
        texts = self._texts(request)
        stable = len(stable_texts(request))
        base = stable + len(texts_of(request.contents[: base_length(request)]))
        counts = [self._counts[text] for text in texts]
        total = sum(counts)
        whole = total
        if frame is not None and base > stable:
            whole += frame.current.tokens - frame.told - frame.keyframe.tokens
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
