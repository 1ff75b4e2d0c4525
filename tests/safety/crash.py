"""Kill the server at every write point and at random moments, and look at what it left.

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
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from benchmarks.loopback.gemini import gemini
from benchmarks.loopback.minds import call
from navigator.service import Navigator
from navigator.settings import NavigatorSettings
from tests.support.trees import write

FILES = {
    f"src/part_{number}.py": f"def part_{number}(total: int) -> int:\n    return total + {number}\n"
    for number in range(6)
}


class Ack(NamedTuple):
    """What an answer said before the server died."""

    navigation_id: str
    step: int
    map_digest: str
    spent: str


class Tally(NamedTuple):
    """What the runs came to."""

    runs: int
    acks: int
    most: int
    """Write points that a whole run passes."""
    points: Counter[str]
    """Write point → how many servers were killed there."""


def run_all(folder: Path, runs: int, seed: int) -> Tally:
    """Kill ``runs`` servers, and check after each that nothing it said is lost.

    Raises:
        AssertionError: something is.
    """
    dice = random.Random(seed)
    acks: list[Ack] = []
    points: Counter[str] = Counter()
    repository = write(folder / "repository", FILES)
    with gemini(_mind) as models, _Zygote(folder, repository, models.url) as zygote:
        most, seconds = zygote.whole_run()
        order = dice.sample(range(1, most + 1), most)
        known = ""
        for number in range(runs):
            at_point = number % 2 == 0
            kill_at = order[number // 2 % most] if at_point else 0
            moment = 0.0 if at_point else dice.uniform(0.0, seconds)
            # Half of the runs go on with a navigation that an earlier server left behind.
            said, where = zygote.run(known if dice.random() < 0.5 else "", kill_at, moment)
            points[where] += 1
            acks.extend(said)
            known = acks[-1].navigation_id if acks else ""
            asyncio.run(_check(folder / "data", said, known))
        asyncio.run(_check(folder / "data", acks, known))
    return Tally(runs, len(acks), most, points)


def _mind(_: dict[str, Any], number: int) -> Any:
    updates = {"verbosity": [{"pattern": f"src/part_{number % 6}.py", "level": 1 + number % 4}]}
    return call("update_flight_plan", {"reasoning": "Look elsewhere.", "updates": updates})


async def _check(data: Path, acks: list[Ack], known: str) -> None:
    """Open what is left in a new process's way: each store is readable, each answered step is whole."""
    with closing(sqlite3.connect(data / "sessions.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    for file in (data / "answers").glob("*.json"):
        json.loads(file.read_text())
    navigator = Navigator(NavigatorSettings(data_dir=data, use_cache=False, workers=1))
    try:
        for ack in acks:
            report = await navigator.report(ack.navigation_id, step=ack.step)
            text = await navigator.map_text(ack.navigation_id, version=report.map_version)
            assert hashlib.sha256(text.encode()).hexdigest() == ack.map_digest, ack
            latest = await navigator.report(ack.navigation_id)
            assert latest.step_number >= ack.step
            assert latest.total_cost >= Decimal(ack.spent), ack
        if known:
            await navigator.decisions(known)
        await navigator.navigations()
    finally:
        await navigator.aclose()


class _Zygote:
    """The process that forks servers, and what it tells of them line by line."""

    def __init__(self, folder: Path, repository: Path, models_url: str) -> None:
        self._arguments = [str(folder), str(repository), models_url]

    def __enter__(self) -> _Zygote:
        environment = os.environ | {"GOOGLE_API_KEY": "loopback", "REPO_NAVIGATOR_CACHE": "off"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.safety.crash_server", *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(timeout=60)

    def whole_run(self) -> tuple[int, float]:
        """Return how many write points a server passes that nobody kills, and the seconds that it takes."""
        started = monotonic()
        _, where = self.run("", 0, 0.0)
        return int(where.removeprefix("end ")), monotonic() - started

    def run(self, known: str, kill_at: int, moment: float) -> tuple[list[Ack], str]:
        """Run one server; return what it answered and where it ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([known, kill_at]), file=self._process.stdin, flush=True)
        timer: threading.Timer | None = None
        acks: list[Ack] = []
        while line := self._process.stdout.readline():
            kind, *words = line.split()
            match kind:
                case "started" if moment:
                    timer = threading.Timer(moment, _kill, [int(words[0])])
                    timer.start()
                case "ack":
                    acks.append(Ack(words[0], int(words[1]), words[2], words[3]))
                case "ended":
                    if timer is not None:
                        timer.cancel()
                    return acks, " ".join(words)
        raise AssertionError("the process that forks servers has ended")


def _kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return


def main() -> None:
    """Run as ``python -m tests.safety.crash``."""
    parser = argparse.ArgumentParser(prog="tests.safety.crash")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=20261122)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="crash-") as folder:
        tally = run_all(Path(folder), options.runs, options.seed)
    done = sum(number for where, number in tally.points.items() if where.startswith("end "))
    places = Counter(
        {where: number for where, number in tally.points.items() if not where.startswith("end ")}
    )
    told = ", ".join(f"{number} at {where}" for where, number in places.most_common())
    print(f"{tally.runs} servers, {tally.most} write points in a whole run")
    print(f"{tally.runs - done} killed ({told}), {done} done before")
    print(f"{tally.acks} answered steps, none lost")


if __name__ == "__main__":
    main()
