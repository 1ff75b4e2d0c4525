"""``python -m benchmarks impact``: from half of a commit, how much of the other half does a packet show?

Of each repository the latest commits are taken that edit between four and sixteen functions, in two to twenty
files of code. Of those functions, in the order of the paths and lines, every second one is given: the goal
is the commit's subject, and the packet is asked for twice, without the edits of the given functions and with
them as a patch. The tree is the one before the commit. What counts is how many of the other functions stand
in the packet whole. A function whose edit reaches into another one is not given.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.git import run_git
from benchmarks.localize import folder
from benchmarks.scoring import joined
from benchmarks.tasks import NOT_CODE
from benchmarks.trees import find_mirror, materialise
from repo_map.languages.registry import language_of
from repo_map.parsing.symbols import read_symbols
from repo_map.parsing.values import Definition
from repo_navigator.main import main

_REACH = 600
"""Commits that are looked at for those that fit."""
_LEAST, _MOST = 4, 16
"""Functions that a commit may edit."""
_LEAST_SUBJECT = 16
_ROUTINE = re.compile(
    r"^(?:bump|release|version|merge|revert|update dep|chore\(deps|build\(deps|changelog|prepare|typo|format|"
    r"lint|style|reformat|v?\d+\.\d+)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\s*\(?(?:#|gh-)\d+\)?|https?://\S+", re.IGNORECASE)
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*$", re.MULTILINE)


class Edited(NamedTuple):
    """A function that a commit edits, as it stands before it."""

    path: str
    name: str
    first: int
    last: int
    hunks: tuple[str, ...]
    """The text of its hunks, without lines around them."""


class Task(NamedTuple):
    """One commit, of which half is given."""

    repo: str
    commit: str
    parent: str
    goal: str
    given: tuple[Edited, ...]
    wanted: tuple[Edited, ...]

    @property
    def patch(self) -> str:
        """The edits of the given functions."""
        parts: list[str] = []
        for path in dict.fromkeys(each.path for each in self.given):
            hunks = dict.fromkeys(hunk for each in self.given if each.path == path for hunk in each.hunks)
            parts += [f"--- a/{path}\n+++ b/{path}\n", *hunks]
        return "".join(parts)


def find_tasks(repo: str, mirrors: Path, count: int, skip: int = 0) -> Iterator[Task]:
    """Yield the tasks of the latest commits of a repository that fit, bar the first ``skip``."""
    mirror = find_mirror(repo, mirrors)
    line = run_git(mirror, "rev-list", "--first-parent", "--no-merges", f"--max-count={_REACH}", "HEAD")
    found = 0
    for commit in line.decode().split():
        about = run_git(mirror, "show", "-s", "--format=%P%x00%s", commit).decode("utf-8", "replace")
        parents, _, subject = about.strip().partition("\0")
        goal = _NUMBER.sub("", subject).strip()
        if not parents or len(goal) < _LEAST_SUBJECT or _ROUTINE.search(goal):
            continue
        task = _task(repo, mirror, commit, parents.split()[0], goal)
        if task is None:
            continue
        found += 1
        if found > skip:
            yield task
        if found == skip + count:
            return


def _task(repo: str, mirror: Path, commit: str, parent: str, goal: str) -> Task | None:
    raw = run_git(mirror, "diff-tree", "-r", "--no-renames", "--name-status", "-z", parent, commit)
    fields = raw.decode("utf-8", "replace").split("\0")
    paths = [path for status, path in zip(fields[::2], fields[1::2], strict=False) if status == "M"]
    paths = [path for path in paths if language_of(path) not in NOT_CODE]
    if not 2 <= len(paths) <= 20:
        return None
    edited = [each for path in paths for each in _edited(mirror, parent, commit, path)]
    if not _LEAST <= len(edited) <= _MOST or len({each.path for each in edited}) < 2:
        return None
    shared = [hunk for each in edited for hunk in each.hunks]
    given = tuple(each for each in edited[::2] if all(shared.count(hunk) == 1 for hunk in each.hunks))
    return Task(repo, commit, parent, goal, given, tuple(edited[1::2])) if given else None


def _edited(mirror: Path, parent: str, commit: str, path: str) -> Iterator[Edited]:
    """Yield the functions of a file that a commit edits, by line."""
    source = run_git(mirror, "show", f"{parent}:{path}")
    diff = run_git(mirror, "diff", "-U0", "--no-ext-diff", "--no-textconv", parent, commit, "--", path)
    text = diff.decode("utf-8", "replace")
    heads = list(_HUNK.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    functions = _functions(read_symbols(source, path).definitions)
    hunks: dict[Definition, list[str]] = {}
    for head, end in zip(heads, ends, strict=True):
        first, count = int(head[1]), int(head[2] or 1)
        last = first + max(count, 1) - 1
        for each in functions:
            # What comes in between two lines is in a function that has both.
            if each.start <= last and first <= each.end and (count or first < each.end):
                hunks.setdefault(each, []).append(text[head.start() : end])
    for each in functions:
        if each in hunks:
            yield Edited(path, each.name, each.start, each.end, tuple(hunks[each]))


def _functions(definitions: Sequence[Definition]) -> list[Definition]:
    """Return the functions and methods that stand in no other."""
    kinds = ("function", "method", "macro")

    def is_inner(definition: Definition) -> bool:
        parent = definition.parent
        while parent >= 0:
            if definitions[parent].kind in kinds:
                return True
            parent = definitions[parent].parent
        return False

    return [each for each in definitions if each.kind in kinds and not is_inner(each)]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument("repos", nargs="+", metavar="REPO", help="owner and name, of those with mirrors")
    parser.add_argument("--tokens", type=int, default=4_000, metavar="N", help="budget (default 4000)")
    parser.add_argument("--commits", type=int, default=1, metavar="N", help="of each repository (default 1)")
    parser.add_argument("--skip", type=int, default=0, metavar="N", help="the first N that fit, of each")
    parser.add_argument("--markdown", action="store_true", help="print a table for a document")
    parser.add_argument(
        "--mirrors", type=Path, default=folder("BENCH_MIRROR"), help="folder of git mirrors ($BENCH_MIRROR)"
    )
    parser.add_argument(
        "--trees", type=Path, default=folder("BENCH_TREES"), help="folder for work trees ($BENCH_TREES)"
    )


class Row(NamedTuple):
    """What the packets of one task show."""

    task: Task
    without: int
    """Of the wanted functions, how many stand in the packet that knew the subject alone."""
    given: int
    """The same of the packet that had half of the commit."""
    tokens: tuple[int, int]
    """Of both packets."""


def run(options: argparse.Namespace) -> int:
    """Run the measurement and print its figures."""
    if options.mirrors is None:
        print(
            "Say where the mirrors of the repositories are: --mirrors DIR or BENCH_MIRROR.", file=sys.stderr
        )
        return 2
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="impact-") as scratch:
        for repo in options.repos:
            for task in find_tasks(repo, options.mirrors, options.commits, options.skip):
                tree = materialise(repo, task.parent, options.mirrors, options.trees or Path(scratch))
                rows.append(_measure(task, tree, options.tokens))
                print(_line(rows[-1]), file=sys.stderr, flush=True)
    print(_table(rows) if options.markdown else "\n".join(map(_line, rows)))
    print(_summary(rows))
    return 0


def _measure(task: Task, tree: Path, budget: int) -> Row:
    without = _packet(tree, task.goal, budget)
    given = _packet(tree, f"{task.goal}\n\n```diff\n{task.patch}```\n", budget)
    alone, helped = (shown(task, tree, packet["context"]) for packet in (without, given))
    return Row(task, alone, helped, (without["tokens"], given["tokens"]))


def _packet(tree: Path, goal: str, budget: int) -> dict[str, Any]:
    """Ask the navigator through its command line, in this process."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write(goal)
        file.flush()
        output = io.BytesIO()
        printed = io.TextIOWrapper(output, encoding="utf-8")
        with contextlib.redirect_stdout(printed):
            code = main(["navigate", str(tree), "--goal-file", file.name, "--tokens", str(budget), "--json"])
    if code:
        raise RuntimeError(f"`repo-navigator navigate` ended with {code} on {tree}; see the message above.")
    printed.flush()
    said: dict[str, Any] = json.loads(output.getvalue())
    return said


def shown(task: Task, tree: Path, context: str) -> int:
    """Return how many of the wanted functions stand in a packet whole."""
    text = joined(context)
    found = 0
    for each in task.wanted:
        lines = (tree / each.path).read_bytes().decode("utf-8", "replace").split("\n")
        found += joined(lines[each.first - 1 : each.last]) in text
    return found


def _line(row: Row) -> str:
    task = row.task
    return (
        f"{task.repo} {task.commit[:10]}: {len(task.given)} given, {len(task.wanted)} wanted, "
        f"{row.without} shown without, {row.given} with; {task.goal[:50]}"
    )


def _table(rows: Sequence[Row]) -> str:
    heads = ("repository", "commit", "given", "wanted", "without the diff", "with it")
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for row in rows:
        task = row.task
        cells = (
            task.repo,
            f"`{task.commit[:10]}`",
            len(task.given),
            len(task.wanted),
            row.without,
            row.given,
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _summary(rows: Sequence[Row]) -> str:
    """Return the figures of all tasks: of all functions, and of the mean commit."""
    wanted = sum(len(row.task.wanted) for row in rows)
    told = []
    for name, at in (("without the diff", 0), ("with it", 1)):
        counts = [(row.without, row.given)[at] for row in rows]
        share = sum(count / len(row.task.wanted) for count, row in zip(counts, rows, strict=True))
        tokens = sum(row.tokens[at] for row in rows)
        told.append(
            f"{name}: {sum(counts)} of {wanted} functions ({sum(counts) / max(wanted, 1):.0%}), "
            f"{share / max(len(rows), 1):.0%} of the mean commit's, {tokens // max(len(rows), 1):,} tokens"
        )
    return f"{len(rows)} commits; " + "; ".join(told)
