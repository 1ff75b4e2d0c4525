"""Servers on stdio and over HTTP and command lines, all at once on one data folder, one cache and one tree.

``python -m tests.safety.crowd`` is the long run; ``test_crowd.py`` has a short one. All servers step one
navigation at the same time, each opens navigations of its own, and the tree is edited meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sqlite3
import sys
import tempfile
from collections.abc import Awaitable, Iterator
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

from navigator.navigator import Navigator
from navigator.settings import NavigatorSettings
from repo_map.index.build import build_index
from repo_map.index.store import Store
from repo_map.outline.draw import draw_map
from repo_map.plan.model import FlightPlan
from tests.safety.crash import FILES
from tests.support.http_server import served
from tests.support.trees import commit

PATIENCE_S = 120.0
"""After which a call that has no answer counts as a deadlock."""
_BUSY = ("Another process has just stepped", "has been stepping")
_COMMANDS = (
    ("repo_navigator.main", "navigate", "--goal", "add up the total", "--json"),
    ("repo_navigator.map_main", "generate", "--quiet"),
)


@dataclass
class Tally:
    """What the crowd did."""

    steps: list[int] = field(default_factory=list)
    """Numbers of the answered steps of the navigation that all share."""
    refused: int = 0
    """Steps that another server was quicker to take."""
    opened: list[str] = field(default_factory=list)
    """Navigations of one server each."""
    commands: int = 0


async def crowd(folder: Path, *, stdio: int, http: int, commands: int, rounds: int) -> Tally:
    """Let servers and command lines work at once, and check what they leave.

    Raises:
        AssertionError: something is lost, mixed up or damaged.
        TimeoutError: somebody waits without end.
    """
    repository = commit(folder / "repository", FILES)
    places = {"REPO_NAVIGATOR_DATA": str(folder / "data"), "REPO_NAVIGATOR_CACHE": str(folder / "cache")}
    environment = os.environ | places
    tally = Tally()
    async with AsyncExitStack() as stack:
        fronts: list[Client] = []
        for _ in range(http):
            url, _process = stack.enter_context(served(folder))
            fronts.append(await stack.enter_async_context(Client(url)))
        for _ in range(stdio):
            command = StdioServerParameters(
                command=sys.executable, args=["-I", "-m", "mcp_server"], env=environment
            )
            fronts.append(await stack.enter_async_context(Client(command)))
        goal = {"goal": "add up the total", "repo_path": str(repository), "mode": "interactive"}
        message = await _told(fronts[0].call_tool("navigate", goal))
        shared = message["navigation_id"]
        tally.steps.append(message["turn_report"]["step_number"])
        budgets = count(4_000)
        async with anyio.create_task_group() as tasks:
            for front in fronts:
                tasks.start_soon(partial(_work, front, shared, goal, rounds, tally, budgets=budgets))
            for number in range(commands):
                tasks.start_soon(_command, _COMMANDS[number % 2], repository, rounds, environment, tally)
            tasks.start_soon(_edit, repository, rounds)
    await _check(folder, repository, shared, tally)
    return tally


async def _work(
    front: Client, shared: str, goal: dict[str, Any], rounds: int, tally: Tally, *, budgets: Iterator[int]
) -> None:
    """Step the shared navigation and open one of its own, a few times."""
    for number in range(rounds):
        # A step is taken only where the plan changes, whoever changed it before.
        updates = {
            "verbosity": [{"pattern": f"src/part_{number % 6}.py", "level": 1 + number % 4}],
            "budget": next(budgets),
        }
        message = await _told(front.call_tool("step", {"navigation_id": shared, "updates": updates}))
        if message:
            tally.steps.append(message["turn_report"]["step_number"])
        else:
            tally.refused += 1
        tally.opened.append((await _told(front.call_tool("navigate", goal)))["navigation_id"])


async def _told(call: Awaitable[Any]) -> dict[str, Any]:
    """Return what a tool answered, nothing where another server was quicker."""
    with anyio.fail_after(PATIENCE_S):
        answer = await call
    if answer.is_error:
        assert any(busy in answer.content[0].text for busy in _BUSY), answer.content
        return {}
    message: dict[str, Any] = answer.structured_content
    return message


async def _command(
    command: tuple[str, ...], repository: Path, rounds: int, environment: dict[str, str], tally: Tally
) -> None:
    """Run a command line a few times, each to its end."""
    module, verb, *options = command
    code = f"import sys; from {module} import main; sys.exit(main(sys.argv[1:]))"
    for _ in range(rounds):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", code, verb, str(repository), *options),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
        )
        with anyio.fail_after(PATIENCE_S):
            printed, message = await process.communicate()
        assert process.returncode == 0, message.decode()
        assert b"part_1" in printed
        assert b"can't be" not in printed
        tally.commands += 1


async def _edit(repository: Path, rounds: int) -> None:
    """Change a file now and then, as a user would."""
    for number in range(rounds):
        (repository / "src/part_0.py").write_text(
            f"def part_0(total: int) -> int:\n    return total - {number}\n"
        )
        await anyio.sleep(0.2)


async def _check(folder: Path, repository: Path, shared: str, tally: Tally) -> None:
    """Look at what is left, as the next process does."""
    with closing(sqlite3.connect(folder / "data/sessions.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    navigator = Navigator(NavigatorSettings(data_dir=folder / "data", use_cache=False, workers=1))
    try:
        # No two answers speak of the same step, and none is lost.
        assert sorted(tally.steps) == list(range(1, len(tally.steps) + 1))
        assert (await navigator.report(shared)).step_number == len(tally.steps)
        assert len(await navigator.decisions(shared)) == len(tally.steps) + 1
        known = {summary.navigation_id for summary in await navigator.navigations()}
        assert {shared, *tally.opened} <= known
    finally:
        await navigator.aclose()
    cached = build_index(repository, store=Store(folder / "cache"), workers=1)
    alone = build_index(repository, store=Store(None), workers=1)
    assert cached.problems == ()
    assert draw_map(cached, FlightPlan()).text == draw_map(alone, FlightPlan()).text


def main() -> None:
    """Run as ``python -m tests.safety.crowd``."""
    parser = argparse.ArgumentParser(prog="tests.safety.crowd")
    for name, number in (("stdio", 3), ("http", 2), ("commands", 4), ("rounds", 20)):
        parser.add_argument(f"--{name}", type=int, default=number)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="crowd-") as folder:
        tally = asyncio.run(crowd(Path(folder), **vars(options)))
    print(
        f"{options.stdio} servers on stdio and {options.http} over HTTP: {len(tally.steps)} steps of one "
        f"navigation, {tally.refused} refused as another was quicker, {len(tally.opened)} navigations of "
        f"their own; {tally.commands} command lines; nothing lost, nothing damaged"
    )


if __name__ == "__main__":
    main()
