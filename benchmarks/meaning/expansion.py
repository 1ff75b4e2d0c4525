"""Words that a goal means without saying them: a sparse table of goal word × code word, learned from changes.

    python -m benchmarks.meaning.expansion --lists LISTS --out expansion.npz [--show config,leak]

Entries are chosen by a score test: a pair of words enters where the changed functions of enough repositories
hold the second more than the plain score and the word alone explain, when the goal says the first. Each word
also enters with itself, which learns how much a word of a goal is worth. Then the weights are learned.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import csr_matrix

from benchmarks.meaning.code_words import CodeWords
from benchmarks.meaning.corpus import Floats, Ints
from benchmarks.meaning.entries import Choice, choose
from benchmarks.meaning.list_file import Lists
from benchmarks.meaning.list_loss import (
    Learned,
    describe,
    matrix_of,
    one_list,
    plain_weights,
    read_folder,
    task_of,
)

_RATE = 0.05


class _Words(NamedTuple):
    """What goals say and units hold, and the places of the table."""

    goals: Any
    units: Any
    table: Any


@njit(cache=True)
def _set(here, units, unit, share):  # type: ignore[no-untyped-def]
    for entry in range(units.row[unit], units.row[unit + 1]):
        here[units.at[entry]] = units.value[entry] * share


@njit(cache=True)
def _gain(words, goal, here, weights):  # type: ignore[no-untyped-def]
    gained = 0.0
    for word in range(words.goals.row[goal], words.goals.row[goal + 1]):
        row = words.goals.at[word]
        for cell in range(words.table.row[row], words.table.row[row + 1]):
            gained += weights[cell] * words.goals.value[word] * here[words.table.at[cell]]
    return gained


@njit(cache=True)
def _learn(words, goal, here, learned, rate):  # type: ignore[no-untyped-def]
    """``rate`` holds the step and the slope of the candidate's score."""
    for word in range(words.goals.row[goal], words.goals.row[goal + 1]):
        row = words.goals.at[word]
        for cell in range(words.table.row[row], words.table.row[row + 1]):
            gradient = rate[1] * words.goals.value[word] * here[words.table.at[cell]]
            if gradient != 0.0:
                learned.power[cell] += gradient * gradient
                learned.weights[cell] -= rate[0] * gradient / np.sqrt(learned.power[cell] + 1e-2)


@njit(cache=True)
def _pass(words, task, learned, order, rate):  # type: ignore[no-untyped-def]
    here, slope = np.zeros(len(words.table.row), np.float32), np.zeros(len(task.scores))
    for one in order:
        first, last = task.starts[one], task.starts[one + 1]
        if not task.changed[one]:
            continue
        for candidate in range(first, last):
            unit = task.candidates[candidate]
            _set(here, words.units, unit, 1.0)
            task.scores[candidate] = task.plain[candidate] + _gain(words, one, here, learned.weights)
            _set(here, words.units, unit, 0.0)
        one_list(task.scores, first, last, task.changed[one], slope)
        for candidate in range(first, last if rate > 0.0 else first):
            if abs(slope[candidate]) >= 1e-3:
                _set(here, words.units, task.candidates[candidate], 1.0)
                _learn(words, one, here, learned, (rate, slope[candidate]))
                _set(here, words.units, task.candidates[candidate], 0.0)


class Expansion:
    """The table while it learns; ``table.data`` are its weights."""

    def __init__(self, table: csr_matrix) -> None:
        self.table = table.copy()
        self._power = np.zeros(table.nnz, np.float32)

    def scores(self, lists: Lists, plain: Floats, order: Ints, rate: float) -> Floats:
        """Return the scores of the lists in ``order``, learning from each with a ``rate`` above 0."""
        words = _Words(matrix_of(lists.goals), matrix_of(lists.units), matrix_of(self.table))
        task = task_of(lists, plain)
        _pass(words, task, Learned(self.table.data, self._power), order, rate)
        scores: Floats = task.scores
        return scores


def show(table: csr_matrix, terms: Sequence[str], words: Sequence[str]) -> None:
    """Print the strongest other words of some goal words."""
    for word in words:
        row = table[terms.index(word)]
        best = [at for at in np.argsort(-row.data).tolist() if np.isfinite(row.data[at])][:12]
        found = ", ".join(f"{terms[row.indices[at]]} {row.data[at]:.1f}" for at in best)
        sys.stdout.write(f"{word}: {found}\n")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lists", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--code-words", type=Path, help="a learned prior that stands in the score already")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--show", default="")
    options = parser.parse_args()
    train, held_out = (read_folder(options.lists / which) for which in ("train", "held"))
    plain = plain_scores(train, [*train, *held_out], options.code_words)
    before, after = plain[: len(train)], plain[len(train) :]
    table = choose(train, before, Choice())
    terms = (options.lists / "terms.txt").read_text("utf-8").split("\n")
    show(table, terms, [word for word in options.show.split(",") if word])
    unlearned = csr_matrix((np.zeros(table.nnz, np.float32), table.indices, table.indptr), shape=table.shape)
    model, chance = Expansion(unlearned), np.random.default_rng(0)
    if held_out:
        sys.stdout.write(f"{table.nnz} entries; without: {describe(held_out, after)}\n")
    for epoch in range(options.epochs):
        rate = _RATE * (1 - 0.8 * epoch / options.epochs)
        for at in chance.permutation(len(train)).tolist():
            model.scores(train[at], before[at], chance.permutation(len(train[at].changed)), rate)
        pairs = zip(held_out, after, strict=True)
        scores = [model.scores(one, mine, np.arange(len(one.changed)), 0.0) for one, mine in pairs]
        if held_out:
            sys.stdout.write(f"epoch {epoch + 1}: {describe(held_out, scores)}\n")
    np.savez(options.out, row=model.table.indptr, at=model.table.indices, weight=model.table.data)


def read_table(path: Path, size: int) -> csr_matrix:
    """Read a learned expansion, shape (goal words, code words)."""
    with np.load(path) as stored:
        return csr_matrix((stored["weight"], stored["at"], stored["row"]), shape=(size, size))


def plain_scores(train: Sequence[Lists], lists: Sequence[Lists], code_words: Path | None) -> list[Floats]:
    """Return the score that stands before anything is learned: the plain features, and the prior if given."""
    plain = plain_weights(train)
    if code_words is None:
        return [(one.features @ plain).astype(np.float64) for one in lists]
    with np.load(code_words) as stored:
        prior = CodeWords(stored["terms"], stored["plain"])
        prior.weights = stored["weights"]
    return [prior.scores(one, np.arange(len(one.changed)), 0.0) for one in lists]


if __name__ == "__main__":
    main()
