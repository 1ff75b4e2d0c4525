"""What a model's provider remembers between calls, and the connection to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from navigator.planner.prompt import CachedPrefix
from navigator.state.pricing import CachedTokens

if TYPE_CHECKING:
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse

SOON_S = 10.0
"""How long a provider may take to delete what it keeps: nobody waits at the end of a task for longer."""


LEAST_PREFIX = 4_096
"""Tokens of a repeated beginning that every prefix cache serves at least in part."""


class ProviderCache:
    """A provider that is asked to remember nothing: each request travels whole.

    It may have a prefix cache of its own; then the beginning is best in the same bytes.
    """

    lifetime_s: float = 0.0
    """How long the provider keeps what it was given."""

    def __init__(
        self, close: Callable[[], Awaitable[None]] | None = None, *, has_prefix_cache: bool = True
    ) -> None:
        self._close = close
        self._has_prefix_cache = has_prefix_cache
        self._missed = 0
        self.in_use = False
        """Whether the provider was ever called: only then there is a connection to close."""

    @property
    def remembers(self) -> CachedPrefix:
        """What the provider will serve from its memory in the next call, as far as is known."""
        return CachedPrefix.ALL if self._has_prefix_cache else CachedPrefix.NOTHING

    def see(self, repeated: int, cached: int) -> None:
        """Learn whether prefixes are remembered from a call that said ``repeated`` tokens once more."""
        if cached:
            self._has_prefix_cache, self._missed = True, 0
        elif repeated >= LEAST_PREFIX:
            # One call may have come to another machine of the provider.
            self._missed += 1
            self._has_prefix_cache &= self._missed < 2

    def wants(self, request: LlmRequest, tokens: int) -> bool:
        """Tell whether the provider should first be given the request's beginning, of ``tokens``, to keep."""
        return False

    async def write(self, request: LlmRequest, most: int) -> CachedTokens | None:
        """Give the provider the request's beginning, or have it keep it longer; None where it refused.

        Args:
            most: tokens to book where the provider does not tell how many it was given.
        """
        return None

    def held(self, request: LlmRequest) -> int:
        """Return how many of the request's tokens, as the provider counts, it will read from its memory."""
        return 0

    def shorten(self, attempt: LlmRequest, request: LlmRequest) -> None:
        """Take out of ``attempt``, a copy of ``request``, what the provider remembers."""

    def learn_from(self, request: LlmRequest, response: LlmResponse, *, usable: bool) -> None:
        """Learn from an answer what the provider will remember."""

    def has_lapsed(self, error: BaseException) -> bool:
        """Tell whether the error may mean that the provider has forgotten; if so, rely on nothing it kept."""
        return False

    async def forget(self) -> None:
        """Have the provider delete what it keeps, if it does so soon; a later call starts from nothing."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SOON_S):
                await self._delete()

    async def _delete(self) -> None:
        """Delete what the provider keeps; what can't be deleted ends when the provider's own time is over."""

    async def close(self) -> None:
        """Let the provider forget, and close the connection to it."""
        await self.forget()
        if self._close is not None and self.in_use:
            await self._close()
