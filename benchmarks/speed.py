"""Speed and memory of the index, beside ``ctags -R``, all from one run on one machine.

    python -m benchmarks.speed [--tree PATH]... [--synthetic FILES]... [--workers N] [--rounds N]

Clone Django, spring-framework, theia or terraform and name their folders; ``--synthetic`` makes a tree of
so many files. Trees are copied to a temporary folder first, so that files can be edited. Every figure comes
from fresh processes, and of the rounds the quickest counts, since whatever else the machine does can only add
to it. ``ctags`` (universal-ctags) is measured where it is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.synthetic import write_synthetic_tree
from repo_map.sources.files import list_files

_STEP_S = 0.05
_CODE = (".py", ".java", ".ts", ".go", ".js", ".rs", ".c", ".cpp")
_EDITED_FILES = 10
_COLUMNS = "tree | files | MB | cold map s | ctags s | cold ÷ ctags | warm map s | refresh 10 s | build MiB"
_REFRESH = """
import sys, time
from pathlib import Path
from repo_map.index.build import build_index, refresh_index
from repo_map.index.store import Store

tree, cache, *edited = map(Path, sys.argv[1:])
index = build_index(tree, store=Store(cache))
index.fingerprint
for path in edited:
    with (tree / path).open("a") as file:
        file.write(f"\\nedited_at_{time.time_ns()} = 1\\n")
started = time.perf_counter()
refresh_index(index)
print(time.perf_counter() - started)
"""


class Figures(NamedTuple):
    """What one tree took: seconds and mebibytes, None for what was not measured."""

    name: str
    files: int
    megabytes: float
    cold: float
    ctags: float | None
    warm_map: float
    refresh_ten: float
    build_memory: float

    def row(self) -> str:
        """Return the figures as a row of the table."""
        ctags = "- | -" if self.ctags is None else f"{self.ctags:.2f} | {self.cold / self.ctags:.2f}"
        return (
            f"| {self.name} | {self.files:,} | {self.megabytes:.1f} | {self.cold:.2f} | {ctags} | "
            f"{self.warm_map:.3f} | {self.refresh_ten:.3f} | {self.build_memory:.0f} |"
        )


class Process(NamedTuple):
    """One process, from its start to its end."""

    seconds: float
    output: str
    mebibytes: float
    """Most memory of it and its children at any one time; pages that they share count once."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every tree that is asked for and print one table."""
    parser = argparse.ArgumentParser(description="Measure the speed and memory of the index.")
    parser.add_argument("--tree", type=Path, action="append", default=[], help="a repository to measure on")
    parser.add_argument("--synthetic", type=int, action="append", default=[], help="files of a made-up tree")
    parser.add_argument("--workers", type=int, help="processes to parse in (one per processor)")
    parser.add_argument("--rounds", type=int, default=3, help="how often to measure")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    if not options.tree and not options.synthetic:
        options.tree, options.synthetic = [Path(__file__).parent.parent], [4_000]
    measured = []
    if not options.json:
        print(f"| {_COLUMNS} |\n|{'---|' * len(_COLUMNS.split('|'))}", flush=True)
    for source in (*options.tree, *options.synthetic):
        with tempfile.TemporaryDirectory(prefix="speed-") as folder:
            tree = Path(folder, "tree")
            if isinstance(source, int):
                write_synthetic_tree(tree, source)
            else:
                _copy_tree(source, tree)
            _commit_all(tree)
            name = f"synthetic {source:,}" if isinstance(source, int) else source.resolve().name
            measured.append(_measure(name, tree, options))
        if not options.json:
            print(measured[-1].row(), flush=True)
    if options.json:
        print(json.dumps({"trees": [figures._asdict() for figures in measured]}))


def _copy_tree(tree: Path, copy: Path) -> None:
    """Copy the files that the index would see."""
    for path in list_files(tree).paths:
        if not (tree / path).is_symlink():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree / path, copy / path)


def _commit_all(tree: Path) -> None:
    """Make a folder a repository whose only commit holds all of it."""
    name = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost", "-c", "gc.auto=0")
    for command in (("init", "-q"), ("add", "-A", "-f"), (*name, "commit", "-q", "-m", "Measured")):
        subprocess.run(["git", *command], cwd=tree, check=True)


def _measure(name: str, tree: Path, options: argparse.Namespace) -> Figures:
    listing = list_files(tree)
    code = [path for path in listing.paths if path.endswith(_CODE)]
    edited = code[:: max(1, len(code) // _EDITED_FILES)][:_EDITED_FILES]
    cache = tree.with_name("cache")
    workers = ("--workers", str(options.workers)) if options.workers else ()
    draw = [sys.executable, "-P", "-m", "repo_navigator.map_main", "generate", str(tree), "-q", *workers]
    colds = []
    for _ in range(options.rounds):
        shutil.rmtree(cache, ignore_errors=True)
        colds.append(_run(draw, tree, cache))
    maps = [_run([*draw, "--tokens", "8000"], tree, cache) for _ in range(options.rounds * 3)]
    refresh = [sys.executable, "-P", "-c", _REFRESH, str(tree), str(cache), *edited]
    refreshes = [_run(refresh, tree, cache) for _ in range(options.rounds)]
    ctags = shutil.which("ctags")
    tag = [str(ctags), "-R", "--exclude=.git", "-f", str(tree.with_name("tags")), "."]
    return Figures(
        name=name,
        files=len(listing.paths),
        megabytes=int(listing.states[:, 0].sum()) / 1e6,
        cold=min(cold.seconds for cold in colds),
        ctags=min(_run(tag, tree, cache).seconds for _ in range(options.rounds)) if ctags else None,
        warm_map=min(drawn.seconds for drawn in maps),
        refresh_ten=min(float(each.output) for each in refreshes),
        build_memory=max(cold.mebibytes for cold in colds),
    )


def _run(command: Sequence[str], folder: Path, cache: Path) -> Process:
    """Run a program in a folder and watch it; like an installed package it has its bytecode."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = kept | {"REPO_NAVIGATOR_CACHE": str(cache), "PYTHONPATH": str(Path(__file__).parent.parent)}
    started, peak = time.perf_counter(), 0.0
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, env=environment, text=True) as process:
        while True:
            try:
                output, _ = process.communicate(timeout=_STEP_S)
                break
            except subprocess.TimeoutExpired:
                peak = max(peak, memory_of(process.pid))
    if process.returncode:
        raise SystemExit(f"`{' '.join(command)}` failed; its error is above.")
    return Process(time.perf_counter() - started, output, peak)


def memory_of(process: int) -> float:
    """Return mebibytes of a process and its descendants, each page by its share; 0 if not on Linux."""
    try:
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
        threads = Path(f"/proc/{process}/task").iterdir()
        children = [child for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:
        return 0.0
    own = next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return own / 1024 + sum(memory_of(int(child)) for child in children)


if __name__ == "__main__":
    main()
