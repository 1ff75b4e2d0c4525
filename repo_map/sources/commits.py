"""A commit as a source: its files and their bytes, read through git without a work tree."""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import local
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.errors import RepositoryNotFoundError
from repo_map.sources.commit_names import FORMS_OF_NAMES, CommitNameError, locate
from repo_map.sources.file_kinds import BINARY_PROBE_BYTES, FileFlag
from repo_map.sources.files import Listing, ReadFile, digest, sort_names, too_large
from repo_map.sources.git import Deadline, Git, GitError, GitOutput, git_error
from repo_map.sources.listing import ListingResult
from repo_map.sources.source import RepositoryPart

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ENTRY: Final = re.compile(rb"(\d{6}) (\w+) ([0-9a-f]{40,64}) +(\d+|-|BAD)\t(.+)", re.DOTALL)
_KINDS: Final = {"04": stat.S_IFDIR, "10": stat.S_IFREG, "12": stat.S_IFLNK, "16": stat.S_IFDIR}
"""File type by the first digits of git's mode; a submodule counts as a folder."""
_ID_DIGITS: Final = 15
"""Digits of an id in each of three numbers of a file's state: 60 bits, so that no number is negative."""
_MAX_LINK_BYTES: Final = 4_096
_MAX_LINKS: Final = 40
_MAX_BLOCK_FILES: Final = 256
_MAX_BLOCK_BYTES: Final = 4_000_000
_MAX_GAP_FILES: Final = 16
"""Skipped files, such as links, between two that count as read in order."""
_ADVICE: Final = f"give {FORMS_OF_NAMES}."


class CommitSource:
    """The files of a folder in a commit; if the commit's name moves on, so does the source."""

    def __init__(self, root: Path, ref: str, title: str = "") -> None:
        """``title`` is what users see, by default the folder and the commit's name."""
        self.root = root
        """The folder, in a repository whose work tree is never read."""
        self.ref = ref
        self.title = title or f"{root}@{ref}"

    @property
    def name(self) -> bytes:
        """Identifies the source."""
        return b"commit\0%s\0%s" % (os.fsencode(self.root), self.ref.encode("utf-8", "replace"))

    @property
    def parts(self) -> tuple[RepositoryPart, ...]:
        """The one repository."""
        return (RepositoryPart("", self.root, self.ref),)

    def list(self, known: Listing | None, limit: int, on_wait: Callable[[], object]) -> Listing:
        """Return the first ``limit`` files; ``known`` if the commit has the same ones still.

        Raises:
            RepositoryNotFoundError: there is no commit of that name, or git can't be run.
        """

        def is_wanted() -> bool:
            on_wait()
            return True

        deadline = Deadline(is_wanted=is_wanted)
        try:
            git = Git(self.root)
            start = locate(git, self.ref, deadline)
        except CommitNameError as error:
            raise RepositoryNotFoundError(f"{error}; {error.advice or _ADVICE}") from error
        except GitError as error:
            raise RepositoryNotFoundError(self._unreadable(str(error))) from error
        if start is None:
            raise RepositoryNotFoundError(f"No commit is called `{self.ref}` in `{self._name}`; {_ADVICE}")
        tree = f"{start.head}:{start.prefix}"
        named = git.history("rev-parse", "--verify", "--quiet", tree, deadline=deadline)
        if named is None or named.status != 0:
            no_folder = (
                f"The commit `{self.ref}` has no folder `{start.prefix}`; name the repository's own folder."
            )
            raise self._failed(named, no_folder)
        tree_id = named.text.strip()
        if known is not None and known.digest == tree_id:
            return known
        listed = git.history("ls-tree", "-r", "-l", "-z", "--full-tree", tree, deadline=deadline)
        if listed is None or listed.status != 0:
            raise self._failed(listed, self._unreadable("git did not list its files in time; try again."))
        entries = entries_of(listed.text)
        links = [entry.id for entry in entries.values() if entry.kind == stat.S_IFLNK]
        stats = _CommitStats(entries, read_blobs(git, links))
        listing = sort_names(ListingResult(tuple(entries), tree_id, ()), limit, stats)
        masked = [row for row, path in enumerate(listing.paths) if path not in entries]
        if masked:
            # A masked name names nothing that could be read.
            states = listing.states.copy()
            states[masked, 1:4] = 0
            listing = listing._replace(states=states)
        return listing

    def at(self, listing: Listing) -> CommitReader:
        """Return the reader of a listing's files, whatever the commit's name means by then."""
        return CommitReader(self.root, listing)

    @property
    def _name(self) -> str:
        return self.title.removesuffix(f"@{self.ref}")

    def _failed(self, output: GitOutput | None, otherwise: str) -> RepositoryNotFoundError:
        """Return git's own reason for a failure as an error, or another where it gave none."""
        if output is None or not output.status or not output.errors:
            return RepositoryNotFoundError(otherwise)
        return RepositoryNotFoundError(self._unreadable(str(git_error(output.errors, self.root))))

    def _unreadable(self, why: str) -> str:
        # The folder of a named repository's clone is not shown.
        return f"`{self.title}` can't be read: {why.replace(str(self.root), self._name)}"


class CommitReader:
    """Reads the files of one listing of a commit, whose states hold the ids of their blobs.

    Files that are read in order come in growing blocks, each from one git. Each thread has its own block.
    """

    def __init__(self, folder: Path, listing: Listing) -> None:
        self._folder = folder
        self._listing = listing
        self._local = _Block()

    @property
    def root(self) -> None:
        """No folder holds these files."""
        return None

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {path: row for row, path in enumerate(self._listing.paths)}

    @cached_property
    def _git(self) -> Git:
        return Git(self._folder)

    def repository_path(self, path: str) -> str:
        """Return the path in its repository."""
        return path

    def read(self, path: str, limit: int) -> ReadFile:
        """Return the bytes of a file of at most ``limit`` bytes."""
        row = self._rows.get(path)
        size, blob_id, kind = (0, "", 0) if row is None else self._blob(row)
        if kind == stat.S_IFLNK:
            return ReadFile(path, 0, None, unread=FileFlag.LINK)
        try:
            if row is None or not blob_id:
                return _unread(path, "No such file or directory")
            if size > limit:
                return too_large(path, size, limit, self._start(blob_id))
            if blob_id not in self._local.contents:
                self._read_block(row, limit)
            content = self._local.contents.get(blob_id)
        except GitError as error:
            return _unread(path, str(error))
        if content is None:
            return _unread(path, "its content is not in this clone")
        return ReadFile(path, size, content, digest=digest(content))

    def _blob(self, row: int) -> tuple[int, str, int]:
        """Return the size, id and type of a file."""
        size, *pieces, kind = self._listing.states[row].tolist()
        digits = "".join(f"{piece:0{_ID_DIGITS}x}" for piece in pieces)
        # A short id has zeros behind its 40 digits; a long one is named by its first digits as well.
        blob_id = digits[:40] if digits.endswith("0" * (3 * _ID_DIGITS - 40)) else digits
        return size, blob_id if digits.strip("0") else "", kind

    def _start(self, blob_id: str) -> bytes:
        output = self._git.history(
            "cat-file", "blob", blob_id, deadline=Deadline(), max_bytes=BINARY_PROBE_BYTES * 10
        )
        return b"" if output is None else output.text[:BINARY_PROBE_BYTES]

    def _read_block(self, row: int, limit: int) -> None:
        """Read a file, and the next ones if the files before it were read."""
        block = self._local
        is_next = 0 <= row - block.next_row < _MAX_GAP_FILES
        block.files = min(2 * block.files, _MAX_BLOCK_FILES) if is_next else 1
        wanted, total, end = list[str](), 0, row
        while end < len(self._listing.paths) and len(wanted) < block.files and total < _MAX_BLOCK_BYTES:
            size, blob_id, kind = self._blob(end)
            if kind == stat.S_IFREG and blob_id and size <= limit:
                wanted.append(blob_id)
                total += size
            end += 1
        block.next_row = end
        block.contents = read_blobs(self._git, wanted)


class _Block(local):
    """The files that a thread has read ahead."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.next_row = 0
        self.files = 1


class Entry(NamedTuple):
    """A file of a commit."""

    id: str
    """Of its blob."""
    kind: int
    """File type as in ``stat``."""
    size: int


class _CommitStats(NamedTuple):
    """``files.Stats`` of the names in a commit."""

    entries: Mapping[str, Entry]
    targets: Mapping[str, bytes]
    """Content of the links by their ids."""

    def states(self, names: Sequence[str]) -> NDArray[np.int64]:
        rows = [_state(self.entries[name]) if name in self.entries else (0,) * 5 for name in names]
        import numpy as np  # noqa: PLC0415 - a server starts without numpy

        return np.array(rows, np.int64).reshape(-1, 5)

    def is_inaccessible(self, name: str) -> bool:
        del name
        return False

    def link_escapes(self, name: str) -> bool:
        for _ in range(_MAX_LINKS):
            entry = self.entries.get(name)
            if entry is None or entry.kind != stat.S_IFLNK:
                return False
            target = os.fsdecode(self.targets.get(entry.id, b"/")[:_MAX_LINK_BYTES])
            name = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            if name == ".." or name.startswith(("/", "../")):
                return True
        return False


def _unread(path: str, why: str) -> ReadFile:
    return ReadFile(path, 0, None, f"can't be read ({why}); listed by path only")


def read_blobs(git: Git, ids: Sequence[str], deadline: Deadline | None = None) -> dict[str, bytes]:
    """Return the content of blobs by the requested ids, without missing ones."""
    output = git.history("cat-file", "--batch", lines=ids, deadline=deadline or Deadline()) if ids else None
    text, at, found = (output.text if output is not None else b""), 0, dict[str, bytes]()
    for blob_id in ids:
        end = text.find(b"\n", at)
        head = text[at:end].split() if end >= 0 else []
        at = end + 1
        if len(head) != 3 or not head[2].isdigit():
            continue
        size = int(head[2])
        if head[1] == b"blob" and at + size < len(text):
            found[blob_id] = text[at : at + size]
        at += size + 1
    return found


def entries_of(text: bytes) -> dict[str, Entry]:
    """Return the entries that ``git ls-tree -r -l -z`` lists, by path."""
    found = (_ENTRY.fullmatch(each) for each in text.split(b"\0"))
    return {
        os.fsdecode(each[5]): Entry(
            each[3].decode(), _KINDS.get(each[1][:2].decode(), 0), int(each[4]) if each[4].isdigit() else 0
        )
        for each in found
        if each is not None
    }


def _state(entry: Entry) -> tuple[int, ...]:
    """Return a row of ``Listing.states``, with the blob's id for times and inode."""
    digits = entry.id.ljust(3 * _ID_DIGITS, "0")
    pieces = (int(digits[at : at + _ID_DIGITS], 16) for at in range(0, 3 * _ID_DIGITS, _ID_DIGITS))
    return (entry.size, *pieces, entry.kind)
