"""aider's repository map as an answer, made by a Python of its own that has aider-chat."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.answers import Result
from benchmarks.tasks import Task
from benchmarks.trees import files_at_head
from repo_map.errors import RepoMapError

AIDER = "aider map"
_SCRIPT = Path(__file__).with_name("aider_map.py")
_LARGEST = 1_500_000
"""Bytes of a file that is mapped."""


class AiderError(RepoMapError):
    """aider made no map; the message holds the end of what it said."""


def ask_aider(python: Path, task: Task, tree: Path, budgets: Sequence[int]) -> list[Result]:
    """Return aider's map of a tree at each budget, drawn for what the goal mentions.

    Raises:
        AiderError: it failed.
    """
    if not budgets:
        return []
    paths = [
        path
        for path in sorted(files_at_head(tree))
        if (tree / path).is_file() and _size(tree / path) < _LARGEST
    ]
    asked = {"root": str(tree), "goal": task.goal, "paths": paths, "budgets": list(budgets)}
    started = time.perf_counter()
    try:
        done = subprocess.run(
            [python, str(_SCRIPT)], input=json.dumps(asked), capture_output=True, text=True, check=False
        )
    finally:
        # It keeps its own cache in the tree, where the navigator would find it.
        for cache in tree.glob(".aider*"):
            shutil.rmtree(cache)
    if done.returncode:
        raise AiderError(f"aider made no map of {task.id}: {done.stderr.strip()[-300:]}")
    maps: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    seconds = (time.perf_counter() - started) / len(budgets)
    return [Result(task.id, AIDER, int(budget), text, [], seconds) for budget, text in maps.items()]


def _size(file: Path) -> int:
    return file.stat().st_size
