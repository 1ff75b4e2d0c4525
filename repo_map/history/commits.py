"""Commits as git tells them: message, files, and the line ranges that their hunks changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from repo_map.history.streaming import Deadline, ask_git

WIDEST_COMMIT = 30
"""Commits that touch more files than this are releases, reformats and moves: they tell nothing of a goal."""

_LONGEST_MESSAGE = 2_000
_FILES_FORMAT = "--format=%x1e%H%x1f%ct%x1f%B%x1f"
_PLAIN_DIFF = ("--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules", "--no-color")
_BARE_PATHS = ("--src-prefix=", "--dst-prefix=")
_COMMIT = re.compile(rb"\x1e([0-9a-f]{40,64})\x1f(\d+)\x1f(.*?)\x1f", re.DOTALL)
_RAW = re.compile(rb":\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*\0([^\0]+)\0")
_PATCH = re.compile(
    rb"^(?:([0-9a-f]{40,64})$|diff --git (.+)$|@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@)", re.MULTILINE
)
_TRAILER = re.compile(
    r"^(?:[A-Za-z]+(?:-[A-Za-z]+)+-?(?:by|id|on|to|from|cc)?|git-svn-id|cc|bug|pr-url|signed-off-by): .*$",
    re.IGNORECASE | re.MULTILINE,
)
_BLOB_DIGITS = 12


class Change(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One modified file of a commit."""

    path: str
    before: str
    """The blob before, by the first digits of its id; zeros when the file was added."""
    after: str
    hunks: tuple[int, ...] = ()
    """Quadruples: first line and number of lines before, first line and number of lines after."""


class Commit(msgspec.Struct, frozen=True, array_like=True):
    """What one commit says and does; immutable as the commit itself, so it is read once."""

    id: str
    time: int
    """Commit time in seconds since 1970."""
    message: str
    """Subject and body without trailers."""
    breadth: int
    """How many files it touches."""
    changes: tuple[Change, ...]
    """None for commits wider than ``WIDEST_COMMIT``."""
    renames: tuple[tuple[str, str], ...]
    """Old and new path of the files it moved."""
    patched: bool = False
    """Whether the hunks were read."""


def list_commits(root: Path, limit: int, deadline: Deadline) -> list[str]:
    """Return the ids of the last non-merge ancestors of HEAD that touch ``root``, newest first."""
    output = ask_git(
        root, "rev-list", "--no-merges", f"--max-count={limit}", "HEAD", "--", ".", deadline=deadline
    )
    return [] if output is None or output.status != 0 else output.text.decode("ascii").split()


def read_commits(root: Path, ids: Sequence[str], deadline: Deadline) -> dict[str, Commit]:
    """Read messages and touched files, without hunks; what the deadline cuts off is missing."""
    command = (
        "log",
        "--no-walk=unsorted",
        "--stdin",
        "--raw",
        "-z",
        "--no-abbrev",
        "--encoding=UTF-8",
        "--relative",
    )
    output = ask_git(root, *command, *_PLAIN_DIFF, _FILES_FORMAT, lines=ids, deadline=deadline)
    text = b"" if output is None else output.text
    heads = list(_COMMIT.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    if output is not None and output.status is None:
        # The deadline may have cut the last commit in two.
        heads, ends = heads[:-1], ends[:-1]
    commits = (_commit(head, text[head.end() : end]) for head, end in zip(heads, ends, strict=True))
    return {commit.id: commit for commit in commits}


def _commit(head: re.Match[bytes], files: bytes) -> Commit:
    entries = [
        (
            status,
            path.decode("utf-8", "replace"),
            before[:_BLOB_DIGITS].decode(),
            after[:_BLOB_DIGITS].decode(),
        )
        for before, after, status, path in _RAW.findall(files)
    ]
    wide = len(entries) > WIDEST_COMMIT
    kept = () if wide else tuple(Change(path, a, b) for status, path, a, b in entries if status != b"D")
    return Commit(
        id=head[1].decode("ascii"),
        time=int(head[2]),
        message=clean_message(head[3].decode("utf-8", "replace")),
        breadth=len(entries),
        changes=kept,
        renames=tuple(_renames(entries)),
    )


def _renames(entries: Sequence[tuple[bytes, str, str, str]]) -> Iterator[tuple[str, str]]:
    """Pair what was deleted with what was added: the same content, else the only one of the same name."""
    removed = [(path, before) for status, path, before, _ in entries if status == b"D"]
    added = [(path, after) for status, path, _, after in entries if status == b"A"]
    if not removed or not added:
        return
    by_content = {after: path for path, after in added}
    names = [path.rpartition("/")[2] for path, _ in added]
    by_name = {name: path for name, (path, _) in zip(names, added, strict=True) if names.count(name) == 1}
    taken: set[str] = set()
    for path, before in removed:
        target = by_content.get(before) or by_name.get(path.rpartition("/")[2])
        if target is not None and target not in taken:
            taken.add(target)
            yield path, target


def clean_message(message: str) -> str:
    """Drop trailers such as ``Signed-off-by:`` and what exceeds the longest message worth reading."""
    return _TRAILER.sub("", message).strip()[:_LONGEST_MESSAGE].rstrip()


def read_patches(root: Path, ids: Sequence[str], deadline: Deadline) -> dict[str, dict[str, tuple[int, ...]]]:
    """Read the hunks of modified files, by commit and path; commits that the deadline cuts off are missing.

    A mirror that lacks a blob ends git in the middle: the commit at fault goes with what came of it, and
    reading goes on behind it.
    """
    hunks: dict[str, dict[str, tuple[int, ...]]] = {}
    command = (
        "diff-tree",
        "--stdin",
        "-r",
        "-p",
        "-U0",
        "--diff-filter=M",
        "--relative",
        *_PLAIN_DIFF,
        *_BARE_PATHS,
    )
    waiting = list(ids)
    while waiting:
        output = ask_git(root, *command, lines=waiting, deadline=deadline)
        if output is None:
            return {}
        reached = _parse_patches(output.text, hunks)
        if output.status is None:
            # It may have been cut in the middle of the last one.
            hunks.pop(reached, None)
            return hunks
        # A commit that only adds files prints nothing: it is read all the same.
        passed = len(waiting) if output.status == 0 else waiting.index(reached) + 1 if reached else 1
        for identity in waiting[:passed]:
            hunks.setdefault(identity, {})
        waiting = waiting[passed:]
    return hunks


def _parse_patches(text: bytes, hunks: dict[str, dict[str, tuple[int, ...]]]) -> str:
    """Add the hunks in ``text`` to ``hunks`` and return the last commit seen."""
    commit, path = "", ""
    found: list[int] = []
    for match in _PATCH.finditer(text):
        identity, names, before, before_count, after, after_count = match.groups()
        if before is not None:
            found += (int(before), int(before_count or 1), int(after), int(after_count or 1))
            continue
        if found:
            hunks.setdefault(commit, {})[path] = tuple(found)
            found = []
        if identity is not None:
            commit = identity.decode("ascii")
            hunks.setdefault(commit, {})
        else:
            # A modified file keeps its name, so the line says it twice: "PATH PATH".
            path = names[: len(names) // 2].decode("utf-8", "replace")
    if found:
        hunks.setdefault(commit, {})[path] = tuple(found)
    return commit
