"""Every word of the goal looks for its nearest word in the function: static vectors, late interaction.

    python -m benchmarks.meaning.late_interaction --lists LISTS --out late.npz [--dimensions 64]
        [--alone | --teacher expansion.npz] [--start earlier.npz]

A unit's score is the sum, over the goal's words, of the best product with one of its words, after ColBERT
(Khattab and Zaharia 2020) but with one vector a word, no network. Equal words do not meet here: plain scores
count them. Vectors start from the company that words keep (SVD), then learn from the lists by Adagrad: from
the changes, from a teacher's scores as well (``--teacher``), or from plain scores instead (``--alone``).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import vstack
from scipy.sparse.linalg import svds

from benchmarks.meaning.corpus import Floats
from benchmarks.meaning.expansion import Expansion, plain_scores, read_table
from benchmarks.meaning.list_file import Lists
from benchmarks.meaning.list_loss import describe, read_folder
from benchmarks.meaning.meeting import NO_TEACHER, LateInteraction, Shape, Teacher, read_model

_MOST_UNITS = 3_000
_RATE = 0.02


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


def started(options: argparse.Namespace, train: Sequence[Lists]) -> LateInteraction:
    """Return the tables to begin with: an earlier run's, or the company that words keep."""
    shape = Shape(options.dimensions, equal=options.alone)
    if options.start is None:
        return LateInteraction(company(train, options.dimensions), shape)
    return read_model(options.start, shape)


def teachers(
    options: argparse.Namespace, train: Sequence[Lists], plain: Sequence[Floats]
) -> Sequence[Teacher]:
    """Return what each repository's lists are taught by, besides their changes."""
    if options.alone:
        return [Teacher(scores, 1.0) for scores in plain]
    if options.teacher is None:
        return [NO_TEACHER] * len(train)
    table = Expansion(read_table(options.teacher, train[0].goals.shape[1]))
    pairs = zip(train, plain, strict=True)
    return [
        Teacher(table.scores(one, mine, np.arange(len(one.changed)), 0.0), options.share)
        for one, mine in pairs
    ]


def parse_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lists", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--code-words", type=Path, help="a learned prior that stands in the score already")
    parser.add_argument("--dimensions", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument(
        "--start", type=Path, help="vectors to begin with, of an earlier run on the same lists"
    )
    parser.add_argument("--alone", action="store_true", help="learn to say what the plain score says")
    parser.add_argument("--teacher", type=Path, help="a learned expansion whose scores are soft targets")
    parser.add_argument("--share", type=float, default=0.5, help="of the loss, for the teacher")
    return parser.parse_args()


def main() -> None:
    """Run from the command line."""
    options = parse_options()
    train, held_out = (read_folder(options.lists / which) for which in ("train", "held"))
    plain = plain_scores(train, [*train, *held_out], options.code_words)
    before, after = plain[: len(train)], plain[len(train) :]
    taught = teachers(options, train, before)
    if held_out:
        sys.stdout.write(f"without: {describe(held_out, after)}\n")
    if options.alone:
        before, after = ([np.zeros_like(scores) for scores in part] for part in (before, after))
    model, chance = started(options, train), np.random.default_rng(0)
    for epoch in range(max(options.epochs, 1)):
        rate = _RATE * (1 - 0.8 * epoch / max(options.epochs, 1))
        for at in chance.permutation(len(train)).tolist() if options.epochs else ():
            order = chance.permutation(len(train[at].changed))
            model.scores(train[at], before[at], order, rate, taught[at])
        pairs = zip(held_out, after, strict=True)
        scores = [model.scores(one, mine, np.arange(len(one.changed)), 0.0) for one, mine in pairs]
        if held_out:
            sys.stdout.write(f"epoch {min(epoch + 1, options.epochs)}: {describe(held_out, scores)}\n")
            sys.stdout.flush()
    np.savez(options.out, goal=model.goal, code=model.code, gate=model.gate)


if __name__ == "__main__":
    main()
