"""Windows: the parts of a long function that are worth reading when the whole is too long."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from repo_map.relevance.terms import terms_of, words

_REACHES = (12, 5, 2)
"""Lines shown before and after a line that matters, fewer where the room is small."""
_HEAD = 6
"""First lines of the function, shown beside its windows."""
_LONGEST_HEAD = 15
"""Lines up to which a signature is shown whole; of a longer one the first line tells most."""
_NEARBY = 4
"""Lines whose words count for a line, the less the further away."""


def find_windows(
    lines: Sequence[str], head: tuple[int, int], last: int, terms: Mapping[str, float], room: int
) -> list[tuple[int, int]]:
    """Return the head, and the line ranges from there to ``last`` that hold ``terms``, the densest first.

    They have ``room`` characters in all. Terms that are rare in the function count more: one that stands on
    every line tells no line from another.
    """
    first = head[0]
    values = _line_values(lines[first - 1 : last], terms)
    found = [head if _size(lines, *head) <= room // 2 else (first, first)]
    left = room - _size(lines, *found[0])
    for at in _densest(values):
        line = first + at
        if any(start <= line <= end for start, end in found):
            continue
        ranges = (_between(found, line, max(line - r, first), min(line + r, last)) for r in _REACHES)
        window = next((window for window in ranges if _size(lines, *window) <= left), None)
        if window is None:
            break
        found.append(window)
        left -= _size(lines, *window)
    return found


def head_of(first: int, signature_end: int, last: int) -> tuple[int, int]:
    """Return the first lines of a function, to the end of its signature at least, which is never cut."""
    if signature_end - first >= _LONGEST_HEAD:
        return first, first
    return first, min(max(signature_end, first + _HEAD - 1), last)


def _line_values(lines: Sequence[str], terms: Mapping[str, float]) -> list[float]:
    hits = [{term for word in words(line) for term in terms_of(word)} & terms.keys() for line in lines]
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


def _between(taken: Sequence[tuple[int, int]], line: int, start: int, end: int) -> tuple[int, int]:
    """Return the part of a range around ``line`` that is not taken yet."""
    start = max([start, *(last + 1 for _, last in taken if last < line)])
    end = min([end, *(first - 1 for first, _ in taken if first > line)])
    return start, end


def _size(lines: Sequence[str], first: int, last: int) -> int:
    return sum(len(line) + 1 for line in lines[first - 1 : last])
