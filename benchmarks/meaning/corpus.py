"""The pairs of many repositories in one vocabulary, as flat arrays that batches are cut from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]
"""Of 32 bits where they are kept, of 64 where they are computed with."""

DOCS, PATH = 2, 5
BUCKETS = 1 << 17
"""Rows behind the vocabulary for other terms, by hash: without a vector, they count as words in common."""
_MOST_POSTINGS = 160
"""Of a unit; names and signatures come first, so a cut loses the end of a long body."""
_FIELD_ORDER = np.array([0, 1, 3, 4, 5, 2], np.int64)
_LEXICAL_FIELDS = np.array([3.0, 2.5, 0.3, 0.3, 1.7, 1.0], np.float32)
_SATURATION, _LENGTH = 0.2, 0.35
_SOURCE_WEIGHTS = np.array([2.2, 1.6, 2.0, 0.7, 0.6], np.float32)


@dataclass(frozen=True)
class Bags:
    """Bags of terms, one after the other: bag ``i`` is ``[start[i] : start[i + 1]]`` of the other columns."""

    start: Ints
    term: NDArray[np.int32]
    kind: NDArray[np.uint8]
    """Where the term stands: field of a unit, source of a goal."""
    count: NDArray[np.uint8]

    def take(self, rows: Ints) -> Bags:
        """Return the bags of some rows, in their order."""
        first, last = self.start[rows], self.start[rows + 1]
        lengths = last - first
        start = np.concatenate(([0], np.cumsum(lengths)))
        at = np.arange(start[-1]) + np.repeat(first - start[:-1], lengths)
        return Bags(start, self.term[at], self.kind[at], self.count[at])

    def select(self, kept: NDArray[np.bool_]) -> Bags:
        """Return the same bags with some of their postings."""
        before = np.concatenate(([0], np.cumsum(kept)))
        return Bags(before[self.start], self.term[kept], self.kind[kept], self.count[kept])

    @property
    def owner(self) -> Ints:
        """The bag of each posting."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))


@dataclass(frozen=True)
class Repository:
    """One repository's goals and units in the common vocabulary."""

    name: str
    goals: Bags
    units: Bags
    place: Ints
    language: NDArray[np.str_]
    changed_start: Ints
    changed: Ints
    neighbour_start: Ints
    neighbour: Ints
    idf: Floats
    """Inverse document frequency of every term of the vocabulary in this repository."""
    mean_length: float

    def changed_by(self, commit: int) -> Ints:
        """Return the units that a commit changed."""
        return self.changed[self.changed_start[commit] : self.changed_start[commit + 1]]

    def neighbours_of(self, commit: int) -> Ints:
        """Return units of the same files that it left alone."""
        return self.neighbour[self.neighbour_start[commit] : self.neighbour_start[commit + 1]]


def names_of(folder: Path) -> list[str]:
    """Return the repositories that have pairs."""
    return sorted({path.name.rsplit(".", 2)[0] for path in folder.glob("*.npz")})


def _parts(folder: Path, name: str) -> list[dict[str, Any]]:
    return [dict(np.load(path)) for path in sorted(folder.glob(f"{name}.*.npz"))]


def _terms(part: Mapping[str, Any]) -> list[str]:
    terms: bytes = part["terms"].tobytes()
    return terms.decode().split("\n")


def make_vocabulary(
    folder: Path, names: Iterable[str], size: int, *, least_repositories: int = 3
) -> list[str]:
    """Return the terms that most repositories share, the more units hold them the better; sorted."""
    repositories, units = count_terms(folder, names)
    common = [term for term, count in repositories.items() if count >= least_repositories]
    common.sort(key=lambda term: (-repositories[term] * np.log1p(units[term]), term))
    return sorted(common[:size], key=lambda term: term.encode())


def count_terms(folder: Path, names: Iterable[str]) -> tuple[Counter[str], Counter[str]]:
    """Return how many repositories hold each term, and how many units; a goal counts as four units."""
    repositories: Counter[str] = Counter()
    units: Counter[str] = Counter()
    for name in names:
        seen: set[str] = set()
        for part in _parts(folder, name):
            terms = _terms(part)
            held = np.bincount(part["unit_term"], minlength=len(terms)) + 4 * np.bincount(
                part["goal_term"], minlength=len(terms)
            )
            seen.update(terms)
            for term, count in zip(terms, held.tolist(), strict=True):
                units[term] += count
        repositories.update(seen)
    return repositories, units


def row_of(term: str, rows: Mapping[str, int]) -> int:
    """Return a term's row; others than those of the vocabulary get one of ``BUCKETS``."""
    return rows[term] if term in rows else len(rows) + crc32(term.encode()) % BUCKETS


def terms_by_row(folder: Path, name: str, rows: Mapping[str, int]) -> list[str]:
    """Return the term of each row as one repository uses it: the first of a bucket, "" for none."""
    terms = [""] * (len(rows) + BUCKETS)
    for part in _parts(folder, name):
        for term in _terms(part):
            row = row_of(term, rows)
            terms[row] = terms[row] or term
    return terms


def load(folder: Path, name: str, rows: Mapping[str, int], *, paths: bool = False) -> Repository:
    """Read one repository's parts; ``rows`` gives a term's row, others get one of ``BUCKETS``.

    ``paths`` keeps the words of each unit's path.
    """
    size = len(rows) + BUCKETS
    goals, units, joined = [], [], []
    unit_base = 0
    for part in _parts(folder, name):
        row = np.array([row_of(term, rows) for term in _terms(part)])
        goals.append(
            _bags(part["goal_start"], row[part["goal_term"]], part["goal_source"], part["goal_count"])
        )
        units.append(
            _trimmed(
                _bags(part["unit_start"], row[part["unit_term"]], part["unit_field"], part["unit_count"])
            )
        )
        columns = {key: part[key] + unit_base for key in ("changed", "neighbour")}
        columns |= {f"{key}_count": np.diff(part[f"{key}_start"]) for key in ("changed", "neighbour")}
        joined.append(columns | {key: part[f"unit_{key}"] for key in ("place", "language")})
        unit_base += len(part["unit_place"])
    column = {key: np.concatenate([part[key] for part in joined]) for key in joined[0]}
    all_units = _concatenated(units)
    if not paths:
        all_units = all_units.select(all_units.kind != PATH)
    return Repository(
        name,
        _concatenated(goals),
        all_units,
        column["place"].astype(np.int64),
        column["language"],
        np.concatenate(([0], np.cumsum(column["changed_count"]))),
        column["changed"].astype(np.int64),
        np.concatenate(([0], np.cumsum(column["neighbour_count"]))),
        column["neighbour"].astype(np.int64),
        _inverse_frequency(all_units, column["place"], size),
        float(np.diff(all_units.start).mean()),
    )


def _bags(start: Any, term: Any, kind: Any, count: Any) -> Bags:
    return Bags(start.astype(np.int64), term.astype(np.int32), kind.astype(np.uint8), count.astype(np.uint8))


def _trimmed(bags: Bags) -> Bags:
    owner = bags.owner
    order = np.lexsort((_FIELD_ORDER[bags.kind], owner))
    place = np.arange(len(owner)) - bags.start[owner]
    kept = order[place < _MOST_POSTINGS]
    counts = np.minimum(np.diff(bags.start), _MOST_POSTINGS)
    start = np.concatenate(([0], np.cumsum(counts)))
    return Bags(start, bags.term[kept], bags.kind[kept], bags.count[kept])


def _concatenated(parts: Sequence[Bags]) -> Bags:
    ends = np.cumsum([0] + [len(part.term) for part in parts])
    start = np.concatenate(
        [part.start[:-1] + end for part, end in zip(parts, ends, strict=False)] + [ends[-1:]]
    )
    return Bags(
        start.astype(np.int64),
        np.concatenate([part.term for part in parts]),
        np.concatenate([part.kind for part in parts]),
        np.concatenate([part.count for part in parts]),
    )


def _inverse_frequency(units: Bags, place: Any, size: int) -> Floats:
    """BM25's idf over functions: ``ln(1 + (N - n + .5) / (n + .5))``, of postings as in the product."""
    _, newest = np.unique(place, return_index=True)
    frequency = np.bincount(units.take(newest.astype(np.int64)).term, minlength=size).astype(np.float64)
    frequency = np.minimum(frequency, len(newest))
    return np.log1p((len(newest) - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)


def lexical_scores(repository: Repository, goals: Bags, units: Bags) -> Floats:
    """Return BM25F of every goal and unit, shape (goals, units): what a plain search would say."""
    from scipy.sparse import coo_matrix  # noqa: PLC0415

    size = len(repository.idf)
    goal_count, unit_count = len(goals.start) - 1, len(units.start) - 1
    query = coo_matrix(
        (_SOURCE_WEIGHTS[goals.kind], (goals.owner, goals.term)), shape=(goal_count, size)
    ).tocsr()
    query = query.multiply(repository.idf[None, :]).tocsr()
    frequency = coo_matrix(
        (_LEXICAL_FIELDS[units.kind] * units.count, (units.owner, units.term)), shape=(unit_count, size)
    ).tocsr()
    lengths = np.asarray(np.diff(units.start), np.float32)
    norm = _SATURATION * (1 - _LENGTH + _LENGTH * lengths / repository.mean_length)
    frequency.data = frequency.data / (frequency.data + np.repeat(norm, np.diff(frequency.indptr)))
    scores = np.asarray((query @ frequency.T).todense(), np.float32)
    total = np.maximum(np.asarray(query.sum(axis=1), np.float32), 1e-6)
    return scores / total
