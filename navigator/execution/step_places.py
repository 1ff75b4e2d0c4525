"""The places for steps that compute: few at once, given to principals in turn, and none kept for long."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Final

AT_ONCE: Final = 2
"""Steps that are computed at once: they share one interpreter, and more would only make each other wait."""
_MOST_AT_ONCE: Final = 8
"""With those that take long, as custom queries do: they mostly wait for processes of their own."""
_MOST_OF_ONE: Final = _MOST_AT_ONCE - AT_ONCE
"""Of one principal: however many slow steps it asks for, some places are left to others."""
_PROMPT_S: Final = 1.0
"""Seconds after which a step no longer keeps those that wait from their places; most take a hundredth."""


class StepPlace:
    """One step that computes."""

    def __init__(self, user: str, began: float, leave: Callable[[StepPlace], None]) -> None:
        self.user = user
        self.began = began
        self._leave = leave

    def leave(self) -> None:
        """Give the place up, as nothing is left to compute; what follows may wait for a disk."""
        self._leave(self)


class StepPlaces:
    """Lends places to the tasks of one event loop.

    Of those who wait, the principal with the fewest steps under way is next, and among equals the one that
    was served least lately; each principal's own steps are served in the order of asking.
    """

    def __init__(self, prompt_s: float = _PROMPT_S) -> None:
        self._prompt_s = prompt_s
        self._held: set[StepPlace] = set()
        self._waiting: dict[str, deque[asyncio.Future[StepPlace]]] = {}
        """Of each principal that waits, in the order of asking."""
        self._served: dict[str, int] = {}
        """Principal → the number of the place that it got last."""
        self._numbers = count()
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def hold(self, user: str) -> AsyncIterator[StepPlace]:
        """Hold a place for a step of a principal, waiting for it as long as it takes."""
        place = await self._take(user)
        try:
            yield place
        finally:
            place.leave()

    @property
    def held(self) -> int:
        """How many steps compute."""
        return len(self._held)

    @property
    def waiting(self) -> int:
        """How many steps wait for a place."""
        return sum(map(len, self._waiting.values()))

    def _left(self, place: StepPlace) -> None:
        if place in self._held:
            self._held.discard(place)
            self._serve()

    async def _take(self, user: str) -> StepPlace:
        turn: asyncio.Future[StepPlace] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(turn)
        self._serve()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._held.discard(turn.result())
            elif user in self._waiting and turn in self._waiting[user]:
                self._waiting[user].remove(turn)
                if not self._waiting[user]:
                    del self._waiting[user]
            self._serve()
            raise

    def _serve(self) -> None:
        """Give the places that are free to those whose turn it is."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now = asyncio.get_running_loop().time()
        while (user := self._next(now)) is not None:
            turns = self._waiting[user]
            turn = turns.popleft()
            if not turns:
                del self._waiting[user]
            if not turn.done():
                place = StepPlace(user, now, self._left)
                self._held.add(place)
                self._served[user] = next(self._numbers)
                turn.set_result(place)
        if self._waiting and (prompt := self._prompt(now)):
            ends = min(place.began for place in prompt) + self._prompt_s
            self._timer = asyncio.get_running_loop().call_at(ends, self._serve)

    def _next(self, now: float) -> str | None:
        """Return the principal whose step is to begin, None where none may."""
        if len(self._held) >= _MOST_AT_ONCE or len(self._prompt(now)) >= AT_ONCE:
            return None
        counts = Counter(place.user for place in self._held)
        user = min(self._waiting, key=lambda each: (counts[each], self._served.get(each, -1)), default=None)
        return user if user is not None and counts[user] < _MOST_OF_ONE else None

    def _prompt(self, now: float) -> list[StepPlace]:
        return [place for place in self._held if now - place.began < self._prompt_s]
