"""The lines that the true fix of a task added, found in the history of its mirror."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.git import run_git
from benchmarks.tasks import Task
from benchmarks.trees import find_mirror
from repo_map.worktree.git import GitError

_MOST_COMMITS = 60
"""After the base commit, of those that touch a file which the fix edits."""
_NAMED = re.compile(r"fix commit ([0-9a-f]{40})")
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+")


class Fix(NamedTuple):
    """What a fix added to one file."""

    commit: str
    path: str
    added: str
    """Its new lines, hunk after hunk, without those that are blank at either end."""


def fix_of(task: Task, mirrors: Path) -> Fix | None:
    """Return what the fix added to the first edited file that it added lines to.

    The fix is the first commit whose difference to the base edits the very lines that the task names;
    None where the mirror holds no such commit, or where the fix only removes.
    """
    mirror = find_mirror(task.repo, mirrors)
    gold = {(span.file, span.start, span.end, span.insert) for span in task.gold_spans}
    for commit in _candidates(task, mirror):
        patch = _difference(mirror, task, commit)
        if {place for place, _ in patch} != gold:
            continue
        for path in task.gold_files:
            lines = "".join(added for place, added in patch if place[0] == path).strip("\n")
            if lines.strip():
                return Fix(commit, path, lines + "\n")
    return None


def _candidates(task: Task, mirror: Path) -> list[str]:
    if named := _NAMED.search(task.source):
        return [named[1]]
    later = f"{task.base_commit}.."
    arguments = ("log", "--all", "--format=%H", "--ancestry-path", "--reverse", later, "--")
    return run_git(mirror, *arguments, *task.gold_files[:1]).decode().split()[:_MOST_COMMITS]


def _difference(mirror: Path, task: Task, commit: str) -> list[tuple[tuple[str, int, int, bool], str]]:
    """Return each hunk's place in the base, as tasks tell it, and its new lines."""
    arguments = ("diff", "-U0", "--no-renames", "--no-ext-diff", task.base_commit, commit, "--")
    try:
        text = run_git(mirror, *arguments, *task.gold_files).decode("utf-8", "replace")
    except GitError:
        # A mirror may lack some blobs.
        return []
    return list(_hunks(text))


def _hunks(text: str) -> Iterator[tuple[tuple[str, int, int, bool], str]]:
    path = ""
    place: tuple[str, int, int, bool] | None = None
    added: list[str] = []
    for line in [*text.split("\n"), "diff "]:
        found = _HUNK.match(line)
        if place is not None and (found or line.startswith("diff ")):
            yield place, "".join(added)
            place = None
        if found:
            start, count = int(found[1]), int(found[2] or "1")
            place, added = (path, start, start + count - 1 if count else start, not count), []
        elif place is not None and line.startswith("+"):
            added.append(line[1:] + "\n")
        elif place is None and line.startswith("--- a/"):
            path = line[6:]
