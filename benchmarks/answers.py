"""The answers of the navigator and of plain search to tasks, asked once and kept in a journal."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from benchmarks.baselines import Baselines
from benchmarks.figures import NAVIGATOR, SENT
from benchmarks.sent import first_answer
from benchmarks.tasks import Task

if TYPE_CHECKING:
    from navigator.workspaces.workspace import Workspace

_HISTORY_S: Final = 120


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


def navigate(task: Task, tree: Path, budget: int) -> Result:
    """Ask the navigator through its command line, in this process, to fill a budget."""
    from repo_navigator.main import main  # noqa: PLC0415 - figures of old answers need no navigator

    started = time.perf_counter()
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as goal:
        goal.write(task.goal)
        goal.flush()
        # The command writes bytes: a text stream of its own would translate line ends.
        output = io.BytesIO()
        printed = io.TextIOWrapper(output, encoding="utf-8")
        with contextlib.redirect_stdout(printed):
            asked = ["navigate", str(tree), "--goal-file", goal.name, "--tokens", str(budget)]
            code = main([*asked, "--fill", "--json"])
    if code:
        raise RuntimeError(
            f"`repo-navigator navigate` ended with {code} on {task.id}; see the message above."
        )
    printed.flush()
    said: dict[str, Any] = json.loads(output.getvalue())
    ranked = [file["path"] for file in said["files"]]
    seconds = time.perf_counter() - started
    return Result(task.id, NAVIGATOR, budget, said["context"], ranked, seconds, said["evidence"] or "")


def sent_answers(workspace: Workspace, task: Task, sizes: Sequence[int]) -> list[Result]:
    """Return the first answers of some sizes, in tokens, as hosts are sent them."""
    found: list[Result] = []
    for size in sizes:
        started = time.perf_counter()
        sent = first_answer(workspace, task, size)
        ranked = [file.path for file in sent.relevance.files]
        found.append(Result(task.id, SENT, size, sent.text, ranked, time.perf_counter() - started))
    return found


@contextlib.contextmanager
def opened(tree: Path) -> Iterator[Workspace]:
    """Read a tree and its history, and let go of them in the end."""
    from navigator.workspaces.workspace import Workspace  # noqa: PLC0415 - figures of old answers need no navigator
    from repo_map.history.history import read_history  # noqa: PLC0415 - as above
    from repo_map.index import build_index  # noqa: PLC0415 - as above

    index = build_index(tree, workers=1)
    yield Workspace(index, read_history(tree, seconds=_HISTORY_S))
    index.release()


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
