"""Tree-sitter parser with deadline and recursion guards."""

from __future__ import annotations

import re
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
        """Tell whether the span is used up; fits py-tree-sitter's progress callbacks."""
        # The wall clock is cheaper to read, and never behind the CPU's.
        if time.monotonic() - self._clock <= self.seconds:
            return False
        return time.thread_time() - self._cpu > self.seconds

    def leave_out(self, work: Callable[[], object]) -> None:
        """Do work that does not count."""
        before = time.thread_time()
        work()
        self._cpu += time.thread_time() - before


DEEPEST_YAML: Final = 200
"""Levels; the scanner of tree-sitter-yaml 0.7 writes 4 bytes for each into a buffer of 1,024."""
_MARKS: Final = rb"[ \t]*(?:[-?:][ \t]+)*[-?:]?"
# A column holds two levels at most: a key, and the list below it at the same indentation.
_FAR_IN: Final = re.compile(rb"^[ \t?:-]{%d}" % (DEEPEST_YAML // 2), re.M)
_LINE_START: Final = re.compile(rb"^" + _MARKS, re.M)


def most_levels(source: bytes) -> int:
    """Return a number of levels that no block is deeper than, 0 where no line is far enough in to matter.

    Blocks within one another begin at different places of their lines. So the places are counted, and not
    what lies between them: comments, blank lines and texts of many lines end no block, or only seem to.
    """
    if _FAR_IN.search(source) is None:
        return 0
    places: set[tuple[int, bool]] = set()
    for start in {line[0] for line in _LINE_START.finditer(source)}:
        places.update((at, True) for at, byte in enumerate(start) if byte in b"-?:")
        places.add((len(start), False))
    return len(places)
