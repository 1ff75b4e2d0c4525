"""An estimate of the time that parsing still takes."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

_MIN_ELAPSED_S, _MIN_SHARE = 2.0, 0.05
"""Before an estimate, of time and files: earlier, process start and the first files weigh too much."""
_MINUTES_FROM_S = 100
"""From here on the estimate is in minutes."""


class RemainingTime:
    """Extrapolates the time since its first call."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._began: float | None = None

    def words(self, done: int, total: int) -> str:
        """Return ``, about 12 s left``; ``""`` if too little is done for an estimate, or all."""
        now = self._clock()
        if self._began is None:
            self._began = now
        elapsed = now - self._began
        if elapsed < _MIN_ELAPSED_S or done < total * _MIN_SHARE or not 0 < done < total:
            return ""
        seconds = elapsed * (total - done) / done
        if seconds >= _MINUTES_FROM_S:
            return f", about {round(seconds / 60)} min left"
        return f", about {max(1, round(seconds))} s left"
