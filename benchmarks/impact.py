"""``python -m benchmarks impact``: from half of a commit, how much of the other half does a packet show?

Of each repository the latest commits are taken that edit between four and sixteen functions in two files of
code or more. Of those functions, in the order of the paths and lines, every second one is given: the goal is
the commit's subject, and the packet is asked for twice, with the edits of the given functions as a patch and
without. The tree is the one before the commit. What counts is how many of the other functions stand in the
packet whole. A function that both halves share a hunk with is given to neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.git import run_git
from benchmarks.scoring import _cut, _joined
from benchmarks.tasks import NOT_CODE
from benchmarks.trees import find_mirror
from repo_map.languages.registry import language_of
from repo_map.parsing.symbols import read_symbols
from repo_map.parsing.values import Definition
from repo_map.worktree.file_kinds import FileFlag, flags_of_path

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

    @property
    def is_test(self) -> bool:
        return bool(flags_of_path(self.path) & FileFlag.TEST)


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


def shown(task: Task, tree: Path, context: str) -> dict[Edited, bool]:
    """Return for each wanted function whether it stands in a packet whole."""
    text = _joined(context)
    sources = {
        path: (tree / path).read_bytes().decode("utf-8", "replace").split("\n")
        for path in {each.path for each in task.wanted}
    }
    return {each: _joined(_cut(sources, each.path, each.first, each.last)) in text for each in task.wanted}
