"""Whether a learned signal helps where it would stand: on the whole scorer's candidates, beside its score.

    python -m benchmarks.meaning.pipeline --tasks dev/*.jsonl --mirrors M --trees TREES --rows ROWS \
        --lists LISTS [--code-words F] [--expansion F] [--late F]

Of each task the first 400 units by the weights that ship are taken. The weight of the score and of each
signal is learned on four fifths of the repositories and measured on the last; ROWS are those that
``benchmarks.learn_weights`` keeps. Needs scipy and numba.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.meaning.candidates import Candidates, read_candidates
from benchmarks.meaning.corpus import Floats
from benchmarks.meaning.signals import Signal, code_word_signal, expansion_signals, late_signal
from benchmarks.meaning.vocabulary import read_vocabulary

FOLDS = 5
CUTS = (5, 10, 20)
_PULL = 1e-3


def standard(values: Floats) -> Floats:
    """Shift and scale a signal to mean 0 and deviation 1 within one task."""
    scaled: Floats = (values - values.mean()) / (values.std() + 1e-6)
    return scaled


def loss_of(task: Candidates, scores: Floats) -> tuple[float, Floats]:
    """Return the loss of one task and its derivative by each score: as ``list_loss.one_list``."""
    odds = np.exp(scores - scores.max())
    gold = task.gold
    others = odds[~gold].sum()
    chance = odds[gold] / (odds[gold] + others)
    slope = np.zeros(len(scores))
    slope[gold] = -(1 - chance) / gold.sum()
    slope[~gold] = odds[~gold] * (1 / (odds[gold] + others)).mean()
    return float(-np.log(np.maximum(chance, 1e-30)).mean()), slope


def blend(tasks: Sequence[Candidates], matrices: Sequence[Floats]) -> Floats:
    """Learn the weight of each column; the first is the scorer's own score, all are at least 0."""
    start = np.zeros(matrices[0].shape[1])
    start[0] = 1
    useful = [(t, m) for t, m in zip(tasks, matrices, strict=True) if t.gold.any() and not t.gold.all()]

    def objective(weights: Floats) -> tuple[float, Floats]:
        loss, gradient = 0.0, np.zeros(len(weights))
        for task, matrix in useful:
            mine, slope = loss_of(task, matrix @ weights)
            loss += mine / len(useful)
            gradient += matrix.T @ slope / len(useful)
        away = weights - start
        return loss + _PULL * float(away @ away), gradient + 2 * _PULL * away

    bounds = [(0.0, None)] * len(start)
    found: Floats = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return found


def cross_validated(tasks: Sequence[Candidates], matrices: Sequence[Floats]) -> tuple[list[Floats], Floats]:
    """Return each task's scores under weights from other repositories, and the mean weights."""
    repos = sorted({task.repo for task in tasks})
    fold = {repo: at % FOLDS for at, repo in enumerate(repos)}
    scores: list[Floats] = [np.zeros(0)] * len(tasks)
    learned = []
    for number in range(FOLDS):
        rest = [at for at, task in enumerate(tasks) if fold[task.repo] != number]
        weights = blend([tasks[at] for at in rest], [matrices[at] for at in rest])
        learned.append(weights)
        for at, task in enumerate(tasks):
            if fold[task.repo] == number:
                scores[at] = matrices[at] @ weights
    return scores, np.mean(learned, axis=0)


def measure(tasks: Sequence[Candidates], scores: Sequence[Floats]) -> NDArray[np.float64]:
    """Return the loss, MRR and recall at ``CUTS`` of each task that has gold among its candidates."""
    table = []
    for task, mine in zip(tasks, scores, strict=True):
        if task.gold.any() and not task.gold.all():
            place = np.argsort(np.argsort(-mine, kind="stable"), kind="stable")[task.gold]
            recall = [float((place < cut).sum()) / task.wanted for cut in CUTS]
            table.append([loss_of(task, mine)[0], 1 / (1 + float(place.min())), *recall])
    return np.array(table)


def compare(tasks: Sequence[Candidates], signals: Mapping[str, Signal]) -> Iterator[str]:
    """Yield a line for the score alone, for each signal beside it, and for all."""
    found = {name: [standard(signal(task)) for task in tasks] for name, signal in signals.items()}
    alone, _ = cross_validated(tasks, [task.score[:, None] for task in tasks])
    before = measure(tasks, alone)
    yield f"{len(before)} tasks: loss, MRR, {', '.join(f'R@{cut}' for cut in CUTS)}"
    yield f"{'score':24s} " + " ".join(f"{value:.3f}" for value in before.mean(axis=0))
    sets = [(name,) for name in found] + ([tuple(found)] if len(found) > 1 else [])
    for names in sets:
        columns_of = zip(tasks, *(found[name] for name in names), strict=True)
        matrices = [np.column_stack([task.score, *values]) for task, *values in columns_of]
        scores, weights = cross_validated(tasks, matrices)
        after = measure(tasks, scores)
        change = after[:, 0] - before[:, 0]
        yield (
            f"{' + '.join(names):24s} "
            + " ".join(f"{value:.3f}" for value in after.mean(axis=0))
            + (
                f"  loss {change.mean():+.3f} ± {change.std() / len(change) ** 0.5:.3f},"
                f" weights {' '.join(f'{weight:.2f}' for weight in weights)}"
            )
        )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=Path, nargs="+", required=True)
    parser.add_argument("--mirrors", type=Path, default=Path())
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--lists", type=Path, required=True)
    for name in ("--code-words", "--expansion", "--late"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    vocabulary = read_vocabulary(options.lists)
    signals: dict[str, Signal] = {}
    if options.code_words:
        signals["code words"] = code_word_signal(options.code_words)
    if options.expansion:
        signals |= expansion_signals(options.expansion, len(vocabulary.names))
    if options.late:
        signals["late interaction"] = late_signal(options.late)
    tasks = list(read_candidates(options, vocabulary))
    sys.stdout.write("\n".join(compare(tasks, signals)) + "\n")


if __name__ == "__main__":
    main()
