"""The statements of a long function that a goal speaks of, with what opens and closes it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from repo_map.text.terms import terms_in

if TYPE_CHECKING:
    from repo_map.outline.source import SourceFile
    from repo_map.parsing.values import Definition
    from repo_map.ranking.score import ScoredUnit

SHARE_OF_LEFT = 0.8
"""Of the room that is left, what windows of a function take: what encloses them is drawn as well."""
_REACHES = (25, 13, 7, 3)
"""Lines of the statements shown around a line that matters, fewer where the room is small."""
_HEAD = 6
"""First lines of the function, shown beside its windows."""
_LONGEST_HEAD = 15
"""Lines up to which a signature is shown with the comments above it."""
_MOST_OPENERS = 2
"""Blocks around a window whose first lines are shown, the innermost first."""
_LONGEST_TAIL = 4
"""Lines of what closes a function, shown beside its windows."""
_NEARBY = 4
"""Lines whose words count for a line, the less the further away."""


def find_windows(
    file: SourceFile, head: tuple[int, int], last: int, terms: Mapping[str, float], room: int
) -> list[tuple[int, int]]:
    """Return the head, and whole statements from there to ``last`` that hold ``terms``, the densest first.

    They have ``room`` characters in all. Terms that are rare in the function count more: one that stands on
    every line tells no line from another.
    """
    lines, first = file.lines, head[1] + 1
    values = _line_values(lines[first - 1 : last], terms)
    found = [head if size_of(lines, *head) <= room // 2 else (head[0], head[0])]
    left = room - size_of(lines, *found[0])
    for at in _densest(values)[:_MOST_TRIED]:
        line = first + at
        if any(start <= line <= end for start, end in found):
            continue
        bounds = _free(found, line, first, last)
        ranges = (file.statements.window(line, bounds, reach) for reach in _REACHES)
        window = next((each for each in ranges if each and size_of(lines, *each) <= left), None)
        if window is None:
            continue
        found.append(window)
        left -= size_of(lines, *window)
        if left < _LEAST_WINDOW:
            break
    return found


_MOST_TRIED = 40
"""Lines around which windows are looked for."""
_LEAST_WINDOW = 40
"""Characters below which no window is looked for."""


def head_of(unit: ScoredUnit, definition: Definition | None) -> tuple[int, int]:
    """Return the first lines of a function, to the end of its signature, without comments that are long."""
    if definition is None:
        return unit.start, min(unit.start + _HEAD - 1, unit.end)
    first = unit.start
    if definition.sig_end - first >= _LONGEST_HEAD:
        first = max(first, definition.start)
    return first, min(max(definition.sig_end, first + _HEAD - 1), unit.end)


def _line_values(lines: Sequence[str], terms: Mapping[str, float]) -> list[float]:
    hits = [terms_in(line) & terms.keys() for line in lines]
    spread = Counter(term for line in hits for term in line)
    return [
        sum(terms[term] * math.log1p(len(lines) / spread[term]) for term in sorted(line)) for line in hits
    ]


def _densest(values: Sequence[float]) -> list[int]:
    """Return the positions that hold anything, by their value and that of the lines around them."""
    density = [0.0] * len(values)
    for at, value in enumerate(values):
        if value:
            for other in range(max(0, at - _NEARBY), min(len(values), at + _NEARBY + 1)):
                density[other] += value / (1 + abs(other - at))
    return sorted((at for at, value in enumerate(values) if value), key=lambda at: (-density[at], at))


def _free(taken: Sequence[tuple[int, int]], line: int, first: int, last: int) -> tuple[int, int]:
    """Return the lines around ``line``, from ``first`` to ``last``, of which none is taken yet."""
    low = max([first, *(end + 1 for _, end in taken if end < line)])
    high = min([last, *(start - 1 for start, _ in taken if start > line)])
    return low, high


def size_of(lines: Sequence[str], first: int, last: int) -> int:
    return sum(len(line) + 1 for line in lines[first - 1 : last])


def openers_of(
    file: SourceFile, head: tuple[int, int], found: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the lines that open the blocks in which windows stand: an `except`, an `if`, a loop.

    Without them it can't be told when the lines of a window run. Blocks are told by their indentation.
    """
    opened: list[tuple[int, int]] = []
    for first, _ in found:
        line, depth = first, _depth(file.lines[first - 1])
        for _ in range(_MOST_OPENERS):
            above = range(line - 1, head[1], -1)
            line = next((at for at in above if _opens(file.lines[at - 1], depth)), 0)
            if not line:
                break
            depth = _depth(file.lines[line - 1])
            if not any(start <= line <= end for start, end in (*found, *opened)):
                opened.append((line, line))
    return sorted(opened)


def _opens(line: str, depth: int) -> bool:
    text = line.strip()
    return len(text) > 1 and not text.startswith(("#", "//", "*")) and _depth(line) < depth


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def tail_of(file: SourceFile, unit: ScoredUnit, found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the lines that close a unit of which windows are shown: its last statement, or its last line."""
    each = file.statements[file.statements.at(unit.end)]
    first = each.first if unit.end - each.first < _LONGEST_TAIL and each.first > unit.start else unit.end
    if not found or any(first <= last and start <= unit.end for start, last in found):
        return []
    return [(first, unit.end)]
