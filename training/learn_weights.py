"""Learn the weights of relevance from tasks with known answers, and say how well they do elsewhere.

    python -m training.learn_weights --tasks dev/*.jsonl --trees TREES --rows ROWS [--mirrors M] [--write]

Signals are computed once per task and kept in ROWS. Figures are cross-validated: the repositories are
dealt into five folds, and each fold is scored with weights learned from the other four. ``body`` is
estimated from line counts, ``reach`` from a fixed number of places; ``python -m benchmarks answer``
measures them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.tasks import read_tasks
from benchmarks.trees import materialise
from repo_map.history.reader import source_history
from repo_map.index.build import build_index
from repo_map.ranking.model import Weights, default_weights
from training.calibration import OfRepository
from training.estimated_packet import among_best, measure
from training.learning_report import report
from training.listwise import Aim, Lists, fit, make_lists
from training.signal_rows import TaskRows, read_folder, read_rows, save_rows

FOLDS = 5
_NEVER_POSITIVE = frozenset({"p.gen", "p.aux", "p.new"})
_FREE = frozenset(
    {"p.size", "p.nunits", "p.depth", "p.init", "p.hdr", "p.dup", "p.cls", "p.gap", "p.func", "F.size"}
)
"""Signals whose sign the data decides; every other one may only speak for a candidate."""
_FILE_AIM = Aim(places=3, strength=0.006)
_UNIT_AIM = Aim(places=30, strength=0.006)

FORMULA = Weights(
    file={
        "b.file": 1.0,
        "b.umax": 1.0,
        "um.wall": 0.5,
        "f.title": 0.5,
        "h.vote": 0.6,
        "tr.umax": 0.5,
        "m.frame": 0.5,
        "m.path": 0.5,
        "m.dot": 0.5,
        "m.folder": 0.4,
        "path.bm25": 0.4,
        "h.recent": 0.3,
        "p.gen": -3.0,
        "p.aux": -2.0,
        "p.code": 2.0,
    },
    unit={
        "b.unit": 1.0,
        "u.wall": 0.3,
        "u.title": 0.5,
        "m.frame": 0.7,
        "m.dot": 0.7,
        "def.unit": 0.5,
        "h.unit": 0.3,
        "tr.unit": 0.4,
        "s.caller": 0.2,
        "s.callee": 0.2,
        "F.rel": 1.0,
        "p.size": 0.8,
    },
)
"""Weights of a plain formula without training: where learning starts, and what it is pulled towards."""


def learn(
    tasks: Sequence[TaskRows],
    prior: Weights,
    *,
    leave_out: frozenset[str] = frozenset(),
    aims: tuple[Aim, Aim] = (_FILE_AIM, _UNIT_AIM),
) -> Weights:
    """Learn file weights, then unit weights among the files that those put first.

    ``leave_out`` names signals to do without.
    """
    names = [name for name in _names(tasks, "file") if name not in leave_out]
    lists = make_lists([(task.file, task.file_gold()) for task in tasks], names)
    file = _fit_named(lists, names, prior.file, aims[0])
    examples = []
    for task in tasks:
        scores = task.file_scores(file)
        among = among_best(task, scores) | task.unit_gold()
        signals = {name: values[among] for name, values in task.unit_signals(scores).items()}
        examples.append((signals, task.unit_gold()[among]))
    unit_names = sorted({name for signals, _ in examples for name in signals} - leave_out)
    unit = _fit_named(make_lists(examples, unit_names), unit_names, prior.unit, aims[1])
    return Weights(file, unit)


def _fit_named(lists: Lists, names: Sequence[str], prior: Mapping[str, float], aim: Aim) -> dict[str, float]:
    low = np.array([-9.0 if name in _FREE or name in _NEVER_POSITIVE else 0.0 for name in names])
    high = np.array([0.0 if name in _NEVER_POSITIVE else 9.0 for name in names])
    start = np.clip(np.array([prior.get(name, 0.0) for name in names]), low, high)
    weights = fit(lists, start, aim, low=low, high=high)
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}


def _names(tasks: Sequence[TaskRows], which: str) -> list[str]:
    return sorted({name for task in tasks for name in getattr(task, which)})


def deal_folds(tasks: Sequence[OfRepository]) -> dict[str, int]:
    """Return the fold of each repository: the largest first, each to the fold with the fewest tasks."""
    sizes: dict[str, int] = defaultdict(int)
    for task in tasks:
        sizes[task.repo] += 1
    filled = [0] * FOLDS
    folds: dict[str, int] = {}
    for repo in sorted(sizes, key=lambda repo: (-sizes[repo], repo)):
        folds[repo] = filled.index(min(filled))
        filled[folds[repo]] += sizes[repo]
    return folds


def learn_folds(tasks: Sequence[TaskRows], prior: Weights, **options: object) -> dict[str, Weights]:
    """Return for each repository the weights learned from the other folds."""
    folds = deal_folds(tasks)
    learned: dict[int, Weights] = {}
    for fold in range(FOLDS):
        rest = [task for task in tasks if folds[task.repo] != fold]
        learned[fold] = learn(rest, prior, **options)  # type: ignore[arg-type]
    return {repo: learned[fold] for repo, fold in folds.items()}


def cross_validate(tasks: Sequence[TaskRows], prior: Weights, **options: object) -> list[dict[str, float]]:
    """Measure every task with weights learned from the other folds."""
    weights = learn_folds(tasks, prior, **options)
    return [measure(task, weights[task.repo]) for task in tasks]


def prepare(arguments: argparse.Namespace) -> None:
    """Compute the rows of every task that has none yet."""
    for path in arguments.tasks:
        for task in read_tasks(path):
            target = arguments.rows / f"{task.id}.npz"
            if target.exists():
                continue
            tree = materialise(task.repo, task.base_commit, arguments.mirrors, arguments.trees)
            index = build_index(tree)
            history = source_history(index.build.source, seconds=120)
            save_rows(read_rows(task, path.stem, index, history), target)
            sys.stderr.write(f"{task.id}: {len(index)} files\n")


def lacking(tasks: Sequence[TaskRows]) -> str:
    """Say which signals the rows of some tasks lack that others have; ``""`` where all have the same.

    A signal that is missing counts as 0, so that its weight would be lost: a mirror without its past has no
    signal of history.
    """
    for which in ("file", "unit"):
        names = set(_names(tasks, which))
        for task in tasks:
            if missing := sorted(names - set(getattr(task, which))):
                return f"The rows of {task.id} lack {', '.join(missing)}, which other tasks have."
    return ""


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=Path, nargs="+", default=[])
    parser.add_argument("--mirrors", type=Path, default=Path())
    parser.add_argument("--trees", type=Path, default=Path())
    parser.add_argument("--rows", type=Path, required=True, help="folder that keeps the signals")
    parser.add_argument("--write", type=Path, help="weights file to write, learned from all tasks")
    parser.add_argument("--fast", action="store_true", help="leave cross-validation out")
    arguments = parser.parse_args()
    prepare(arguments)
    tasks = read_folder(arguments.rows)
    if message := lacking([task for task in tasks if len(task.files)]):
        parser.error(f"{message} Delete its file in {arguments.rows}, and compute it from a whole mirror.")
    lines = report("formula", tasks, [measure(task, FORMULA) for task in tasks])
    if not arguments.fast:
        lines += ["", *report("cross-validated", tasks, cross_validate(tasks, FORMULA))]
    if arguments.write:
        learned = learn(tasks, FORMULA)
        kept = default_weights()._replace(file=learned.file, unit=learned.unit)
        arguments.write.write_text(json.dumps(kept._asdict(), indent=2) + "\n", encoding="utf-8")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
