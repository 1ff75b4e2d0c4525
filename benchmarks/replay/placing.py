"""Where printed lines stand in the files of a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

_MOST_PLACES = 300


class Spot(NamedTuple):
    """A line of a file; the first is 1."""

    path: str
    line: int


class Source:
    """A file whose lines are looked up by what they say; runs of white space count as one space."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.lines = [plain(line) for line in text.split("\n")]
        self._places: dict[str, list[int]] = {}
        for at, line in enumerate(self.lines):
            self._places.setdefault(line, []).append(at)

    def places(self, line: str) -> Sequence[int]:
        """Return where a plain line stands, from 0."""
        return self._places.get(line, ())[:_MOST_PLACES]


def plain(line: str) -> str:
    """Return a line as lines are compared."""
    return " ".join(line.split())


def place(lines: Sequence[str], sources: Mapping[str, Source]) -> list[Spot | None]:
    """Return where each line stands; None for what stands nowhere, and for blank lines.

    Lines that follow one another in a file are found together: of all places of a line, the one counts from
    which most of what follows fits; among equals, the first behind what was found before, then the first.
    """
    wanted = [plain(line) for line in lines]
    spots: list[Spot | None] = [None] * len(wanted)
    reached: dict[str, int] = {}
    at = 0
    while at < len(wanted):
        best = (0, False, "", 0)
        for path, source in sources.items() if wanted[at] else ():
            for start in source.places(wanted[at]):
                length = _run(wanted, at, source.lines, start)
                candidate = (length, start >= reached.get(path, 0), path, start)
                if candidate[:2] > best[:2]:
                    best = candidate
        length, _, path, start = best
        for step in range(length):
            if wanted[at + step]:
                spots[at + step] = Spot(path, start + step + 1)
        if length:
            reached[path] = start + length
        at += max(1, length)
    return spots


def _run(wanted: Sequence[str], at: int, lines: Sequence[str], start: int) -> int:
    """Return how many lines in a row are the same."""
    length = 0
    while at + length < len(wanted) and start + length < len(lines):
        if wanted[at + length] != lines[start + length]:
            break
        length += 1
    return length
