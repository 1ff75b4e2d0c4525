"""Words of a function's code, name and signature that draw changes, whatever the goal: a prior, learned.

    python -m benchmarks.meaning.code_words --lists LISTS --out code_words.npz

One number per term and field, added up over a function: a table of vectors of one dimension, code side alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numba import njit
from scipy.sparse import csr_matrix, hstack

from benchmarks.meaning.corpus import Floats, Ints
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

LEAST_REPOSITORIES = 20
BODY_SHARE = 0.15
"""What a term of the body counts beside 1 for one of the name or the signature."""
_RATE, _PULL = 0.06, 6e-4


def known_terms(lists: Sequence[Lists], least: int) -> Ints:
    """Return the terms that so many repositories hold."""
    held = sum(
        (np.bincount(one.units.indices, minlength=one.units.shape[1]) > 0).astype(int) for one in lists
    )
    return np.flatnonzero(held >= least)


def columns(units: csr_matrix, names: csr_matrix, signatures: csr_matrix, terms: Ints) -> csr_matrix:
    """Return what each unit holds: terms anywhere, of the name, of the signature, side by side."""
    body = units[:, terms].copy()
    body.data[:] = BODY_SHARE
    return hstack([body, names[:, terms], signatures[:, terms]]).tocsr().astype(np.float32)


@njit(cache=True)
def _pass(held, task, learned, order, rate):  # type: ignore[no-untyped-def]
    slope = np.zeros(len(task.scores))
    for one in order:
        if not task.changed[one]:
            continue
        first, last = task.starts[one], task.starts[one + 1]
        for candidate in range(first, last):
            unit, total = task.candidates[candidate], 0.0
            for entry in range(held.row[unit], held.row[unit + 1]):
                total += held.value[entry] * learned.weights[held.at[entry]]
            task.scores[candidate] = task.plain[candidate] + total
        one_list(task.scores, first, last, task.changed[one], slope)
        for candidate in range(first, last if rate > 0.0 else first):
            unit = task.candidates[candidate]
            for entry in range(held.row[unit], held.row[unit + 1]):
                term = held.at[entry]
                gradient = slope[candidate] * held.value[entry] + _PULL * learned.weights[term]
                learned.power[term] += gradient * gradient
                learned.weights[term] -= rate * gradient / np.sqrt(learned.power[term] + 1.0)


class CodeWords:
    """The table while it learns."""

    def __init__(self, terms: Ints, plain: Floats) -> None:
        self.terms, self.plain = terms, plain
        self.weights, self._power = np.zeros(3 * len(terms)), np.zeros(3 * len(terms))

    def scores(self, lists: Lists, order: Ints, rate: float) -> Floats:
        """Return the scores of the lists in ``order``, learning from each with a ``rate`` above 0."""
        held = columns(lists.units, lists.names, lists.signatures, self.terms)
        task = task_of(lists, lists.features @ self.plain)
        _pass(matrix_of(held), task, Learned(self.weights, self._power), order, rate)
        scores: Floats = task.scores
        return scores


def learn(train: Sequence[Lists], held_out: Sequence[Lists], epochs: int, least: int) -> CodeWords:
    """Learn the table, saying after each epoch how well held-out repositories are ordered."""
    plain, chance = plain_weights(train), np.random.default_rng(0)
    model = CodeWords(known_terms(train, least), plain)
    _say("plain", held_out, [one.features @ plain for one in held_out])
    for epoch in range(epochs):
        rate = _RATE * (1 - 0.7 * epoch / epochs)
        for at in chance.permutation(len(train)).tolist():
            model.scores(train[at], chance.permutation(len(train[at].changed)), rate)
        scores = [model.scores(one, np.arange(len(one.changed)), 0.0) for one in held_out]
        _say(f"epoch {epoch + 1}", held_out, scores)
    return model


def _say(title: str, held_out: Sequence[Lists], scores: Sequence[Floats]) -> None:
    if held_out:
        sys.stdout.write(f"{title}: {describe(held_out, scores)}\n")
        sys.stdout.flush()


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lists", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--least", type=int, default=LEAST_REPOSITORIES)
    options = parser.parse_args()
    train, held_out = (read_folder(options.lists / which) for which in ("train", "held"))
    model = learn(train, held_out, options.epochs, options.least)
    np.savez(options.out, terms=model.terms, weights=model.weights, plain=model.plain)


if __name__ == "__main__":
    main()
