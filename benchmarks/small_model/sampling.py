"""The tasks of a measurement that has no time for all of them: where they are, and which of them it takes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from hashlib import sha1
from itertools import zip_longest
from pathlib import Path

from benchmarks.localize import folder
from benchmarks.tasks import Task, read_tasks


def add_task_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what says which tasks are measured, where their trees are, and where rows are kept."""
    parser.add_argument("tasks", nargs="+", type=Path, metavar="TASKS", help="task files (JSON lines)")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="keep rows here, and resume")
    parser.add_argument("--sample", type=int, metavar="N", help="N tasks only, languages in turn")
    parser.add_argument(
        "--figures", action="store_true", help="ask nothing; print the figures of the rows that are there"
    )
    parser.add_argument(
        "--mirrors", type=Path, default=folder("BENCH_MIRROR"), help="folder of git mirrors ($BENCH_MIRROR)"
    )
    parser.add_argument(
        "--trees", type=Path, default=folder("BENCH_TREES"), help="folder for work trees ($BENCH_TREES)"
    )


def asked_tasks(options: argparse.Namespace) -> list[Task] | None:
    """Return the tasks to measure; None, and a sentence on stderr, where their trees can't be had."""
    if options.mirrors is None or options.trees is None:
        print("Say where mirrors and work trees are: BENCH_MIRROR and BENCH_TREES.", file=sys.stderr)
        return None
    return sampled([task for file in options.tasks for task in read_tasks(file)], options.sample)


def sampled(tasks: Sequence[Task], number: int | None) -> list[Task]:
    """Return tasks of each language in turn, always the same ones; all of them for None."""
    if number is None:
        return list(tasks)
    by_language: dict[str, list[Task]] = {}
    for task in sorted(tasks, key=lambda task: sha1(task.id.encode()).hexdigest()):
        by_language.setdefault(task.language, []).append(task)
    rounds = zip_longest(*(by_language[language] for language in sorted(by_language)))
    return [task for each in rounds for task in each if task is not None][:number]
