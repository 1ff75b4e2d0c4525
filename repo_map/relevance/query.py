"""The goal's terms as columns: where each stands in the goal, and how rare it is in the repository."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from repo_map.relevance.corpus import Corpus, Floats, Ints
from repo_map.relevance.goal import ParsedGoal, Source

SOURCE_WEIGHTS: Mapping[Source, float] = {
    Source.TITLE: 2.2,
    Source.PROSE: 1.6,
    Source.INLINE: 2.0,
    Source.CODE: 0.7,
    Source.ERROR: 0.6,
}
_COMPOUND_WEIGHT = 1.5
_PREFIX_WEIGHT = 0.5
_MOST_TERMS = 250
_SHORTEST_PREFIX = 5
_WIDEST_PREFIX = 24
_PART_OF_A_TERM = 0.7
"""A flag's name inside a longer term counts this much of a whole one."""


class Query(NamedTuple):
    """The terms of a goal that the repository knows, one column each."""

    terms: tuple[str, ...]
    ids: Ints
    """Ids in ``index.terms``."""
    sources: Mapping[str, Floats]
    """Source → 1 where the term stands in it; also ``wall`` (anywhere), ``compound`` and ``prefix``."""
    weights: Floats
    """Weight of each term by the sources it stands in."""
    idf: Floats
    """Inverse document frequency over units."""
    goal_weights: Mapping[str, float]
    """Weight of every term of the goal, whether the files' text knows it or not."""
    unknown: tuple[str, ...]
    """Terms of the title and of inline code that the repository lacks."""


def make_query(corpus: Corpus, goal: ParsedGoal) -> Query:
    """Look up the goal's terms, and the compounds and longer words that they make."""
    table = corpus.index.terms
    where: dict[int, dict[str, float]] = {}
    names: dict[int, str] = {}
    unknown: list[str] = []
    for source, counts in goal.terms.items():
        for term in counts:
            found = table.get(term)
            if found is not None:
                where.setdefault(found, {})[source] = 1.0
                names[found] = term
            elif source in (Source.TITLE, Source.INLINE):
                unknown.append(term)
    for compound in goal.compounds:
        found = table.get(compound)
        if found is not None and found not in where:
            where[found] = {"compound": 1.0}
            names[found] = compound
    for found, share in _longer_words(corpus, goal, unknown).items():
        if found not in where:
            where[found] = {"prefix": share}
            names[found] = table[found]
    ids = sorted(where)
    frequency = corpus.term_postings[ids].astype(np.float64) if ids else np.zeros(0)
    idf = inverse_frequency(frequency, len(corpus.index.units.start))
    weights = np.array([_weight(where[term]) for term in ids])
    kept = np.sort(np.argsort(-weights * idf, kind="stable")[:_MOST_TERMS])
    columns = [where[ids[row]] for row in kept]
    sources = {
        name: np.array([column.get(name, 0.0) for column in columns])
        for name in (*(source.value for source in Source), "compound", "prefix")
    }
    sources["wall"] = np.array([float(any(name in column for name in Source)) for column in columns])
    return Query(
        terms=tuple(names[ids[row]] for row in kept),
        ids=np.array([ids[row] for row in kept], np.int64),
        sources=sources,
        weights=weights[kept],
        idf=idf[kept],
        goal_weights=_goal_weights(goal),
        unknown=tuple(dict.fromkeys(unknown)),
    )


def _goal_weights(goal: ParsedGoal) -> dict[str, float]:
    weights: dict[str, float] = {}
    for source, counts in goal.terms.items():
        for term in counts:
            weights[term] = weights.get(term, 0.0) + SOURCE_WEIGHTS[source]
    return weights


def _weight(column: Mapping[str, float]) -> float:
    weight = sum(SOURCE_WEIGHTS[source] for source in Source if source in column)
    return (
        weight + _COMPOUND_WEIGHT * column.get("compound", 0.0) + _PREFIX_WEIGHT * column.get("prefix", 0.0)
    )


def inverse_frequency(frequency: Floats | Ints, documents: int) -> Floats:
    """BM25's idf: ``ln(1 + (N - n + .5) / (n + .5))``."""
    frequency = np.minimum(frequency, documents)
    return np.log1p((documents - frequency + 0.5) / (frequency + 0.5))


def _longer_words(corpus: Corpus, goal: ParsedGoal, unknown: list[str]) -> dict[int, float]:
    """Return terms that begin with a word of the goal, or that hold a flag's name: ``showfixtures``."""
    table = corpus.index.terms
    found: dict[int, float] = {}
    stems = dict.fromkeys([*unknown, *goal.terms[Source.TITLE], *goal.terms[Source.INLINE]])
    for stem in list(stems)[:60]:
        if len(stem) < _SHORTEST_PREFIX:
            continue
        encoded = stem.encode("utf-8", "replace")
        first, last = table.position(encoded), table.position(encoded + b"\xff")
        if 0 < last - first <= _WIDEST_PREFIX:
            found.update(dict.fromkeys(range(first, last), 1.0))
    flags = [flag.replace("-", "").lower() for flag in goal.flags]
    if any(len(flag) >= _SHORTEST_PREFIX for flag in flags):
        vocabulary = table.blob.tobytes()
        for flag in flags[:6]:
            if len(flag) >= _SHORTEST_PREFIX:
                found.update(
                    dict.fromkeys(
                        _terms_with(corpus, vocabulary, flag.encode()), _PART_OF_A_TERM / _PREFIX_WEIGHT
                    )
                )
    return found


def _terms_with(corpus: Corpus, vocabulary: bytes, part: bytes) -> list[int]:
    """Return the ids of the first terms that hold ``part``."""
    starts = corpus.index.terms.starts
    found: list[int] = []
    at = vocabulary.find(part)
    while at >= 0 and len(found) < _WIDEST_PREFIX:
        term = int(np.searchsorted(starts, at, side="right")) - 1
        if at + len(part) <= int(starts[term + 1]):
            found.append(term)
        at = vocabulary.find(part, at + 1)
    return found
