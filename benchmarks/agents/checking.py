"""Whether a task is one: its tests fail with the bug, or without the agent, and pass with its solution."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.agents.mind import ScriptedMind
from benchmarks.agents.model import SCRIPTED_NAME, Endpoint
from benchmarks.agents.task import Task
from benchmarks.agents.trial import fresh_room, judge, run_tests
from tests.support.providers.gemini import gemini


async def check(task: Task) -> tuple[bool, bool]:
    """Return whether a task's tests pass with the bug, and whether they pass with its solution.

    An agent is asked what the task asks of it, with the scripted mind as its model.
    """
    if task.kind == "agent":
        with tempfile.TemporaryDirectory(prefix="task-") as name, gemini(ScriptedMind([task])) as server:
            endpoint = Endpoint(SCRIPTED_NAME, server.url, "none-needed")
            without = await judge(task, {task.output: ""}, Path(name) / "before", endpoint)
            right = await judge(task, {task.output: task.script.code}, Path(name) / "after", endpoint)
        return without.solved, right.solved
    with tempfile.TemporaryDirectory(prefix="task-") as name:
        repository = Path(name) / "repository"
        task.lay_out(repository)
        before = await run_tests(task, fresh_room(repository, Path(name) / "before"))
        task.solve(repository)
        after = await run_tests(task, fresh_room(repository, Path(name) / "after"))
    return before.solved, after.solved
