"""Where the lines of an old version of a file are today, by walking its changes back from the newest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_NO_LINES: NDArray[np.int32] = np.empty(0, np.int32)


class LineMap(NamedTuple):
    """The line of today for every line of one version of a file."""

    today: NDArray[np.int32]
    """Today's line of line ``i + 1``; as long as changes reached."""
    shift: int
    """What to add to a line behind those."""

    def upto(self, last: int) -> NDArray[np.int32]:
        """Return today's lines of lines 1 to ``last`` at least."""
        known = len(self.today)
        if last <= known:
            return self.today
        tail = np.arange(known + 1, last + 1, dtype=np.int32) + np.int32(self.shift)
        return np.concatenate((self.today, tail))


UNCHANGED = LineMap(_NO_LINES, 0)
"""The map of the version of today."""


def touched(lines: LineMap, hunks: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
    """Yield first and last line of today, and the lines changed, of each hunk.

    ``lines`` maps the version after.
    """
    today = lines.upto(_reach(hunks))
    for at in range(0, len(hunks), 4):
        _, before, start, after = hunks[at : at + 4]
        first, last = max(start, 1), max(start + after - 1, start, 1)
        ends = int(today[first - 1]), int(today[last - 1])
        yield max(min(ends), 1), max(*ends, 1), before + after


def before(lines: LineMap, hunks: tuple[int, ...]) -> LineMap:
    """Return the map of the version before ``hunks``, given the map of the version after.

    Lines that a hunk replaced stand where their replacement stands.
    """
    if not hunks:
        return lines
    today = lines.upto(_reach(hunks))
    pieces: list[NDArray[np.int32]] = []
    read = 0
    old_read = 0
    for at in range(0, len(hunks), 4):
        old_start, old_count, start, count = hunks[at : at + 4]
        unchanged_end = start - 1 if count else start
        pieces.append(today[read:unchanged_end])
        if old_count:
            place = max(start - 1, 0) + np.minimum(np.arange(old_count), max(count - 1, 0))
            pieces.append(today[place])
        read = unchanged_end + count
        old_read = old_start + old_count - 1 if old_count else old_start
    known = np.concatenate((*pieces, today[read:]))
    return LineMap(known, lines.shift + read - old_read)


def _reach(hunks: tuple[int, ...]) -> int:
    """Return a line of the version after that is behind every hunk."""
    return max((start + count for start, count in zip(hunks[2::4], hunks[3::4], strict=True)), default=0) + 1
