"""Learn from tasks how sure a choice of files may call itself.

    python -m training.learn_surety --rows ROWS --weights repo_map/ranking/weights.json [--write]

ROWS is the folder of signals that ``training.learn_weights`` keeps. Prints how often a choice was right by
how sure it was, each task judged by weights and a model that saw no task of its repository; ``--write``
learns from all tasks and puts the model into the weights file.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from repo_map.ranking.confidence import FIRST, LIKELY, SURE, confidence_of, surety_signals
from repo_map.ranking.model import Weights
from training.calibration import WeightsFile, brier, by_fold, fit_signals, table
from training.learn_weights import FORMULA, deal_folds, learn_folds
from training.signal_rows import TaskRows, read_folder

_WORDS = {"unsure": 0.0, "likely": LIKELY, "sure": SURE}


class Example(NamedTuple):
    """One task's choice of functions."""

    repo: str
    signals: Mapping[str, float]
    right: bool
    """Whether the first units hold all gold."""


def read_example(task: TaskRows, weights: Weights) -> Example:
    """Return how far a task's best units stand apart, and whether the first of them are all it needs."""
    order = task.order(weights)
    signals = surety_signals(task.columns, order.units, order.rows)
    return Example(task.repo, signals, task.are_all_in(order.rows[:FIRST]))


def learn(examples: Sequence[Example]) -> dict[str, float]:
    """Return the weights of the logistic model."""
    return fit_signals([each.signals for each in examples], np.array([each.right for each in examples]))


def main() -> None:
    """Run from the command line."""
    file = WeightsFile(__doc__)
    tasks = [task for task in read_folder(file.rows) if len(task.files)]
    learned = learn_folds(tasks, FORMULA)
    # Scores of weights that saw a task say more than they should: learned from those that did not.
    examples = [read_example(task, learned[task.repo]) for task in tasks]
    models = by_fold(examples, deal_folds(tasks), learn)
    said = np.array([confidence_of(each.signals, models[each.repo]) for each in examples])
    right = np.array([each.right for each in examples])
    plain = brier(np.full(len(right), right.mean()), right)
    lines = [f"Brier score {brier(said, right):.3f}, of the mean alone {plain:.3f}"]
    sys.stdout.write("\n".join([*lines, *table("tasks", said, right, _WORDS)]) + "\n")
    if file.writes:
        file.save({"surety": learn(examples)})


if __name__ == "__main__":
    main()
