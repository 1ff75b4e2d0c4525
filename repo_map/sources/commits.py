"""A commit as a tree: its files and their bytes, read through git without a work tree."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.errors import RepositoryNotFoundError
from repo_map.sources.blobs import BlobReader
from repo_map.sources.commit_names import WHAT_NAMES_ONE, CommitNameError, locate
from repo_map.sources.file_kinds import BINARY_PROBE_BYTES, FileFlag
from repo_map.sources.files import Listing, ReadFile, digest, sort_names, too_large
from repo_map.sources.git import Deadline, Git, GitConversation, GitError
from repo_map.sources.listing import Names
from repo_map.sources.places import TreePart

_ENTRY = re.compile(rb"(\d{6}) (\w+) ([0-9a-f]{40,64}) +(\d+|-|BAD)\t(.+)", re.DOTALL)
_KINDS: Final = {"04": stat.S_IFDIR, "10": stat.S_IFREG, "12": stat.S_IFLNK, "16": stat.S_IFDIR}
"""By the first digits of git's own mode; a submodule stands where a folder would."""
_DIGITS: Final = 15
"""Of an id in one number of a file's state: 60 bits, so that no number is negative or a time of today."""
_LONGEST_LINK: Final = 4_096
_MOST_LINKS: Final = 40
"""Links that are followed one after the other, as the system itself does."""
_ADVICE: Final = f"give {WHAT_NAMES_ONE}."


class CommitTree:
    """The files of a folder as a commit has them; where the commit's name moves on, so does the tree."""

    def __init__(self, root: Path, ref: str, title: str = "") -> None:
        """``title`` is what users are shown, by default the folder and the commit's name."""
        self.root = root
        """The folder, in a repository whose work tree is never looked at."""
        self.ref = ref
        self.title = title or f"{root}@{ref}"
        self._blobs = BlobReader(self._converse)

    @property
    def name(self) -> bytes:
        """What tells the tree from others."""
        return b"commit\0%s\0%s" % (os.fsencode(self.root), self.ref.encode("utf-8", "replace"))

    @property
    def parts(self) -> tuple[TreePart, ...]:
        """The one repository."""
        return (TreePart("", self.root, self.ref),)

    def list(self, known: Listing | None, limit: int, on_wait: Callable[[], object]) -> Listing:
        """Return the first ``limit`` files; ``known`` where the commit has the same ones still.

        Raises:
            RepositoryNotFoundError: it has no commit of that name, or git is not to be asked.
        """

        def is_wanted() -> bool:
            on_wait()
            return True

        deadline = Deadline(is_wanted=is_wanted)
        try:
            git = Git(self.root)
            place = locate(git, self.ref, deadline)
        except CommitNameError as error:
            raise RepositoryNotFoundError(f"{error}; {error.advice or _ADVICE}") from error
        except GitError as error:
            raise RepositoryNotFoundError(self._unread(str(error))) from error
        if place is None:
            raise RepositoryNotFoundError(f"No commit is called `{self.ref}` in `{self._name}`; {_ADVICE}")
        tree = f"{place.head}:{place.prefix}"
        named = git.history("rev-parse", "--verify", "--quiet", tree, deadline=deadline)
        if named is None or named.status != 0:
            raise RepositoryNotFoundError(
                f"The commit `{self.ref}` has no folder `{place.prefix}`; name the repository's own folder."
            )
        identity = named.text.strip()
        if known is not None and known.digest == identity:
            return known
        listed = git.history("ls-tree", "-r", "-l", "-z", "--full-tree", tree, deadline=deadline)
        if listed is None or listed.status != 0:
            raise RepositoryNotFoundError(self._unread("git did not list its files; try again."))
        entries = _entries(listed.text)
        look = _CommitLook(entries, self._target)
        listing = sort_names(Names(tuple(entries), identity, ()), limit, look)
        masked = [row for row, path in enumerate(listing.paths) if path not in entries]
        if masked:
            # A name that is not told names nothing that could be read.
            states = listing.states.copy()
            states[masked, 1:4] = 0
            listing = listing._replace(states=states)
        return listing

    def at(self, listing: Listing) -> CommitFiles:
        """Return what reads the files of a listing, whatever the commit's name means by then."""
        return CommitFiles(self._blobs, listing)

    @property
    def _name(self) -> str:
        return self.title.removesuffix(f"@{self.ref}")

    def _unread(self, why: str) -> str:
        # Where the clone of a named repository lies is nobody's business.
        return f"`{self.title}` can't be read: {why.replace(str(self.root), self._name)}"

    def _converse(self) -> GitConversation:
        try:
            return Git(self.root).converse("cat-file", "--batch")
        except GitError as error:
            raise OSError(0, str(error)) from error

    def _target(self, identity: str) -> str:
        """Return where a link leads, ``/`` where that can't be read."""
        try:
            blob = self._blobs.read(identity, _LONGEST_LINK, 0)
        except OSError:
            blob = None
        return "/" if blob is None or blob.size > _LONGEST_LINK else os.fsdecode(blob.start)


class CommitFiles:
    """The files of one listing of a commit, whose states hold the ids of their blobs."""

    def __init__(self, blobs: BlobReader, listing: Listing) -> None:
        self._blobs = blobs
        self._listing = listing

    @property
    def root(self) -> None:
        """No folder holds these files."""
        return None

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {path: row for row, path in enumerate(self._listing.paths)}

    def own_path(self, path: str) -> str:
        """Return the path as its repository knows it."""
        return path

    def read(self, path: str, limit: int) -> ReadFile:
        """Return the bytes of a file of at most ``limit`` bytes."""
        row = self._rows.get(path)
        state = (0,) * 5 if row is None else tuple(self._listing.states[row].tolist())
        if state[4] == stat.S_IFLNK:
            return ReadFile(path, 0, None, unread=FileFlag.LINK)
        identity = _identity_of(state)
        try:
            if not identity:
                raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
            blob = self._blobs.read(identity, limit, BINARY_PROBE_BYTES)
            if blob is None:
                raise OSError(0, "its content is not in this clone")
        except OSError as error:
            return ReadFile(path, 0, None, f"can't be read ({error.strerror}); listed by path only")
        if blob.size > limit:
            return too_large(path, blob.size, limit, blob.start)
        return ReadFile(path, blob.size, blob.start, digest=digest(blob.start))


class _Entry(NamedTuple):
    identity: str
    kind: int
    size: int


class _CommitLook(NamedTuple):
    """What a commit tells of its names."""

    entries: dict[str, _Entry]
    target: Callable[[str], str]

    def states(self, names: Sequence[str]) -> NDArray[np.int64]:
        rows = [_state(self.entries[name]) if name in self.entries else (0,) * 5 for name in names]
        return np.array(rows, np.int64).reshape(-1, 5)

    def is_out_of_reach(self, name: str) -> bool:
        del name
        return False

    def link_leaves(self, name: str) -> bool:
        """Follow a link through the commit, as the system would through a folder."""
        pending, reached, left = [*reversed(PurePosixPath(name).parts)], list[str](), _MOST_LINKS
        while pending:
            step = pending.pop()
            if step == "..":
                if not reached:
                    return True
                reached.pop()
                continue
            reached.append(step)
            entry = self.entries.get("/".join(reached))
            if entry is None or entry.kind != stat.S_IFLNK:
                continue
            left -= 1
            if left < 0:
                return False
            target = self.target(entry.identity)
            if target.startswith("/"):
                return True
            reached.pop()
            pending += (part for part in reversed(target.split("/")) if part not in ("", "."))
        return False


def _entries(text: bytes) -> dict[str, _Entry]:
    found = (_ENTRY.fullmatch(each) for each in text.split(b"\0"))
    return {
        os.fsdecode(each[5]): _Entry(
            each[3].decode(), _KINDS.get(each[1][:2].decode(), 0), int(each[4]) if each[4].isdigit() else 0
        )
        for each in found
        if each is not None
    }


def _state(entry: _Entry) -> tuple[int, int, int, int, int]:
    """Return the numbers of ``Listing.states``: for times and inode the blob's id, as far as it goes."""
    digits = entry.identity.ljust(3 * _DIGITS, "0")
    pieces = (int(digits[at : at + _DIGITS], 16) for at in range(0, 3 * _DIGITS, _DIGITS))
    return (entry.size, *pieces, entry.kind)  # type: ignore[return-value]


def _identity_of(state: Sequence[int]) -> str:
    """Return the id of a blob, of a longer one its first digits, which name it as well; ``""`` for none."""
    digits = "".join(f"{piece:0{_DIGITS}x}" for piece in state[1:4])
    if not digits.strip("0"):
        return ""
    return digits[:40] if digits.endswith("0" * (3 * _DIGITS - 40)) else digits
