"""Learn from tasks how likely each unit is part of the goal's work.

    python -m training.learn_chance --rows ROWS --weights repo_map/ranking/weights.json [--write]

ROWS is the folder of signals that ``training.learn_weights`` keeps. Prints how often units were right by how
likely they were said to be, each task judged by weights and a model that saw no task of its repository;
``--write`` learns from all tasks and puts the model into the weights file.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.ranking.chance import chance_signals, chances_of
from repo_map.ranking.confidence import confidence_of, surety_signals
from repo_map.ranking.corpus import Floats
from repo_map.ranking.model import Weights
from repo_map.text.units import CLASS_HEADER, FUNCTION, GAP
from training.calibration import WeightsFile, brier, by_fold, fit_signals, table
from training.learn_weights import FORMULA, deal_folds, learn_folds
from training.signal_rows import TaskRows, read_folder

BOUNDS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)


class Example(NamedTuple):
    """The best units of one task, best first."""

    repo: str
    signals: Mapping[str, Floats]
    """Each of shape (units,)."""
    right: NDArray[np.bool_]
    """Whether the fix edited it."""


def read_example(task: TaskRows, weights: Weights) -> Example:
    """Return the units that scoring would keep, in its order."""
    order = task.order(weights)
    place = np.empty(len(order.files), np.int64)
    place[np.argsort(-order.files, kind="stable")] = np.arange(len(order.files))
    rows = order.rows
    kinds = np.where(task.unit["p.gap"] > 0, GAP, np.where(task.unit["p.cls"] > 0, CLASS_HEADER, FUNCTION))
    confidence = confidence_of(surety_signals(task.columns, order.units, rows), weights.surety)
    signals = chance_signals(order.units[rows], place[task.file_row[rows]], kinds[rows], confidence)
    return Example(task.repo, signals, task.unit_gold()[rows])


def learn(examples: Sequence[Example]) -> dict[str, float]:
    """Return the weights of the logistic model."""
    right = np.concatenate([each.right for each in examples])
    return fit_signals([each.signals for each in examples], right)


def main() -> None:
    """Run from the command line."""
    file = WeightsFile(__doc__)
    tasks = [task for task in read_folder(file.rows) if len(task.files)]
    learned = learn_folds(tasks, FORMULA)
    # Scores of weights that saw a task say more than they should: learned from those that did not.
    examples = [
        read_example(task, learned[task.repo]._replace(surety=file.parts["surety"])) for task in tasks
    ]
    models = by_fold(examples, deal_folds(tasks), learn)
    said = np.concatenate([chances_of(example.signals, models[example.repo]) for example in examples])
    right = np.concatenate([each.right for each in examples])
    lines = [f"Brier score {brier(said, right):.5f}", *table("units", said, right, BOUNDS)]
    sys.stdout.write("\n".join(lines) + "\n")
    if file.writes:
        file.save({"chance": learn(examples)})


if __name__ == "__main__":
    main()
