"""The learned signals of a task's candidate units, each read from the file of its model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.meaning.candidates import Candidates
from benchmarks.meaning.code_words import columns
from benchmarks.meaning.corpus import Floats
from benchmarks.meaning.expansion import read_table
from benchmarks.meaning.list_file import Lists
from benchmarks.meaning.meeting import Shape, read_model

Signal = Callable[[Candidates], Floats]


def code_word_signal(path: Path) -> Signal:
    """Return what the words of a unit draw, goal or no goal."""
    with np.load(path) as stored:
        terms, weights = stored["terms"], stored["weights"]
    return lambda task: columns(task.units, task.names, task.signatures, terms) @ weights


def expansion_signals(path: Path, size: int) -> dict[str, Signal]:
    """Return what other words and the goal's own are worth under a learned expansion."""
    table = read_table(path, size)
    own = np.repeat(np.arange(size), np.diff(table.indptr)) == table.indices
    parts = {"own words": np.where(own, table.data, 0), "other words": np.where(own, 0, table.data)}

    def signal(weights: Floats) -> Signal:
        part = csr_matrix((weights.astype(np.float32), table.indices, table.indptr), shape=table.shape)
        return lambda task: (task.units @ (task.goal @ part).T).toarray()[:, 0]

    return {name: signal(weights) for name, weights in parts.items()}


def late_signal(path: Path) -> Signal:
    """Return the late interaction of words."""
    model = read_model(path, Shape(goal_words=48, unit_words=128))

    def signal(task: Candidates) -> Floats:
        count = task.units.shape[0]
        ends, one = np.array([0, count]), np.ones(1, np.int64)
        nothing = np.zeros(count)
        matrices = task.goal, task.units, task.names, task.signatures
        lists = Lists(*matrices, nothing, np.arange(count), ends, one, nothing[:, None])
        return model.scores(lists, nothing, np.arange(1), 0.0)

    return signal
