"""Trying a solution: the task's tests in a cell, or the written agent on a prompt."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from benchmarks.agents.agent_process import run_adk_agent
from benchmarks.agents.blocks import CandidateError, target_of
from benchmarks.agents.isolation.sandbox import MEBIBYTE, Limits, Room, run_isolated
from benchmarks.agents.model import Endpoint
from benchmarks.agents.task import AgentCheck, Task
from navigator.state.usage import TokenUsage

TEST_LIMITS = Limits(seconds=60.0, cpu_seconds=60)
AGENT_LIMITS = Limits(seconds=120.0, cpu_seconds=60, memory_bytes=1536 * MEBIBYTE)
_SAID = "said "
_FOOLED = "The tests pass with this solution even where one of them has to fail, so they decided nothing."


class Verdict(NamedTuple):
    """Whether a solution does what the task asks, and what was seen."""

    solved: bool
    log: str
    usage: TokenUsage = TokenUsage()
    """Of the model calls of an agent that was tried."""


def fresh_room(repository: Path, folder: Path) -> Room:
    """Return a new room whose work folder is a copy of the repository without its history."""
    room = Room(folder)
    shutil.copytree(repository, room.work, ignore=shutil.ignore_patterns(".git"), symlinks=True)
    room.prepare()
    return room


async def run_tests(task: Task, room: Room, limits: Limits = TEST_LIMITS) -> Verdict:
    """Run the task's own tests, as the task has them, on the room's work folder."""
    task.lay_tests(room.work)
    ended = await run_isolated(task.test, room, limits)
    return Verdict(ended.passed, ended.log())


async def judge(task: Task, solution: Mapping[str, str], folder: Path, endpoint: Endpoint) -> Verdict:
    """Decide by the task's own tests, on a repository laid out anew, whether a solution solves it.

    Args:
        task: the task.
        solution: the files that the solution writes, by path.
        folder: an empty folder to work in.
        endpoint: where an agent that is tried finds its model.
    """
    task.lay_out(folder / "repository")
    try:
        room = _room_with(task, solution, folder, "room")
    except (CandidateError, OSError) as error:
        return Verdict(False, str(error))
    if task.kind == "agent":
        return await _check_agent(task, room, endpoint)
    verdict = await run_tests(task, room)
    if verdict.solved and await _is_fooled(task, solution, folder):
        return Verdict(False, f"{_FOOLED}\n{verdict.log}")
    return verdict


def _room_with(task: Task, solution: Mapping[str, str], folder: Path, name: str) -> Room:
    """Return a room with the repository and a solution laid over it.

    Raises:
        CandidateError: a file of the solution may not be written.
    """
    room = fresh_room(folder / "repository", folder / name)
    for path, text in solution.items():
        file = target_of(room.work, path, task.tests if task.kind == "fix" else None)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return room


async def _is_fooled(task: Task, solution: Mapping[str, str], folder: Path) -> bool:
    """Say whether the tests pass with this solution even where one of them has to fail.

    A runner that leaves the added test out passes with the known solution as well, and then tells nothing.
    """
    tests = with_failing_test(task.tests)
    failing = task.model_copy(update={"tests": tests})
    if not tests or not (await run_tests(failing, _room_with(task, solution, folder, "canary"))).solved:
        return False
    known = fresh_room(folder / "repository", folder / "known")
    task.solve(known.work)
    return not (await run_tests(failing, known)).solved


async def _check_agent(task: Task, room: Room, endpoint: Endpoint) -> Verdict:
    logs: list[str] = []
    usage = TokenUsage()
    for check in task.checks:
        ended, used = await run_adk_agent(task.output, check.prompt, room, endpoint, AGENT_LIMITS)
        usage = usage.plus(used)
        logs.append(ended.log())
        if not (ended.passed and _answers(ended.output, check)):
            return Verdict(False, "\n".join([*logs, f"expected: {', '.join(check.expect)}"]), usage)
    return Verdict(True, "\n".join(logs), usage)


def _answers(output: str, check: AgentCheck) -> bool:
    said = "\n".join(line.removeprefix(_SAID) for line in output.splitlines() if line.startswith(_SAID))
    return all(words in said for words in check.expect)


_PYTHON = """

import unittest as _unittest


class AMustFail(_unittest.TestCase):
    def test_must_fail(self):
        self.assertEqual(1, 2)


class ZMustFail(AMustFail):
    pass
"""
_SHELL = "\nexit 1\n"
_MODULE = """
import { test as mustFail } from "node:test";
mustFail("must fail", () => { throw new Error("must fail"); });
"""
_SCRIPT = """
require("node:test").test("must fail", () => { throw new Error("must fail"); });
"""
_C = "\n#undef main\nint main(void) {\n    tested_main();\n    return 1;\n}\n"


def with_failing_test(tests: Mapping[str, str]) -> dict[str, str]:
    """Return the tests, each with a failing one added where its language is known; empty where none is.

    A solution runs in one process with the tests, so it can end that process, replace what the tests compare
    with, or rewrite them, on purpose or by accident (``sys.exit(0)`` in a module). All of these let the added
    test pass as well.
    """
    ways = {path: _WAYS.get(PurePosixPath(path).suffix) for path in tests}
    added = {path: way(tests[path]) for path, way in ways.items() if way}
    return {**tests, **added} if added else {}


def _javascript(text: str) -> str:
    is_module = any(line.startswith(("import ", "import{", "export ")) for line in text.splitlines())
    return text + (_MODULE if is_module else _SCRIPT)


_WAYS: dict[str, Callable[[str], str]] = {
    ".py": lambda text: text + _PYTHON,
    ".sh": lambda text: text + _SHELL,
    ".bash": lambda text: text + _SHELL,
    ".js": _javascript,
    ".mjs": lambda text: text + _MODULE,
    ".cjs": lambda text: text + _SCRIPT,
    ".c": lambda text: f"#define main tested_main\n{text}{_C}" if "int main(void)" in text else text,
}
