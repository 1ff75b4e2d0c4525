"""How wrong scores order the candidates of each list, and the plain score that models are learned beside.

Compiled by numba, which only training needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import csr_matrix

from benchmarks.meaning.corpus import Floats, Ints
from benchmarks.meaning.list_file import FEATURES, Lists, load_lists

_STEPS, _RATE = 100, 0.15
_EVERY = 3
_START = np.array([8.0, 3.0, 2.0, 2.0, 1.0])


class Matrix(NamedTuple):
    """A sparse matrix as compiled code takes it."""

    row: Any
    at: Any
    value: Any


class Task(NamedTuple):
    """The lists of one repository as compiled code takes them, and the scores that it writes."""

    starts: Any
    changed: Any
    candidates: Any
    plain: Any
    """The score of each candidate before anything is learned."""
    scores: Any


class Learned(NamedTuple):
    """Weights and their summed squared gradients, both changed in place (Adagrad, Duchi et al. 2011)."""

    weights: Any
    power: Any


def matrix_of(matrix: csr_matrix) -> Matrix:
    """Return the arrays of a matrix."""
    return Matrix(matrix.indptr, matrix.indices, matrix.data)


def task_of(lists: Lists, plain: Floats) -> Task:
    """Return lists with a score to begin with."""
    return Task(
        lists.starts, lists.changed, lists.candidates, plain.astype(np.float64), np.array(plain, float)
    )


def read_folder(folder: Path) -> list[Lists]:
    """Read the lists of every repository of a folder, by name."""
    return [load_lists(path) for path in sorted(folder.glob("*.npz"))]


@njit(cache=True)
def one_list(scores, first, last, changed, slope):  # type: ignore[no-untyped-def]
    """Return the loss of one list and write its derivative by each score into ``slope``.

    The loss is the mean over changed functions c of -log(e^s(c) / (e^s(c) + sum of e^s over the others)).
    """
    highest = scores[first]
    for row in range(first, last):
        highest = max(highest, scores[row])
    others = 0.0
    for row in range(first + changed, last):
        others += np.exp(scores[row] - highest)
    loss, pull = 0.0, 0.0
    for row in range(first, first + changed):
        odds = np.exp(scores[row] - highest)
        loss -= np.log(max(odds / (odds + others), 1e-30)) / changed
        slope[row] = -(others / (odds + others)) / changed
        pull += 1 / (odds + others) / changed
    for row in range(first + changed, last):
        slope[row] = np.exp(scores[row] - highest) * pull
    return loss


@njit(cache=True)
def soften(scores, teacher, share, slope):  # type: ignore[no-untyped-def]
    """Give a ``share`` of one list's slopes to a teacher: softmax against softmax (Hinton et al. 2015)."""
    mine, taught = np.exp(scores - scores.max()), np.exp(teacher - teacher.max())
    slope[:] = (1 - share) * slope + share * (mine / mine.sum() - taught / taught.sum())


@njit(cache=True)
def all_lists(scores, starts, changed, slope):  # type: ignore[no-untyped-def]
    """Return the sum of the losses of all lists that have a changed function."""
    loss = 0.0
    for row in range(len(changed)):
        if changed[row]:
            loss += one_list(scores, starts[row], starts[row + 1], changed[row], slope)
    return loss


def plain_weights(lists: Sequence[Lists]) -> Floats:
    """Learn the weights of the plain features, by Adam on every third repository."""
    weights, first, second = _START.copy(), np.zeros(len(FEATURES)), np.zeros(len(FEATURES))
    for step in range(1, _STEPS + 1):
        gradient, count = np.zeros(len(FEATURES)), 0
        for one in lists[::_EVERY]:
            scores = one.features.astype(np.float64) @ weights
            slope = np.zeros(len(scores))
            all_lists(scores, one.starts, one.changed, slope)
            gradient += one.features.T.astype(np.float64) @ slope
            count += len(one.changed)
        gradient /= count
        first = 0.9 * first + 0.1 * gradient
        second = 0.99 * second + 0.01 * gradient**2
        size = np.sqrt(second / (1 - 0.99**step)) + 1e-8
        weights = weights - _RATE * (first / (1 - 0.9**step)) / size
    return weights.astype(np.float32)


def describe(lists: Sequence[Lists], scores: Sequence[Floats]) -> str:
    """Say the mean loss and the mean reciprocal rank of the first changed function."""
    loss, count = 0.0, 0
    places: list[float] = []
    for one, mine in zip(lists, scores, strict=True):
        wide = mine.astype(np.float64)
        loss += all_lists(wide, one.starts, one.changed, np.zeros(len(wide)))
        count += len(one.changed)
        places.extend(_places(wide, one.starts, one.changed).tolist())
    return f"loss {loss / count:.4f}, MRR {np.mean(1 / (1 + np.array(places))):.4f}"


def _places(scores: Floats, starts: Ints, changed: Ints) -> Ints:
    rows = np.flatnonzero(changed)
    above = []
    for row in rows.tolist():
        first, last, count = int(starts[row]), int(starts[row + 1]), int(changed[row])
        above.append((scores[first + count : last] > scores[first : first + count].max()).sum())
    return np.array(above, np.int64)
