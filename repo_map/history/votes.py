"""What past commits say about a goal: which files and units commits like it changed, and in which words.

Everything is one pass of numpy over a ``History``. A commit's vote is its similarity times its narrowness: a
commit of one file says more about that file than one of thirty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.history.value import History

Floats = NDArray[np.float64]

_SATURATION = 1.2
_LENGTH_SHARE = 0.4
_HALF_LIFE_DAYS = 365.0
_MOST_UNITS = 8
"""A hunk over more units than this is a rewrite: it singles none out."""


class FileVotes(NamedTuple):
    """Per row of ``History.paths``."""

    total: Floats
    """Summed votes of the commits that touched the file."""
    best: Floats
    """Similarity of the most similar of them."""
    commit: NDArray[np.int64]
    """That most similar commit, -1 where no commit like the goal touched the file."""
    close: NDArray[np.int64]
    """How many commits like the goal (similarity ≥ half of the best overall) touched the file."""


class TouchedUnits(NamedTuple):
    """Which commit touched which unit of today, one entry for each pair, by commit."""

    commit: NDArray[np.int64]
    unit: NDArray[np.int64]
    """Row of the unit table."""
    share: Floats
    """1 / number of units that the commit touched."""


def similarity(history: History, goal: Mapping[str, float]) -> Floats:
    """Return how like the goal's weighted terms each commit's message is, 0 to 1 (BM25 over its maximum)."""
    commits = len(history)
    weights = np.zeros(len(history.terms))
    for term, weight in goal.items():
        if (row := history.term_row.get(term)) is not None:
            weights[row] = weight
    spread = np.bincount(history.term, minlength=len(history.terms))
    rarity = np.log1p((commits - spread + 0.5) / (spread + 0.5))
    lengths = np.bincount(history.term_commit, history.term_count, minlength=commits)
    norm = 1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths / max(lengths.mean(), 1e-9)
    count = history.term_count.astype(np.float64)
    gain = count * (_SATURATION + 1) / (count + _SATURATION * norm[history.term_commit])
    value = (weights * rarity)[history.term] * gain
    scores = np.bincount(history.term_commit, value, minlength=commits)
    highest = float((weights * rarity).sum()) * (_SATURATION + 1)
    return np.asarray(scores / highest if highest > 0 else scores, np.float64)


def narrowness(history: History) -> Floats:
    """Return the weight of each commit's vote: 1 for one file, falling with the root of their number."""
    return np.asarray(1 / np.sqrt(np.maximum(history.breadth, 1)), np.float64)


def file_votes(history: History, alike: Floats) -> FileVotes:
    """Return what the commits say about each file, given their ``similarity`` to the goal."""
    files = len(history.paths)
    value = alike[history.file_commit]
    total = np.bincount(history.file, value * narrowness(history)[history.file_commit], minlength=files)
    best = np.zeros(files)
    np.maximum.at(best, history.file, value)
    commit = np.full(files, -1, np.int64)
    tops = np.flatnonzero((value > 0) & (value == best[history.file]))
    # Written from the oldest to the newest, so that of equals the newest stays.
    commit[history.file[tops[::-1]]] = history.file_commit[tops[::-1]]
    close = value >= max(float(alike.max(initial=0)) / 2, 1e-9)
    counts = np.bincount(history.file[close], minlength=files).astype(np.int64)
    return FileVotes(total.astype(np.float64), best, commit, counts)


def churn(history: History) -> Floats:
    """Return how often each file changed."""
    return np.bincount(history.file, minlength=len(history.paths)).astype(np.float64)


def recency(history: History, half_life_days: float = _HALF_LIFE_DAYS) -> Floats:
    """Return how often each file changed; one change a half life ago counts half."""
    fresh = np.exp2(-history.age / half_life_days)[history.file_commit]
    return np.bincount(history.file, fresh, minlength=len(history.paths)).astype(np.float64)


def changed_together(history: History, seeds: Floats) -> Floats:
    """Return, per file, the mean seed weight of what it changed with; ``seeds`` are weights per file.

    Each commit passes its heaviest seed on to its other files; a file's share is smoothed by two commits, so
    that one shared commit is no certainty.
    """
    narrow = narrowness(history)
    heaviest = np.zeros(len(history))
    second = np.zeros(len(history))
    weight = seeds[history.file]
    np.maximum.at(heaviest, history.file_commit, weight)
    others = np.where(weight == heaviest[history.file_commit], 0.0, weight)
    np.maximum.at(second, history.file_commit, others)
    passed = np.where(others == weight, heaviest[history.file_commit], second[history.file_commit])
    value = passed * narrow[history.file_commit]
    files = len(history.paths)
    total = np.bincount(history.file, value, minlength=files)
    return np.asarray(total / (np.bincount(history.file, minlength=files) + 2.0), np.float64)


def touched_units(
    history: History,
    file_of: NDArray[np.int64],
    unit_file_start: NDArray[np.integer],
    unit_start: NDArray[np.integer],
    unit_end: NDArray[np.integer],
) -> TouchedUnits:
    """Find the units that each commit's hunks lie on.

    ``file_of`` is ``history.align(index.paths)``; the unit columns hold first and last line, each file's
    units in order and without overlap.
    """
    file = file_of[history.touch_file]
    known = np.flatnonzero(file >= 0)
    file = file[known]
    # One sorted key for all files: units of file f lie between f * stride and (f + 1) * stride.
    stride = int(max(unit_end.max(initial=0), history.touch_last.max(initial=0))) + 2
    unit_file = np.repeat(np.arange(len(unit_file_start) - 1), np.diff(unit_file_start))
    ends = unit_file * stride + unit_end
    starts = unit_file * stride + unit_start
    first = np.searchsorted(ends, file * stride + history.touch_first[known], side="left")
    last = np.searchsorted(starts, file * stride + history.touch_last[known], side="right") - 1
    number = last - first + 1
    narrow = np.flatnonzero((number > 0) & (number <= _MOST_UNITS))
    number = number[narrow]
    offsets = np.arange(int(number.sum())) - np.repeat(np.cumsum(number) - number, number)
    unit = np.repeat(first[narrow], number) + offsets
    commit = np.repeat(history.touch_commit[known][narrow], number)
    pairs = np.unique(commit * (len(unit_start) + 1) + unit)
    commit, unit = np.divmod(pairs, len(unit_start) + 1)
    return TouchedUnits(commit, unit, 1.0 / np.bincount(commit, minlength=len(history))[commit])


def unit_votes(touched: TouchedUnits, alike: Floats, units: int) -> Floats:
    """Return the summed votes per unit: similarity of each commit times the unit's share of it."""
    value = alike[touched.commit] * np.sqrt(touched.share)
    return np.bincount(touched.unit, value, minlength=units).astype(np.float64)


def translate(
    touched: TouchedUnits,
    alike: Floats,
    unit_start: NDArray[np.integer],
    terms: NDArray[np.integer],
    vocabulary: int,
) -> Floats:
    """Return the weight of each code term in the units that commits like the goal changed.

    The goal's words meet the identifiers of the code here: a commit lends its similarity, shared out over its
    units, to the terms of each. ``unit_start`` and ``terms`` are the index's postings (CSR). Common terms
    must be weighed down by the caller, who knows their rarity.
    """
    lent = np.bincount(touched.unit, alike[touched.commit] * touched.share, minlength=len(unit_start) - 1)
    rows = np.flatnonzero(lent)
    sizes = (unit_start[rows + 1] - unit_start[rows]).astype(np.int64)
    offsets = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    entries = np.repeat(unit_start[rows], sizes) + offsets
    return np.bincount(terms[entries], np.repeat(lent[rows], sizes), minlength=vocabulary).astype(np.float64)
