"""Where a hunk lies in a file of today: by its lines, on either side, however far they moved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from repo_map.impact.patches import Hunk

_LEAST_LINES = 2
"""Lines with a word that a run needs to be found where the patch does not say that it is."""
_MOST_PLACES = 2_000
"""Of a line that stands so often in a file nothing is looked for."""


class Touched(NamedTuple):
    """Lines that a hunk changes, 1-based and inclusive; of lines that are not there, those around them."""

    first: int
    last: int
    is_between: bool = False
    """Whether lines go, or went, or come in between the two."""
    indent: int = -1
    """Of lines that come in there, how far the first is indented; -1 where none come."""


class Placed(NamedTuple):
    """A hunk in the file of today."""

    touched: tuple[Touched, ...]
    is_applied: bool
    """Whether the file is as the patch leaves it, and not as it found it."""
    first: int = 0
    """The first line of the hunk's side that stands in the file, 1-based; of no lines, that behind them."""
    is_whole: bool = True
    """Whether that side stands there with all its lines."""


class PlacedFile:
    """The lines of a file, in which hunks are looked for."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Take the lines, without what ends them."""
        self._lines = [line.rstrip() for line in lines]

    @cached_property
    def _places(self) -> Mapping[str, Sequence[int]]:
        places: defaultdict[str, list[int]] = defaultdict(list)
        for at, line in enumerate(self._lines):
            places[line].append(at)
        return places

    def place(self, hunk: Hunk, marked: Sequence[str] | None = None) -> Placed | None:
        """Return where a hunk lies, None where neither of its sides stands in the file.

        Args:
            hunk: as the patch has it.
            marked: its lines with fewer of them marked, where not all that is marked counts as touched.
        """
        told = hunk.lines if marked is None else marked
        new, old = (tuple(line.rstrip() for line in hunk.side(mark)) for mark in "+-")
        sides = ((new, hunk.new_start, True), (old, hunk.old_start, False))
        # Where the patch says; then anywhere, the lines around the change with it; then the change alone.
        for lines, start, is_applied in sides:
            if lines and self._is_at(lines, start - 1):
                return Placed(tuple(_touched(told, start, is_applied=is_applied)), is_applied, start)
        for lines, start, is_applied in sides:
            if (at := self._find(lines, start - 1)) is not None:
                return Placed(tuple(_touched(told, at + 1, is_applied=is_applied)), is_applied, at + 1)
        return self._bare(hunk) or self._core(hunk)

    def _bare(self, hunk: Hunk) -> Placed | None:
        """Return where a hunk without lines around it goes: it says so by its number alone."""
        if any(line[0] == " " for line in hunk.lines) or not hunk.lines:
            return None
        if not hunk.marked("-"):
            indent = next((_indent(line) for line in hunk.marked("+") if line.strip()), -1)
            start, is_applied = hunk.old_start, False
        elif not hunk.marked("+"):
            indent, start, is_applied = -1, hunk.new_start, True
        else:
            return None
        if not 0 < start <= len(self._lines):
            return None
        touched = Touched(start, start + 1, is_between=True, indent=indent)
        return Placed((touched,), is_applied, start + 1)

    def _core(self, hunk: Hunk) -> Placed | None:
        """Return where the changed lines stand, each run of them alone; None unless one stands once."""
        for mark, is_applied in (("+", True), ("-", False)):
            touched = [
                Touched(at + 1, at + len(run))
                for run in _runs(hunk.lines, mark)
                if (at := self._find(run, None)) is not None
            ]
            if touched:
                return Placed(tuple(touched), is_applied, is_whole=False)
        return None

    def _is_at(self, lines: Sequence[str], at: int) -> bool:
        return at >= 0 and self._lines[at : at + len(lines)] == list(lines)

    def _find(self, lines: Sequence[str], near: int | None) -> int | None:
        """Return where a run of lines stands: nearest to a place, or where it stands once."""
        telling = [at for at, line in enumerate(lines) if any(map(str.isalnum, line))]
        if len(telling) < _LEAST_LINES:
            return None
        rarest = min(telling, key=lambda at: len(self._places.get(lines[at], ())))
        starts = self._places.get(lines[rarest], ())
        if len(starts) > _MOST_PLACES:
            return None
        found = [at - rarest for at in starts if self._is_at(lines, at - rarest)]
        if near is not None:
            return min(found, key=lambda at: (abs(at - near), at), default=None)
        return found[0] if len(found) == 1 else None


def _touched(lines: Sequence[str], start: int, *, is_applied: bool) -> Iterator[Touched]:
    """Yield what a hunk touches of a file on one of its sides, whose first line there is ``start``."""
    own, other = ("+", "-") if is_applied else ("-", "+")
    line, at = start, 0
    while at < len(lines):
        if lines[at][0] == " ":
            line, at = line + 1, at + 1
            continue
        run = at
        while run < len(lines) and lines[run][0] != " ":
            run += 1
        count = sum(each[0] == own for each in lines[at:run])
        if count:
            yield Touched(line, line + count - 1)
        else:
            coming = [] if is_applied else [each[1:] for each in lines[at:run] if each[0] == other]
            indent = next((_indent(each) for each in coming if each.strip()), -1)
            yield Touched(line - 1, line, is_between=True, indent=indent)
        line, at = line + count, run


def _runs(lines: Sequence[str], mark: str) -> Iterator[tuple[str, ...]]:
    """Yield the runs of lines with a mark."""
    run: list[str] = []
    for line in (*lines, " "):
        if line[0] == mark:
            run.append(line[1:].rstrip())
        elif run:
            yield tuple(run)
            run = []


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
