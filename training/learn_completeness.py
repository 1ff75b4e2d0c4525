"""Learn from tasks how likely a packet holds every function that the work edits.

    python -m training.learn_completeness --rows ROWS --weights repo_map/relevance/weights.json [--write]

ROWS is the folder of signals that ``training.learn_weights`` keeps. Packets of several sizes are estimated
from the units' tokens. Prints how often they were complete by how likely they were said to be, each task
judged by weights and models that saw no task of its repository; ``--write`` learns from all tasks and puts
the models into the weights file.
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

from repo_map.relevance.chance import chances_of
from repo_map.relevance.completeness import completeness, completeness_signals
from repo_map.relevance.confidence import confidence_of, surety_signals
from repo_map.relevance.corpus import Floats, Ints
from repo_map.relevance.model import Weights
from training import learn_chance
from training.learn_surety import fit
from training.learn_weights import FORMULA, deal_folds, learn_folds
from training.signal_rows import TaskRows, read_folder

_BUDGETS = (2_000, 4_000, 8_000, 16_000)
_MENU = 50
_BOUNDS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)
_WHOLE = 0.97
"""Share of a function's lines that must stand in a packet: gaps between units are not counted."""


class Example(NamedTuple):
    """One estimated packet of one task."""

    repo: str
    budget: int
    signals: Mapping[str, float]
    shown: bool
    """Whether it shows every edited function."""
    reached: bool
    """Whether it shows or lists them all."""


def read_examples(task: TaskRows, weights: Weights) -> list[Example]:
    """Return the packets of a task whose fix edits functions."""
    if not len(task.gold_functions):
        return []
    order = task.order(weights)
    chances = chances_of(learn_chance.read_example(task, weights).signals, weights.chance)
    tokens = np.maximum(task.tokens[order.rows], 5.0)
    worthiest = np.argsort(-chances / np.sqrt(tokens), kind="stable")
    confidence = confidence_of(surety_signals(order.files), weights.surety)
    found = []
    for budget in _BUDGETS:
        chosen, used = _packed(worthiest, tokens, budget)
        listed = [each for each in np.argsort(-chances, kind="stable").tolist() if each not in chosen][:_MENU]
        found.append(
            Example(
                task.repo,
                budget,
                completeness_signals(confidence, used),
                _holds_all(task, order.rows[sorted(chosen)]),
                _holds_all(task, order.rows[sorted({*chosen, *listed})]),
            )
        )
    return found


def _packed(worthiest: Ints, tokens: Floats, budget: int) -> tuple[set[int], int]:
    chosen: set[int] = set()
    used = 0.0
    for each in worthiest.tolist():
        if used + tokens[each] <= budget:
            chosen.add(each)
            used += float(tokens[each])
    return chosen, round(used)


def _holds_all(task: TaskRows, rows: Ints) -> bool:
    files, start, end = task.files[task.file_row[rows]], task.start[rows], task.end[rows]
    for file, first, last in task.gold_functions.tolist():
        mine = (files == file) & (start <= last) & (end >= first)
        lines = (np.minimum(end[mine], last) - np.maximum(start[mine], first) + 1).sum()
        if lines < _WHOLE * (last - first + 1):
            return False
    return True


def learn(examples: Sequence[Example]) -> dict[str, dict[str, float]]:
    """Return the weights of both models, by the name of what they tell."""
    names = list(examples[0].signals)
    values = np.array([[each.signals[name] for name in names] for each in examples])
    found = {}
    for which in ("shown", "reached"):
        weights = fit(values, np.array([getattr(each, which) for each in examples]))
        found[which] = {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}
    return found


def report(said: Floats, true: Floats, budgets: Ints) -> str:
    """Return how often packets were complete, by how likely they were said to be; Brier scores by size."""
    lines = ["said            packets  mean  right"]
    for low, high in itertools.pairwise(_BOUNDS):
        chosen = (said >= low) & (said < high)
        if chosen.any():
            lines.append(
                f"{low:.2f} to {min(high, 1.0):.2f} {int(chosen.sum()):9d}  {said[chosen].mean():.3f}  "
                f"{true[chosen].mean():.3f}"
            )
    for budget in _BUDGETS:
        chosen = budgets == budget
        score, plain = np.mean((said - true)[chosen] ** 2), true[chosen].mean() * (1 - true[chosen].mean())
        lines.append(f"{budget:6,d} tokens: Brier score {score:.3f}, of the mean alone {plain:.3f}")
    return "\n".join(lines)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=Path, required=True, help="folder of the tasks' signals")
    parser.add_argument("--weights", type=Path, required=True, help="weights file")
    parser.add_argument("--write", action="store_true", help="put the models into the weights file")
    arguments = parser.parse_args()
    data = json.loads(arguments.weights.read_text(encoding="utf-8"))
    tasks = [task for task in read_folder(arguments.rows) if len(task.files)]
    folds = deal_folds(tasks)
    learned = learn_folds(tasks, [], FORMULA)
    chosen = {repo: each._replace(surety=data["surety"]) for repo, each in learned.items()}
    ordered = {task.id: learn_chance.read_example(task, chosen[task.repo]) for task in tasks}
    chances = {
        fold: learn_chance.learn([ordered[task.id] for task in tasks if folds[task.repo] != fold])
        for fold in sorted(set(folds.values()))
    }
    examples = [
        example
        for task in tasks
        for example in read_examples(task, chosen[task.repo]._replace(chance=chances[folds[task.repo]]))
    ]
    models = {
        fold: learn([each for each in examples if folds[each.repo] != fold])
        for fold in sorted(set(folds.values()))
    }
    said = [completeness(each.signals, **models[folds[each.repo]]) for each in examples]
    budgets = np.array([each.budget for each in examples])
    for which in ("shown", "reached"):
        mean = np.array([getattr(each, which) for each in said])
        true = np.array([float(getattr(each, which)) for each in examples])
        sys.stdout.write(f"{which}\n{report(mean, true, budgets)}\n\n")
    if arguments.write:
        data |= learn(examples)
        arguments.weights.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
