"""Which tasks a measurement takes that has no time for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha1
from itertools import zip_longest

from benchmarks.tasks import Task


def sampled(tasks: Sequence[Task], number: int | None) -> list[Task]:
    """Return tasks of each language in turn, always the same ones; all of them for None."""
    if number is None:
        return list(tasks)
    by_language: dict[str, list[Task]] = {}
    for task in sorted(tasks, key=lambda task: sha1(task.id.encode()).hexdigest()):
        by_language.setdefault(task.language, []).append(task)
    rounds = zip_longest(*(by_language[language] for language in sorted(by_language)))
    return [task for each in rounds for task in each if task is not None][:number]
