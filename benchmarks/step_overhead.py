"""What a step costs beside drawing its map, over many steps: milliseconds, and bytes in the store.

``python -m benchmarks.step_overhead`` flies a hundred steps of the embedded planner over a small repository,
each opened again by feedback, and prints the median of the first and the last ten.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from navigator.adk.active_navigation import ActiveNavigation
from navigator.navigator import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings
from navigator.steps.view import View
from repo_map.plan.model import FlightPlan

GOAL = "token_expired is wrong"
SOURCES = {
    "auth.py": "LIFETIME_S = 3600\n\n\ndef token_expired(age_s):\n    return age_s > LIFETIME_S\n",
    "billing.py": "def total(lines):\n    return sum(line.amount for line in lines)\n",
}
TEN = 10


class Step(NamedTuple):
    """One step."""

    wall_ms: float
    """Without drawing the map."""
    cpu_ms: float
    """Of the whole process, drawing included."""
    store_bytes: int
    """Of the database after the step; 0 where it is in memory."""


async def fly(repo: Path, data: Path | None, steps: int) -> list[Step]:
    """Take the steps one after another."""
    drawing = _DrawingTime()
    navigator = Navigator(NavigatorSettings(data_dir=data, workers=1, use_cache=False))
    navigation_id = await navigator.open(NavigationRequest(GOAL, repo, max_steps=1_000, token_budget=600))
    taken: list[Step] = []
    for _ in range(steps):
        before, cpu, drawn = time.perf_counter(), time.process_time(), drawing.seconds
        await navigator.step(navigation_id, feedback="token_expired, please")
        wall = time.perf_counter() - before - (drawing.seconds - drawn)
        taken.append(Step(1000 * wall, 1000 * (time.process_time() - cpu), _size(data)))
    await navigator.aclose()
    drawing.stop()
    return taken


def _size(data: Path | None) -> int:
    return sum(file.stat().st_size for file in data.glob("sessions.db*")) if data else 0


class _DrawingTime:
    """Measures the time that maps take to draw, by standing in front of the method that draws them."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._view = view = ActiveNavigation.view

        async def timed(active: ActiveNavigation, plan: FlightPlan) -> View:
            begun = time.perf_counter()
            try:
                return await view(active, plan)
            finally:
                self.seconds += time.perf_counter() - begun

        ActiveNavigation.view = timed  # type: ignore[method-assign, assignment]

    def stop(self) -> None:
        """Step out of the way."""
        ActiveNavigation.view = self._view  # type: ignore[method-assign]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args(arguments)
    print("| store | ms, first ten | ms, last ten | CPU ms, last ten | bytes a step |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder) / "repo"
        repo.mkdir()
        for name, text in SOURCES.items():
            (repo / name).write_text(text, "utf-8")
        for store, data in (("memory", None), ("disk", Path(folder) / "data")):
            steps = asyncio.run(fly(repo, data, options.steps))
            first, last = (median(step.wall_ms for step in part) for part in (steps[:TEN], steps[-TEN:]))
            cpu = median(step.cpu_ms for step in steps[-TEN:])
            grown = steps[-1].store_bytes // len(steps)
            print(f"| {store} | {first:.1f} | {last:.1f} | {cpu:.1f} | {grown:,} |")


if __name__ == "__main__":
    main()
