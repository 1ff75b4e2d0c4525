"""BM25F scores of files and units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.ranking.corpus import Candidates, Corpus, Floats, Ints, scaled, summed
from repo_map.ranking.goal import GoalPart, ParsedGoal

SOURCE_WEIGHTS: Mapping[GoalPart, float] = {
    GoalPart.TITLE: 2.2,
    GoalPart.PROSE: 1.6,
    GoalPart.INLINE: 2.0,
    GoalPart.CODE: 0.7,
    GoalPart.ERROR: 0.6,
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

    ids: Ints
    """Ids in ``index.terms``."""
    sources: Mapping[GoalPart, Floats]
    """Source → 1 where the term stands in it."""
    weights: Floats
    """Weight of each term by the sources it stands in."""
    idf: Floats
    """Inverse document frequency over units."""
    goal_weights: Mapping[str, float]
    """Weight of every term of the goal, whether the files' text knows it or not."""


def make_query(corpus: Corpus, goal: ParsedGoal) -> Query:
    """Look up the goal's terms, and the compounds and longer words that they make."""
    table = corpus.index.terms
    where: dict[int, dict[str, float]] = {}
    unknown: list[str] = []
    for source, counts in goal.terms.items():
        for term in counts:
            found = table.get(term)
            if found is not None:
                where.setdefault(found, {})[source] = 1.0
            elif source in (GoalPart.TITLE, GoalPart.INLINE):
                unknown.append(term)
    for compound in goal.compounds:
        found = table.get(compound)
        if found is not None and found not in where:
            where[found] = {"compound": 1.0}
    for found, share in _longer_words(corpus, goal, unknown).items():
        where.setdefault(found, {"prefix": share})
    ids = np.array(sorted(where), np.int64)
    idf = inverse_frequency(corpus.term_postings[ids], len(corpus.index.units.start))
    weights = np.array([_weight(where[term]) for term in ids.tolist()])
    kept = np.sort(np.argsort(-weights * idf, kind="stable")[:_MOST_TERMS])
    columns = [where[term] for term in ids[kept].tolist()]
    return Query(
        ids=ids[kept],
        sources={part: np.array([column.get(part, 0.0) for column in columns]) for part in GoalPart},
        weights=weights[kept],
        idf=idf[kept],
        goal_weights=term_weights(goal),
    )


def term_weights(goal: ParsedGoal) -> dict[str, float]:
    """Return the terms of a goal, each with the weight of the parts that it stands in."""
    weights: dict[str, float] = {}
    for source, counts in goal.terms.items():
        for term in counts:
            weights[term] = weights.get(term, 0.0) + SOURCE_WEIGHTS[source]
    return weights


def _weight(column: Mapping[str, float]) -> float:
    weight = sum(SOURCE_WEIGHTS[source] for source in GoalPart if source in column)
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
    stems = dict.fromkeys([*unknown, *goal.terms[GoalPart.TITLE], *goal.terms[GoalPart.INLINE]])
    for stem in list(stems)[:60]:
        if len(stem) < _SHORTEST_PREFIX:
            continue
        encoded = stem.encode("utf-8", "replace")
        first, last = table.position(encoded), table.position(encoded + b"\xff")
        if 0 < last - first <= _WIDEST_PREFIX:
            found.update(dict.fromkeys(range(first, last), 1.0))
    flags = [flag.replace("-", "").lower() for flag in goal.flags[:6]]
    flags = [flag for flag in flags if len(flag) >= _SHORTEST_PREFIX]
    vocabulary = table.blob.tobytes() if flags else b""
    for flag in flags:
        holding = _terms_with(corpus, vocabulary, flag.encode())
        found.update(dict.fromkeys(holding, _PART_OF_A_TERM / _PREFIX_WEIGHT))
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


FIELD_WEIGHTS = np.array([3.0, 2.5, 0.3, 0.3, 1.7])
"""Name, signature, docs, strings, body."""
UNIT_SATURATION = 0.2
"""k1: in a function a term is there or not."""
UNIT_LENGTH = 0.35
"""b: how much a long unit's terms count less."""
_SOFT_SATURATION, _SOFT_LENGTH = 4.0, 0.6
FILE_SATURATION = 7.0
"""k1: in a file every occurrence counts almost as much as the first."""
FILE_LENGTH = 0.5


class Hits(NamedTuple):
    """The postings of some units that hold a term of the query."""

    row: Ints
    """Row of the unit (or file) among those that were searched."""
    column: Ints
    """Column of the query."""
    field: Ints
    occurrences: Floats


class Matches(NamedTuple):
    """One entry per unit (or file) and term that it holds."""

    row: Ints
    column: Ints
    saturation: Floats
    """How much of the term's weight the unit earns, between 0 and 1."""


def unit_hits(candidates: Candidates, ids: Ints) -> Hits:
    """Find terms in the units of the candidate files; columns follow the order of ``ids``."""
    corpus, (row, where) = candidates.corpus, candidates.postings
    column, at = _columns(corpus, ids, corpus.index.postings.term[where])
    return _hits_at(corpus, row[at], column, where[at])


def _columns(corpus: Corpus, ids: Ints, terms: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Return the columns of those ``terms`` that are among ``ids``, and their positions."""
    column_of_term = np.zeros(len(corpus.index.terms) + 1, np.int16)
    column_of_term[ids] = np.arange(1, len(ids) + 1)
    column = column_of_term[terms]
    at = np.flatnonzero(column)
    return column[at].astype(np.int64) - 1, at


def _hits_at(corpus: Corpus, row: Ints, column: Ints, where: Ints) -> Hits:
    postings = corpus.index.postings
    return Hits(row, column, postings.field[where].astype(np.int64), postings.count[where].astype(float))


def match(
    hits: Hits, lengths: Floats, mean_length: float, columns: int, *, saturation: float, b: float
) -> Matches:
    """Add up the fields of each unit (or file) and term, and saturate: BM25F, Robertson and Zaragoza 2009."""
    if not len(hits.row):
        return Matches(hits.row, hits.column, hits.occurrences)
    key = hits.row * columns + hits.column
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    frequency = np.add.reduceat((FIELD_WEIGHTS[hits.field] * hits.occurrences)[order], first)
    row, column = key[first] // columns, key[first] % columns
    norm = saturation * (1.0 - b + b * lengths[row] / max(mean_length, 1.0))
    return Matches(row, column, frequency / (frequency + norm))


def score(matches: Matches, column_weights: Floats, rows: int) -> Floats:
    """Add up the weights of the terms that each row holds."""
    return summed(matches.row, matches.saturation * column_weights[matches.column], rows)


def match_files(corpus: Corpus, ids: Ints) -> Matches:
    """Match terms with every file; columns follow the order of ``ids``."""
    index, lengths = corpus.index, corpus.file_length
    mean = float(lengths[lengths > 0].mean()) if (lengths > 0).any() else 1.0
    column, at = _columns(corpus, ids, index.postings.term)
    per_file = np.diff(np.searchsorted(at, index.postings.unit_start[index.units.file_start]))
    hits = _hits_at(corpus, np.repeat(np.arange(len(per_file)), per_file), column, at)
    return match(hits, lengths, mean, len(ids), saturation=FILE_SATURATION, b=FILE_LENGTH)


def match_units(candidates: Candidates, hits: Hits, columns: int, *, softly: bool = False) -> Matches:
    """Match terms with the units of the candidate files.

    ``softly``, a term that is repeated counts more, and a long unit less.
    """
    lengths = candidates.corpus.index.units.length
    mean = float(lengths.mean()) if len(lengths) else 1.0
    mine = lengths[candidates.units].astype(np.float64)
    saturation, b = (_SOFT_SATURATION, _SOFT_LENGTH) if softly else (UNIT_SATURATION, UNIT_LENGTH)
    return match(hits, mine, mean, columns, saturation=saturation, b=b)


def lexical_unit_features(candidates: Candidates, query: Query) -> dict[str, Floats]:
    """Return the unit features of words in common, each between 0 and 1 within the goal.

    ``u.wall`` counts words alone, without the weights of the parts that they are in.
    """
    hits = unit_hits(candidates, query.ids)
    rows = len(candidates.units)
    matches = match_units(candidates, hits, len(query.ids))
    said = np.maximum.reduce([*query.sources.values()])
    values = {
        "b.unit": score(matches, query.weights * query.idf, rows),
        "u.wall": score(matches, said * query.idf, rows),
    }
    return {name: scaled(each, candidates.main_unit) for name, each in values.items()}


def name_coverage(candidates: Candidates, query: Query) -> dict[str, Floats]:
    """Return how much of each unit's own name the goal says, the rare terms counting more.

    ``nm.cov`` looks at the goal's words outside code and errors, ``nm.tcov`` at its title.
    """
    title = query.sources[GoalPart.TITLE] > 0
    said = title | (query.sources[GoalPart.INLINE] > 0) | (query.sources[GoalPart.PROSE] > 0)
    covered = {}
    for name, columns in (("nm.cov", said), ("nm.tcov", title)):
        known = np.zeros(len(candidates.corpus.index.terms))
        known[query.ids[columns]] = 1.0
        covered[name] = name_share(candidates, known)
    return covered


def name_share(candidates: Candidates, covered: Floats) -> Floats:
    """Return how much of each unit's own name is covered, the rare terms counting more.

    ``covered`` holds for each term of the index how much it counts, between 0 and 1.
    """
    row, term = candidates.name_terms
    rows = len(candidates.units)
    idf = inverse_frequency(candidates.corpus.term_postings[term], len(candidates.corpus.index.units.start))
    return summed(row, idf * covered[term], rows) / np.maximum(summed(row, idf, rows), 1e-9)


def lexical_file_features(candidates: Candidates, query: Query, matches: Matches) -> dict[str, Floats]:
    """Return the file features of words in common; ``matches`` are those of every file."""
    files = len(candidates.corpus.index.paths)
    weights = {"b.file": query.weights * query.idf, "f.title": query.sources[GoalPart.TITLE] * query.idf}
    return {
        name: scaled(score(matches, each, files)[candidates.files], candidates.main)
        for name, each in weights.items()
    }
