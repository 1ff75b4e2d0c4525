"""What a fresh process does for a measure of speed, and the watch that its parent keeps on it.

python -m benchmarks.speed_probe open TREE CACHE WORKERS     opens the index, builds it if CACHE is empty
python -m benchmarks.speed_probe refresh TREE CACHE WORKERS  opens, draws, edits ten files, refreshes
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from repo_map.index.build import refresh_index
    from repo_map.index.index import Index

_STEP_S = 0.05
_MEBIBYTE = 1 << 20 if sys.platform == "darwin" else 1 << 10
"""In the unit that the system counts a process's most memory in."""
_EDITED_FILES = 10


class Probe(NamedTuple):
    """One process, from its start to its end."""

    seconds: float
    message: dict[str, float]
    """What it measured itself, in seconds."""
    mebibytes: float
    """Most memory of it and its children at any one time; pages that they share count once."""


def run_probe(what: str, tree: Path, cache: Path, workers: int) -> Probe:
    """Run this module as a program and watch it."""
    command = [sys.executable, "-m", "benchmarks.speed_probe", what, str(tree), str(cache), str(workers)]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=_environment(cache))
    peak = 0.0
    try:
        while True:
            try:
                output, _ = process.communicate(timeout=_STEP_S)
                break
            except subprocess.TimeoutExpired:
                peak = max(peak, memory_of(process.pid))
    finally:
        process.kill()
    seconds = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(f"`{' '.join(command)}` failed; its error is above.")
    message = json.loads(output)
    return Probe(seconds, message, max(peak, message.pop("mebibytes")))


def run_generate(tree: Path, cache: Path) -> Probe:
    """Run ``repo-map generate`` as a user does, for 8,000 tokens; nobody looks at it while it runs."""
    command = [
        sys.executable,
        "-m",
        "repo_navigator.map_main",
        "generate",
        str(tree),
        "--tokens",
        "8000",
        "--quiet",
    ]
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=_environment(cache)) as process:
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"`{' '.join(command)}` failed; its error is above.")
    return Probe(seconds, {}, used.ru_maxrss / _MEBIBYTE)


def _environment(cache: Path) -> dict[str, str]:
    """Return the environment of a measured process; like an installed package it has its bytecode."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"REPO_NAVIGATOR_CACHE": str(cache)}


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


def main() -> None:
    """Measure in this process and print what was measured as JSON."""
    what, tree, cache, workers = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
    # Imported here: the time that imports take is part of what a fresh process is measured for.
    from repo_map.index.build import build_index  # noqa: PLC0415 - the import is part of what is measured
    from repo_map.index.store import Store  # noqa: PLC0415 - the import is part of what is measured
    from repo_map.text import tokens  # noqa: PLC0415 - the import is part of what is measured

    started = time.perf_counter()
    index = build_index(tree, store=Store(cache), workers=workers or None)
    message = {"open": time.perf_counter() - started, "files": float(len(index))}
    if what == "refresh":
        index.fingerprint  # noqa: B018
        _draw(index, 2)
        tokens.count("A loaded process has its tokenizer.")
        started = time.perf_counter()
        _draw(index, 3)
        message["redraw"] = time.perf_counter() - started
        started = time.perf_counter()
        index = refresh_index(index)
        message["none"] = time.perf_counter() - started
        _edit(tree, index.paths)
        started = time.perf_counter()
        index = refresh_index(index)
        message["ten"] = time.perf_counter() - started
        started = time.perf_counter()
        _draw(index, 2)
        message["draw_after"] = time.perf_counter() - started
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps(message | {"mebibytes": most / _MEBIBYTE}))


def _draw(index: Index, level: int) -> None:
    """Draw a map of 8,000 tokens, with some file at a level that a turn of a navigation might change."""
    from repo_map.outline.draw import draw_map  # noqa: PLC0415 - the import is part of what is measured
    from repo_map.plan.model import FlightPlan, VerbosityRule  # noqa: PLC0415 - the import is part of what is measured

    rule = VerbosityRule(pattern=index.paths[len(index) // 2], level=level)
    draw_map(index, FlightPlan(budget=8_000, verbosity=(rule,)))


def _edit(tree: Path, paths: tuple[str, ...]) -> None:
    """Add a line to ten files of code, spread over the tree."""
    code = [
        path for path in paths if path.endswith((".py", ".java", ".ts", ".go", ".js", ".rs", ".c", ".cpp"))
    ]
    for path in code[:: max(1, len(code) // _EDITED_FILES)][:_EDITED_FILES]:
        with (tree / path).open("a") as file:
            file.write(f"\nedited_at_{time.time_ns()} = 1\n")


if __name__ == "__main__":
    main()
