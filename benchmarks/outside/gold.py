"""The tasks of ContextBench (Apache-2.0, github.com/Nobbettt/ContextBench) and the lines that people chose.

Their file tells a gold context as text: for each part ``file:``, ``start_line:``, ``end_line:``, then its
lines. Paths may begin with the folder of the container that the task ran in.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.tasks import Task, TaskFileError

_PART: Final = re.compile(r"^file: (.+)\nstart_line: (\d+)\nend_line: (\d+)$", re.MULTILINE)
_CONTAINER: Final = re.compile(r"^/(?:testbed|workspace/[^/]+(?=/)|workspace)/")
_OWN_ID: Final = re.compile(r"([\w.-]+?)__([\w.-]+)-\d+$")


class GoldTask(NamedTuple):
    """A task, and the lines that a person who knows the answer has to have read."""

    task: Task
    """Its goal is the issue; its gold files are those of the gold context."""
    spans: dict[str, list[tuple[int, int]]]
    """Path → first and last lines, from 1, inclusive; they may overlap."""


def read_gold(file: Path) -> list[GoldTask]:
    """Read tasks from their Parquet file, or from JSON lines with the same fields.

    Raises:
        TaskFileError: the file can't be read, or the package that reads Parquet is missing.
    """
    try:
        return [_task(row) for row in _rows(file)]
    except (OSError, ValueError, KeyError) as error:
        raise TaskFileError(
            f"ContextBench's tasks can't be read from `{file}` ({error}); name its data/test.parquet."
        ) from None


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    if file.suffix != ".parquet":
        yield from map(json.loads, file.read_text("utf-8").splitlines())
        return
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise TaskFileError(
            f"`{file}` is Parquet, which this Python can't read; install pyarrow, or name the same rows as "
            "JSON lines."
        ) from None
    yield from parquet.read_table(file).to_pylist()


def _task(row: dict[str, Any]) -> GoldTask:
    spans: dict[str, list[tuple[int, int]]] = {}
    for path, first, last in _PART.findall(row["gold_context"]):
        spans.setdefault(_CONTAINER.sub("", path).lstrip("/"), []).append((int(first), int(last)))
    if not spans:
        raise ValueError(f"{row['instance_id']} has no gold context")
    own_id = row["original_inst_id"]
    repo = row["repo"] if "/" in row["repo"] else "/".join(_OWN_ID.findall(own_id)[0])
    task = Task(own_id, repo, row["base_commit"], row["language"], row["problem_statement"], sorted(spans))
    return GoldTask(task, spans)
