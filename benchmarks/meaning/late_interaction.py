"""Every word of the goal looks for its nearest word in the function: static vectors, late interaction.

    python -m benchmarks.meaning.late_interaction --lists LISTS --out late.npz [--dimensions 64]

A unit's score is the sum, over the goal's words, of the best product with one of its words, after ColBERT
(Khattab and Zaharia 2020) but with one vector a word, no network. Equal words do not meet here: plain scores
count them. Vectors start from the company that words keep (SVD), then learn from the lists by Adagrad.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import csr_matrix, vstack
from scipy.sparse.linalg import svds

from benchmarks.meaning.corpus import Floats, Ints
from benchmarks.meaning.expansion import plain_scores
from benchmarks.meaning.list_loss import describe, matrix_of, one_list, read_folder, task_of
from benchmarks.meaning.lists import Lists

_MOST_UNITS = 3_000
_SCALE = 2.0
_RATE = 0.02


class Shape(NamedTuple):
    """How much of each text takes part."""

    dimensions: int = 64
    goal_words: int = 24
    unit_words: int = 64
    decay: float = 1e-4


def company(lists: Sequence[Lists], dimensions: int) -> Floats:
    """Return vectors of length 1: words are near that share functions, and goals with what they changed."""
    chance = np.random.default_rng(0)
    rows = []
    for one in lists:
        count = one.units.shape[0]
        rows.append(one.units[np.sort(chance.choice(count, min(count, _MOST_UNITS), replace=False))])
        with_changes = np.flatnonzero(one.changed)
        rows.append(one.units[one.candidates[one.starts[with_changes]]] + one.goals[with_changes])
    matrix = vstack(rows).tocsr()
    frequency = np.bincount(matrix.indices, minlength=matrix.shape[1])
    matrix.data = np.log((1 + matrix.shape[0]) / (1 + frequency))[matrix.indices].astype(np.float32)
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()) + 1e-6
    matrix.data /= np.repeat(length, np.diff(matrix.indptr)).astype(np.float32)
    _, strength, right = svds(matrix, k=dimensions, random_state=0)
    vectors = right.T * strength**0.5
    size = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = np.where(size > 1e-6, vectors / np.maximum(size, 1e-6), 0.0).astype(np.float32)
    return unit


def heaviest(matrix: csr_matrix, most: int) -> csr_matrix:
    """Keep the ``most`` largest entries of each row."""
    counts = np.diff(matrix.indptr)
    owner = np.repeat(np.arange(matrix.shape[0]), counts)
    order = np.lexsort((-matrix.data, owner))
    kept = np.sort(order[np.arange(len(order)) - np.repeat(matrix.indptr[:-1], counts) < most])
    rows = np.concatenate([[0], np.cumsum(np.minimum(counts, most))])
    return csr_matrix((matrix.data[kept], matrix.indices[kept], rows), shape=matrix.shape)


class _Words(NamedTuple):
    """What goals say and units hold."""

    goals: Any
    units: Any


class _Tables(NamedTuple):
    """Vectors and gates with their summed squared gradients, all changed in place."""

    goal: Any
    goal_power: Any
    code: Any
    code_power: Any
    gate: Any
    gate_power: Any


@njit(cache=True)
def _meet(products, slots, asked, units, place):  # type: ignore[no-untyped-def]
    """Return the best product of each goal word with a unit's words and the entry that gave it, else -1."""
    best, where = np.zeros(len(asked), np.float32), np.full(len(asked), -1)
    for word in range(len(asked)):
        for entry in range(place[0], place[1]):
            if units.at[entry] == asked[word]:
                continue
            found = products[word, slots[units.at[entry]]] * units.value[entry]
            if found > best[word]:
                best[word] = found
                where[word] = entry
    return best, where


@njit(cache=True)
def _step(table, power, row, gradient, rates):  # type: ignore[no-untyped-def]
    for column in range(table.shape[1]):
        slope = gradient[column] + rates[1] * table[row, column]
        power[row, column] += slope * slope
        table[row, column] -= rates[0] * slope / np.sqrt(power[row, column])


@njit(cache=True)
def _learn(words, one, met, tables, rates):  # type: ignore[no-untyped-def]
    found, products, slope, slots = met
    for place in range(found.shape[1]):
        word = words.goals.at[words.goals.row[one] + place]
        weight = words.goals.value[words.goals.row[one] + place] * np.exp(tables.gate[word]) * _SCALE
        pulled, gate_slope = np.zeros(tables.goal.shape[1], np.float32), np.float32(0)
        for candidate in range(found.shape[0]):
            entry = found[candidate, place]
            if entry < 0 or abs(slope[candidate]) < 1e-3:
                continue
            term = words.units.at[entry]
            share = np.float32(slope[candidate] * weight * words.units.value[entry])
            gate_slope += share * products[place, slots[term]]
            pulled += share * tables.code[term]
            _step(tables.code, tables.code_power, term, share * tables.goal[word], rates)
        _step(tables.goal, tables.goal_power, word, pulled, rates)
        tables.gate_power[word] += gate_slope * gate_slope
        tables.gate[word] -= rates[0] * gate_slope / np.sqrt(tables.gate_power[word])


@njit(cache=True)
def _distinct(units, candidates, slots):  # type: ignore[no-untyped-def]
    """Give each word of some units a slot; return the words in the order of their slots."""
    words = np.empty(sum([units.row[unit + 1] - units.row[unit] for unit in candidates]), np.int64)
    count = 0
    for unit in candidates:
        for entry in range(units.row[unit], units.row[unit + 1]):
            if slots[units.at[entry]] < 0:
                slots[units.at[entry]] = count
                words[count] = units.at[entry]
                count += 1
    return words[:count]


@njit(cache=True)
def _pass(words, task, tables, order, rates):  # type: ignore[no-untyped-def]
    goals, units = words
    slots, slope = np.full(len(tables.gate), -1), np.zeros(len(task.scores))
    for one in order:
        asked = goals.at[goals.row[one] : goals.row[one + 1]]
        first, last = task.starts[one], task.starts[one + 1]
        if not task.changed[one] or not len(asked):
            continue
        used = _distinct(units, task.candidates[first:last], slots)
        if len(used):
            products = tables.goal[asked] @ tables.code[used].T
            weights = goals.value[goals.row[one] : goals.row[one + 1]] * np.exp(tables.gate[asked]) * _SCALE
            found = np.full((last - first, len(asked)), -1)
            for at in range(first, last):
                unit = task.candidates[at]
                place = units.row[unit], units.row[unit + 1]
                best, found[at - first] = _meet(products, slots, asked, units, place)
                task.scores[at] = task.plain[at] + (weights * best).sum()
            one_list(task.scores, first, last, task.changed[one], slope)
            if rates[0] > 0.0:
                _learn(words, one, (found, products, slope[first:last], slots), tables, rates)
        slots[used] = -1


class LateInteraction:
    """Two tables of vectors and a gate for each word of a goal, while they learn."""

    def __init__(self, vectors: Floats, shape: Shape) -> None:
        self.goal, self.code, self.gate = vectors.copy(), vectors.copy(), np.zeros(len(vectors), np.float32)
        self._power = np.full_like(vectors, 1e-4), np.full_like(vectors, 1e-4)
        self._gate_power = np.full(len(vectors), 1e-2, np.float32)
        self._shape = shape

    def scores(self, lists: Lists, plain: Floats, order: Ints, rate: float) -> Floats:
        """Return the scores of the lists in ``order``, learning from each with a ``rate`` above 0."""
        goals = heaviest(lists.goals, self._shape.goal_words)
        units = heaviest(lists.units, self._shape.unit_words)
        tables = _Tables(self.goal, self._power[0], self.code, self._power[1], self.gate, self._gate_power)
        task = task_of(lists, plain)
        rates = np.float32(rate), np.float32(self._shape.decay)
        _pass(_Words(matrix_of(goals), matrix_of(units)), task, tables, order, rates)
        scores: Floats = task.scores
        return scores


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lists", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--code-words", type=Path, help="a learned prior that stands in the score already")
    parser.add_argument("--dimensions", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=1)
    options = parser.parse_args()
    train, held_out = (read_folder(options.lists / which) for which in ("train", "held"))
    plain = plain_scores(train, [*train, *held_out], options.code_words)
    before, after = plain[: len(train)], plain[len(train) :]
    model = LateInteraction(company(train, options.dimensions), Shape(options.dimensions))
    chance = np.random.default_rng(0)
    for epoch in range(options.epochs + 1):
        for at in chance.permutation(len(train)).tolist() if epoch else ():
            rate = _RATE * (1 - 0.8 * (epoch - 1) / options.epochs)
            model.scores(train[at], before[at], chance.permutation(len(train[at].changed)), rate)
        pairs = zip(held_out, after, strict=True)
        scores = [model.scores(one, mine, np.arange(len(one.changed)), 0.0) for one, mine in pairs]
        if held_out:
            sys.stdout.write(f"epoch {epoch}: {describe(held_out, scores)}\n")
            sys.stdout.flush()
    np.savez(options.out, goal=model.goal, code=model.code, gate=model.gate)


if __name__ == "__main__":
    main()
