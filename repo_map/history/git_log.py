"""Read commits and their hunks through git, and map their lines to current ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from repo_map.secrets.names import mask_name, mask_names
from repo_map.sources.git import Deadline, Git, GitOutput, HistoryStart

MAX_COMMIT_FILES = 30
"""Wider commits are releases, reformats and moves, which are evidence of nothing."""

_MAX_MESSAGE_CHARS = 2_000
_MAX_READ_BYTES = 50_000
"""Bytes of a message that are read."""
_MAX_TIME = 1 << 40
"""Seconds since 1970; a commit may have any time."""
_FILES_FORMAT = "--format=%x1e%H%x1f%ct%x1f%B%x1f"
_PLAIN_DIFF = ("--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules", "--no-color")
_BARE_PATHS = ("--src-prefix=", "--dst-prefix=")
_COMMIT = re.compile(rb"\x1e([0-9a-f]{40,64})\x1f(\d{1,20})\x1f(.*?)\x1f", re.DOTALL)
_RAW = re.compile(rb":\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*\0([^\0]+)\0")
_PATCH = re.compile(
    rb"^(?:([0-9a-f]{40,64})$|diff --git (.+)$|@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@)", re.MULTILINE
)
_TRAILER = re.compile(
    r"^(?:[A-Za-z]+(?:-[A-Za-z]+)+-?(?:by|id|on|to|from|cc)?|git-svn-id|cc|bug|pr-url|signed-off-by): .*$",
    re.IGNORECASE | re.MULTILINE,
)
_BLOB_DIGITS = 12


class HistoryQuery(NamedTuple):
    """Where commits are read: git, the newest commit and the folder, and the deadline."""

    git: Git
    place: HistoryStart
    deadline: Deadline

    def ask(self, *arguments: str, lines: Sequence[str] = ()) -> GitOutput | None:
        """Return git's output until the deadline, None if git can't be run."""
        return self.git.history(*arguments, lines=lines, deadline=self.deadline)

    @property
    def relative(self) -> str:
        """The option that limits paths to the folder."""
        return f"--relative={self.place.prefix}"


class FileChange(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One modified file of a commit."""

    path: str
    before: str
    """The blob before, by the first digits of its id; zeros when the file was added."""
    after: str
    hunks: tuple[int, ...] = ()
    """Quadruples: first line and number of lines before, first line and number of lines after."""


class Commit(msgspec.Struct, frozen=True, array_like=True):
    """The message and the changes of a commit; immutable, so it is cached."""

    id: str
    time: int
    """Commit time in seconds since 1970."""
    message: str
    """Subject and body without trailers."""
    file_count: int
    """Number of files that it changes."""
    changes: tuple[FileChange, ...]
    """Empty for commits of more than ``MAX_COMMIT_FILES``."""
    renames: tuple[tuple[str, str], ...]
    """Old and new path of the files it moved."""
    has_hunks: bool = False
    """True once its hunks were read."""


def list_commits(past: HistoryQuery, limit: int) -> list[str]:
    """Return the ids of the commit's last non-merge ancestors that touch the folder, newest first."""
    folder = f":(top,literal){past.place.prefix}" if past.place.prefix else "."
    output = past.ask("rev-list", "--no-merges", f"--max-count={limit}", past.place.head, "--", folder)
    return [] if output is None or output.status != 0 else output.text.decode("ascii").split()


def read_commits(past: HistoryQuery, ids: Sequence[str]) -> dict[str, Commit]:
    """Read messages and touched files, without hunks; what the deadline cuts off is missing."""
    command = (
        "log",
        "--no-walk=unsorted",
        "--stdin",
        "--raw",
        "-z",
        "--no-abbrev",
        "--encoding=UTF-8",
        past.relative,
    )
    output = past.ask(*command, *_PLAIN_DIFF, _FILES_FORMAT, lines=ids)
    text = b"" if output is None else output.text
    heads = list(_COMMIT.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    if output is not None and output.status is None:
        # The deadline may have cut the last commit in two.
        heads, ends = heads[:-1], ends[:-1]
    commits = (_commit(head, text[head.end() : end]) for head, end in zip(heads, ends, strict=True))
    return {commit.id: commit for commit in commits}


def _commit(head: re.Match[bytes], files: bytes) -> Commit:
    found = _RAW.findall(files)
    paths = mask_names([path.decode("utf-8", "replace") for _, _, _, path in found])
    entries = [
        (status, path, before[:_BLOB_DIGITS].decode(), after[:_BLOB_DIGITS].decode())
        for path, (before, after, status, _) in zip(paths, found, strict=True)
    ]
    wide = len(entries) > MAX_COMMIT_FILES
    changes = (
        () if wide else tuple(FileChange(path, a, b) for status, path, a, b in entries if status != b"D")
    )
    return Commit(
        id=head[1].decode("ascii"),
        time=min(int(head[2]), _MAX_TIME),
        message=clean_message(mask_name(_message_start(head[3]))),
        file_count=len(entries),
        changes=changes,
        renames=tuple(_renames(entries)),
    )


def _renames(entries: Sequence[tuple[bytes, str, str, str]]) -> Iterator[tuple[str, str]]:
    """Pair deleted files with added ones: of the same content, else of the same unique name."""
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


def _message_start(message: bytes) -> str:
    """Return the start of a message in whole lines: half a secret would not be masked."""
    if len(message) > _MAX_READ_BYTES:
        message = message[: message.rfind(b"\n", 0, _MAX_READ_BYTES) + 1]
    return message.decode("utf-8", "replace")


def clean_message(message: str) -> str:
    """Drop trailers such as ``Signed-off-by:``, and shorten a long message."""
    return _TRAILER.sub("", message).strip()[:_MAX_MESSAGE_CHARS].rstrip()


def read_patches(past: HistoryQuery, ids: Sequence[str]) -> dict[str, dict[str, tuple[int, ...]]]:
    """Read the hunks of modified files, by commit and path; commits that the deadline cuts off are missing.

    A missing blob ends git in the middle: its commit counts as read, and reading continues behind it.
    """
    hunks: dict[str, dict[str, tuple[int, ...]]] = {}
    command = (
        "diff-tree",
        "--stdin",
        "-r",
        "-p",
        "-U0",
        "--diff-filter=M",
        past.relative,
        *_PLAIN_DIFF,
        *_BARE_PATHS,
    )
    waiting = list(ids)
    while waiting:
        output = past.ask(*command, lines=waiting)
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
            # A modified file has one name, so the line has it twice: "PATH PATH".
            path = names[: len(names) // 2].decode("utf-8", "replace")
    if found:
        hunks.setdefault(commit, {})[path] = tuple(found)
    return commit


_NO_LINES: NDArray[np.int32] = np.empty(0, np.int32)


class LineTracker(NamedTuple):
    """The current line of every line of one version of a file."""

    current: NDArray[np.int32]
    """Current line of line ``i + 1``, up to the last change."""
    shift: int
    """Offset of the lines behind those."""

    def upto(self, last: int) -> NDArray[np.int32]:
        """Return the current lines of lines 1 to ``last`` at least."""
        mapped = len(self.current)
        if last <= mapped:
            return self.current
        tail = np.arange(mapped + 1, last + 1, dtype=np.int32) + np.int32(self.shift)
        return np.concatenate((self.current, tail))


UNCHANGED = LineTracker(_NO_LINES, 0)
"""The map of the current version."""


def touched_lines(lines: LineTracker, hunks: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
    """Yield the first and last current line, and the number of changed lines, of each hunk.

    ``lines`` maps the version after.
    """
    current = lines.upto(_lines_needed(hunks))
    for at in range(0, len(hunks), 4):
        _, before, start, after = hunks[at : at + 4]
        first, last = max(start, 1), max(start + after - 1, start, 1)
        ends = int(current[first - 1]), int(current[last - 1])
        yield max(min(ends), 1), max(*ends, 1), before + after


def map_before(lines: LineTracker, hunks: tuple[int, ...]) -> LineTracker:
    """Return the map of the version before ``hunks``, given the map of the version after.

    Lines that a hunk replaced map to their replacement.
    """
    if not hunks:
        return lines
    current = lines.upto(_lines_needed(hunks))
    pieces: list[NDArray[np.int32]] = []
    read = 0
    old_read = 0
    for at in range(0, len(hunks), 4):
        old_start, old_count, start, count = hunks[at : at + 4]
        unchanged_end = start - 1 if count else start
        pieces.append(current[read:unchanged_end])
        if old_count:
            place = max(start - 1, 0) + np.minimum(np.arange(old_count), max(count - 1, 0))
            pieces.append(current[place])
        read = unchanged_end + count
        old_read = old_start + old_count - 1 if old_count else old_start
    mapped = np.concatenate((*pieces, current[read:]))
    return LineTracker(mapped, lines.shift + read - old_read)


def _lines_needed(hunks: tuple[int, ...]) -> int:
    """Return a line of the version after that is behind all hunks."""
    return max((start + count for start, count in zip(hunks[2::4], hunks[3::4], strict=True)), default=0) + 1
