"""Calls and overrides around the likeliest units, and what calls make of the units at their other end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np

from repo_map.ranking.corpus import Candidates, Floats, Ints
from repo_map.relations.model import Confidence, Place, Relation, RelationKind
from repo_map.relations.resolve import Relations, relations_of

SEEDS: Final = 12
"""Units whose calls are followed."""
_MOST_NAMED: Final = 400
"""Places that bear a name, beyond which its callers are not looked for: they would tell little."""


class Link(NamedTuple):
    """A call or an override between a likely unit and another one."""

    seed: int
    """Row of the likely unit."""
    other: int
    """Row of the unit at the other end, never the seed."""
    from_other: bool
    """Whether the other calls or overrides the seed, not the seed the other."""
    relation: Relation
    is_guess: bool
    """Whether the likely unit is of a language whose names are likely at best."""


class CallEdges(NamedTuple):
    """Resolved calls between units of the candidates; all of shape (edges,), each pair once a direction."""

    seed: Ints
    """Row of the unit that was asked about."""
    other: Ints
    """Row of the unit at the other end, never the seed."""
    calls_seed: Ints
    """1 where the other calls the seed, 0 where the seed calls the other."""


def links_around(candidates: Candidates, seeds: Ints) -> tuple[Link, ...]:
    """Return the calls and overrides of some units, in their order, facts and likely ones."""
    relations = relations_of(candidates.corpus.index)
    with relations.asking():
        return tuple(
            Link(seed, other, from_other, relation, relations.max_confidence(file) < Confidence.RESOLVED)
            for seed, (file, definition) in ((seed, _place(candidates, seed)) for seed in seeds.tolist())
            if definition >= 0 and relations.knows(file)
            for relation, from_other in _around(relations, (file, definition))
            if (other := _row(candidates, relation.source if from_other else relation.target)) >= 0
            and other != seed
        )


def call_edges(links: Iterable[Link]) -> CallEdges:
    """Return the calls that are facts, of languages whose names are resolved."""
    found = dict.fromkeys(
        (each.seed, each.other, int(each.from_other))
        for each in links
        if each.relation.kind is not RelationKind.OVERRIDE
        and each.relation.confidence is Confidence.RESOLVED
        and not each.is_guess
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


def _around(relations: Relations, place: Place) -> Iterator[tuple[Relation, bool]]:
    """Yield what a definition calls and overrides, and what calls and overrides it with True."""
    yield from ((each, False) for each in relations.calls_in(place, Confidence.LIKELY))
    if relations.occurrence_count(place) <= _MOST_NAMED:
        yield from ((each, True) for each in relations.callers_of(place, Confidence.LIKELY))
    yield from ((each, False) for each in relations.overrides_of(place))
    yield from ((each, True) for each in relations.overridden_by(place))


def _place(candidates: Candidates, row: int) -> Place:
    """Return the definition that a unit is, row -1 where it is none."""
    unit = int(candidates.units[row])
    file = int(candidates.files[candidates.file_row[row]])
    return file, int(candidates.corpus.index.units.definition[unit])


def _row(candidates: Candidates, place: Place) -> int:
    """Return the row of the unit that a definition stands in, -1 where there is none."""
    file, definition = place
    corpus = candidates.corpus
    if definition < 0:
        return -1
    unit = int(corpus.unit_of_symbol[int(corpus.index.symbols.file_start[file]) + definition])
    return int(candidates.row_of_unit[unit]) if unit >= 0 else -1
