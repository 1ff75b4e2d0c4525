"""Access to the files below a root: no link is followed, no pipe is waited for, every read is bounded."""

from __future__ import annotations

import os
import stat
import sys
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

METADATA = frozenset({".git", ".hg", ".svn", ".jj"})
"""Folders of version control systems, in lower case."""
_KERNEL_FOLDERS = ("/proc/", "/sys/", "/dev/")
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_IS_FOLDER = getattr(os, "O_DIRECTORY", 0)
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | _IS_FOLDER | getattr(os, "O_CLOEXEC", 0)
_STEPS_BY_FOLDER = os.open in os.supports_dir_fd and os.scandir in os.supports_fd


class FileContent(NamedTuple):
    """The result of reading a regular file."""

    before: os.stat_result
    source: bytes
    """Its bytes, of a file over the limit the first ones."""
    after: os.stat_result | None
    """None for a file over the limit."""


class Entry(NamedTuple):
    """A name in a folder."""

    name: str
    kind: int
    """``stat.S_IFDIR``, ``S_IFREG``, ``S_IFLNK``, or 0 for what is none of them: pipes, sockets, devices."""


def open_inside(root: Path, path: str) -> int:
    """Open a file of a tree for reading, step by step from the root, so that no step can be a link.

    Raises:
        OSError: It can't be opened, or the path leads out of the tree.
    """
    if escapes_root(path):
        raise OSError(0, "its path leads out of the repository")
    return _open(root, path, _FLAGS)


def read_whole(root: Path, path: str, limit: int, *, first: int) -> FileContent:
    """Read a file of a tree, or the ``first`` bytes of one that has more than ``limit``.

    Raises:
        OSError: It can't be opened, is no regular file, or the path leads out of the tree.
    """
    descriptor = open_inside(root, path)
    try:
        before = _regular(descriptor)
        if before.st_size > limit:
            return FileContent(before, os.read(descriptor, first), None)
        source = os.read(descriptor, before.st_size + 1)
        while len(source) < before.st_size and (piece := os.read(descriptor, before.st_size - len(source))):
            source += piece
        return FileContent(before, source[:limit], os.fstat(descriptor))
    finally:
        os.close(descriptor)


def read_start(folder: Path, path: str, limit: int) -> bytes:
    """Return the first bytes, at most ``limit``, of a regular file below ``folder``, git's own included.

    Raises:
        OSError: It can't be opened, or is no regular file.
    """
    descriptor = _open(folder, path, _FLAGS)
    try:
        _regular(descriptor)
        found = b""
        while len(found) < limit and (piece := os.read(descriptor, limit - len(found))):
            found += piece
        return found
    finally:
        os.close(descriptor)


def list_folder(folder: Path, path: str) -> list[Entry]:
    """Return the names in the folder ``path`` below ``folder``, ``""`` for itself, in no order.

    Raises:
        OSError: It can't be listed, or a link is in its path.
    """
    with _listable(folder, path.rstrip("/")) as place, os.scandir(place) as entries:
        return [Entry(entry.name, _kind_of(entry)) for entry in entries]


def require_folder(folder: Path) -> None:
    """Raise ``OSError`` if a folder can't be listed; it does not wait for a pipe in its place."""
    with _listable(folder, "") as place, os.scandir(place):
        pass


def kind(path: str | Path) -> int:
    """Return the file type at a path, as ``stat.S_IFMT`` gives it; 0 if nothing is there."""
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return 0


def modified_ns(path: str | Path) -> int:
    """Return the mtime at a path in ns; 0 if nothing is there."""
    try:
        return os.lstat(path).st_mtime_ns
    except (OSError, ValueError):
        return 0


def states(root: Path, paths: Iterable[str]) -> array[int]:
    """Return five numbers for each path: size, mtime and ctime in ns, inode, type; zeros if it is missing."""
    prefix = os.path.join(root, "")  # noqa: PTH118
    rows = array("q")
    lstat, extend = os.lstat, rows.extend
    for path in paths:
        try:
            extend(state(lstat(prefix + path)))
        except OSError:
            extend((0, 0, 0, 0, 0))
    return rows


def state(found: os.stat_result) -> tuple[int, int, int, int, int]:
    """Return the numbers of ``states`` for one file."""
    inode = found.st_ino & 0x7FFF_FFFF_FFFF_FFFF  # Some file systems use all 64 bits.
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, inode, stat.S_IFMT(found.st_mode)


def is_inaccessible(root: Path, path: str) -> bool:
    """Return True if a path can't be accessed though it may exist: it is too long, or closed."""
    try:
        os.lstat(os.path.join(root, path))  # noqa: PTH118
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return False


def link_escapes(root: Path, path: str) -> bool:
    """Return True if the link at ``path`` leads out of the tree."""
    real_root = os.path.realpath(root)
    target = os.path.realpath(os.path.join(real_root, path))  # noqa: PTH118
    return target != real_root and not target.startswith(os.path.join(real_root, ""))  # noqa: PTH118


def escapes_root(path: str) -> bool:
    """Return True if a relative path leads out of a tree, or into a version control system's files."""
    steps = path.rstrip("/").split("/")
    return (
        any(step in ("", ".", "..") or step.lower() in METADATA for step in steps)
        or ("\\" in path and sys.platform == "win32")
        or (":" in path and sys.platform == "win32")
    )


def is_kernel_folder(folder: Path) -> bool:
    """Return True if a folder shows processes or devices instead of files."""
    return f"{folder}/".startswith(_KERNEL_FOLDERS)


def _open(root: Path, path: str, flags: int) -> int:
    """Open ``path`` below ``root``, step by step."""
    if not _STEPS_BY_FOLDER:
        return _open_resolved(root, path, flags)
    *folders, name = path.split("/")
    folder = os.open(root, _STEP)
    try:
        for step in folders:
            inner = os.open(step, _STEP | _NO_LINK, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(name, flags | _NO_LINK, dir_fd=folder)
    finally:
        os.close(folder)


def _open_resolved(root: Path, path: str, flags: int) -> int:
    """Open a file where ``openat`` is missing; the check and the opening are not atomic."""
    return os.open(_unlinked(root, path), flags | _NO_LINK)


def _unlinked(root: Path, path: str) -> Path:
    target = root / path
    if target.resolve() != root.resolve() / path:
        raise OSError(0, "a link is in its path")
    return target


@contextmanager
def _listable(root: Path, path: str) -> Iterator[int | Path]:
    if not _STEPS_BY_FOLDER:
        yield _unlinked(root, path)
        return
    descriptor = _open(root, path or ".", os.O_RDONLY | _IS_FOLDER | getattr(os, "O_CLOEXEC", 0))
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _regular(descriptor: int) -> os.stat_result:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(0, "it is no regular file")
    return found


def _kind_of(entry: os.DirEntry[str]) -> int:
    if entry.is_file(follow_symlinks=False):
        return stat.S_IFREG
    if entry.is_dir(follow_symlinks=False):
        return stat.S_IFDIR
    return stat.S_IFLNK if entry.is_symlink() else 0
