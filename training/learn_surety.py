"""Learn from tasks how sure a choice of files may call itself.

    python -m training.learn_surety --rows ROWS --weights repo_map/relevance/weights.json [--write]

ROWS is the folder of signals that ``training.learn_weights`` keeps. Prints how often a choice was right by
how sure it was, each task judged by a model that saw no task of its repository; ``--write`` learns from all
tasks and puts the model into the weights file.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from repo_map.relevance.confidence import FIRST, LIKELY, SURE, surety_signals
from repo_map.relevance.corpus import Floats
from repo_map.relevance.features import FileColumns
from repo_map.relevance.model import Weights, combine, raise_named_files
from training.learn_weights import FOLDS, deal_folds
from training.signal_rows import TaskRows, read_folder

_RIDGE = 3.0
_ROUNDS = 30


def read_examples(tasks: Sequence[TaskRows], weights: Weights) -> tuple[list[str], Floats, NDArray[np.bool_]]:
    """Return the signals' names, their values by task, and whether the first files hold all gold."""
    rows, right = [], []
    for task in tasks:
        columns = FileColumns(task.file, task.unit, task.file_row)
        scores = raise_named_files(columns, combine(task.file, weights.file, len(task.files)))
        rows.append(surety_signals(scores))
        first = np.argsort(-scores, kind="stable")[:FIRST]
        right.append(int(task.file_gold()[first].sum()) == task.gold_count)
    names = list(rows[0])
    return names, np.array([[row[name] for name in names] for row in rows]), np.array(right)


def fit(values: Floats, right: NDArray[np.bool_]) -> Floats:
    """Return the weights of a logistic model by Newton's method; the ridge spares the first, the bias."""
    weights = np.zeros(values.shape[1])
    ridge = _RIDGE * np.diag([0.0] + [1.0] * (len(weights) - 1))
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(-values @ weights))
        slope = values.T @ (chance - right) + ridge @ weights
        curve = (values * (chance * (1 - chance))[:, None]).T @ values + ridge
        weights = weights - np.linalg.solve(curve, slope)
    return weights


def cross_validated(tasks: Sequence[TaskRows], values: Floats, right: NDArray[np.bool_]) -> Floats:
    """Return the chance of each task by a model of the other repositories."""
    folds = deal_folds(tasks)
    fold = np.array([folds[task.repo] for task in tasks])
    chances = np.zeros(len(tasks))
    for each in range(FOLDS):
        weights = fit(values[fold != each], right[fold != each])
        chances[fold == each] = 1 / (1 + np.exp(-values[fold == each] @ weights))
    return chances


def report(chances: Floats, right: NDArray[np.bool_]) -> str:
    """Return how often the choice was right where the report says sure, likely and unsure."""
    bounds = {"sure": (SURE, 1.01), "likely": (LIKELY, SURE), "unsure": (0.0, LIKELY)}
    lines = [f"{'':8s} tasks  told  right"]
    for name, (low, high) in bounds.items():
        chosen = (chances >= low) & (chances < high)
        if chosen.any():
            message, true = chances[chosen].mean(), right[chosen].mean()
            lines.append(f"{name:8s} {int(chosen.sum()):5d}  {message:.2f}  {true:.2f}")
    return "\n".join(lines)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=Path, required=True, help="folder of the tasks' signals")
    parser.add_argument("--weights", type=Path, required=True, help="weights file")
    parser.add_argument("--write", action="store_true", help="put the model into the weights file")
    arguments = parser.parse_args()
    data = json.loads(arguments.weights.read_text(encoding="utf-8"))
    tasks = read_folder(arguments.rows)
    names, values, right = read_examples(tasks, Weights(data["file"], data["unit"]))
    sys.stdout.write(f"{report(cross_validated(tasks, values, right), right)}\n")
    if arguments.write:
        learned = zip(names, fit(values, right).tolist(), strict=True)
        data["surety"] = {name: round(weight, 3) for name, weight in learned}
        arguments.weights.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
