"""``python -m benchmarks replay``: what would a packet have saved in public runs of real agents?"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks.answers import Result, opened, search, sent_answers
from benchmarks.figures import NAVIGATOR, SENT
from benchmarks.kept_rows import KeptRows
from benchmarks.localize import folder
from benchmarks.replay.ask_aider import AIDER, ask_aider
from benchmarks.replay.chart import chart
from benchmarks.replay.hooked import (
    ALL,
    ARMS,
    Known,
    Moment,
    Said,
    asked_of_hooks,
    is_asked,
    judged,
    known_from,
    moments_of,
    packet_of,
    utterances,
)
from benchmarks.replay.looking import Reader
from benchmarks.replay.packet import held_lines
from benchmarks.replay.patch import edited_by
from benchmarks.replay.pricing import Prices
from benchmarks.replay.replaying import NOTHING, Added, Packet, Replay, Row, ideal, replay
from benchmarks.replay.report import report
from benchmarks.replay.runs import Run, RunsError, find_runs, read_rows, read_run
from benchmarks.replay.swe_agent import read_agent_run
from benchmarks.tasks import Task, read_tasks
from benchmarks.trees import MirrorNotFoundError, Snapshot, materialise, tree_of
from repo_map.text import tokens
from repo_map.worktree.git import GitError

_FUNCTIONS = "BM25 functions"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument(
        "tasks", nargs="?", type=Path, metavar="TASKS", help="task file (JSON lines; SWE-bench's also)"
    )
    parser.add_argument(
        "--rows", type=Path, metavar="FILE", help="report the rows of this file, and measure nothing"
    )
    parser.add_argument("--runs", type=Path, metavar="DIR", help="folder of runs, TASK.traj.json each")
    parser.add_argument("--tokens", default="400,1000,2000", metavar="N,…", help="sizes (400,1000,2000)")
    parser.add_argument("--baselines", action="store_true", help="ask plain search as well")
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep answers and rows here, and resume")
    parser.add_argument(
        "--aider", type=Path, metavar="PYTHON", help="a Python that has aider-chat: measure its map as well"
    )
    parser.add_argument(
        "--prices",
        default="2,0.2,12",
        metavar="W,R,O",
        help="US dollars for a million tokens written, read from the cache, and answered (2,0.2,12)",
    )
    parser.add_argument("--known", action="store_true", help="ask nothing more, report the answers in --out")
    parser.add_argument("--figure", type=Path, metavar="SVG", help="draw cost against tokens there")
    parser.add_argument("--json", action="store_true", help="print the rows as one JSON object")
    parser.add_argument("--limit", type=int, metavar="N", help="the first N tasks only")
    parser.add_argument(
        "--mirrors", type=Path, default=folder("BENCH_MIRROR"), help="folder of git mirrors ($BENCH_MIRROR)"
    )
    parser.add_argument(
        "--trees", type=Path, default=folder("BENCH_TREES"), help="folder for work trees ($BENCH_TREES)"
    )


class _Place(NamedTuple):
    mirrors: Path
    trees: Path
    kept: KeptRows[Result]
    aider: Path | None
    baselines: bool


class _Past(NamedTuple):
    """One run as it was understood."""

    replay: Replay
    moments: Sequence[Moment]


def run(options: argparse.Namespace) -> int:
    """Replay every task that has a run, or report rows that were kept.

    Raises:
        RunsError: an argument is missing, or a folder or file holds no runs or rows.
    """
    prices = Prices(*map(float, options.prices.split(",")))
    rows = read_rows(options.rows, Row) if options.rows else _measure(options, prices)
    if options.figure:
        options.figure.write_text(chart(rows), encoding="utf-8")
    if options.json:
        print(json.dumps({"rows": msgspec.to_builtins(rows)}))
    else:
        print(report(rows, prices))
    return 0


def _measure(options: argparse.Namespace, prices: Prices) -> list[Row]:
    """Replay every task that has a run; a measurement that was stopped goes on where it was."""
    needed = {"TASKS": options.tasks, "--runs": options.runs, "--out": options.out}
    needed["--mirrors (or BENCH_MIRROR)"] = options.mirrors
    if missing := [name for name, value in needed.items() if value is None]:
        raise RunsError(f"Say also {', '.join(missing)}; or --rows FILE, to report rows that were kept.")
    budgets = sorted({int(each) for each in options.tokens.split(",")})
    options.out.mkdir(parents=True, exist_ok=True)
    place = _Place(
        options.mirrors,
        options.trees or options.out / "trees",
        KeptRows(options.out / f"{options.tasks.stem}.jsonl", Result),
        options.aider,
        options.baselines,
    )
    files = find_runs(options.runs)
    known: dict[str, list[Result]] = {}
    for result in place.kept:
        known.setdefault(result.id, []).append(result)
    tasks = [task for task in read_tasks(options.tasks)[: options.limit] if task.id in files]
    rows: list[Row] = []
    said: list[Said] = []
    for number, task in enumerate(tasks, 1):
        answers = known.get(task.id, [])
        try:
            snapshot = Snapshot(task.repo, task.base_commit, place.mirrors)
            pasts = [_past(_read(file), task, snapshot, prices) for file in files[task.id]]
            fresh = [] if options.known else _ask(task, pasts, budgets, answers, place)
        except (MirrorNotFoundError, GitError) as error:
            print(f"{number}/{len(tasks)} {task.id} is left out: {error}", file=sys.stderr, flush=True)
            continue
        place.kept.append(*fresh)
        answers = [*answers, *fresh]
        tree = tree_of(task.repo, task.base_commit, place.trees)
        for past in pasts:
            known_there = known_from(answers, past.replay.run, snapshot, tree)
            hooked, heard = _with_hooks(task, past, known_there)
            rows += [*_replay(past, snapshot, answers, budgets), *hooked]
            said += heard
        print(f"{number}/{len(tasks)} {task.id}: {len(fresh)} asked", file=sys.stderr, flush=True)
    _write(options.out / "rows.jsonl", rows)
    _write(options.out / "said.jsonl", said)
    return rows


def _ask(
    task: Task, pasts: Sequence[_Past], budgets: Sequence[int], answers: Iterable[Result], place: _Place
) -> list[Result]:
    """Ask every system whose answer is missing."""
    tree = materialise(task.repo, task.base_commit, place.mirrors, place.trees)
    has = {(each.system, each.budget) for each in answers}
    sizes = [budget for budget in budgets if (SENT, budget) not in has]
    fresh: list[Result] = []
    if sizes or not is_asked(has):
        asked = task if task.goal else msgspec.structs.replace(task, goal=pasts[0].replay.run.goal)
        with opened(tree) as workspace:
            fresh += sent_answers(workspace, asked, sizes)
            if not is_asked(has):
                runs = [(past.replay.run, past.replay.steps) for past in pasts]
                fresh += asked_of_hooks(workspace, asked, tree, runs)
    if place.baselines:
        fresh += search(task, tree, [budget for budget in budgets if (_FUNCTIONS, budget) not in has])
    if place.aider:
        fresh += ask_aider(
            place.aider, task, tree, [budget for budget in budgets if (AIDER, budget) not in has]
        )
    return fresh


def _read(file: Path) -> Run:
    return read_run(file) if file.suffix == ".json" else read_agent_run(file)


def _past(run: Run, task: Task, snapshot: Snapshot, prices: Prices) -> _Past:
    """Understand a run."""
    reader = Reader(snapshot.paths, snapshot.read)
    steps = [reader.step(call) for call in run.calls]
    replay = Replay(run, task.repo, steps, edited_by(run.patch, snapshot.paths), prices)
    return _Past(replay, moments_of(run, steps))


def _replay(past: _Past, snapshot: Snapshot, answers: Sequence[Result], budgets: Sequence[int]) -> list[Row]:
    """Return the run as it was, then with each packet."""
    rows = [replay(past.replay, Packet(NOTHING, 0))]
    rows += [ideal(past.replay, budget) for budget in budgets]
    for answer in _asked(answers, budgets):
        held = held_lines(answer.context, snapshot.paths, snapshot.read)
        first = Added(-1, tokens.count(answer.context, "cl100k"), held)
        rows.append(replay(past.replay, Packet(answer.system, answer.budget, (first,))))
    return rows


def _with_hooks(task: Task, past: _Past, known: Known | None) -> tuple[list[Row], list[Said]]:
    """Return the run with hooks, and what they said with all of them."""
    if known is None:
        return [], []
    said = {system: utterances(past.moments, known, events) for system, events in ARMS.items()}
    rows = [replay(past.replay, packet_of(system, each)) for system, each in said.items()]
    return rows, list(judged(task, past.replay.run, past.moments, said[ALL]))


def _asked(answers: Iterable[Result], budgets: Sequence[int]) -> list[Result]:
    """Return the answers of the systems that are compared, at the budgets asked for."""
    systems = (SENT, NAVIGATOR, _FUNCTIONS, AIDER)
    return [each for each in answers if each.system in systems and each.budget in budgets]


def _write(file: Path, rows: Iterable[Row] | Iterable[Said]) -> None:
    file.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
