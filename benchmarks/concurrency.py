"""``repo-navigator bench concurrency``: many navigations at once over HTTP, with a restart in the middle."""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import anyio
from mcp import Client

LIMIT_SECONDS: Final = 1.0
"""Most that the 95th percentile of a warm step may take."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument("--navigations", type=int, default=50, help="navigations at once (50)")


def run(options: argparse.Namespace) -> int:
    """Fly, restart, fly on, and print; the exit code is 1 where a promise is broken."""
    with tempfile.TemporaryDirectory() as scratch:
        return anyio.run(_measure, Path(scratch), options.navigations)


async def _measure(scratch: Path, count: int) -> int:
    repositories = [_plant(scratch / f"r{number}", number) for number in range(count)]
    started: dict[int, dict[str, Any]] = {}
    before: list[float] = []
    after: list[float] = []
    with _served(scratch) as url:
        clock = time.perf_counter()
        await _each(count, lambda number: _open(url, repositories[number], number, started))
        opened = time.perf_counter() - clock
        await _each(count, lambda number: _step(url, started[number], before))
    with _served(scratch) as url:
        await _each(count, lambda number: _step(url, started[number], after))
    mixed = sum(f"only_here_{number}(" not in started[number]["context"] for number in started)
    p95 = statistics.quantiles(before, n=20)[-1]
    print(f"{count} navigations at once: {opened:.1f} s in all, {mixed} with another's code")
    print(f"a step: median {statistics.median(before):.3f} s, p95 {p95:.3f} s (at most {LIMIT_SECONDS})")
    print(f"after a kill and a restart: {len(after)} of {count} went on from their last step")
    return int(mixed > 0 or len(after) < count or p95 > LIMIT_SECONDS)


async def _each(count: int, work: Any) -> None:
    async with anyio.create_task_group() as tasks:
        for number in range(count):
            tasks.start_soon(work, number)


async def _open(url: str, repository: Path, number: int, started: dict[int, dict[str, Any]]) -> None:
    async with Client(url) as client:
        call = {"goal": "what is only here", "repo_path": str(repository), "mode": "interactive"}
        result = await client.call_tool("navigate", call)
        assert result.structured_content is not None, result.content
        started[number] = result.structured_content


async def _step(url: str, navigation: dict[str, Any], seconds: list[float]) -> None:
    async with Client(url) as client:
        key = {"navigation_id": navigation["navigation_id"]}
        report = await client.call_tool("get_turn_report", key)
        clock = time.perf_counter()
        result = await client.call_tool(
            "step", {**key, "updates": {"verbosity": [{"pattern": "**", "level": 4}]}}
        )
        seconds.append(time.perf_counter() - clock)
        assert result.structured_content is not None, result.content
        assert report.structured_content is not None, report.content
        steps = result.structured_content["turn_report"]["step_number"]
        assert steps == report.structured_content["step_number"] + 1
        assert report.structured_content["step_number"] >= navigation["turn_report"]["step_number"]


def _plant(folder: Path, number: int) -> Path:
    folder.mkdir()
    (folder / "only.py").write_text(f"def only_here_{number}():\n    return {number}\n")
    (folder / "other.py").write_text("def elsewhere():\n    return None\n")
    return folder


@contextlib.contextmanager
def _served(scratch: Path) -> Iterator[str]:
    environ = {
        **os.environ,
        "REPO_NAVIGATOR_DATA": str(scratch / "data"),
        "REPO_NAVIGATOR_CACHE": str(scratch / "cache"),
    }
    command = [sys.executable, "-m", "mcp_server", "--http", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environ) as server:
        assert server.stderr is not None
        url = next(line for line in server.stderr if "Serving MCP at " in line).rpartition(" ")[2].strip()
        # A pipe that nobody reads fills up, and then the server waits.
        threading.Thread(target=server.stderr.read, daemon=True).start()
        try:
            yield url
        finally:
            # No farewell: what is completed must be on disk already.
            server.kill()
