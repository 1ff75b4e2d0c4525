"""The answers of the navigator and of plain search to tasks, asked once and kept in a journal."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.baselines import Baselines
from benchmarks.figures import NAVIGATOR
from benchmarks.scoring import Place
from benchmarks.tasks import Task
from repo_map.text import tokens


class Result(msgspec.Struct, frozen=True):
    """The answer to one task at one budget, as a line of the results file."""

    id: str
    system: str
    budget: int
    context: str
    ranked: list[str]
    """Paths, most relevant first."""
    seconds: float
    surety: str = ""
    """How sure the navigator said that it is: the word of its report."""
    menu: list[Place] = []
    """What the navigator offers beside the context."""
    menu_tokens: int = 0


def navigate(task: Task, tree: Path, system: str, budget: int) -> Result:
    """Ask the navigator through its command line, in this process."""
    from navigator.records.reports import MenuPlace  # noqa: PLC0415 - figures of old answers need no navigator
    from navigator.steps.menu_text import menu_text  # noqa: PLC0415 - figures of old answers need no navigator
    from repo_navigator.main import main  # noqa: PLC0415 - figures of old answers need no navigator

    started = time.perf_counter()
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as goal:
        goal.write(task.goal)
        goal.flush()
        # The command writes bytes: a text stream of its own would translate line ends.
        output = io.BytesIO()
        printed = io.TextIOWrapper(output, encoding="utf-8")
        with contextlib.redirect_stdout(printed):
            asked = ["navigate", str(tree), "--goal-file", goal.name, "--tokens", str(budget), "--json"]
            code = main([*asked, "--fill"] if system == NAVIGATOR else asked)
    if code:
        raise RuntimeError(
            f"`repo-navigator navigate` ended with {code} on {task.id}; see the message above."
        )
    printed.flush()
    said: dict[str, Any] = json.loads(output.getvalue())
    ranked = [file["path"] for file in said["files"]]
    seconds = time.perf_counter() - started
    menu = [] if system == NAVIGATOR else [MenuPlace.model_validate(each) for each in said["menu"]]
    return Result(
        task.id,
        system,
        budget,
        said["context"],
        ranked,
        seconds,
        said["evidence"] or "",
        [Place(each.path, each.first, each.last, each.tokens) for each in menu],
        tokens.count(menu_text(menu), "cl100k"),
    )


def search(task: Task, tree: Path, budgets: Sequence[int]) -> list[Result]:
    """Ask the baselines, at the budgets whose answers are missing."""
    if not budgets:
        return []
    from repo_map.index import build_index  # noqa: PLC0415 - figures of old answers need no index

    started = time.perf_counter()
    answers = Baselines(build_index(tree)).answers(task.goal, budgets)
    seconds = (time.perf_counter() - started) / len(answers)
    return [
        Result(task.id, system, budget, answer.context, list(answer.ranked), seconds)
        for (system, budget), answer in answers.items()
    ]
