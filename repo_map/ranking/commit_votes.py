"""What the past tells: which files commits like this goal changed, and what changed together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from repo_map.arrays import distinct
from repo_map.history.history import History
from repo_map.ranking.corpus import (
    Candidates,
    Corpus,
    Floats,
    Ints,
    concatenated_ranges,
    corpus_of,
    scaled,
    summed,
)

if TYPE_CHECKING:
    from repo_map.index.index import Index

_NEIGHBOURS = 80
"""Past commits that vote."""
_VOTES_OF_A_FILE = 5
_SHARPNESS = 2.0
_HALF_LIFE = 120.0
"""Commits after which a change is half as recent."""
_WIDEST_TOUCH = 400
"""Hunks over more lines of today than this are rewrites: they single no function out."""
_FRESH_SHARE = 0.5
"""Of a unit's lines: with more of them added of late it is another one."""
_NEWEST = 20
_NEWEST_SHARE = 0.1
"""Commits, at most so many and such a share of all: what they add no past vouches for yet."""


@dataclass(frozen=True, eq=False)
class AlignedHistory:
    """A history laid over the files and units of an index."""

    corpus: Corpus
    history: History

    @cached_property
    def file_at(self) -> Ints:
        """The index's file of each entry of ``history.file``, -1 for files it lacks."""
        return self._aligned[self.history.file]

    @cached_property
    def _aligned(self) -> Ints:
        return self.history.align(self.corpus.index.paths)

    @cached_property
    def established(self) -> NDArray[np.bool_]:
        """Whether each file of the index is committed, and not added by one of the newest commits.

        Files of a repository without history count as established.
        """
        history, index = self.history, self.corpus.index
        known = np.zeros(len(index.paths), np.bool_)
        known[self._aligned[self._aligned >= 0]] = True
        bare = [
            part.prefix
            for part in index.build.source.parts
            if not any(path.startswith(part.prefix) for path in history.paths)
        ]
        if bare:
            known |= np.array([path.startswith(tuple(bare)) for path in index.paths], np.bool_)
        added = self.file_at[history.file_is_new & (self._age < self._newest)]
        known[added[added >= 0]] = False
        return known

    @cached_property
    def fresh_units(self) -> Ints:
        """Units of such files that stand mostly on lines that the newest commits added, ascending."""
        history, index = self.history, self.corpus.index
        if not len(history.touch_file) or not len(index.units.start):
            return np.zeros(0, np.int64)
        # The age of a touch is that of its commit's entry of the file.
        entries = history.file_commit * len(history.paths) + history.file
        of_touch = np.searchsorted(entries, history.touch_commit * len(history.paths) + history.touch_file)
        lines = history.touch_last - history.touch_first + 1
        is_added = history.touch_size < 1.5 * lines
        files = self._aligned[history.touch_file]
        chosen = np.flatnonzero(is_added & (files >= 0) & (self._age[of_touch] < self._newest))
        units = index.units
        span = int(max(units.end.max(), history.touch_last.max())) + 2
        starts, ends = (self.corpus.file_of_unit * span + each for each in (units.start, units.end))
        first, last = (
            files[chosen] * span + each[chosen] for each in (history.touch_first, history.touch_last)
        )
        low, high = np.searchsorted(ends, first, side="left"), np.searchsorted(starts, last, side="right")
        high = np.maximum(high, low)
        unit, touch = concatenated_ranges(low, high), np.repeat(np.arange(len(chosen)), high - low)
        shared = np.minimum(ends[unit], last[touch]) - np.maximum(starts[unit], first[touch]) + 1
        added = summed(unit, shared, len(units.start))
        is_fresh = added > _FRESH_SHARE * (units.end - units.start + 1)
        return np.flatnonzero(is_fresh & self.established[self.corpus.file_of_unit])

    @cached_property
    def is_settled(self) -> NDArray[np.bool_]:
        """Whether each commit is none of the newest, which no later ones vouch for."""
        age = np.full(len(self.history), len(self.history), np.int64)
        np.minimum.at(age, self.history.file_commit, self._age)
        return age >= self._newest

    @cached_property
    def _newest(self) -> int:
        """How many commits no later ones vouch for."""
        return min(_NEWEST, int(_NEWEST_SHARE * len(self.history)))

    @cached_property
    def _age(self) -> Ints:
        """The age of each entry of ``history.file``: the commits after it that leave the file alone.

        Those that touch it again could be its author's own.
        """
        history = self.history
        changes = np.bincount(history.file, minlength=len(history.paths))
        order = np.lexsort((history.file_commit, history.file))
        newer = np.empty(len(order), np.int64)
        newer[order] = np.arange(len(order)) - (np.cumsum(changes) - changes)[history.file[order]]
        return history.file_commit - newer

    @cached_property
    def touches(self) -> tuple[Ints, Ints]:
        """Commit and unit of every function, class header or gap that a commit's hunks touch, once each."""
        history, index = self.history, self.corpus.index
        files = self._aligned[history.touch_file]
        if not len(files) or not len(index.units.start):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        span = int(max(index.units.end.max(), history.touch_last.max())) + 2
        starts = self.corpus.file_of_unit * span + index.units.start
        ends = self.corpus.file_of_unit * span + index.units.end
        known = (files >= 0) & (history.touch_last - history.touch_first < _WIDEST_TOUCH)
        first = files[known] * span + history.touch_first[known]
        last = files[known] * span + history.touch_last[known]
        low = np.searchsorted(ends, first, side="left")
        high = np.minimum(np.searchsorted(starts, last, side="right"), low + 6)
        counts = np.maximum(high - low, 0)
        unit = (
            np.repeat(low, counts)
            + np.arange(int(counts.sum()))
            - np.repeat(np.cumsum(counts) - counts, counts)
        )
        commit = np.repeat(history.touch_commit[known], counts)
        pairs = distinct(commit * (len(index.units.start) + 1) + unit)
        return pairs // (len(index.units.start) + 1), pairs % (len(index.units.start) + 1)

    @cached_property
    def message_frequency(self) -> Ints:
        """In how many messages each term stands."""
        return np.bincount(self.history.term, minlength=len(self.history.terms))

    @cached_property
    def message_length(self) -> Floats:
        """Words of each message."""
        return summed(self.history.term_commit, self.history.term_count, len(self.history))

    def similarity(self, goal_terms: Mapping[str, float]) -> Floats:
        """Return how like the goal each commit's message is, by BM25 over messages, the best being 1."""
        history = self.history
        weights = np.zeros(len(history.terms))
        for term, weight in goal_terms.items():
            row = history.term_row.get(term)
            if row is not None:
                count = self.message_frequency[row]
                weights[row] = weight * np.log1p((len(history) - count + 0.5) / (count + 0.5))
        hit = np.flatnonzero(weights[history.term])
        commit = history.term_commit[hit]
        count = history.term_count[hit].astype(np.float64)
        mean = float(self.message_length.mean()) or 1.0
        norm = 0.9 * (0.6 + 0.4 * self.message_length[commit] / mean)
        return summed(commit, weights[history.term[hit]] * count / (count + norm), len(history))


def aligned_history(corpus: Corpus, history: History) -> AlignedHistory:
    """Return a history laid over a corpus, made once."""
    return corpus.index.memo(_past, history)


def _past(index: Index, history: History) -> AlignedHistory:
    return AlignedHistory(corpus_of(index), history)


@dataclass(frozen=True, eq=False)
class CommitVotes:
    """Past commits like the goal, and how much each counts."""

    past: AlignedHistory
    weights: Floats
    """Per commit, 1 for the most alike, 0 for all but the nearest."""

    @cached_property
    def per_file(self) -> Floats:
        """Sum of the votes for each file of the index; wide commits vote less for each of their files."""
        return self._spread(self.weights)

    @cached_property
    def lift(self) -> Floats:
        """How much more of the votes than of all changes each file gets."""
        share = self.per_file / max(float(self.per_file.sum()), 1e-9)
        usual = self._spread(np.ones(len(self.weights)))
        return share / (usual / max(float(usual.sum()), 1e-9) + 1.0 / (len(usual) + 1))

    def _spread(self, weights: Floats) -> Floats:
        history, at = self.past.history, self.past.file_at
        value = (weights / np.sqrt(np.maximum(history.file_count, 1)))[history.file_commit]
        return summed(at[at >= 0], value[at >= 0], len(self.past.corpus.index.paths))


def vote(past: AlignedHistory, goal_terms: Mapping[str, float]) -> CommitVotes:
    """Let the past commits that are most like the goal vote."""
    alike = _spread_evenly(past, np.where(past.is_settled, past.similarity(goal_terms), 0.0))
    if len(alike) > _NEIGHBOURS:
        alike = np.where(alike >= np.partition(alike, -_NEIGHBOURS)[-_NEIGHBOURS], alike, 0.0)
    return CommitVotes(past, scaled(alike) ** _SHARPNESS)


def _spread_evenly(past: AlignedHistory, alike: Floats) -> Floats:
    """Leave out the commits that touch nothing but files for which enough more similar ones vote.

    Otherwise a row of commits that say the goal's words would leave no vote for anything else.
    """
    history, at = past.history, past.file_at
    known = np.flatnonzero((at >= 0) & (alike[history.file_commit] > 0))
    file, commit = at[known], history.file_commit[known]
    order = np.lexsort((commit, -alike[commit], file))
    starts = np.searchsorted(file[order], file[order])
    is_heard = np.zeros(len(alike), np.bool_)
    is_heard[commit[order][np.arange(len(order)) - starts < _VOTES_OF_A_FILE]] = True
    return np.where(is_heard, alike, 0.0)


def file_past_features(candidates: Candidates, votes: CommitVotes) -> dict[str, Floats]:
    """Return the signals of the past for each candidate file."""
    past = votes.past
    history, at = past.history, past.file_at
    files = len(past.corpus.index.paths)
    known = at >= 0
    changes = np.bincount(at[known], minlength=files)
    newest = np.full(files, len(history), np.int64)
    np.minimum.at(newest, at[known], history.file_commit[known])
    recent = np.where(changes > 0, 0.5 ** (newest / _HALF_LIFE), 0.0)
    chosen = candidates.files
    return {
        "h.vote": scaled(votes.per_file[chosen], candidates.main),
        "h.recent": recent[chosen],
        "h.lift": scaled(np.log1p(votes.lift[chosen]), candidates.main),
    }


def changed_together(candidates: Candidates, past: AlignedHistory, seeds: Mapping[int, float]) -> Floats:
    """Return how often each candidate file changed in the commits that changed likely files.

    ``seeds`` are the likely files and their shares; wide commits tie their files together less.
    """
    history, at = past.history, past.file_at
    files = len(past.corpus.index.paths)
    known = (at >= 0) & past.is_settled[history.file_commit]
    changes = np.bincount(at[known], minlength=files)
    narrow = 1.0 / np.sqrt(np.maximum(history.file_count, 1))
    weight = np.zeros(files)
    for file, share in seeds.items():
        weight[file] = share / np.sqrt(max(int(changes[file]), 1))
    with_seed = np.bincount(history.file_commit[known], weight[at[known]], len(history)) * narrow
    together = summed(at[known], with_seed[history.file_commit[known]], files)
    own = weight * np.bincount(at[known], narrow[history.file_commit[known]], files)
    together = np.maximum(together - own, 0.0) / np.sqrt(np.maximum(changes, 1))
    return scaled(together[candidates.files], candidates.main)
