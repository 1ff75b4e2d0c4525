"""``python -m benchmarks hooks``: would the hook have spoken at the searches of public runs?"""

from __future__ import annotations

import argparse
import json
import posixpath
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from benchmarks.localize import folder
from benchmarks.replay.looking import Kind, Reader, Step
from benchmarks.replay.runs import RunsError, read_rows, read_run
from benchmarks.replay.swe_agent import Moment, read_agent_run
from benchmarks.sought_names import sought, sought_names
from benchmarks.trees import MirrorNotFoundError, Snapshot
from repo_map.text import tokens
from repo_map.worktree.git import GitError
from repo_navigator.hooks.names import NamedPlace, NameTable
from repo_navigator.hooks.search_answer import Rule, SearchAnswer, answer_for
from repo_navigator.hooks.searches import Action, Search, names_sought, of_shell
from repo_navigator.hooks.wording import search_text

_BODY_LINES: Final = 40
"""Lines behind a definition's first that count as its own where its end is not known."""


class Row(msgspec.Struct, frozen=True, omit_defaults=True):
    """One search of one run."""

    id: str
    repo: str
    agent: str
    at: int
    """Place of the call in the run."""
    found: int
    """Lines that it printed."""
    was_right: bool
    """Whether what it printed names the file that is opened or edited next."""
    leads: bool
    """Whether any file is opened or edited later."""
    kind: str = ""
    """What was said, empty where nothing was."""
    tokens: int = 0
    next_file: bool = False
    """Whether what was said names the file that is opened or edited next."""
    later_file: bool = False
    """Whether it names a file that is opened or edited later."""
    edited_file: bool = False
    """Whether it names a file that is edited later."""
    later_function: bool = False
    """Whether it names a definition that is shown or edited later, where lines are known."""
    true_file: bool = False
    """Whether it names a file that the true fix edits."""
    found_file: bool = False
    """Whether it names a file that a later search for the same name finds."""

    @property
    def is_sound(self) -> bool:
        """Whether a reader would not call it false."""
        return self.later_file or self.true_file or self.found_file


class _Task(msgspec.Struct, frozen=True):
    """What is needed of a line of a task file, SWE-bench's among them."""

    repo: str
    base_commit: str
    id: str = ""
    instance_id: str = ""
    gold_files: tuple[str, ...] = ()
    """What the true fix edits."""
    patch: str = ""
    """The true fix, where the files are not named."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument("tasks", nargs="?", type=Path, metavar="TASKS", help="task file (JSON lines)")
    parser.add_argument(
        "--runs", type=Path, metavar="DIR", help="folder of runs: TASK.traj.json, or TASK.traj"
    )
    parser.add_argument("--rows", type=Path, metavar="FILE", help="report these rows, and measure nothing")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write a row for each search there")
    parser.add_argument("--many", type=int, default=Rule().many_hits, metavar="N", help="lines that are many")
    parser.add_argument(
        "--meant", type=int, default=Rule().most_meant, metavar="N", help="definitions of a name"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="the first N tasks only")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    for name, variable in (("mirrors", "BENCH_MIRROR"), ("trees", "BENCH_TREES")):
        parser.add_argument(f"--{name}", type=Path, default=folder(variable), help=f"folder (${variable})")


def run(options: argparse.Namespace) -> int:
    """Ask the hook at every search, or report rows that were kept."""
    rows = read_rows(options.rows, Row) if options.rows else list(_measure(options))
    if options.out:
        options.out.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    figures = [*summary(rows, "all"), *(line for kind in KINDS for line in summary(rows, kind)[1:])]
    if options.json:
        print(json.dumps({"figures": dict(figures)}))
    else:
        print("\n".join(f"| {name} | {value} |" for name, value in figures))
    return 0


KINDS: Final = ("nothing found", "much found", "no file")


def summary(rows: Sequence[Row], kind: str) -> list[tuple[str, str]]:
    """Return the figures of all rows, or of those in which one kind of thing was said."""
    spoken = [row for row in rows if row.kind and kind in ("all", row.kind)]
    judged = [row for row in spoken if row.leads]
    right = [row for row in rows if row.was_right]
    name = "" if kind == "all" else f"{kind}: "
    return [
        ("searches", f"{len(rows):,}"),
        (f"{name}spoken", f"{len(spoken):,} ({_share(len(spoken), len(rows))})"),
        (f"{name}names the file opened or edited next", _share_of(judged, "next_file")),
        (f"{name}names a file opened or edited later", _share_of(judged, "later_file")),
        (f"{name}names a file edited later", _share_of(judged, "edited_file")),
        (f"{name}names a definition shown or edited later", _share_of(judged, "later_function")),
        (
            f"{name}false: names nothing that is opened or edited later",
            _share(sum(not row.later_file for row in judged), len(judged)),
        ),
        (
            f"{name}false for a reader: nor edited by the true fix, nor found by a later search of the name",
            _share(sum(not row.is_sound for row in spoken), len(spoken)),
        ),
        (
            f"{name}silent where the search was right already",
            _share(sum(row not in spoken for row in right), len(right))
            if kind == "all"
            else _share(len(right) - sum(row.was_right for row in spoken), len(right)),
        ),
        (f"{name}tokens, mean", f"{sum(row.tokens for row in spoken) / max(1, len(spoken)):.0f}"),
    ]


def _share_of(rows: Sequence[Row], field: str) -> str:
    return _share(sum(getattr(row, field) for row in rows), len(rows))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%} of {whole:,}" if whole else "none"


class _Past(NamedTuple):
    """One call with the lines that it showed, where they are known."""

    moment: Moment
    step: Step | None
    read: frozenset[str]
    """Files that the hook takes for read."""


def _measure(options: argparse.Namespace) -> Iterator[Row]:
    needed = {"TASKS": options.tasks, "--runs": options.runs, "--mirrors (or BENCH_MIRROR)": options.mirrors}
    needed["--trees (or BENCH_TREES)"] = options.trees
    if missing := [name for name, value in needed.items() if value is None]:
        raise RunsError(f"Say also {', '.join(missing)}; or --rows FILE, to report rows that were kept.")
    tasks = [
        msgspec.json.decode(line, type=_Task) for line in options.tasks.read_bytes().splitlines() if line
    ]
    rule = Rule(options.many, options.meant)
    for number, task in enumerate(tasks[: options.limit], 1):
        name = task.id or task.instance_id
        runs = sorted(options.runs.rglob(f"{name}.traj*"))
        try:
            pasts = [_past(task, file, options.mirrors) for file in runs]
            asked = [
                (search, past.moment.output)
                for _, run in pasts
                for past in run
                for search in past.moment.searches
            ]
            names = sought_names(task.repo, task.base_commit, sought(asked), options.mirrors, options.trees)
            for agent, past in pasts:
                yield from _rows(task, agent, past, names, rule)
        except (MirrorNotFoundError, GitError) as error:
            print(f"{number}/{len(tasks)} {name} is left out: {error}", file=sys.stderr, flush=True)
            continue
        print(f"{number}/{len(tasks)} {name}", file=sys.stderr, flush=True)


def _rows(task: _Task, agent: str, past: Sequence[_Past], names: NameTable, rule: Rule) -> Iterator[Row]:
    name = task.id or task.instance_id
    fixed = {*task.gold_files, *_PATCHED.findall(task.patch)}
    said: set[str] = set()
    for at, (moment, *_) in enumerate(past):
        if not moment.searches:
            continue
        later = past[at + 1 :]
        following = _next(later)
        known = {path for each in past[:at] for path in each.read | each.moment.edited}
        inside = [each for each in map(_inside, moment.searches) if each is not None]
        answer = (
            answer_for(inside, moment.output, names, known, rule)
            if len(inside) == len(moment.searches)
            else None
        )
        text = search_text(answer) if answer else ""
        # What was said once is not said again.
        if text in said:
            answer, text = None, ""
        said.add(text)
        files = _named(answer, text) if answer else frozenset()
        opened = {path for each in later for path in (*each.moment.opened, *each.moment.edited)}
        edited = {path for each in later for path in each.moment.edited}
        yield Row(
            name,
            task.repo,
            agent,
            at,
            moment.output.count("\n") + 1 if moment.output.strip() else 0,
            any(path in moment.output for path in following)
            or bool(moment.output.strip() and following & moment.opened),
            bool(following),
            answer.kind if answer else "",
            tokens.count(text, "cl100k") if answer else 0,
            bool(files & following),
            bool(files & opened),
            bool(files & edited),
            any(_is_shown(each, later) for each in answer.definitions) if answer else False,
            bool(files & fixed),
            any(_finds(each.moment, answer, files, moment.searches) for each in later) if answer else False,
        )


def _named(answer: SearchAnswer, text: str) -> frozenset[str]:
    """Return the files that a text names, those of callers too."""
    callers = (each.path for definition in answer.definitions for each in definition.shown_callers)
    return frozenset(path for path in (*(each.path for each in answer.definitions), *callers) if path in text)


_PATCHED: Final = re.compile(r"^diff --git a/(\S+) b/", re.MULTILINE)


def _finds(moment: Moment, answer: SearchAnswer, files: frozenset[str], searches: Sequence[Search]) -> bool:
    """Tell whether a later search for a name that was looked for, or told, finds one of the files."""
    meant = {each.name for search in searches for each in names_sought(search)}
    meant |= {each.name for each in answer.definitions}
    again = {each.name for search in moment.searches for each in names_sought(search)}
    return bool(meant & again) and any(path in moment.output for path in files)


def _next(later: Iterable[_Past]) -> frozenset[str]:
    return next(
        (opened for each in later if (opened := each.moment.opened | each.moment.edited)), frozenset()
    )


def _is_shown(definition: NamedPlace, later: Iterable[_Past]) -> bool:
    return any(
        spot.path == definition.path and definition.line <= spot.line <= definition.line + _BODY_LINES
        for each in later
        if each.step
        for spot in each.step.shown
    )


def _past(task: _Task, file: Path, mirrors: Path) -> tuple[str, list[_Past]]:
    if file.suffix == ".traj":
        run = read_agent_run(file)
        return run.agent, [_Past(moment, None, moment.opened) for moment in run.moments]
    snapshot = Snapshot(task.repo, task.base_commit, mirrors)
    reader = Reader(snapshot.paths, snapshot.read)
    past = []
    for call in read_run(file).calls:
        step = reader.step(call)
        action = of_shell(call.command) if call.command else Action()
        searches = action.searches
        shown = frozenset(spot.path for spot in step.shown)
        # A search that is given one file looks into it; of the files that one finds none is opened by it.
        opened = shown if not searches else frozenset(path for path in shown if path in _asked(searches))
        past.append(
            _Past(
                Moment(
                    searches if step.kind is not Kind.EDIT else (),
                    call.output,
                    opened,
                    frozenset(step.edited),
                ),
                step,
                frozenset(map(_own, action.reads)),
            )
        )
    return "mini-SWE-agent", past


def _inside(search: Search) -> Search | None:
    """Return a search with the tree's own paths, None for one outside of the tree."""
    places = list(map(_own, search.places))
    if any(place.startswith(("/", "~", "..")) for place in places):
        return None
    return search._replace(places=tuple(posixpath.normpath(place) for place in places if place))


def _own(place: str) -> str:
    return place.removeprefix("/testbed").lstrip("/") if place.startswith("/testbed") else place


def _asked(searches: Iterable[Search]) -> frozenset[str]:
    return frozenset(
        place.removeprefix("/testbed/").removeprefix("./") for each in searches for place in each.places
    )
