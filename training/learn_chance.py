"""Learn from tasks how likely each unit is part of the goal's work.

    python -m training.learn_chance --rows ROWS --weights repo_map/relevance/weights.json [--write]

ROWS is the folder of signals that ``training.learn_weights`` keeps. Prints how often units were right by how
likely they were said to be, each task judged by weights and a model that saw no task of its repository;
``--write`` learns from all tasks and puts the model into the weights file.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.relevance.chance import chance_signals, chances_of
from repo_map.relevance.confidence import confidence_of, surety_signals
from repo_map.relevance.corpus import Floats
from repo_map.relevance.model import Weights
from repo_map.text.units import CLASS_HEADER, FUNCTION, GAP
from training.learn_surety import fit
from training.learn_weights import FORMULA, deal_folds, learn_folds
from training.signal_rows import TaskRows, read_folder

BOUNDS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)


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
    confidence = confidence_of(surety_signals(order.files), weights.surety)
    signals = chance_signals(order.units[rows], place[task.file_row[rows]], kinds[rows], confidence)
    return Example(task.repo, signals, task.unit_gold()[rows])


def learn(examples: Sequence[Example]) -> dict[str, float]:
    """Return the weights of the logistic model."""
    names = list(examples[0].signals)
    values = np.concatenate([np.stack([each.signals[name] for name in names], axis=1) for each in examples])
    weights = fit(values, np.concatenate([each.right for each in examples]))
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}


def report(chances: Floats, right: NDArray[np.bool_]) -> str:
    """Return how often units were right, by how likely they were said to be."""
    lines = [f"Brier score {np.mean((chances - right) ** 2):.5f}", "said            units  mean  right"]
    for low, high in itertools.pairwise(BOUNDS):
        chosen = (chances >= low) & (chances < high)
        if chosen.any():
            lines.append(
                f"{low:.2f} to {high:.2f} {int(chosen.sum()):8d}  "
                f"{chances[chosen].mean():.3f}  {right[chosen].mean():.3f}"
            )
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
    tasks = [task for task in read_folder(arguments.rows) if len(task.files)]
    learned = learn_folds(tasks, [], FORMULA)
    examples = [read_example(task, learned[task.repo]._replace(surety=data["surety"])) for task in tasks]
    folds = deal_folds(tasks)
    models = {
        fold: learn([each for each in examples if folds[each.repo] != fold])
        for fold in sorted(set(folds.values()))
    }
    chances = [chances_of(example.signals, models[folds[example.repo]]) for example in examples]
    right = np.concatenate([each.right for each in examples])
    sys.stdout.write(f"{report(np.concatenate(chances), right)}\n")
    if arguments.write:
        # Scores of weights that saw a task say more than they should: learned from those that did not.
        data["chance"] = learn(examples)
        arguments.weights.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
