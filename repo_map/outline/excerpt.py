"""Excerpts: of a function that is too long to show, its head and the lines that a goal speaks of."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from repo_map.text.terms import terms_in

_REACHES: Final = (25, 13, 7, 3)
"""Lines of the block that is shown around a line that matters, fewer where the room is small."""
_MAX_HEAD_LINES: Final = 15
"""Lines up to which a signature is shown whole."""
_NEARBY: Final = 4
"""Lines whose words count for a line, the less the further away."""
_MAX_TRIED: Final = 40
"""Lines around which blocks are looked for."""
_MIN_ROOM: Final = 40
"""Characters below which no block is looked for."""


def excerpt(
    lines: Sequence[str],
    head: tuple[int, int],
    last: int,
    terms: Mapping[str, float],
    *,
    room: int,
    doc: tuple[int, int] = (0, 0),
) -> list[tuple[int, int]]:
    """Return the head of a function and blocks of lines from there to ``last``, in ascending order.

    The blocks hold the most of ``terms``, with their weights; terms that are rare in the function count
    more, as one that stands on every line tells no line from another. Where none stands there, the function
    is shown from its beginning; where one does and has no room, nothing is.

    Args:
        lines: of the file.
        head: first and last line of the signature, 1-based and inclusive.
        last: last line of the function.
        terms: words of the goal, with their weights.
        room: characters of the whole.
        doc: first and last line of its documentation, which is not looked at.
    """
    first, end = head[0], min(head[1], head[0] + _MAX_HEAD_LINES - 1)
    found = [(first, end)]
    left = room - _size(lines, first, end)
    code = ["" if doc[0] <= at <= doc[1] else line for at, line in enumerate(lines[end:last], end + 1)]
    values = _line_values(code, terms)
    for at in _densest(values)[:_MAX_TRIED]:
        line = end + 1 + at
        if left < _MIN_ROOM:
            break
        if any(low <= line <= high for low, high in found):
            continue
        bounds = _bounds(found, line, end + 1, last)
        blocks = (_block(lines, line, bounds, reach) for reach in _REACHES)
        block = next((each for each in blocks if _size(lines, *each) <= left), None)
        if block is not None:
            found.append(block)
            left -= _size(lines, *block)
    if any(values):
        # A head alone tells no more than its place in a list.
        return sorted(found) if len(found) > 1 else []
    while end < last and (left := left - len(lines[end]) - 1) >= 0:
        end += 1
    return [(first, end)]


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


def _bounds(taken: Sequence[tuple[int, int]], line: int, first: int, last: int) -> tuple[int, int]:
    """Return the lines around ``line``, from ``first`` to ``last``, of which none is taken yet."""
    low = max([first, *(end + 1 for _, end in taken if end < line)])
    high = min([last, *(start - 1 for start, _ in taken if start > line)])
    return low, high


def _block(lines: Sequence[str], line: int, bounds: tuple[int, int], reach: int) -> tuple[int, int]:
    """Return at most ``reach`` lines around a line that begin and end with a statement, by indentation.

    The block grows by whole neighbours: a line that is indented deeper goes with the one above it.
    """
    first = last = line
    depth = _indentation(lines[line - 1])
    while last - first + 1 < reach:
        before = first, last
        if last < bounds[1] and _belongs(lines[last], depth):
            last += 1
        if last - first + 1 < reach and first > bounds[0] and _belongs(lines[first - 2], depth):
            first -= 1
        if (first, last) == before:
            # The block is whole: go on with the one around it, from the line that opens it.
            if first <= bounds[0] or last - first + 2 > reach:
                break
            first -= 1
            depth = min(depth, _indentation(lines[first - 1]))
    while last > line and not lines[last - 1].strip():
        last -= 1
    while first < line and not lines[first - 1].strip():
        first += 1
    return first, last


def _belongs(line: str, depth: int) -> bool:
    return not line.strip() or _indentation(line) >= depth


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _size(lines: Sequence[str], first: int, last: int) -> int:
    return sum(len(line) + 1 for line in lines[first - 1 : last])
