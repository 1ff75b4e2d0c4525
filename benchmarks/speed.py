"""Speed and memory of the index, beside ``ctags -R`` and aider's RepoMap, all from one run on one machine.

    python -m benchmarks.speed [--tree PATH]... [--synthetic FILES]... [--workers N] [--rounds N]

Clone Django, spring-framework, theia or terraform and name their folders; ``--synthetic`` makes a tree of
so many files. Trees are copied to a temporary folder first, so that files can be edited. Every figure comes
from fresh processes, and of the rounds the quickest counts, since whatever else the machine does can only add
to it. ``ctags`` (universal-ctags) is measured where it is installed, aider where ``AIDER_PYTHON`` names a
Python that has it.
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

from benchmarks.copied_tree import commit_all, copied_tree
from benchmarks.speed_probe import run_generate, run_probe
from benchmarks.synthetic import write_synthetic_tree
from repo_map.worktree.files import list_files

_COLUMNS = (
    "tree | files | MB | cold s | ctags s | cold ÷ ctags | aider s | aider ÷ cold | warm process s"
    " | of it, open s | warm to a map s | redraw s | refresh 0 s | refresh 10 s | draw after s"
    " | build MiB | warm MiB"
)
_AIDER = """
import sys
from pathlib import Path
from aider import repomap

class Quiet:
    def __getattr__(self, name):
        return lambda *args, **kwargs: None

    def read_text(self, name, silent=False):
        return Path(name).read_text("utf-8", "replace")

class Model:
    def token_count(self, text):
        return len(text) // 4

repomap.Spinner = lambda *args, **kwargs: Quiet()
repomap.tqdm = lambda values, **kwargs: values
root = Path(sys.argv[1])
mapped = repomap.RepoMap(map_tokens=8000, root=str(root), main_model=Model(), io=Quiet(), refresh="always")
mapped.get_ranked_tags_map([], [str(root / name) for name in sys.stdin.read().split("\\0")])
"""


class Figures(NamedTuple):
    """What one tree took: seconds and mebibytes, None for what was not measured."""

    name: str
    files: int
    megabytes: float
    cold: float
    ctags: float | None
    aider: float | None
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
        with copied_tree(tree) as copy:
            measured.append(_measure(tree.resolve().name, copy, options))
            _tell(measured[-1], options)
    for files in options.synthetic:
        with tempfile.TemporaryDirectory(prefix="speed-") as folder:
            copy = write_synthetic_tree(Path(folder, "tree"), files)
            commit_all(copy)
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
        aider=_time_aider(tree, listing.paths),
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


def _time_aider(tree: Path, paths: tuple[str, ...]) -> float | None:
    python = os.environ.get("AIDER_PYTHON")
    if not python:
        return None
    seconds = _time([python, "-c", _AIDER, str(tree)], tree, "\0".join(paths).encode())
    for cache in tree.glob(".aider.tags.cache*"):
        shutil.rmtree(cache)
    return seconds


def _time(command: list[str], folder: Path, given: bytes = b"") -> float:
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, input=given, capture_output=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr.decode("utf-8", "replace"))
        raise SystemExit(f"`{command[0]}` failed; its error is above.")
    return time.perf_counter() - started


def _row(figures: Figures) -> str:
    ctags, aider = figures.ctags, figures.aider
    cells = (
        figures.name,
        f"{figures.files:,}",
        f"{figures.megabytes:.1f}",
        f"{figures.cold:.2f}",
        "-" if ctags is None else f"{ctags:.2f}",
        "-" if ctags is None else f"{figures.cold / ctags:.2f}",
        "-" if aider is None else f"{aider:.1f}",
        "-" if aider is None else f"{aider / figures.cold:.1f}",
        *(f"{value:.3f}" for value in (figures.warm_process, figures.warm_open)),
        *(f"{value:.3f}" for value in (figures.warm_map, figures.redraw)),
        *(f"{value:.3f}" for value in (figures.refresh_none, figures.refresh_ten, figures.draw_after)),
        *(f"{value:.0f}" for value in (figures.build_memory, figures.warm_memory)),
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
