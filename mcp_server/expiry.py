"""How old navigations are, and the removal of unused ones in the background."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from navigator.errors import NavigatorError, StorageError

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.state.client_state import NavigationActivity

DAY: Final = 86_400.0
"""In seconds."""
_BETWEEN_ROUNDS_S: Final = 3_600.0
_BATCH: Final = 100
"""Navigations that are looked up at once; each is removed by itself."""
logger = logging.getLogger(__name__)


class UseClock:
    """The time that the ages of navigations go by, in seconds since the epoch.

    It is the clock's, but begins at the latest use that is known or up to a day after it: neither a clock
    that is a month ahead when the server starts nor one that was behind makes anything a month old.
    """

    def __init__(self, latest_use: float | None) -> None:
        clock = time.time()
        latest = clock if latest_use is None else latest_use
        self._began = min(max(clock, latest), latest + DAY), time.monotonic()

    def now(self) -> float:
        """Return the time."""
        started, at = self._began
        return started + time.monotonic() - at


class Expiry:
    """Tells which navigations are too old, and removes them: once when a server starts, then every hour."""

    def __init__(self, keep_days: float) -> None:
        self._keep_days = keep_days
        self._clock = UseClock(None)
        self._is_set = False
        self._removing: asyncio.Task[None] | None = None

    def now(self) -> float:
        """Return the time that ages go by."""
        return self._clock.now()

    def is_over(self, used_at: float | None) -> bool:
        """Tell whether a navigation is too old; one that no server handed out never is."""
        return used_at is not None and used_at < self._clock.now() - self._keep_days * DAY

    async def begin(self, navigator: Navigator) -> None:
        """Set the clock by the store, and begin to remove what is too old.

        Where the store does not answer the clock is set in the first round of removal for which it does.
        """
        with suppress(StorageError):  # Reported to the caller who reads it.
            await self._set_clock(navigator)
        self._removing = asyncio.create_task(self._keep_removing(navigator))

    async def end(self) -> None:
        """Stop removing."""
        removing, self._removing = self._removing, None
        if removing is not None:
            removing.cancel()
            await asyncio.gather(removing, return_exceptions=True)
        self._is_set = False

    async def _set_clock(self, navigator: Navigator) -> None:
        self._clock = UseClock(await navigator.store.index.latest_use())
        self._is_set = True
        passed = (time.time() - self._clock.now()) / DAY
        if passed > self._keep_days:
            logger.warning(
                "The clock has gone on by %d days since a navigation was used; their age goes on by one",
                passed,
            )

    async def _keep_removing(self, navigator: Navigator) -> None:
        while True:
            with suppress(NavigatorError):  # The next round finds what this one left.
                if not self._is_set:
                    await self._set_clock(navigator)
                await self._remove(navigator)
                await navigator.store.delete_forgotten()
            await asyncio.sleep(_BETWEEN_ROUNDS_S)

    async def _remove(self, navigator: Navigator) -> None:
        before, last = self._clock.now() - self._keep_days * DAY, None
        while old := await navigator.store.index.unused_since(before, _BATCH, last):
            last = old[-1]
            # Servers that start together remove different ones.
            for use in random.sample(old, len(old)):
                begun = time.monotonic()
                await _forget(navigator, use)
                # Calls have the loop and the store at least half of the time.
                await asyncio.sleep(time.monotonic() - begun)


async def _forget(navigator: Navigator, use: NavigationActivity) -> None:
    with suppress(NavigatorError):  # Another server was faster, or the next round is.
        await navigator.forget(use.navigation_id, user=use.user)
