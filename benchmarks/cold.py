"""``python -m benchmarks cold``: what a first index costs, beside ctags and CodeGraph.

Each round runs all programs once, one after the other, on the same copy of a tree, so that whatever else the
machine does meets all of them. Seconds of the processor are those of a program and all its children.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.agents.report import markdown
from benchmarks.copied_tree import copied_tree
from repo_map.worktree.files import list_files

NAVIGATOR: Final = "navigator"
CODEGRAPH: Final = ("codegraph", "init", "--yes", ".")
CODEGRAPH_FOLDER: Final = ".codegraph"
"""Where it leaves its index, within the tree."""
QUIET: Final = {"CODEGRAPH_TELEMETRY": "0", "DO_NOT_TRACK": "1"}
"""CodeGraph is told to report nothing of its use to anybody."""
_BUILD: Final = """
import sys
from pathlib import Path
from repo_map.index import build_index
from repo_map.indexing.store import Store
build_index(Path(sys.argv[1]), store=Store(Path(sys.argv[2])), workers=int(sys.argv[3]) or None)
"""


class Cost(NamedTuple):
    """What one run of a program took, in seconds."""

    processor: float
    clock: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument("trees", nargs="+", type=Path, metavar="TREE", help="folders of repositories")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="runs of each program (default 3)")
    parser.add_argument(
        "--workers",
        type=int,
        default=0,
        metavar="N",
        help="parsing processes; 0 (default): one a processor",
    )


def run(options: argparse.Namespace) -> int:
    """Measure every tree, and print a table once all are done; progress goes to stderr."""
    rows = []
    for tree in options.trees:
        with copied_tree(tree) as copy:
            listing = list_files(copy)
            megabytes = int(listing.states[:, 0].sum()) / 1e6
            costs = measure(copy, options.rounds, options.workers)
        rows += _rows(tree.resolve().name, len(listing.paths), megabytes, costs)
        print(f"{tree.resolve().name}: done", file=sys.stderr)
    head = ("tree", "files", "MB", "program", "CPU s", "of navigator", "clock s", "of navigator")
    print(markdown([head, *rows]))
    return 0


def measure(copy: Path, rounds: int, workers: int) -> dict[str, list[Cost]]:
    """Return what each program that is installed took in every round; the navigator's cache is empty."""
    cache, tags = copy.with_name("cache"), copy.with_name("tags")
    programs: dict[str, Sequence[str]] = {
        NAVIGATOR: (sys.executable, "-c", _BUILD, str(copy), str(cache), str(workers)),
        "ctags": ("ctags", "-R", "--exclude=.git", f"--exclude={CODEGRAPH_FOLDER}", "-f", str(tags), "."),
        "codegraph": CODEGRAPH,
    }
    found: dict[str, list[Cost]] = {name: [] for name in programs if shutil.which(programs[name][0])}
    for _ in range(rounds):
        for name, costs in found.items():
            shutil.rmtree(cache, ignore_errors=True)
            shutil.rmtree(copy / CODEGRAPH_FOLDER, ignore_errors=True)
            costs.append(_cost(programs[name], copy))
    return found


def _cost(command: Sequence[str], folder: Path) -> Cost:
    quiet = {**QUIET, "HOME": str(folder.with_name("home"))}
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=os.environ | quiet, capture_output=True, check=False)
    clock, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.stderr.write(done.stderr.decode("utf-8", "replace"))
        raise SystemExit(f"`{command[0]}` failed; its error is above.")
    return Cost(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock)


def _rows(name: str, files: int, megabytes: float, costs: Mapping[str, Sequence[Cost]]) -> list[list[str]]:
    """Return a line for each program: the least of its rounds, and the median of the rounds' ratios."""
    own = costs[NAVIGATOR]
    rows = []
    for program, each in costs.items():
        cells = [name, f"{files:,}", f"{megabytes:.1f}", program]
        for part in range(len(Cost._fields)):
            ratio = statistics.median(a[part] / b[part] for a, b in zip(each, own, strict=True))
            cells += [f"{min(cost[part] for cost in each):.1f}", f"{ratio:.2f}"]
        rows.append(cells)
    return rows
