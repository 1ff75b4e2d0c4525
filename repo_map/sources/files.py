"""The only IO on a repository's files: which there are, what identifies their state, and their bytes."""

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
from repo_map.limits import USUAL
from repo_map.messages import is_printable
from repo_map.secrets.names import mask_names
from repo_map.sources import disk
from repo_map.sources.file_kinds import BINARY_PROBE_BYTES, FileFlag, is_binary
from repo_map.sources.listing import Names, Walk

DIGEST_BYTES = 16
SECRET_NAME = "its name holds a secret, which is masked; it is not opened"


class Problem(NamedTuple):
    """Something that was left out or went wrong, so that no map is silently incomplete."""

    path: str
    """The file or folder, relative to the root; ``""`` for the whole tree."""
    what: str


class Listing(NamedTuple):
    """The files of a tree in path order, with what identifies the state of each, and what was left out."""

    paths: tuple[str, ...]
    states: NDArray[np.int64]
    """Shape (n, 5): size, times of the last change of content and of status in ns, inode, type.

    While these stay as they are so do the bytes, bar an edit within a step of the clock of the listing.
    """
    left_out: tuple[str, ...]
    """Names that git gave and that are no files of the tree: gone, folders, links out of it."""
    problems: tuple[Problem, ...]
    digest: bytes
    """Of what the walk found."""
    parts: tuple[Listing, ...] = ()
    """Of the trees that it is made of, where it is of several; not kept beyond the process."""


class ReadFile(NamedTuple):
    """A file's bytes, or None and the reason where there is nothing to read."""

    path: str
    size: int
    source: bytes | None
    problem: str = ""
    unread: FileFlag = FileFlag.TRUNCATED
    """Why there is nothing to read, where there is not."""
    digest: bytes = b""
    """Of the bytes on disk, empty where nothing was read."""
    secrets: tuple[str, ...] = ()
    """The format of each secret that ``source`` no longer holds."""


def resolve_root(root: Path) -> Path:
    """Return ``root`` as an absolute folder, or say what is wrong with it."""
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
    limit: int = USUAL.files,
    on_wait: Callable[[], object] = lambda: None,
) -> Listing:
    """List the first ``limit`` files of a tree; a ``known`` earlier listing saves a look at every name.

    ``on_wait`` is called now and then while git is waited for; what it raises ends git and the listing.
    """

    def is_wanted() -> bool:
        on_wait()
        return True

    walk = Walk(root, is_wanted)
    try:
        return _listed(walk, root, known, limit)
    finally:
        walk.end()


def _listed(walk: Walk, root: Path, known: Listing | None, limit: int) -> Listing:
    if known is None:
        names = walk.finish(b"")
        return sort_names(names, limit, _FolderLook(root)) if names else _EMPTY
    # While git walks, look at the files that are probably still there.
    states = _states(root, known.paths)
    names = walk.finish(known.digest)
    if names is not None:
        return sort_names(names, limit, _FolderLook(root))
    same_types = np.array_equal(states[:, 4], known.states[:, 4])
    if same_types and not any(
        _type_of(root, name) in {stat.S_IFREG, stat.S_IFLNK} for name in known.left_out
    ):
        return known._replace(states=states)
    return sort_names(walk.finish(b"") or Names((), b"", ()), limit, _FolderLook(root))


def read_file(root: Path, path: str, *, limit: int = USUAL.file_bytes) -> ReadFile:
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
    """Return what is said of a file over the limit, of which ``start`` are the first bytes."""
    if is_binary(start):
        return ReadFile(
            path, size, None, unread=FileFlag.BINARY
        )  # As if it were small: nobody misses its text.
    return ReadFile(path, size, None, f"{size:,} bytes, over the limit of {limit:,}; listed by path only")


def digest(source: bytes) -> bytes:
    """Return what identifies a file's bytes."""
    return hashlib.sha256(source).digest()[:DIGEST_BYTES]


class Look(Protocol):
    """What tells of the names of a tree what stands there."""

    def states(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the rows of ``Listing.states`` for names, zeros for those of nothing."""

    def is_out_of_reach(self, name: str) -> bool:
        """Say whether something may stand at a name that can't be looked at."""

    def link_leaves(self, name: str) -> bool:
        """Say whether the link at a name leads out of the tree."""


class _FolderLook(NamedTuple):
    """What the disk tells."""

    root: Path

    def states(self, names: Sequence[str]) -> NDArray[np.int64]:
        return _states(self.root, names)

    def is_out_of_reach(self, name: str) -> bool:
        return disk.is_out_of_reach(self.root, name)

    def link_leaves(self, name: str) -> bool:
        return disk.link_leaves(self.root, name)


def sort_names(found: Names, limit: int, look: Look) -> Listing:
    """Sort names into files, the first ``limit`` by path, and what is left out, with the reasons."""
    problems = [Problem(*problem) for problem in found.problems]
    names = sorted(found.names)
    odd = frozenset(name for name in names if not is_printable(name))
    problems.extend(
        Problem(ascii(name)[1:-1], "its name has control characters or is not UTF-8; it was left out")
        for name in sorted(odd)
    )
    out = frozenset(name for name in names if disk.leads_out(name))
    problems.extend(
        Problem(
            ascii(name)[1:-1],
            "its path leads out of the repository or into a version control system; it was left out",
        )
        for name in sorted(out - odd)
    )
    names = [name for name in names if name not in odd and name not in out]
    names, excess = within_limit(names, limit)
    problems.extend(excess)
    linked = _linked_folders(names, look)
    problems.extend(
        Problem(name, "a symbolic link that is no folder; it was not followed") for name in linked
    )
    names = [name for name in names if not any(name.startswith(f"{link}/") for link in linked)]
    states = look.states(names)
    kept, left_out = [], []
    for name, kind in zip(names, states[:, 4].tolist(), strict=True):
        reason = "" if kind == stat.S_IFREG else _reason_to_leave_out(name, kind, look)
        if kind == stat.S_IFREG or (kind == stat.S_IFLNK and not reason):
            kept.append(True)
            continue
        kept.append(False)
        left_out.append(name)
        if reason:
            problems.append(Problem(name.rstrip("/"), reason))
    paths = [name for name, is_kept in zip(names, kept, strict=True) if is_kept]
    states = states[np.array(kept, np.bool_)]
    if (masked := mask_names(paths)) != paths:
        problems.extend(Problem(name, SECRET_NAME) for name in sorted({*masked} - {*paths}))
        # A file is known by the name that may be told: nobody can read it, or tell two of one name apart.
        row_of = {name: row for row, name in enumerate(masked)}
        paths = sorted(row_of)
        states = states[[row_of[name] for name in paths]]
    return Listing(tuple(paths), states, tuple(left_out), tuple(sorted(problems)), found.digest)


def within_limit(names: list[str], limit: int) -> tuple[list[str], list[Problem]]:
    """Return the first ``limit`` of sorted names, and what is to be told where there are more."""
    if len(names) <= limit:
        return names, []
    message = f"{len(names):,} files, over the limit of {limit:,}; the first by path were indexed"
    return names[:limit], [Problem("", message)]


def _reason_to_leave_out(name: str, kind: int, look: Look) -> str:
    """Return why a name is left out, ``""`` for one that is gone and for a link inside the tree."""
    if kind == 0:
        return "its path is too long or closed; it was left out" if look.is_out_of_reach(name) else ""
    if kind == stat.S_IFDIR:
        return "a submodule or nested repository; its files were not indexed"
    if kind != stat.S_IFLNK:
        return "neither a file nor a folder; it was left out"
    return "a symbolic link that leaves the tree; it was not followed" if look.link_leaves(name) else ""


def _linked_folders(names: Iterable[str], look: Look) -> list[str]:
    """Return the links that names lead through: git remembers folders, and a link may stand there by now."""
    folders: set[str] = set()
    for name in names:
        folder = name.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    kinds = look.states(ordered := sorted(folders))[:, 4].tolist()
    return [folder for folder, kind in zip(ordered, kinds, strict=True) if kind == stat.S_IFLNK]


def _states(root: Path, paths: Iterable[str]) -> NDArray[np.int64]:
    return np.frombuffer(disk.states(root, paths), np.int64).reshape(-1, 5)


def _type_of(root: Path, name: str) -> int:
    return int(_states(root, (name,))[0, 4])


_EMPTY = Listing((), np.zeros((0, 5), np.int64), (), (), b"")
