"""Weights that saw no task of a repository: what the repositories of the other folds teach.

    python -m training.foreign_weights --rows ROWS --out WEIGHTS

ROWS is the folder of signals that ``training.learn_weights`` keeps. ``python -m benchmarks answer --weights
WEIGHTS`` judges each task by them; the weights that are shipped have seen the development tasks.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec

from repo_map.ranking.model import Weights
from training import learn_chance, learn_surety
from training.calibration import by_fold
from training.learn_weights import FORMULA, deal_folds, learn_folds
from training.signal_rows import TaskRows, read_folder


def foreign_weights(tasks: Sequence[TaskRows]) -> dict[str, Weights]:
    """Return for each repository the weights of order, surety and chance that the other folds teach."""
    learned, folds = learn_folds(tasks, FORMULA), deal_folds(tasks)
    choices = [learn_surety.read_example(task, learned[task.repo]) for task in tasks]
    sureties = by_fold(choices, folds, learn_surety.learn)
    learned = {repo: each._replace(surety=sureties[repo]) for repo, each in learned.items()}
    units = [learn_chance.read_example(task, learned[task.repo]) for task in tasks]
    chances = by_fold(units, folds, learn_chance.learn)
    return {repo: each._replace(chance=chances[repo]) for repo, each in learned.items()}


def kept_weights(rows: Sequence[TaskRows], kept: Path) -> dict[str, Weights]:
    """Return each repository's weights, learned from the others' rows; ``kept`` keeps them."""
    if kept.exists():
        return msgspec.json.decode(kept.read_bytes(), type=dict[str, Weights])
    weights = foreign_weights(rows)
    kept.write_bytes(msgspec.json.encode(weights))
    return weights


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    kept_weights([task for task in read_folder(options.rows) if len(task.files)], options.out)


if __name__ == "__main__":
    main()
