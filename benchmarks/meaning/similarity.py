"""How near the code of each unit is to what a goal means, words in common or not."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from benchmarks.meaning.embedding import Embedding, Floats
from repo_map.relevance.corpus import Corpus, Ints, concatenated_ranges
from repo_map.relevance.goal import ParsedGoal, Source

_SOURCES = tuple(Source)
_HIGHEST_COUNT = 256


def similarity(corpus: Corpus, goal: ParsedGoal, units: Ints, embedding: Embedding) -> Floats:
    """Return how near each of ``units`` is to the goal: a sum over the unit's terms, about -1 to 1.

    A unit's vector is the weighted sum of its terms' vectors over the root of the sum of squared weights, so
    its product with the goal's is a sum of one number per posting, and no vector of a unit is ever made.
    """
    known = _known_terms(corpus, embedding)
    meant = goal_vector(corpus, goal, embedding)
    side, postings = embedding.code, corpus.index.postings
    nearness = (side.vectors.astype(np.float32) @ meant) * side.scale
    starts = postings.unit_start
    first, last = starts[units], starts[units + 1]
    at = concatenated_ranges(first, last)
    owner = np.repeat(np.arange(len(units)), last - first)
    row = known.row[postings.term[at]]
    kept = np.flatnonzero(row >= 0)
    at, owner, row = at[kept], owner[kept], row[kept]
    counts = np.arange(_HIGHEST_COUNT, dtype=np.float32) ** np.float32(side.power)
    weight = known.weight[postings.term[at]] * side.kind[postings.field[at]] * counts[postings.count[at]]
    gained = np.bincount(owner, weight * nearness[row], len(units))
    power = np.bincount(owner, weight * weight, len(units))
    # Rounded, so that a processor's way of adding up does not reach the order of units.
    near: Floats = np.round(gained / np.sqrt(power + 1e-6), 5).astype(np.float32)
    return near


def goal_vector(corpus: Corpus, goal: ParsedGoal, embedding: Embedding) -> Floats:
    """Return the goal's vector, made as a unit's is: zeros when the embedding knows none of its terms."""
    side = embedding.goal
    total, power = np.zeros(side.vectors.shape[1], np.float32), 0.0
    for source, counts in goal.terms.items():
        for term, count in counts.items():
            row = embedding.rows.get(term.encode("utf-8", "replace"))
            if row is not None:
                rare = _rarity(corpus, term) ** side.rarity
                weight = (
                    float(side.weight[row] * side.kind[_SOURCES.index(source)]) * count**side.power * rare
                )
                total += (weight * float(side.scale[row])) * side.vectors[row]
                power += weight * weight
    return total / np.float32((power + 1e-6) ** 0.5)


def _rarity(corpus: Corpus, term: str) -> float:
    at = corpus.index.terms.get(term)
    return float(
        inverse_frequency(corpus, corpus.term_postings[[at]] if at is not None else np.zeros(1, np.int64))[0]
    )


def inverse_frequency(corpus: Corpus, frequency: Ints) -> Floats:
    """BM25's idf over units: ``ln(1 + (N - n + .5) / (n + .5))``, of postings instead of units."""
    documents = len(corpus.index.units.start)
    within = np.minimum(frequency, documents)
    return np.log1p((documents - within + 0.5) / (within + 0.5)).astype(np.float32)


class _Known(NamedTuple):
    """What the embedding says of each term of an index."""

    row: Ints
    """Its row, -1 where the embedding lacks it."""
    weight: Floats
    """Its weight in this repository, without field and count."""


@lru_cache(maxsize=2)
def _known_terms(corpus: Corpus, embedding: Embedding) -> _Known:
    rows = embedding.rows
    row = np.array([rows.get(term, -1) for term in corpus.index.terms.iter_bytes()], np.int64)
    side = embedding.code
    if not len(row):
        return _Known(row, np.zeros(0, np.float32))
    rare = inverse_frequency(corpus, corpus.term_postings) ** np.float32(side.rarity)
    return _Known(row, np.where(row >= 0, side.weight[row] * rare, np.float32(0)))
