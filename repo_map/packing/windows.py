"""Windows: the parts of a long function that are worth reading when the whole is too long."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from repo_map import tokens
from repo_map.relevance.terms import terms_of, words

_REACH = 12
"""Lines shown before and after a line that matters."""
_HEAD = 6
"""First lines of the function that are always shown."""


def find_windows(
    lines: Sequence[str], first: int, last: int, terms: Mapping[str, float], room: int
) -> list[tuple[int, int]]:
    """Return the line ranges that hold ``terms``, the densest first, of ``room`` tokens in all.

    Rare terms of the function count more than common ones: one that stands on every line tells no line from
    another.
    """
    found = [
        frozenset(term for word in words(line) for term in terms_of(word) if term in terms)
        for line in lines[first - 1 : last]
    ]
    spread: dict[str, int] = {}
    for hits in found:
        for term in hits:
            spread[term] = spread.get(term, 0) + 1
    value = [
        sum(terms[term] * math.log1p(len(found) / spread[term]) for term in sorted(hits)) for hits in found
    ]
    chosen: list[tuple[int, int]] = [(first, min(first + _HEAD - 1, last))]
    left = room - _cost(lines, *chosen[0])
    for at in sorted(range(len(found)), key=lambda at: (-_density(value, at), at)):
        if value[at] <= 0 or any(start <= first + at <= end for start, end in chosen):
            continue
        window = _free(max(first + at - _REACH, first), min(first + at + _REACH, last), chosen)
        cost = _cost(lines, *window)
        if cost > left:
            continue
        chosen.append(window)
        left -= cost
    return chosen


def _density(value: Sequence[float], at: int) -> float:
    """Return what the lines near one are worth: neighbours count half and less."""
    near = range(max(0, at - 4), min(len(value), at + 5))
    return sum(value[other] / (1 + abs(other - at)) for other in near)


def _free(start: int, end: int, chosen: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the range without what is chosen already."""
    for first, last in chosen:
        if first <= start <= last:
            start = last + 1
        if first <= end <= last:
            end = first - 1
    return start, end


def _cost(lines: Sequence[str], first: int, last: int) -> int:
    return tokens.count("\n".join(lines[first - 1 : last]))
