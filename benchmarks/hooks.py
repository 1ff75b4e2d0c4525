"""``python -m benchmarks hooks``: does what hooks said in public runs name what was opened next?"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.agents.report import markdown
from benchmarks.answers import opened
from benchmarks.kept_rows import KeptRows
from benchmarks.localize import folder
from benchmarks.replay.hooked import CRAWL, EDIT, SEARCH, START, Known, Said, names_beside, places_at_crawl
from benchmarks.replay.runs import RunsError, read_rows
from benchmarks.replay.tool_runs import read_tool_run, said_in
from benchmarks.tasks import read_tasks
from benchmarks.trees import MirrorNotFoundError, Snapshot, materialise
from repo_map.worktree.git import GitError

_HEAD: Final = (
    *("said", "chances", "spoken", "tokens each", "file opened or edited next", "later", "file edited later"),
    *("false", "false for a reader", "silent where the search was right"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument(
        "tasks", nargs="?", type=Path, metavar="TASKS", help="judge runs of these tasks first"
    )
    parser.add_argument("--runs", type=Path, metavar="DIR", help="folder of runs, named by their tasks")
    parser.add_argument(
        "--rows", type=Path, required=True, metavar="FILE", help="what hooks said, as the replay keeps it too"
    )
    parser.add_argument(
        "--mirrors", type=Path, default=folder("BENCH_MIRROR"), help="folder of git mirrors ($BENCH_MIRROR)"
    )
    parser.add_argument(
        "--trees", type=Path, default=folder("BENCH_TREES"), help="folder for work trees ($BENCH_TREES)"
    )
    parser.add_argument("--json", action="store_true", help="print the tables' lines as one JSON object")


def run(options: argparse.Namespace) -> int:
    """Report what hooks said in public runs.

    Raises:
        RunsError: an argument is missing, or runs or rows can't be read.
    """
    if options.tasks:
        _measure(options)
    rows = read_rows(options.rows, Said)
    runs = len({(row.id, row.agent) for row in rows})
    events = [event for event in (SEARCH, CRAWL, EDIT, START) if any(row.event == event for row in rows)]
    lines = [_HEAD, *(_line(rows, event, "", runs) for event in events)]
    kinds = sorted({row.kind for row in rows if row.event == SEARCH and row.kind})
    lines[2:2] = [_line(rows, SEARCH, kind, runs) for kind in kinds]
    if options.json:
        print(json.dumps({"lines": lines}))
    else:
        print(f"{runs} runs of {len({row.id for row in rows})} tasks\n\n{markdown(lines)}")
    return 0


def _measure(options: argparse.Namespace) -> None:
    """Judge every run that is not among the rows yet."""
    needed = {"--runs": options.runs, "--mirrors (or BENCH_MIRROR)": options.mirrors}
    needed["--trees (or BENCH_TREES)"] = options.trees
    if missing := [name for name, value in needed.items() if value is None]:
        raise RunsError(f"Say also {', '.join(missing)}.")
    kept = KeptRows(options.rows, Said)
    done = {row.id for row in kept}
    for task in read_tasks(options.tasks):
        files = [file for ending in ("", ".json") if (file := options.runs / f"{task.id}{ending}").is_file()]
        if not files or task.id in done:
            continue
        try:
            snapshot = Snapshot(task.repo, task.base_commit, options.mirrors)
            tree = materialise(task.repo, task.base_commit, options.mirrors, options.trees)
        except (MirrorNotFoundError, GitError) as error:
            print(f"{task.id} is left out: {error}", file=sys.stderr, flush=True)
            continue
        runs = [read_tool_run(file, task.repo) for file in files]
        with opened(tree) as workspace:
            names = names_beside(tree, workspace.index)
            likely = places_at_crawl(workspace, task.goal or runs[0].goal)
        for run in runs:
            known = Known(names, likely, "", {}, snapshot)
            kept.append(*said_in(task, options.runs.parent.name, run, known))
        print(task.id, file=sys.stderr, flush=True)


def _line(rows: Sequence[Said], event: str, kind: str, runs: int) -> tuple[str, ...]:
    mine = [row for row in rows if row.event == event]
    spoken = [row for row in mine if row.kind and kind in ("", row.kind)]
    judged = [row for row in spoken if row.leads]
    right = [row for row in mine if row.was_right]
    silent = len(right) - sum(row.was_right for row in spoken)
    searches = event == SEARCH
    return (
        f"{event}: {kind}" if kind else event,
        f"{len(mine):,} searches" if searches else f"{runs:,} runs",
        f"{len(spoken):,} ({_percent(len(spoken), len(mine) if searches else runs)})",
        f"{sum(row.tokens for row in spoken) / max(1, len(spoken)):.0f}",
        *(_share(judged, field) for field in ("next_file", "later_file", "edited_file")),
        _of(sum(not row.later_file for row in judged), len(judged)),
        _of(sum(not row.is_sound for row in spoken), len(spoken)) if searches else "–",
        _of(silent, len(right)) if searches else "–",
    )


def _share(rows: Sequence[Said], field: str) -> str:
    return _of(sum(getattr(row, field) for row in rows), len(rows))


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({_percent(part, whole)})" if whole else "–"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.0f} %"
