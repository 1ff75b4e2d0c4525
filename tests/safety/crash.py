"""Kill real servers on real stdio at every write point and at random moments, and look at what they left.

``python -m tests.safety.crash --runs 300`` is the long run; ``test_crash.py`` has a short one. A process that
has everything imported forks one server per run, so that a run costs what its steps cost.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from decimal import Decimal
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from navigator.navigator import Navigator
from navigator.settings import NavigatorSettings
from repo_map.index.build import build_index
from repo_map.index.store import Store
from repo_map.messages import quoted
from repo_map.outline.draw import draw_map
from repo_map.plan.model import FlightPlan
from tests.safety.stdio_session import Ack, ServerDiedError, take_steps
from tests.support.providers.gemini import gemini
from tests.support.providers.minds import call
from tests.support.trees import commit

FILES = {
    f"src/part_{number}.py": f"def part_{number}(total: int) -> int:\n    return total + {number}\n"
    for number in range(6)
}


class Order(NamedTuple):
    """What becomes of one server."""

    starts_anew: bool
    """Whether it finds an empty cache and opens a navigation, or goes on with a known one."""
    kill_at: str = ""
    """Its write point, such as ``rename cache/trees 2``; empty for none."""
    moment: float = 0.0
    """Seconds after which it is killed wherever it is; 0 for never."""


class Tally(NamedTuple):
    """What the runs came to."""

    runs: int
    acks: int
    most: tuple[int, int]
    """Write points that a whole run passes, with an empty cache and with a warm one."""
    places: Counter[str]
    """Where it ended → how many servers did."""


def run_all(folder: Path, runs: int, seed: int) -> Tally:
    """Kill ``runs`` servers, and check after each that nothing it said is lost.

    Raises:
        AssertionError: something is.
    """
    dice = random.Random(seed)
    places: Counter[str] = Counter()
    acks: list[Ack] = []
    repository = commit(folder / "repository", FILES)
    index = build_index(repository, store=Store(None), workers=1)
    drawn = draw_map(index, FlightPlan()).text
    with gemini(_mind) as models, _Zygote(folder, repository, models.url) as zygote:
        first, _ = zygote.whole_run(Order(starts_anew=True), "")
        known = first.acks[-1].navigation_id
        again, _ = zygote.whole_run(Order(starts_anew=False), known)
        _, seconds = zygote.whole_run(Order(starts_anew=True), "")  # The first one imported everything.
        points = first.points, again.points
        for order in _orders(points, runs, seconds, dice):
            ended = zygote.run(order, known)
            places[ended.where] += 1
            acks.extend(ended.acks)
            known = acks[-1].navigation_id if acks else known
            asyncio.run(_check(folder / "data", ended.acks, known))
            _check_cache(folder / "cache", repository, drawn)
        asyncio.run(_check(folder / "data", acks, known))
    return Tally(sum(places.values()), len(acks), (len(points[0]), len(points[1])), places)


def _orders(
    points: tuple[list[str], list[str]], runs: int, seconds: float, dice: random.Random
) -> Iterator[Order]:
    """Yield every write point of both kinds of run in some order, then random moments, ``runs`` in all."""
    orders = [Order(starts_anew=True, kill_at=point) for point in points[0]]
    orders += [Order(starts_anew=False, kill_at=point) for point in points[1]]
    dice.shuffle(orders)
    moments = max(runs - len(orders), runs // 4)
    yield from orders[: runs - moments]
    for number in range(moments):
        yield Order(number % 2 == 0, moment=dice.uniform(0.0, seconds))


def _mind(_: dict[str, Any], number: int) -> Any:
    updates = {"verbosity": [{"pattern": f"src/part_{number % 6}.py", "level": 1 + number % 4}]}
    return call("update_flight_plan", {"reasoning": "Look elsewhere.", "updates": updates})


async def _check(data: Path, acks: list[Ack], known: str) -> None:
    """Open what is left in a new process's way: each store is readable, each answered step is whole."""
    with closing(sqlite3.connect(data / "sessions.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    navigator = Navigator(NavigatorSettings(data_dir=data, use_cache=False, workers=1))
    try:
        for ack in acks:
            report = await navigator.report(ack.navigation_id, step=ack.step)
            text = await navigator.map_text(ack.navigation_id, version=report.map_version)
            # The server shows it within its markers.
            shown = hashlib.sha256(quoted(text.removesuffix("\n")).encode()).hexdigest()
            assert ack.map_digest in ("", shown), ack
            assert report.map_size_tokens == ack.map_tokens, ack
            latest = await navigator.report(ack.navigation_id)
            assert latest.step_number >= ack.step
            assert latest.total_cost >= Decimal(ack.spent), ack
        if known:
            await navigator.decisions(known)
        await navigator.navigations()
    finally:
        await navigator.aclose()


def _check_cache(cache: Path, repository: Path, drawn: str) -> None:
    """Read the cache as the next process does: it may lack things, and says nothing wrong."""
    index = build_index(repository, store=Store(cache), workers=1)
    assert index.problems == ()
    assert draw_map(index, FlightPlan()).text == drawn


class _Ended(NamedTuple):
    acks: list[Ack]
    where: str

    @property
    def points(self) -> list[str]:
        """The write points that were passed."""
        passed: dict[str, int] = json.loads(self.where.removeprefix("end "))
        return [f"{kind} {number + 1}" for kind, times in passed.items() for number in range(times)]


class _Zygote:
    """The process that forks servers, and what it tells of them line by line."""

    def __init__(self, folder: Path, repository: Path, models_url: str) -> None:
        self._folder, self._repository = folder, repository
        self._environment = os.environ | {
            "GOOGLE_API_KEY": "loopback",
            "REPO_NAVIGATOR_DATA": str(folder / "data"),
            "REPO_NAVIGATOR_CACHE": str(folder / "cache"),
            "REPO_NAVIGATOR_MODEL": "gemini-2.0-flash",
            "REPO_NAVIGATOR_GEMINI_URL": models_url,
            "REPO_NAVIGATOR_MODEL_RETRIES": "0",
            "REPO_NAVIGATOR_LOG_LEVEL": "error",
        }

    def __enter__(self) -> _Zygote:
        self._orders, theirs = socket.socketpair()
        command = [
            "-m",
            "tests.safety.crash_server",
            str(theirs.fileno()),
            str(self._folder),
            str(self._repository),
        ]
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, *command], env=self._environment, pass_fds=[theirs.fileno()]
            )
        self._told = self._orders.makefile("r")
        return self

    def __exit__(self, *_: object) -> None:
        self._told.close()
        self._orders.close()
        self._process.wait(timeout=60)

    def whole_run(self, order: Order, known: str) -> tuple[_Ended, float]:
        """Return how a server ended that nobody killed, and the seconds that it took."""
        started = monotonic()
        ended = self.run(order, known)
        assert ended.where.startswith("end "), ended.where
        return ended, monotonic() - started

    def run(self, order: Order, known: str) -> _Ended:
        """Run one server and speak with it; return what it answered and where it ended."""
        if order.starts_anew:
            shutil.rmtree(self._folder / "cache", ignore_errors=True)
        reader, ours = os.pipe()
        said, writer = os.pipe()
        socket.send_fds(self._orders, [json.dumps(order.kill_at).encode()], [reader, writer])
        os.close(reader)
        os.close(writer)
        server = int(self._told.readline().split()[1])
        timer = threading.Timer(order.moment, _kill, [server]) if order.moment else None
        if timer is not None:
            timer.start()
        acks: list[Ack] = []
        with os.fdopen(ours, "wb", 0) as requests, os.fdopen(said, "rb") as answers:
            with suppress(ServerDiedError, BrokenPipeError):
                take_steps(requests, answers, acks, "" if order.starts_anew else known)
            with suppress(BrokenPipeError):
                requests.close()
            where = self._told.readline().removeprefix("ended ").strip()
        if timer is not None:
            timer.cancel()
            timer.join()
        return _Ended(acks, where)


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def main() -> None:
    """Run as ``python -m tests.safety.crash``."""
    parser = argparse.ArgumentParser(prog="tests.safety.crash")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=20261122)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="crash-") as folder:
        tally = run_all(Path(folder), options.runs, options.seed)
    anew, again = tally.most
    print(f"{tally.runs} servers; a whole run passes {anew} write points, {again} with a warm cache")
    done = sum(number for where, number in tally.places.items() if where.startswith("end "))
    print(f"{tally.runs - done} killed, {done} done before their moment came")
    for where, number in tally.places.most_common():
        if not where.startswith("end "):
            print(f"{number:>5} {where}")
    print(f"{tally.acks} answered steps, none lost")


if __name__ == "__main__":
    main()
