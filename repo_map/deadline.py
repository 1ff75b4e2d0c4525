"""How long a grammar may take over a source."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

_FULL_BYTES: Final = 500_000
"""Size of a source that may take all the time that the limits give; a smaller one may take its share."""
_SMALLEST_SHARE: Final = 0.05


def seconds_for(size: int, most: float) -> float:
    """Return the seconds for a source of ``size`` bytes, ``most`` for a large one.

    In proportion to its size, many times what ordinary source takes: so a tree of sources that are made to be
    slow takes little longer than any other of its size.
    """
    return most * min(1.0, max(_SMALLEST_SHARE, size / _FULL_BYTES))


class CpuDeadline:
    """A span of this thread's CPU time, so that a busy machine does not change what is read."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._clock, self._cpu = time.monotonic(), time.thread_time()

    def is_over(self, _offset: int = 0, _has_error: bool = False) -> bool:
        """Return True if the time is used up; usable as a progress callback of py-tree-sitter."""
        # The wall clock is cheaper to read, and never behind the CPU's.
        if time.monotonic() - self._clock <= self.seconds:
            return False
        return time.thread_time() - self._cpu > self.seconds

    def leave_out(self, work: Callable[[], object]) -> None:
        """Do work that does not count."""
        before = time.thread_time()
        work()
        self._cpu += time.thread_time() - before
