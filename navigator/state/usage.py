"""Tokens of model calls: what was billed, what came from a cache, what was repeated."""

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
        """Return what this has more than ``other``, part by part."""
        return TokenUsage(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))

    def plus(self, other: TokenUsage) -> TokenUsage:
        """Return the sum of both, part by part."""
        return TokenUsage(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class RequestTokens(NamedTuple):
    """Our count of a request's tokens."""

    stable: int = 0
    """Instruction and tools: the same in every request of a task."""
    changing: int = 0
    repeated: int = 0
    """Of the whole, leading tokens that the last request to the same provider began with as well."""

    @property
    def total(self) -> int:
        """All that the request has, whether the provider caches a part of it or not."""
        return self.stable + self.changing


class TokenAccount(NamedTuple):
    """Tokens of one task so far, as the providers count them; by our count if they report none."""

    calls: int = 0
    initial: int = 0
    """Of the part that never changes: role, rules, tools and goal; it is sent in the first call."""
    fresh: int = 0
    """Sent for the first time, ``initial`` included."""
    cached: int = 0
    """Served from a provider's cache."""
    repeated: int = 0
    """Sent although the provider had been sent it before, and charged in full."""
    output: int = 0
    """Thinking included."""

    def after_call(self, request: RequestTokens, read: int, cached: int, output: int) -> TokenAccount:
        """Return the account with one more call, for which the provider counts ``read`` input tokens."""
        read = read or request.total
        scale = read / request.total if request.total else 0.0
        repeated = min(max(round(request.repeated * scale) - cached, 0), read - cached)
        return TokenAccount(
            calls=self.calls + 1,
            initial=self.initial or round(request.stable * scale),
            fresh=self.fresh + read - cached - repeated,
            cached=self.cached + cached,
            repeated=self.repeated + repeated,
            output=self.output + output,
        )

    def minus(self, other: TokenAccount) -> TokenAccount:
        """Return what this has more than ``other``, part by part."""
        return TokenAccount(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))

    @property
    def sent(self) -> int:
        """Input tokens that were charged in full: all but the cached ones."""
        return self.fresh + self.repeated

    @property
    def read(self) -> int:
        """Input tokens in all: what calls would have been charged without any cache."""
        return self.sent + self.cached

    @property
    def saved(self) -> float:
        """Share of all input tokens that a cache saved."""
        return self.cached / self.read if self.read else 0.0

    @property
    def wasted(self) -> float:
        """Share of the tokens sent and answered that repeated others, from 0 to 1."""
        return self.repeated / (self.sent + self.output) if self.sent else 0.0
