"""List and read the files of a folder, with the state that tells whether one has changed."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from repo_map.errors import RepositoryNotFoundError
from repo_map.limits import DEFAULT
from repo_map.messages import is_printable
from repo_map.secrets.names import mask_names
from repo_map.sources import disk
from repo_map.sources.file_kinds import BINARY_PROBE_BYTES, FileFlag, is_binary
from repo_map.sources.listing import FileLister, ListingResult

DIGEST_BYTES = 16
_UNPRINTABLE_NAME = "its name has control characters or is not UTF-8; it was left out"
_ESCAPING_NAME = "its path leads out of the repository or into a version control system; it was left out"
SUBMODULES = "REPO_NAVIGATOR_SUBMODULES"
"""Variable that leaves out submodules if it is ``off``."""
SECRET_NAME = "its name holds a secret, which is masked; it is not opened"


class Problem(NamedTuple):
    """Something that was skipped or failed, so that no map is silently incomplete."""

    path: str
    """The file or folder, relative to the root; ``""`` for the whole tree."""
    what: str


class Listing(NamedTuple):
    """The files of a tree in path order, with the state of each, and what was skipped."""

    paths: tuple[str, ...]
    states: NDArray[np.int64]
    """Shape (n, 5): size, mtime and ctime in ns, inode, type.

    Equal states mean equal bytes, except after an edit within one clock step of the listing.
    """
    skipped: tuple[str, ...]
    """Names from git that are no files of the tree: deleted, folders, links out of it."""
    problems: tuple[Problem, ...]
    digest: bytes
    """Of the names."""
    parts: tuple[Listing, ...] = ()
    """Those of its sources, if it is of several; not stored."""


class ReadFile(NamedTuple):
    """A file's bytes, or None and the reason."""

    path: str
    size: int
    source: bytes | None
    problem: str = ""
    unread: FileFlag = FileFlag.TRUNCATED
    """The flag of a file without bytes."""
    digest: bytes = b""
    """Of the bytes on disk, empty if nothing was read."""
    secrets: tuple[str, ...] = ()
    """The format of each secret that is masked in ``source``."""
    encoding: str = ""
    """What ``source`` was decoded from, ``""`` for UTF-8."""


def resolve_root(root: Path) -> Path:
    """Return ``root`` as an absolute folder; raises ``RepositoryNotFoundError`` if it can't be read."""
    try:
        # Unlike pathlib, which raises, it leaves the home of an unknown user as it is written.
        resolved = Path(os.path.expanduser(root)).resolve()  # noqa: PTH111
        if disk.is_kernel_folder(resolved):
            raise RepositoryNotFoundError(
                f"`{root}` shows processes or devices and holds no files; give the path of a repository."
            )
        disk.require_folder(resolved)
        return resolved
    except FileNotFoundError:
        why = "it doesn't exist"
    except NotADirectoryError:
        why = "it is a file" if disk.kind(resolved) else "it doesn't exist"
    except OSError as error:
        why = error.strerror or type(error).__name__
    except (RuntimeError, ValueError) as error:  # An unknown `~user`, or a NUL in the path.
        why = str(error)
    raise RepositoryNotFoundError(
        f"`{root}` is not a folder that can be read ({why}); give the path of a repository."
    )


def list_files(
    root: Path,
    known: Listing | None = None,
    *,
    limit: int = DEFAULT.files,
    on_wait: Callable[[], object] = lambda: None,
) -> Listing:
    """List the first ``limit`` files of a tree; a ``known`` earlier listing saves calls of ``stat``.

    ``on_wait`` is called now and then while git runs; an exception from it ends git and the listing.
    """

    def is_wanted() -> bool:
        on_wait()
        return True

    lister = FileLister(root, is_wanted)
    try:
        listing = _list(lister, root, known, limit)
    finally:
        lister.end()
    if listing is known or os.environ.get(SUBMODULES, "").lower() == "off":
        return listing
    # A folder without a slash at its end is tracked: a repository in the tree that is not is left out.
    tracked = [name for name in listing.skipped if not name.endswith("/") and disk.kind(root / name / ".git")]
    if not tracked:
        return listing
    inner = [(f"{name}/", list_files(root / name, limit=limit, on_wait=on_wait)) for name in tracked]
    outer = listing._replace(
        problems=tuple(each for each in listing.problems if each.path not in tracked),
        skipped=tuple(name for name in listing.skipped if name not in tracked),
    )
    return join_listings([("", outer), *inner], limit)


def _list(lister: FileLister, root: Path, known: Listing | None, limit: int) -> Listing:
    if known is None:
        found = lister.finish(b"")
        return sort_names(found, limit, _DiskStats(root)) if found else _EMPTY
    # While git lists, stat the files that are probably still there.
    states = _states(root, known.paths)
    found = lister.finish(known.digest)
    if found is not None:
        return sort_names(found, limit, _DiskStats(root))
    same_types = np.array_equal(states[:, 4], known.states[:, 4])
    if same_types and not any(_type_of(root, name) in {stat.S_IFREG, stat.S_IFLNK} for name in known.skipped):
        return known._replace(states=states)
    return sort_names(lister.finish(b"") or ListingResult((), b"", ()), limit, _DiskStats(root))


def join_listings(parts: Sequence[tuple[str, Listing]], limit: int) -> Listing:
    """Return listings as one of at most ``limit`` files, each with the prefix of its paths."""
    state_of = {
        prefix + path: state
        for prefix, part in parts
        for path, state in zip(part.paths, part.states, strict=True)
    }
    paths, problems = first_names(sorted(state_of), limit)
    problems += (
        Problem(prefix + path, what) if path or not prefix else Problem("", f"In `{prefix[:-1]}`: {what}")
        for prefix, part in parts
        for path, what in part.problems
    )
    skipped = tuple(prefix + name for prefix, part in parts for name in part.skipped)
    states = np.array([state_of[path] for path in paths], np.int64).reshape(-1, 5)
    mark = b"".join(b"%d " % len(part.digest) + part.digest for _, part in parts)
    return Listing(tuple(paths), states, skipped, tuple(sorted(problems)), mark)


def read_file(root: Path, path: str, *, limit: int = DEFAULT.file_bytes) -> ReadFile:
    """Read a listed file of at most ``limit`` bytes, without following links."""
    try:
        for _ in range(3):
            before, source, after = disk.read_whole(root, path, limit, first=BINARY_PROBE_BYTES)
            if after is None:
                return too_large(path, before.st_size, limit, source)
            if disk.state(before) == disk.state(after) and len(source) == before.st_size:
                return ReadFile(path, len(source), source, digest=digest(source))
    except OSError as error:
        if _type_of(root, path) == stat.S_IFLNK:
            return ReadFile(path, 0, None, unread=FileFlag.LINK)
        return ReadFile(path, 0, None, f"can't be read ({error.strerror}); listed by path only")
    message = "it changed while it was read; what was read is indexed"
    return ReadFile(path, len(source), source, message, digest=digest(source))


def too_large(path: str, size: int, limit: int, start: bytes) -> ReadFile:
    """Return a file over the limit, of which ``start`` are the first bytes."""
    if is_binary(start):  # As if it were small: it has no text that could be missed.
        return ReadFile(path, size, None, unread=FileFlag.BINARY)
    return ReadFile(path, size, None, f"{size:,} bytes, over the limit of {limit:,}; listed by path only")


def digest(source: bytes) -> bytes:
    """Return the digest of a file's bytes."""
    return hashlib.sha256(source).digest()[:DIGEST_BYTES]


class FileStats(Protocol):
    """Stat access to names, on disk or in a commit."""

    def states(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the rows of ``Listing.states`` for names, zeros for missing ones."""

    def is_inaccessible(self, name: str) -> bool:
        """Return True if something may be at a name, but can't be accessed."""

    def link_escapes(self, name: str) -> bool:
        """Return True if the link at a name leads out of the tree."""


class _DiskStats(NamedTuple):
    root: Path

    def states(self, names: Sequence[str]) -> NDArray[np.int64]:
        return _states(self.root, names)

    def is_inaccessible(self, name: str) -> bool:
        return disk.is_inaccessible(self.root, name)

    def link_escapes(self, name: str) -> bool:
        return disk.link_escapes(self.root, name)


def sort_names(found: ListingResult, limit: int, stats: FileStats) -> Listing:
    """Sort names into files, the first ``limit`` by path, and skipped ones, with the reasons."""
    problems = [Problem(*problem) for problem in found.problems]
    names: list[str] = []
    for name in sorted(found.names):
        if not is_printable(name):
            problems.append(Problem(ascii(name)[1:-1], _UNPRINTABLE_NAME))
        elif disk.escapes_root(name):
            problems.append(Problem(ascii(name)[1:-1], _ESCAPING_NAME))
        else:
            names.append(name)
    names, excess = first_names(names, limit)
    problems.extend(excess)
    linked = _linked_folders(names, stats)
    problems.extend(
        Problem(name, "a symbolic link that is no folder; it was not followed") for name in linked
    )
    names = [name for name in names if not any(name.startswith(f"{link}/") for link in linked)]
    states = stats.states(names)
    is_file, skipped = [], []
    for name, kind in zip(names, states[:, 4].tolist(), strict=True):
        reason = "" if kind == stat.S_IFREG else _skip_reason(name, kind, stats)
        is_file.append(kind == stat.S_IFREG or (kind == stat.S_IFLNK and not reason))
        if not is_file[-1]:
            skipped.append(name)
            if reason:
                problems.append(Problem(name.rstrip("/"), reason))
    paths = [name for name, is_listed in zip(names, is_file, strict=True) if is_listed]
    states = states[np.array(is_file, np.bool_)]
    if (masked := mask_names(paths)) != paths:
        problems.extend(Problem(name, SECRET_NAME) for name in sorted({*masked} - {*paths}))
        # A file is known by its masked name: it can't be read, and two of one name are one.
        row_of = {name: row for row, name in enumerate(masked)}
        paths = sorted(row_of)
        states = states[[row_of[name] for name in paths]]
    return Listing(tuple(paths), states, tuple(skipped), tuple(sorted(problems)), found.digest)


def first_names(names: list[str], limit: int) -> tuple[list[str], list[Problem]]:
    """Return the first ``limit`` of sorted names, and the problem to report if there are more."""
    if len(names) <= limit:
        return names, []
    message = f"{len(names):,} files, over the limit of {limit:,}; the first by path were indexed"
    return names[:limit], [Problem("", message)]


def _skip_reason(name: str, kind: int, stats: FileStats) -> str:
    """Return why a name is skipped, ``""`` for a deleted file and for a link inside the tree."""
    if kind == 0:
        return "its path is too long or closed; it was left out" if stats.is_inaccessible(name) else ""
    if kind == stat.S_IFDIR:
        return "a submodule or nested repository; its files were not indexed"
    if kind != stat.S_IFLNK:
        return "neither a file nor a folder; it was left out"
    return "a symbolic link that leaves the tree; it was not followed" if stats.link_escapes(name) else ""


def _linked_folders(names: Iterable[str], stats: FileStats) -> list[str]:
    """Return the links that names lead through: a folder in git's index may have become a link."""
    folders: set[str] = set()
    for name in names:
        folder = name.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    kinds = stats.states(ordered := sorted(folders))[:, 4].tolist()
    return [folder for folder, kind in zip(ordered, kinds, strict=True) if kind == stat.S_IFLNK]


def _states(root: Path, paths: Iterable[str]) -> NDArray[np.int64]:
    return np.frombuffer(disk.states(root, paths), np.int64).reshape(-1, 5)


def _type_of(root: Path, name: str) -> int:
    return int(_states(root, (name,))[0, 4])


_EMPTY = Listing((), np.zeros((0, 5), np.int64), (), (), b"")
