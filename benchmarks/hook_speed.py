"""``python -m benchmarks hook-speed``: how long does a host wait for a hook after a search?"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.synthetic import write_synthetic_tree
from repo_map.index import build_index
from repo_map.indexing.store import user_store
from repo_navigator.hooks.names import NameTable
from repo_navigator.hooks.names_writer import write_names


class Wait(NamedTuple):
    """What one hook took, in milliseconds."""

    wall: float
    cpu: float
    spoke: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument("--files", default="1000,10000,50000", metavar="N,…", help="sizes of made-up trees")
    parser.add_argument("--rounds", type=int, default=40, metavar="N", help="hooks of each size (40)")
    parser.add_argument(
        "--trees", type=Path, metavar="DIR", help="keep the trees there, and use those that are"
    )


def run(options: argparse.Namespace) -> int:
    """Write a tree and its names, then start hooks for searches of names that it has, or nearly has."""
    print(
        "| files | names | spoke | wall p50, p95 (ms) | CPU p50, p95 (ms) |\n| --- | --- | --- | --- | --- |"
    )
    with tempfile.TemporaryDirectory() as made:
        for size in map(int, options.files.split(",")):
            root = ((options.trees or Path(made)) / f"tree-{size}").resolve()
            names = _names(root, size)
            waits = [_wait(root, line) for line in _lines(names, options.rounds)]
            print(
                f"| {size:,} | {len(names):,} | {sum(each.spoke for each in waits)} of {len(waits)} "
                f"| {_middle([each.wall for each in waits])} | {_middle([each.cpu for each in waits])} |",
                flush=True,
            )
    return 0


def _names(root: Path, size: int) -> NameTable:
    if not root.exists():
        write_synthetic_tree(root, size)
        (root / ".git").mkdir()
    cache = user_store().folder
    assert cache is not None, "REPO_NAVIGATOR_CACHE is off"
    if NameTable.open(cache, root) is None:
        write_names(build_index(root), cache, root, {}, seconds=20)
    names = NameTable.open(cache, root)
    assert names is not None
    return names


def _lines(names: NameTable, rounds: int) -> Iterator[str]:
    """Yield searches: of a name with a letter too many, of one with many hits, of one without its like."""
    for number in range(rounds):
        name = names.name(len(names) * (number + 1) // (rounds + 1))
        yield (f"{name}x", name, f"q{number}zzqqxx")[number % 3]


def _wait(root: Path, name: str) -> Wait:
    hits = "" if name.endswith("x") else f"a.py:1: {name}(1)\n" * 30
    told = {
        "hook_event_name": "PostToolUse",
        "session_id": f"speed-{os.getpid()}-{time.monotonic_ns()}",
        "cwd": str(root),
        "tool_name": "Bash",
        "tool_input": {"command": f"grep -rn {name} ."},
        "tool_response": {"stdout": hits, "stderr": ""},
    }
    before, begins = _cpu(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-I", "-m", "repo_navigator.main", "hook", "tool"],
        input=json.dumps(told).encode(),
        capture_output=True,
        check=True,
    )
    return Wait(1_000 * (time.perf_counter() - begins), 1_000 * (_cpu() - before), bool(done.stdout))


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _middle(values: list[float]) -> str:
    ordered = sorted(values)
    return f"{ordered[len(ordered) // 2]:.0f}, {ordered[int(len(ordered) * 0.95)]:.0f}"
