"""Spelling: words that differ by a slip of the fingers."""

from __future__ import annotations

from collections.abc import Iterable

_LONG = 12
"""Letters from which on two slips are forgiven."""


def nearly(word: str, words: Iterable[str]) -> str:
    """Return the only one of some words that ``word`` is a slip or two away from, ``""`` where none is it."""
    for most in (1, 2) if len(word) >= _LONG else (1,):
        found = [
            each for each in words if abs(len(each) - len(word)) <= most and slips(word, each, most) <= most
        ]
        # Letters that changed places, and slips within a word, are likelier than others.
        for likelier in (
            [each for each in found if sorted(each) == sorted(word)],
            found,
            [each for each in found if (each[0], each[-1]) == (word[0], word[-1])],
        ):
            if len(likelier) == 1:
                return likelier[0]
        if found:
            return ""
    return ""


def slips(one: str, other: str, most: int) -> int:
    """Return how many letters were added, left out, changed or swapped; ``most + 1`` for any more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        last, before, row = before, row, [at]
        for to, wanted in enumerate(other, 1):
            best = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (letter != wanted))
            if at > 1 and to > 1 and letter == other[to - 2] and one[at - 2] == wanted:
                best = min(best, last[to - 2] + 1)
            row.append(best)
        if min(row) > most:
            return most + 1
    return row[-1]
