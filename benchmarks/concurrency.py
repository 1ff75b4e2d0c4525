"""``python -m benchmarks concurrency``: many navigations at once over HTTP, and a kill in the middle.

All navigations open at the same moment, a few others step one after the other, and then all step at the same
moment: a step's time includes its wait for the others. In the next round the server is killed once half of
the steps are answered; a new one must know each of these.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio
from mcp import Client

LIMIT_SECONDS: Final = 1.0
"""Most that the 95th percentile of a warm step may take."""
LIMIT_RATIO: Final = 20.0
"""Most that it may take of the median of a step alone."""
_ALONE: Final = 9
_PATIENCE_SECONDS: Final = 60.0
_TOKENS: Final = 7_000
_SHOW_ALL: Final = {"verbosity": [{"pattern": "**", "level": 4}]}


@dataclass
class Flight:
    """One navigation as its host sees it."""

    number: int
    repository: Path
    navigation_id: str = ""
    asked: int = 0
    """Steps that it asked for."""
    answered: int = 0
    """Latest step that the host has an answer for."""
    shown: str = ""
    """Everything that the host was shown."""


@dataclass
class Load:
    """What the whole run came to."""

    flights: list[Flight]
    open_seconds: float = 0.0
    alone_seconds: list[float] = field(default_factory=list)
    """Of steps taken one after the other, by navigations of their own, just before."""
    step_seconds: list[float] = field(default_factory=list)
    answered_before_kill: int = 0
    lost: list[str] = field(default_factory=list)
    """What a restarted server did not know, one line each."""

    @property
    def mixed(self) -> int:
        """Navigations that lack their own code or show another's."""
        return sum(
            f"def only_here_{flight.number}(" not in flight.shown
            or flight.shown.count("def only_here_") != flight.shown.count(f"def only_here_{flight.number}(")
            for flight in self.flights
        )

    @property
    def p95(self) -> float:
        """95th percentile of a step, in seconds."""
        return statistics.quantiles(self.step_seconds, n=20)[-1]

    @property
    def ratio(self) -> float:
        """That of a step at once to the median of one alone, in one run on one machine."""
        return self.p95 / statistics.median(self.alone_seconds)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument("--navigations", type=int, default=50, help="navigations at once (50)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Fly, kill, fly on, and print; the exit code is 1 where a promise is broken."""
    with tempfile.TemporaryDirectory() as scratch:
        load = anyio.run(fly, Path(scratch), options.navigations)
    count = len(load.flights)
    median = statistics.median(load.step_seconds)
    is_kept = not (load.mixed or load.lost) and load.p95 <= LIMIT_SECONDS and load.ratio <= LIMIT_RATIO
    if options.json:
        message = {
            "navigations": count,
            "open_seconds": load.open_seconds,
            "mixed": load.mixed,
            "median_step_seconds": median,
            "p95_step_seconds": load.p95,
            "limit_seconds": LIMIT_SECONDS,
            "alone_step_seconds": statistics.median(load.alone_seconds),
            "p95_to_alone": load.ratio,
            "limit_p95_to_alone": LIMIT_RATIO,
            "answered_before_kill": load.answered_before_kill,
            "lost": load.lost,
            "kept": is_kept,
        }
        print(json.dumps(message))
        return int(not is_kept)
    print(f"{count} navigations at once: {load.open_seconds:.1f} s in all, {load.mixed} with another's code")
    print(f"{count} steps at once: median {median:.3f} s, p95 {load.p95:.3f} s (at most {LIMIT_SECONDS})")
    alone = statistics.median(load.alone_seconds)
    print(f"a step alone: median {alone:.3f} s; p95 is {load.ratio:.1f} times it (at most {LIMIT_RATIO})")
    print(f"killed after {load.answered_before_kill} of {count} further steps were answered: ", end="")
    print("; ".join(load.lost) or "none is lost, and all went on")
    return int(not is_kept)


async def fly(scratch: Path, count: int) -> Load:
    """Open ``count`` navigations in ``scratch``, step them, kill the server on the way, and go on."""
    load = Load([Flight(number, _plant(scratch / f"r{number}", number)) for number in range(count)])
    with served(scratch) as (url, server):
        clock = time.perf_counter()
        await _each(load.flights, lambda flight: _open(url, flight))
        load.open_seconds = time.perf_counter() - clock
        load.alone_seconds = await _step_alone(url, scratch, count)
        await _step_together(url, load)
        answers: list[float] = []

        async def step_until_killed(flight: Flight) -> None:
            with contextlib.suppress(Exception):
                answers.append(await _step(url, flight))
            if len(answers) >= count // 2 and server.poll() is None:
                load.answered_before_kill = len(answers)
                # No farewell: what was answered must be on disk already.
                server.kill()
                server.wait()

        await _each(load.flights, step_until_killed)
    with served(scratch) as (url, _):
        await _each(load.flights, lambda flight: _go_on(url, flight, load.lost))
    return load


async def _each(flights: list[Flight], work: Callable[[Flight], Coroutine[Any, Any, None]]) -> None:
    async with anyio.create_task_group() as tasks:
        for flight in flights:
            tasks.start_soon(work, flight)


async def _open(url: str, flight: Flight) -> None:
    goal = {"goal": "what is only here", "repo_path": str(flight.repository), "mode": "interactive"}
    opened = await _call(url, "navigate", **goal)
    flight.navigation_id = opened["navigation_id"]
    flight.answered = opened["turn_report"]["step_number"]
    flight.shown += opened["context"]


async def _step_alone(url: str, scratch: Path, first: int) -> list[float]:
    """Return the seconds of one step of each of a few more navigations, one after the other."""
    taken = []
    async with Client(url) as client:
        await client.list_tools()
        for number in range(first, first + _ALONE):
            flight = Flight(number, _plant(scratch / f"r{number}", number))
            await _open(url, flight)
            taken.append(await _step_over(client, flight))
    return taken


async def _step_together(url: str, load: Load) -> None:
    """Let every host connect and ask for the tools, and then all of them step at the same moment."""
    async with contextlib.AsyncExitStack() as connections:
        clients: list[Client] = [await connections.enter_async_context(Client(url)) for _ in load.flights]
        for client in clients:
            await client.list_tools()
        load.step_seconds = [0.0] * len(clients)

        async def step(flight: Flight) -> None:
            load.step_seconds[flight.number] = await _step_over(clients[flight.number], flight)

        await _each(load.flights, step)


async def _step(url: str, flight: Flight) -> float:
    async with Client(url) as client:
        return await _step_over(client, flight)


async def _step_over(client: Client, flight: Flight) -> float:
    """Step once, and return the seconds until the answer."""
    clock = time.perf_counter()
    # A step is taken only where the plan changes.
    updates = {**_SHOW_ALL, "budget": _TOKENS - flight.asked}
    flight.asked += 1
    stepped = await _answer(client, "step", navigation_id=flight.navigation_id, updates=updates)
    taken = time.perf_counter() - clock
    flight.answered = stepped["turn_report"]["step_number"]
    flight.shown += stepped["context_delta"]
    return taken


async def _go_on(url: str, flight: Flight, lost: list[str]) -> None:
    report = await _call(url, "get_turn_report", navigation_id=flight.navigation_id)
    known, answered = report["step_number"], flight.answered
    if known < answered:
        lost.append(f"{flight.navigation_id} is at step {known}, its host had an answer for step {answered}")
    await _step(url, flight)
    if flight.answered != known + 1:
        lost.append(f"{flight.navigation_id} went from step {known} to {flight.answered}")


async def _call(url: str, tool: str, **arguments: Any) -> dict[str, Any]:
    async with Client(url) as client:
        return await _answer(client, tool, **arguments)


async def _answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    with anyio.fail_after(_PATIENCE_SECONDS):
        result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    content: dict[str, Any] = result.structured_content
    return content


def _plant(folder: Path, number: int) -> Path:
    folder.mkdir()
    (folder / "only.py").write_text(f"def only_here_{number}():\n    return {number}\n")
    (folder / "other.py").write_text("def elsewhere():\n    return None\n")
    return folder


@contextlib.contextmanager
def served(scratch: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve HTTP with its data in ``scratch`` until the block ends; yield its address and process."""
    environ = {
        **os.environ,
        "REPO_NAVIGATOR_DATA": str(scratch / "data"),
        "REPO_NAVIGATOR_CACHE": str(scratch / "cache"),
    }
    command = [sys.executable, "-I", "-m", "mcp_server", "--http", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environ) as server:
        assert server.stderr is not None
        url = next(line for line in server.stderr if "Serving MCP at " in line).rpartition(" ")[2].strip()
        # A pipe that nobody reads fills up, and then the server waits.
        reading = threading.Thread(target=server.stderr.read, daemon=True)
        reading.start()
        try:
            yield url, server
        finally:
            server.kill()
            reading.join()
