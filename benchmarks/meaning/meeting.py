"""The model of late interaction: two tables of word vectors, and how the words of a goal and a unit meet."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import csr_matrix

from benchmarks.meaning.corpus import Floats, Ints
from benchmarks.meaning.list_file import Lists
from benchmarks.meaning.list_loss import matrix_of, one_list, soften, task_of

_SCALE = 2.0


class Shape(NamedTuple):
    """How much of each text takes part."""

    dimensions: int = 64
    goal_words: int = 24
    unit_words: int = 64
    decay: float = 1e-4
    equal: bool = False
    """Whether equal words meet too."""


class Teacher(NamedTuple):
    """Scores to come near to, and their share of the loss beside the changes."""

    scores: Any
    share: float


NO_TEACHER = Teacher(np.zeros(0), 0.0)


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
def _meet(met, asked, units, place, equal):  # type: ignore[no-untyped-def]
    """Return the best product of each goal word with a unit's words and the entry that gave it, else -1."""
    products, slots = met
    best, where = np.zeros(len(asked), np.float32), np.full(len(asked), -1)
    for word in range(len(asked)):
        for entry in range(place[0], place[1]):
            if units.at[entry] == asked[word] and not equal:
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
def _pass(words, task, tables, order, lesson):  # type: ignore[no-untyped-def]
    goals, units = words
    rates, teacher, equal = lesson
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
                best, found[at - first] = _meet((products, slots), asked, units, place, equal)
                task.scores[at] = task.plain[at] + (weights * best).sum()
            one_list(task.scores, first, last, task.changed[one], slope)
            if teacher.share > 0.0:
                soften(task.scores[first:last], teacher.scores[first:last], teacher.share, slope[first:last])
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

    def scores(
        self, lists: Lists, plain: Floats, order: Ints, rate: float, teacher: Teacher = NO_TEACHER
    ) -> Floats:
        """Return the scores of the lists in ``order``, learning from each with a ``rate`` above 0."""
        goals = heaviest(lists.goals, self._shape.goal_words)
        units = heaviest(lists.units, self._shape.unit_words)
        tables = _Tables(self.goal, self._power[0], self.code, self._power[1], self.gate, self._gate_power)
        task = task_of(lists, plain)
        lesson = (np.float32(rate), np.float32(self._shape.decay)), teacher, self._shape.equal
        _pass(_Words(matrix_of(goals), matrix_of(units)), task, tables, order, lesson)
        scores: Floats = task.scores
        return scores


def read_model(path: Path, shape: Shape) -> LateInteraction:
    """Read tables that were learned before."""
    with np.load(path) as stored:
        model = LateInteraction(stored["goal"], shape)
        model.code, model.gate = stored["code"], stored["gate"]
    return model
