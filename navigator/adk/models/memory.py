"""What a provider remembers of a task between two calls: nothing, unless its own kind of memory says more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse

from navigator.pricing import Written


class Memory:
    """A provider that remembers nothing: each request travels whole, its beginning in the same bytes."""

    appends: bool = True
    """Whether what was told once costs less from then on, so that a request best goes on from the last."""
    lifetime_s: float = 0.0
    """How long the provider keeps what it was given."""

    def __init__(self, close: Callable[[], Awaitable[None]] | None = None) -> None:
        self._close = close
        self.in_use = False
        """Whether the provider was ever called: only then there is a connection to close."""

    def wants(self, request: LlmRequest, tokens: int) -> bool:
        """Tell whether the provider should first be given the request's beginning, of ``tokens``, to keep."""
        return False

    async def write(self, request: LlmRequest, most: int) -> Written | None:
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

    def hear(self, request: LlmRequest, response: LlmResponse, *, usable: bool) -> None:
        """Learn from an answer what the provider will remember."""

    def lapsed(self, error: BaseException) -> bool:
        """Tell whether the error may mean that the provider has forgotten; if so, rely on nothing it kept."""
        return False

    async def forget(self) -> None:
        """Have the provider delete what it keeps; a later call starts from nothing."""

    async def close(self) -> None:
        """Let the provider forget, and close the connection to it."""
        await self.forget()
        if self._close is not None and self.in_use:
            await self._close()
