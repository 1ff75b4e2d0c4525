"""Navigate again and again in one process: memory, handles, disk. ``python -m tests.safety.soak``.

Ends after ``--minutes`` or ``--navigations``, whichever comes first.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from navigator.navigator import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings
from tests.safety.crash import FILES
from tests.support.trees import write


class Reading(NamedTuple):
    """What the process holds after some navigations."""

    navigations: int
    memory_mb: float
    blocks: int
    """Of memory that Python objects take; what the process holds beside may be free for the next ones."""
    handles: int
    stored_kb: float
    """Of the data folder, per navigation."""

    def __str__(self) -> str:
        return (
            f"{self.navigations:>6} navigations  {self.memory_mb:7.1f} MB  {self.blocks:>9,} blocks  "
            f"{self.handles:>3} handles  "
            f"{self.stored_kb:6.1f} kB a navigation"
        )


async def soak(folder: Path, navigations: int, minutes: float, readings: int = 10) -> list[Reading]:
    """Fly up to ``navigations`` navigations to their end, and take ``readings`` on the way."""
    repository, data = write(folder / "repository", FILES), folder / "data"
    navigator = Navigator(NavigatorSettings(data_dir=data, cache_dir=folder / "cache", workers=1))
    ends, taken = monotonic() + minutes * 60, list[Reading]()
    every = max(navigations // readings, 1)
    for number in range(1, navigations + 1):
        request = NavigationRequest(f"add up the total of part {number % 6}", repository, token_budget=1_000)
        await navigator.run(await navigator.open(request))
        is_over = monotonic() > ends
        if number % every == 0 or is_over:
            taken.append(_read(number, data))
            print(taken[-1], flush=True)
        if is_over:
            break
    await navigator.aclose()
    return taken


def _read(navigations: int, data: Path) -> Reading:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    stored = sum(_sizes(data))
    memory = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    return Reading(
        navigations,
        memory,
        sys.getallocatedblocks(),
        len(list(Path("/proc/self/fd").iterdir())),
        stored / navigations / 1_000,
    )


def _sizes(folder: Path) -> Iterator[int]:
    """Yield the size of each file, a folder at a time: ``rglob`` would keep every path meanwhile."""
    for place, _, names in os.walk(folder):
        yield from (Path(place, name).stat().st_size for name in names)


def main() -> None:
    """Run as ``python -m tests.safety.soak``."""
    parser = argparse.ArgumentParser(prog="tests.safety.soak")
    parser.add_argument("--navigations", type=int, default=5_000)
    parser.add_argument("--minutes", type=float, default=30.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        asyncio.run(soak(Path(folder), options.navigations, options.minutes))


if __name__ == "__main__":
    main()
