"""``python -m benchmarks growth``: what questions and indexes cost as a tree grows, beside other programs.

Each size is a made-up tree. Programs run one after the other on the same tree, and a row is kept of each run,
so that a measurement that was stopped goes on with the sizes and rounds that it lacks.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.agents.report import markdown
from benchmarks.cold import CODEGRAPH, CODEGRAPH_FOLDER, QUIET
from benchmarks.kept_rows import KeptRows
from benchmarks.svg import colour, document, text
from benchmarks.synthetic import write_synthetic_tree

_GOAL: Final = "The cursor of an invoice ledger is lost where a broker closes its channel"
_NAVIGATE: Final = (
    sys.executable,
    "-c",
    "from repo_navigator.main import main; raise SystemExit(main())",
    "navigate",
)
_LINE: Final = 14
"""Height of a line of words, in pixels."""
FIRST, WHOLE, WARM = "first look", "whole index", "warm question"


class Run(NamedTuple):
    """One run of a program on one tree."""

    files: int
    megabytes: float
    """Of source."""
    program: str
    processor: float
    """Seconds of the program and all its children."""
    clock: float
    """Seconds; they say little where other programs ran too."""
    memory: float
    """MB of the largest process, 23 at least: what starts it has as many."""
    disk: float
    """MB that it leaves."""
    load: float
    """Programs that wanted a processor, over a minute, before it ran."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument(
        "--files",
        type=_sizes,
        default=(1_000, 10_000, 50_000, 200_000),
        metavar="N,…",
        help="files of the trees (default 1000,10000,50000,200000)",
    )
    parser.add_argument(
        "--rounds", type=int, default=3, metavar="N", help="runs of each program (default 3), 0 for none"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="rows, kept and taken up")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draws the rows there")


def run(options: argparse.Namespace) -> int:
    """Measure what is missing, and print the table of all rows."""
    kept = KeptRows(options.out, Run)
    for files in options.files:
        if not _missing(kept, files, options.rounds):
            continue
        with tempfile.TemporaryDirectory() as folder:
            tree = write_synthetic_tree(Path(folder) / "tree", files)
            while names := _missing(kept, files, options.rounds):
                for row in _measured(tree, files, names):
                    kept.append(row)
                    print(f"{row.files:,} {row.program}: {row.processor:.1f} s", file=sys.stderr)
    medians = medians_of(kept)
    print(table(medians))
    if options.svg:
        options.svg.write_text(drawing(medians), encoding="utf-8")
    return 0


def medians_of(rows: Iterable[Run]) -> list[Run]:
    """Return one row for each program and size, each figure the median of its runs."""
    by_kind: dict[tuple[int, str], list[Run]] = {}
    for row in rows:
        by_kind.setdefault((row.files, row.program), []).append(row)
    return [
        Run(
            files,
            each[0].megabytes,
            program,
            *map(statistics.median, zip(*(row[3:] for row in each), strict=True)),
        )
        for (files, program), each in by_kind.items()
    ]


def table(rows: Sequence[Run]) -> str:
    """Return CPU time, memory and what is left on disk: a line for each program, a column for each size."""
    sizes = {row.files: row.megabytes for row in rows}
    cells = {
        (row.program, row.files): f"{row.processor:.2f} s, {row.memory:,.0f} MB, {row.disk:,.0f} MB"
        for row in rows
    }
    head = ("CPU, memory, disk", *(f"{files:,} files, {size:,.0f} MB" for files, size in sizes.items()))
    programs = dict.fromkeys(row.program for row in rows)
    return markdown([head, *([name, *(cells.get((name, size), "") for size in sizes)] for name in programs)])


def drawing(rows: Sequence[Run]) -> str:
    """Return CPU seconds by files, both on logarithmic scales."""
    width, height, left, bottom = 640, 420, 60, 370
    sizes = sorted({row.files for row in rows})
    most, least = max(row.processor for row in rows), max(min(row.processor for row in rows), 0.01)
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    first, last = math.log10(sizes[0]), math.log10(sizes[-1])

    def across(files: int) -> float:
        return left + 420 * ((math.log10(files) - first) / (last - first) if last > first else 0.5)

    def up(seconds: float) -> float:
        return bottom - 320 * (math.log10(max(seconds, 10**low)) - low) / max(high - low, 1)

    body = [text(left, 24, "CPU seconds by files of a tree", bold=True)]
    for power in range(low, high + 1):
        y = up(10**power)
        body.append(f'<path d="M{left} {y:.1f}H{left + 420}" stroke="#ddd"/>')
        body.append(text(left - 8, y + 4, f"{10**power:g}", anchor="end"))
    body += [text(across(size), bottom + 24, f"{size:,}", anchor="middle") for size in sizes]
    ends: list[tuple[float, float, str]] = []
    for number, program in enumerate(dict.fromkeys(row.program for row in rows)):
        own = sorted((row for row in rows if row.program == program), key=lambda row: row.files)
        points = " ".join(f"{across(row.files):.1f},{up(row.processor):.1f}" for row in own)
        body.append(f'<polyline points="{points}" fill="none" stroke="{colour(number)}" stroke-width="2"/>')
        ends.append((across(own[-1].files), up(own[-1].processor) + 4, program))
    lowest: dict[float, float] = {}
    for x, y, program in sorted(ends):
        lowest[x] = max(y, lowest.get(x, 0) + _LINE)  # So that no name covers another.
        body.append(text(x + 10, lowest[x], program))
    return document(width, height, body)


def _sizes(written: str) -> tuple[int, ...]:
    return tuple(int(each) for each in written.split(","))


def _missing(kept: Iterable[Run], files: int, rounds: int) -> list[str]:
    """Return the programs of which runs are missing at a size, in the order in which they run."""
    done = [row.program for row in kept if row.files == files]
    names = [FIRST, WHOLE, WARM, *(name for name, (found, *_) in _OTHERS.items() if shutil.which(found))]
    return [name for name in names if done.count(name) < rounds]


_OTHERS: Final[Mapping[str, Sequence[str]]] = {
    "ctags": ("ctags", "-R", "-f", "../left/tags", "."),
    "ripgrep": ("rg", "--count-matches", "--ignore-case", "cursor|invoice|broker|channel", "."),
    "codegraph": CODEGRAPH,
}


def _measured(tree: Path, files: int, names: Sequence[str]) -> Iterator[Run]:
    """Yield a row of each program, once."""
    megabytes = sum(path.stat().st_size for path in tree.rglob("*") if path.is_file()) / 1e6
    left = tree.with_name("left")
    home = {"HOME": str(left / "home"), "XDG_DATA_HOME": str(left / "data")}
    ask = (*_NAVIGATE, str(tree), _GOAL, "--no-pager")
    ran: Mapping[str, Callable[[], _Cost]] = {
        # With a cache a process of its own would read the rest behind the answer.
        FIRST: lambda: _cost(ask, tree, home | {"REPO_NAVIGATOR_CACHE": "off"}),
        WHOLE: lambda: _cost((*ask, "--wait"), tree, home | {"REPO_NAVIGATOR_CACHE": str(left / "cache")}),
        WARM: lambda: _cost(ask, tree, home | {"REPO_NAVIGATOR_CACHE": str(left / "cache")}),
        **{name: partial(_cost, command, tree, home | QUIET) for name, command in _OTHERS.items()},
    }
    wanted = {WHOLE, *names} if WARM in names else set(names)
    shutil.rmtree(left, ignore_errors=True)
    left.mkdir()
    for name in ran:
        if name in wanted:
            load, before = os.getloadavg()[0], _size(left)
            cost = ran[name]()
            if (tree / CODEGRAPH_FOLDER).exists():
                shutil.move(tree / CODEGRAPH_FOLDER, left)  # So that nobody else reads it.
            yield Run(files, megabytes, name, *cost, max(_size(left) - before, 0.0), load)


class _Cost(NamedTuple):
    processor: float
    clock: float
    memory: float


def _cost(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> _Cost:
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"`{' '.join(command)}` ended with {process.returncode}.")
    return _Cost(used.ru_utime + used.ru_stime, time.perf_counter() - started, used.ru_maxrss / 1024)


def _size(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
