"""Which pairs of a goal word and a code word enter a table: those that a score test finds worth a weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import csr_matrix

from benchmarks.meaning.code_words import known_terms
from benchmarks.meaning.corpus import Floats, Ints
from benchmarks.meaning.list_file import Lists
from benchmarks.meaning.list_loss import all_lists, matrix_of

_BLOCK = 1_500
_LEAST_GOALS, _LEAST_REPOSITORIES = 25, 4
_FAINT_SLOPE, _FAINT_ENTRY = 0.03, 0.04


class Choice(NamedTuple):
    """What a pair of words must show to enter the table."""

    most: int = 40
    """Code words of one goal word."""
    least_score: float = 2.2
    """Standard deviations."""
    least_repositories: int = 3


def unexplained(lists: Lists, scores: Floats, words: Ints) -> csr_matrix:
    """Return, for each goal, the code words that its changed functions hold more than the scores expect."""
    slope = np.zeros(len(scores))
    all_lists(scores.astype(np.float64), lists.starts, lists.changed, slope)
    slope[np.abs(slope) < _FAINT_SLOPE] = 0
    shape = len(lists.changed), lists.units.shape[0]
    pull = csr_matrix((-slope.astype(np.float32), (lists.owner, lists.candidates)), shape=shape)
    pull.eliminate_zeros()
    held = (pull @ lists.units[:, words]).tocsr()
    held.data[np.abs(held.data) < _FAINT_ENTRY] = 0
    held.eliminate_zeros()
    return held


class _Tally(NamedTuple):
    """What pairs of words showed so far, shape (goal words, code words)."""

    total: Any
    square: Any
    repositories: Any


@njit(cache=True)
def _add_up(asked, held, mean, tally):  # type: ignore[no-untyped-def]
    words = tally.total.shape[1]
    here, touched = np.zeros(words, np.float32), np.zeros(words, np.int32)
    for term in range(len(asked.row) - 1):
        count, sum_asked = 0, 0.0
        for entry in range(asked.row[term], asked.row[term + 1]):
            goal, weight = asked.at[entry], asked.value[entry]
            sum_asked += weight
            for at in range(held.row[goal], held.row[goal + 1]):
                word, gained = held.at[at], weight * held.value[at]
                if here[word] == 0.0:
                    touched[count] = word
                    count += 1
                    here[word] = 1e-12
                here[word] += gained
                tally.square[term, word] += gained * gained
        for word in touched[:count]:
            # What the word draws whatever the goal says is no translation.
            gained = here[word] - sum_asked * max(mean[word], 0.0)
            tally.total[term, word] += gained
            tally.repositories[term, word] += gained > 0.02
            here[word] = 0.0


def choose(lists: Sequence[Lists], scores: Sequence[Floats], choice: Choice) -> csr_matrix:
    """Return the pairs of words worth a weight, each with its score."""
    size = lists[0].goals.shape[1]
    said = np.stack([np.bincount(one.goals.indices, minlength=size) for one in lists])
    goal_words = np.flatnonzero(
        (said.sum(axis=0) >= _LEAST_GOALS) & ((said > 0).sum(axis=0) >= _LEAST_REPOSITORIES)
    )
    code_words = known_terms(lists, _LEAST_REPOSITORIES + 1)
    held = [unexplained(one, mine, code_words) for one, mine in zip(lists, scores, strict=True)]
    rows, columns, values = [], [], []
    for first in range(0, len(goal_words), _BLOCK):
        block = goal_words[first : first + _BLOCK]
        score = _score_test(lists, held, block, len(code_words), choice.least_repositories)
        score[block[:, None] == code_words[None, :]] = np.inf
        best = np.argpartition(-score, choice.most, axis=1)[:, : choice.most]
        row = np.repeat(np.arange(len(block)), choice.most)
        value = score[row, best.ravel()]
        kept = value > choice.least_score
        rows.append(block[row[kept]])
        columns.append(code_words[best.ravel()[kept]])
        values.append(value[kept])
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    table = csr_matrix(entries, shape=(size, size))
    table.sort_indices()
    return table


def _score_test(
    lists: Sequence[Lists], held: Sequence[csr_matrix], block: Ints, words: int, least: int
) -> Floats:
    shape = len(block), words
    tally = _Tally(np.zeros(shape, np.float32), np.zeros(shape, np.float32), np.zeros(shape, np.int16))
    for one, mine in zip(lists, held, strict=True):
        asked = one.goals[:, block].T.tocsr()
        mean = (np.asarray(mine.sum(axis=0)).ravel() / max(mine.shape[0], 1)).astype(np.float32)
        _add_up(matrix_of(asked), matrix_of(mine), mean, tally)
    score: Floats = tally.total / np.sqrt(tally.square + 0.05)
    score[tally.repositories < least] = 0
    return score
