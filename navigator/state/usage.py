"""Tokens of model calls, as the providers count them; by our count if they report none."""

from __future__ import annotations

from typing import NamedTuple


class TokenUsage(NamedTuple):
    """Tokens of model calls; ``cached`` is a part of ``input``, ``thinking`` comes on top of ``output``."""

    input: int = 0
    cached: int = 0
    output: int = 0
    thinking: int = 0
    calls: int = 0

    def minus(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))

    def plus(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))
