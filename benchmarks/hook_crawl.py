"""``python -m benchmarks hook-crawl``: what does the answer for a crawl change in public runs?

By the rules of ``benchmarks.replay``, with one difference: the answer joins the run behind the look-up at
which the hook would have given it, and replaces none before.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from benchmarks.answers import navigate
from benchmarks.localize import folder
from benchmarks.replay.looking import Kind, Reader, Step
from benchmarks.replay.packet import held_lines
from benchmarks.replay.patch import edited_by
from benchmarks.replay.pricing import Prices, cost
from benchmarks.replay.replaying import replaced
from benchmarks.replay.runs import Run, RunsError, find_runs, read_run
from benchmarks.tasks import read_tasks
from benchmarks.trees import MirrorNotFoundError, Snapshot, materialise
from repo_map.index import build_index
from repo_map.text import tokens
from repo_map.worktree.git import GitError
from repo_navigator.hooks.background import ANSWER_TOKENS, names_its_place
from repo_navigator.hooks.sessions import Session
from repo_navigator.hooks.wording import answer_text


class Row(msgspec.Struct, frozen=True):
    """One run."""

    id: str
    repo: str
    calls: int
    at: int
    """The call behind which the answer is given; -1 where the run never crawls."""
    names_place: bool
    """Whether the goal names its place, so that no answer is given."""
    tokens: int
    strict: float
    """By which share the cost changes; so below."""
    generous: float
    strict_ungated: float
    """Where the answer stands in the first prompt."""
    generous_ungated: float
    next_file: bool | None = None
    """Whether it shows lines of a file that is opened or edited next; None where nobody looked."""
    edited_file: bool | None = None
    """Whether it shows lines of a file that the agent edits later."""
    edited_line: bool | None = None
    """Whether it shows a line that the agent's patch touches."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument("tasks", nargs="?", type=Path, metavar="TASKS", help="task file (JSON lines)")
    parser.add_argument("--runs", type=Path, metavar="DIR", help="folder of runs, TASK.traj.json each")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="report these rows, and measure nothing")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write a row for each run there")
    parser.add_argument("--limit", type=int, metavar="N", help="the first N tasks only")
    for name, variable in (("mirrors", "BENCH_MIRROR"), ("trees", "BENCH_TREES")):
        parser.add_argument(f"--{name}", type=Path, default=folder(variable), help=f"folder (${variable})")


def run(options: argparse.Namespace) -> int:
    """Replay every task that has a run, or report rows that were kept."""
    if options.rows:
        rows = [msgspec.json.decode(line, type=Row) for line in options.rows.read_bytes().splitlines()]
    else:
        rows = list(_measure(options))
    given = [row for row in rows if row.at >= 0 and not row.names_place]
    named = sum(row.names_place for row in rows)
    print(f"{len(rows)} runs, {named} goals name their place, {len(given)} are answered\n")
    print("| answer | runs | strict | generous | dearer, strict | dearer, generous |")
    print("| --- | --- | --- | --- | --- | --- |")
    gated = [(_given(row, row.strict), _given(row, row.generous)) for row in rows]
    print(_line("at the crawl, unless the goal names its place", gated))
    print(_line("the same, in the runs with an answer", [(row.strict, row.generous) for row in given]))
    everywhere = [(row.strict_ungated, row.generous_ungated) for row in rows]
    print(_line("in the first prompt of every run", everywhere))
    print()
    for what in ("next_file", "edited_file", "edited_line"):
        looked = [row for row in given if getattr(row, what) is not None]
        print(f"{what}: {sum(bool(getattr(row, what)) for row in looked)} of {len(looked)} answered runs")
    return 0


def _given(row: Row, change: float) -> float:
    return change if row.at >= 0 and not row.names_place else 0.0


def _line(what: str, changes: Sequence[tuple[float, float]]) -> str:
    runs = len(changes)
    if not runs:
        return f"| {what} | 0 | | | | |"
    strict, generous = zip(*changes, strict=True)
    dearer = [sum(each > 1e-9 for each in column) for column in (strict, generous)]
    means = [f"{sum(column) / runs:+.1%}" for column in (strict, generous)]
    return f"| {what} | {runs} | {means[0]} | {means[1]} | {dearer[0]} | {dearer[1]} |"


def _measure(options: argparse.Namespace) -> Iterator[Row]:
    needed = {"TASKS": options.tasks, "--runs": options.runs, "--mirrors (or BENCH_MIRROR)": options.mirrors}
    needed["--trees (or BENCH_TREES)"] = options.trees
    if missing := [name for name, value in needed.items() if value is None]:
        raise RunsError(f"Say also {', '.join(missing)}; or --rows FILE, to report rows that were kept.")
    files = find_runs(options.runs)
    for task in read_tasks(options.tasks)[: options.limit]:
        if task.id not in files:
            continue
        try:
            snapshot = Snapshot(task.repo, task.base_commit, options.mirrors)
            tree = materialise(task.repo, task.base_commit, options.mirrors, options.trees)
            past = read_run(files[task.id])
            reader = Reader(snapshot.paths, snapshot.read)
            steps = [reader.step(call) for call in past.calls]
            text = answer_text(navigate(task, tree, ANSWER_TOKENS).context)
        except (MirrorNotFoundError, GitError) as error:
            print(f"{task.id} is left out: {error}", file=sys.stderr, flush=True)
            continue
        held, size = held_lines(text, snapshot.paths, snapshot.read), tokens.count(text, "cl100k")
        at = crawls_at(steps)
        strict, generous, strict_ungated, generous_ungated = (
            _changed(past, size, replaced(steps, held, generous=is_generous), since)
            for since in (at if at >= 0 else len(steps), -1)
            for is_generous in (False, True)
        )
        named = names_its_place(task.goal, build_index(tree))
        shown = {spot.path for spot in held}
        edited = edited_by(past.patch, snapshot.paths)
        row = Row(
            task.id,
            task.repo,
            len(steps),
            at,
            named,
            size,
            strict,
            generous,
            strict_ungated,
            generous_ungated,
            next_file=bool(shown & _opened_next(steps[at + 1 :])),
            edited_file=bool(shown & edited.files),
            edited_line=bool(held & edited.lines),
        )
        if options.out:
            with options.out.open("ab") as kept:
                kept.write(msgspec.json.encode(row) + b"\n")
        print(json.dumps(msgspec.to_builtins(row)), file=sys.stderr, flush=True)
        yield row


def _opened_next(later: Iterable[Step]) -> frozenset[str]:
    """Return the files of the first call that shows or edits any."""
    files = (frozenset((*(spot.path for spot in step.shown), *step.edited)) for step in later)
    return next(filter(None, files), frozenset())


def _changed(past: Run, size: int, dropped: Iterable[int], since: int) -> float:
    """Return by which share a run's cost changes where an answer is given behind a call (-1: first)."""
    needless = [each for each in dropped if each > since]
    return (
        cost(past.calls, Prices(), size, needless, since + 1).perfect / cost(past.calls, Prices()).perfect - 1
    )


def crawls_at(steps: Iterable[Step]) -> int:
    """Return the look-up behind which a hook gives its answer, -1 where there is none."""
    session = Session({})
    for at, step in enumerate(steps):
        if step.edited:
            session.note_edit(step.edited)
        elif step.kind is Kind.LOOK:
            reads = [] if step.searches else sorted({spot.path for spot in step.shown})
            if session.note_look(reads):
                return at
    return -1
