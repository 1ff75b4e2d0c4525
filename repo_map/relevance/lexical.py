"""Words in common: BM25F of files and units, for the whole goal and for each part of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from repo_map.relevance.candidates import Candidates
from repo_map.relevance.corpus import Corpus, Floats, Ints, concatenated_ranges, scaled, summed
from repo_map.relevance.query import Query, inverse_frequency
from repo_map.relevance.units import DOCS, NAME, SIGNATURE, STRINGS

FIELD_WEIGHTS = np.array([3.0, 2.5, 0.3, 0.3, 1.7])
"""Name, signature, docs, strings, body."""
UNIT_SATURATION = 0.2
"""k1: in a function a term is there or not."""
UNIT_LENGTH = 0.35
"""b: how much a long unit's terms count less."""
FILE_SATURATION = 7.0
"""k1: in a file every occurrence counts almost as much as the first."""
FILE_LENGTH = 0.5
SOURCES = ("title", "prose", "code", "inline", "error", "wall")
_FIELDS = {"name": NAME, "sig": SIGNATURE, "doc": DOCS, "str": STRINGS}


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


def file_hits(corpus: Corpus, query: Query) -> Hits:
    """Find the query's terms in every file of the repository."""
    postings = corpus.index.postings
    column_of_term = np.zeros(len(corpus.index.terms) + 1, np.int16)
    column_of_term[query.ids] = np.arange(1, len(query.ids) + 1)
    column = column_of_term[postings.term]
    at = np.flatnonzero(column)
    per_file = np.diff(np.searchsorted(at, corpus.file_postings))
    row = np.repeat(np.arange(len(per_file)), per_file)
    return Hits(
        row,
        column[at].astype(np.int64) - 1,
        postings.field[at].astype(np.int64),
        postings.count[at].astype(float),
    )


def unit_hits(candidates: Candidates, ids: Ints) -> Hits:
    """Find terms in the units of the candidate files; columns follow the order of ``ids``."""
    index = candidates.corpus.index
    starts, postings = index.postings.unit_start, index.postings
    first, last = starts[candidates.units], starts[candidates.units + 1]
    where = concatenated_ranges(first, last)
    column_of_term = np.zeros(len(index.terms) + 1, np.int16)
    column_of_term[ids] = np.arange(1, len(ids) + 1)
    column = column_of_term[postings.term[where]]
    at = np.flatnonzero(column)
    row = np.repeat(np.arange(len(first)), last - first)[at]
    where = where[at]
    return Hits(
        row,
        column[at].astype(np.int64) - 1,
        postings.field[where].astype(np.int64),
        postings.count[where].astype(float),
    )


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


def match_files(corpus: Corpus, query: Query) -> Matches:
    """Match the query with every file."""
    lengths = corpus.file_length
    mean = float(lengths[lengths > 0].mean()) if (lengths > 0).any() else 1.0
    return match(
        file_hits(corpus, query), lengths, mean, len(query.ids), saturation=FILE_SATURATION, b=FILE_LENGTH
    )


def match_units(candidates: Candidates, hits: Hits, columns: int) -> Matches:
    """Match terms with the units of the candidate files."""
    lengths = candidates.corpus.index.units.length
    mean = float(lengths.mean()) if len(lengths) else 1.0
    mine = lengths[candidates.units].astype(np.float64)
    return match(hits, mine, mean, columns, saturation=UNIT_SATURATION, b=UNIT_LENGTH)


def lexical_unit_features(candidates: Candidates, query: Query, error_terms: Floats) -> dict[str, Floats]:
    """Return the unit signals of words in common, each between 0 and 1 within the goal.

    ``error_terms`` marks the columns of the query that stand in quoted messages.
    """
    hits = unit_hits(candidates, query.ids)
    rows = len(candidates.units)
    matches = match_units(candidates, hits, len(query.ids))
    weighted = query.weights * query.idf
    features = {"b.unit": score(matches, weighted, rows)}
    for source in SOURCES:
        features[f"u.{source}"] = score(matches, query.sources[source] * query.idf, rows)
    total = float(weighted.sum()) or 1.0
    features["cov.unit"] = np.bincount(matches.row, weighted[matches.column], rows) / total
    for field, number in _FIELDS.items():
        features[f"fld.{field}"] = _field_score(hits, number, weighted, rows)
    features["fld.errstr"] = _field_score(hits, STRINGS, error_terms * query.idf, rows)
    if error_terms.any():
        features["fld.errstr"] /= float((error_terms * query.idf).sum())
    features["g.comp"] = _field_score(hits, NAME, query.sources["compound"] * query.idf, rows)
    features["g.pre"] = score(matches, query.sources["prefix"] * query.idf, rows)
    keep = ("cov.unit", "fld.errstr")
    main = candidates.main_unit
    return {name: values if name in keep else scaled(values, main) for name, values in features.items()}


def name_coverage(candidates: Candidates, query: Query) -> dict[str, Floats]:
    """Return how much of each unit's own name the goal says, the rare terms counting more.

    ``nm.cov`` looks at the goal's words outside code and errors, ``nm.tcov`` at its title.
    """
    corpus, postings = candidates.corpus, candidates.corpus.index.postings
    rows = len(candidates.units)
    first, last = postings.unit_start[candidates.units], postings.unit_start[candidates.units + 1]
    where = concatenated_ranges(first, last)
    in_name = postings.field[where] == NAME
    row = np.repeat(np.arange(rows), last - first)[in_name]
    term = postings.term[where[in_name]]
    idf = inverse_frequency(corpus.term_postings[term], len(corpus.index.units.start))
    whole = np.maximum(summed(row, idf, rows), 1e-9)
    title = query.sources["title"] > 0
    said = title | (query.sources["inline"] > 0) | (query.sources["prose"] > 0)
    covered = {}
    for name, columns in (("nm.cov", said), ("nm.tcov", title)):
        known = np.zeros(len(corpus.index.terms), np.bool_)
        known[query.ids[columns]] = True
        covered[name] = summed(row, idf * known[term], rows) / whole
    return covered


def _field_score(hits: Hits, field: int, column_weights: Floats, rows: int) -> Floats:
    inside = hits.field == field
    return summed(hits.row[inside], column_weights[hits.column[inside]], rows)


def lexical_file_features(candidates: Candidates, query: Query, matches: Matches) -> dict[str, Floats]:
    """Return the file signals of words in common; ``matches`` are those of every file."""
    files = len(candidates.corpus.index.paths)
    weighted = query.weights * query.idf
    total = float(weighted.sum()) or 1.0
    features = {"b.file": scaled(score(matches, weighted, files)[candidates.files], candidates.main)}
    for source in SOURCES:
        values = score(matches, query.sources[source] * query.idf, files)
        features[f"f.{source}"] = scaled(values[candidates.files], candidates.main)
    covered = summed(matches.row, weighted[matches.column], files)
    features["cov.file"] = covered[candidates.files] / total
    features["g.pre"] = scaled(score(matches, query.sources["prefix"] * query.idf, files)[candidates.files])
    return features
