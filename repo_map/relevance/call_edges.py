"""Resolved calls around the likeliest units, and what they make of the units at their other end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from repo_map.relations.model import Confidence, Place
from repo_map.relations.resolve import Relations, relations_of
from repo_map.relevance.corpus import Candidates, Floats, Ints

SEEDS: Final = 12
"""Units whose calls are followed."""
_MOST_NAMED: Final = 400
"""Places that bear a name, beyond which its callers are not looked for: they would tell little."""


class CallEdges(NamedTuple):
    """Resolved calls between units of the candidates; all of shape (edges,), each pair once a direction."""

    seed: Ints
    """Row of the unit that was asked about."""
    other: Ints
    """Row of the unit at the other end, never the seed."""
    calls_seed: Ints
    """1 where the other calls the seed, 0 where the seed calls the other."""


def call_edges(candidates: Candidates, seeds: Ints) -> CallEdges:
    """Return the calls that are stated as facts from and to some units, in the order of ``seeds``."""
    relations = relations_of(candidates.corpus.index)
    found = dict.fromkeys(
        (seed, other, calls_seed)
        for seed in seeds.tolist()
        for other, calls_seed in _around(candidates, relations, seed)
        if other >= 0 and other != seed
    )
    return CallEdges(*np.array(list(found), np.int64).reshape(-1, 3).T)


def neighbour_bonus(scores: Floats, edges: CallEdges, order: Ints) -> Floats:
    """Return what each unit's score gains from the likeliest unit that it calls, or that calls it.

    The unit at place p (from 0) hands 1 / (1 + p)^¼ to those that it calls, divided by the root of their
    number, and as much to those that call it. Settings around these did equally well on the development
    tasks.

    Args:
        scores: of all units, shape (units,).
        edges: of the first units of ``order``.
        order: rows of the units, best first.
    """
    bonus = np.zeros(len(scores))
    place = np.full(len(scores), len(scores), np.int64)
    place[order] = np.arange(len(order))
    kept = place[edges.seed] < SEEDS
    seed, other, direction = edges.seed[kept], edges.other[kept], edges.calls_seed[kept]
    among = np.bincount(2 * seed + direction, minlength=2 * len(scores))[2 * seed + direction]
    np.maximum.at(bonus, other, (1.0 + place[seed]) ** -0.25 / np.sqrt(among))
    return bonus


def _around(candidates: Candidates, relations: Relations, seed: int) -> Iterator[tuple[int, int]]:
    """Yield the row of what a unit calls with 0, and of what calls it with 1."""
    index = candidates.corpus.index
    unit = int(candidates.units[seed])
    file, definition = int(candidates.files[candidates.file_row[seed]]), int(index.units.definition[unit])
    if definition < 0 or not relations.knows(file) or relations.surest(file) < Confidence.RESOLVED:
        return
    place = (file, definition)
    for each in relations.calls_in(place):
        yield _row(candidates, each.target), 0
    if relations.named_at(place) <= _MOST_NAMED:
        for each in relations.callers_of(place):
            yield _row(candidates, each.source), 1


def _row(candidates: Candidates, place: Place) -> int:
    """Return the row of the unit that a definition stands in, -1 where there is none."""
    file, definition = place
    corpus = candidates.corpus
    if definition < 0:
        return -1
    unit = int(corpus.unit_of_symbol[int(corpus.index.symbols.file_start[file]) + definition])
    return int(candidates.row_of_unit[unit]) if unit >= 0 else -1
