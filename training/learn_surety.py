"""Learn from tasks how sure a choice of files may call itself.

    python -m training.learn_surety --rows ROWS --weights repo_map/relevance/weights.json [--write]

ROWS is the folder of signals that ``training.learn_weights`` keeps. Prints how often a choice was right by
how sure it was, each task judged by a model that saw no task of its repository; ``--write`` learns from all
tasks and puts the model into the weights file.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from repo_map.relevance.confidence import FIRST, LIKELY, SURE, confidence_of, surety_signals
from repo_map.relevance.features import FileColumns
from repo_map.relevance.model import Weights, combine, raise_named_files
from training.calibration import WeightsFile, by_fold, fit_signals, table
from training.learn_weights import deal_folds
from training.signal_rows import TaskRows, read_folder

_WORDS = {"unsure": 0.0, "likely": LIKELY, "sure": SURE}


class Example(NamedTuple):
    """One task's choice of files."""

    repo: str
    signals: Mapping[str, float]
    right: bool
    """Whether the first files hold all gold."""


def read_example(task: TaskRows, weights: Weights) -> Example:
    """Return how the files of a task stand to each other, and whether the first ones are all it needs."""
    columns = FileColumns(task.file, task.unit, task.file_row)
    scores = raise_named_files(columns, combine(task.file, weights.file, len(task.files)))
    first = np.argsort(-scores, kind="stable")[:FIRST]
    right = int(task.file_gold()[first].sum()) == task.gold_count
    return Example(task.repo, surety_signals(scores), right)


def learn(examples: Sequence[Example]) -> dict[str, float]:
    """Return the weights of the logistic model."""
    return fit_signals([each.signals for each in examples], np.array([each.right for each in examples]))


def main() -> None:
    """Run from the command line."""
    file = WeightsFile(__doc__)
    tasks = read_folder(file.rows)
    weights = Weights(file.parts["file"], file.parts["unit"])
    examples = [read_example(task, weights) for task in tasks]
    models = by_fold(examples, deal_folds(tasks), learn)
    said = np.array([confidence_of(each.signals, models[each.repo]) for each in examples])
    right = np.array([each.right for each in examples])
    sys.stdout.write("\n".join(table("tasks", said, right, _WORDS)) + "\n")
    if file.writes:
        file.save({"surety": learn(examples)})


if __name__ == "__main__":
    main()
