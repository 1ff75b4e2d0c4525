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
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.speed_probe import run_generate, run_probe
from benchmarks.synthetic import write_synthetic_tree
from repo_map.sources.files import list_files

_COLUMNS = (
    "tree | files | MB | cold s | ctags s | cold ÷ ctags | warm process s"
    " | of it, open s | warm to a map s | redraw s | refresh 0 s | refresh 10 s | draw after s"
    " | build MiB | warm MiB"
)


class Figures(NamedTuple):
    """What one tree took: seconds and mebibytes, None for what was not measured."""

    name: str
    files: int
    megabytes: float
    cold: float
    ctags: float | None
    warm_process: float
    warm_open: float
    warm_map: float
    redraw: float
    refresh_none: float
    refresh_ten: float
    draw_after: float
    build_memory: float
    warm_memory: float


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every tree that is asked for and print one table."""
    options = _parse(arguments)
    measured = []
    if not options.json:
        print(f"| {_COLUMNS} |\n|{'---|' * len(_COLUMNS.split('|'))}", flush=True)
    for tree in options.tree:
        with _copied_tree(tree) as copy:
            measured.append(_measure(tree.resolve().name, copy, options))
            _tell(measured[-1], options)
    for files in options.synthetic:
        with tempfile.TemporaryDirectory(prefix="speed-") as folder:
            copy = write_synthetic_tree(Path(folder, "tree"), files)
            _commit_all(copy)
            measured.append(_measure(f"synthetic {files:,}", copy, options))
            _tell(measured[-1], options)
    if options.json:
        print(json.dumps({"trees": [figures._asdict() for figures in measured]}))


def _tell(figures: Figures, options: argparse.Namespace) -> None:
    if not options.json:
        print(_row(figures), flush=True)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the speed and memory of the index.")
    parser.add_argument("--tree", type=Path, action="append", default=[], help="a repository to measure on")
    parser.add_argument("--synthetic", type=int, action="append", default=[], help="files of a made-up tree")
    parser.add_argument("--workers", type=int, default=0, help="processes to parse in; 0: one per processor")
    parser.add_argument("--rounds", type=int, default=3, help="how often to measure")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    if not options.tree and not options.synthetic:
        options.tree, options.synthetic = [Path(__file__).parent.parent], [4_000]
    return options


@contextmanager
def _copied_tree(tree: Path) -> Iterator[Path]:
    """Copy the files that the index would see into a repository of its own, with one commit."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        copy = Path(folder, "tree")
        for path in list_files(tree).paths:
            if not (tree / path).is_symlink():
                (copy / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(tree / path, copy / path)
        _commit_all(copy)
        yield copy


def _commit_all(tree: Path) -> None:
    """Make a folder a repository whose only commit holds all of it."""
    name = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost", "-c", "gc.auto=0")
    for command in (("init", "-q"), ("add", "-A", "-f"), (*name, "commit", "-q", "-m", "Measured")):
        subprocess.run(["git", *command], cwd=tree, check=True)


def _measure(name: str, tree: Path, options: argparse.Namespace) -> Figures:
    listing = list_files(tree)
    colds = []
    for _ in range(options.rounds):
        cache = tree.with_name("cache")
        shutil.rmtree(cache, ignore_errors=True)
        colds.append(run_probe("open", tree, cache, options.workers))
    warms = [run_probe("open", tree, cache, options.workers) for _ in range(options.rounds * 3)]
    maps = [run_generate(tree, cache) for _ in range(options.rounds * 3)]
    refreshes = [run_probe("refresh", tree, cache, options.workers) for _ in range(options.rounds)]
    return Figures(
        name=name,
        files=len(listing.paths),
        megabytes=int(listing.states[:, 0].sum()) / 1e6,
        cold=min(cold.seconds for cold in colds),
        ctags=_time_ctags(tree, options.rounds),
        warm_process=min(warm.seconds for warm in warms),
        warm_open=min(warm.message["open"] for warm in warms),
        warm_map=min(drawn.seconds for drawn in maps),
        redraw=min(refresh.message["redraw"] for refresh in refreshes),
        refresh_none=min(refresh.message["none"] for refresh in refreshes),
        refresh_ten=min(refresh.message["ten"] for refresh in refreshes),
        draw_after=min(refresh.message["draw_after"] for refresh in refreshes),
        build_memory=max(cold.mebibytes for cold in colds),
        warm_memory=max(drawn.mebibytes for drawn in maps),
    )


def _time_ctags(tree: Path, rounds: int) -> float | None:
    executable = shutil.which("ctags")
    if executable is None:
        return None
    command = [executable, "-R", "--exclude=.git", "-f", str(tree.with_name("tags")), "."]
    return min(_time(command, tree) for _ in range(rounds))


def _time(command: list[str], folder: Path) -> float:
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr.decode("utf-8", "replace"))
        raise SystemExit(f"`{command[0]}` failed; its error is above.")
    return time.perf_counter() - started


def _row(figures: Figures) -> str:
    ctags = figures.ctags
    cells = (
        figures.name,
        f"{figures.files:,}",
        f"{figures.megabytes:.1f}",
        f"{figures.cold:.2f}",
        "-" if ctags is None else f"{ctags:.2f}",
        "-" if ctags is None else f"{figures.cold / ctags:.2f}",
        *(f"{value:.3f}" for value in (figures.warm_process, figures.warm_open)),
        *(f"{value:.3f}" for value in (figures.warm_map, figures.redraw)),
        *(f"{value:.3f}" for value in (figures.refresh_none, figures.refresh_ten, figures.draw_after)),
        *(f"{value:.0f}" for value in (figures.build_memory, figures.warm_memory)),
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
