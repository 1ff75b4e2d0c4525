"""A sub-word vocabulary of our own: byte-pair merges learned from the terms of the pairs.

A term that no other repository holds has no vector of its own, but its pieces do. Merges are learned as by
Sennrich et al. (2016): the pair of neighbouring pieces that occurs most becomes one piece, again and again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import pairwise
from pathlib import Path

Merge = tuple[str, str]
LEAST_LETTERS = 3
"""Shorter pieces say nothing: they are left out of a term that has longer ones."""


def learn_merges(counts: Mapping[str, int], most: int) -> list[Merge]:
    """Return up to ``most`` merges, in the order they were learned; of equals the first by letters."""
    words = [list(term) for term in counts]
    weights = list(counts.values())
    pairs: Counter[Merge] = Counter()
    where: defaultdict[Merge, set[int]] = defaultdict(set)
    for row, word in enumerate(words):
        for pair in pairwise(word):
            pairs[pair] += weights[row]
            where[pair].add(row)
    waiting = [(-count, pair) for pair, count in pairs.items()]
    heapify(waiting)
    merges: list[Merge] = []
    while waiting and len(merges) < most:
        count, best = heappop(waiting)
        if -count != pairs[best]:
            continue
        merges.append(best)
        changed = set()
        for row in sorted(where.pop(best)):
            before, after = words[row], merged(words[row], best)
            for pair in pairwise(before):
                pairs[pair] -= weights[row]
                changed.add(pair)
            for pair in pairwise(after):
                pairs[pair] += weights[row]
                where[pair].add(row)
                changed.add(pair)
            words[row] = after
        for pair in sorted(changed):
            if pairs[pair] > 0:
                heappush(waiting, (-pairs[pair], pair))
    return merges


def merged(word: Sequence[str], pair: Merge) -> list[str]:
    """Return a word's pieces with every occurrence of a pair made one."""
    made: list[str] = []
    at = 0
    while at < len(word):
        joined = tuple(word[at : at + 2]) == pair
        made.append(word[at] + word[at + 1] if joined else word[at])
        at += 1 + joined
    return made


class Pieces:
    """Splits terms by merges that were learned."""

    def __init__(self, merges: Sequence[Merge]) -> None:
        self._rank = {pair: rank for rank, pair in enumerate(merges)}
        self.vocabulary = sorted({piece for pair in merges for piece in (*pair, "".join(pair))})
        self.split = lru_cache(maxsize=1 << 20)(self._split)

    def _split(self, term: str) -> tuple[str, ...]:
        """Return the pieces of a term, those that say nothing left out."""
        word = list(term)
        while len(word) > 1:
            pairs = list(pairwise(word))
            first = min(pairs, key=lambda pair: self._rank.get(pair, len(self._rank)))
            if first not in self._rank:
                break
            word = merged(word, first)
        long = tuple(piece for piece in word if len(piece) >= LEAST_LETTERS)
        return long or tuple(word)


def write_merges(merges: Sequence[Merge], path: Path) -> None:
    """Write one merge a line."""
    path.write_text("".join(f"{left} {right}\n" for left, right in merges), encoding="utf-8")


def read_merges(path: Path) -> list[Merge]:
    """Read what ``write_merges`` wrote; none where there is no such file."""
    if not path.exists():
        return []
    pairs = (line.split(" ") for line in path.read_text("utf-8").splitlines())
    return [(left, right) for left, right in pairs]
