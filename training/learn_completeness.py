"""Learn from tasks how likely a packet holds every function that the work edits.

    python -m training.learn_completeness --rows ROWS --weights repo_map/relevance/weights.json [--write]

ROWS is the folder of signals that ``training.learn_weights`` keeps. Packets of several sizes are estimated
from the units' tokens. Prints how often they were complete by how likely they were said to be, each task
judged by weights and models that saw no task of its repository; ``--write`` learns from all tasks and puts
the models into the weights file.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from repo_map.relevance.chance import chances_of
from repo_map.relevance.completeness import completeness, completeness_signals
from repo_map.relevance.confidence import confidence_of, surety_signals
from repo_map.relevance.corpus import Floats, Ints
from repo_map.relevance.model import Weights
from training import learn_chance
from training.calibration import WeightsFile, brier, by_fold, fit_signals, table
from training.learn_weights import FORMULA, deal_folds, learn_folds
from training.signal_rows import TaskRows, read_folder

_BUDGETS = (2_000, 4_000, 8_000, 16_000)
_MENU = 40
_BOUNDS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_TOLD = ("shown", "reached")
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
    signals = [each.signals for each in examples]
    return {
        which: fit_signals(signals, np.array([getattr(each, which) for each in examples])) for which in _TOLD
    }


def report(said: Floats, true: Floats, budgets: Ints) -> list[str]:
    """Return how often packets were complete, by how likely they were said to be; Brier scores by size."""
    lines = table("packets", said, true, _BOUNDS)
    for budget in _BUDGETS:
        chosen = budgets == budget
        score, plain = brier(said[chosen], true[chosen]), brier(true[chosen].mean(), true[chosen])
        lines.append(f"{budget:6,d} tokens: Brier score {score:.3f}, of the mean alone {plain:.3f}")
    return lines


def main() -> None:
    """Run from the command line."""
    file = WeightsFile(__doc__)
    tasks = [task for task in read_folder(file.rows) if len(task.files)]
    folds = deal_folds(tasks)
    weights = {
        repo: each._replace(surety=file.parts["surety"])
        for repo, each in learn_folds(tasks, [], FORMULA).items()
    }
    units = [learn_chance.read_example(task, weights[task.repo]) for task in tasks]
    chances = by_fold(units, folds, learn_chance.learn)
    examples = [
        example
        for task in tasks
        for example in read_examples(task, weights[task.repo]._replace(chance=chances[task.repo]))
    ]
    models = by_fold(examples, folds, learn)
    said = [completeness(each.signals, **models[each.repo]) for each in examples]
    budgets = np.array([each.budget for each in examples])
    for which in _TOLD:
        mean = np.array([getattr(each, which) for each in said])
        true = np.array([float(getattr(each, which)) for each in examples])
        sys.stdout.write("\n".join([which, *report(mean, true, budgets)]) + "\n\n")
    if file.writes:
        file.save(learn(examples))


if __name__ == "__main__":
    main()
