"""How long parsing will go on."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

_SURE_AFTER_S = 2.0
_SURE_AFTER_SHARE = 0.05
"""Of the files: before, the start of the workers and the size of the first files count for too much."""
_MINUTES_FROM_S = 100


class RemainingTime:
    """Estimates from the time that the files read so far took, counted from its first call on."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._began: float | None = None

    def words(self, done: int, total: int) -> str:
        """Return ``, about 12 s left``; ``""`` while too little is done to tell, and once nothing is left."""
        now = self._clock()
        if self._began is None:
            self._began = now
        taken = now - self._began
        if taken < _SURE_AFTER_S or done < total * _SURE_AFTER_SHARE or not 0 < done < total:
            return ""
        seconds = taken * (total - done) / done
        if seconds >= _MINUTES_FROM_S:
            return f", about {round(seconds / 60)} min left"
        return f", about {max(1, round(seconds))} s left"
