"""Files that many processes share: a reader sees all of one or nothing, and a folder of them stays small."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from repo_map.errors import OutputError

TEMPORARY = ".part"
"""Ends the name of a file that is not whole yet; one that stays was left behind by a process that died."""

_LEFTOVER_AGE_S = 3600
_MOST_STORED = 500_000_000
"""Bytes of a file that is read whole; the states of 200,000 files take 30 million."""


def replace_file(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file whole or not at all; raises ``OSError`` where that fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(suffix=TEMPORARY, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            write(file)
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


def open_stored(path: Path) -> IO[bytes]:
    """Open a file that we wrote; raises ``OSError``, also where something else stands in its place.

    A pipe would be waited for, and a device has no end.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a file", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_stored(path: Path) -> bytes:
    """Return what a file holds that we wrote; raises ``OSError``, also where it is too large."""
    with open_stored(path) as file:
        if os.fstat(file.fileno()).st_size > _MOST_STORED:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        return file.read()


def replace_text(path: Path, text: str) -> None:
    """Write a text that a user asked for: a file in one step, with his usual permissions, a pipe as it is."""
    # As it is named: where a pipe of this process leads to has no name of its own.
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    target = path.resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}{TEMPORARY}")
    try:
        draft.write_text(text, encoding="utf-8")
        if target.exists():
            draft.chmod(target.stat().st_mode)
        draft.replace(target)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def require_writable(path: Path) -> None:
    """Raise where it is to be seen beforehand that nothing can be written to a path.

    Raises:
        OutputError: it names a folder, or lies in one that is not there or may not be written.
    """
    target = path.resolve()
    # A file is replaced by another one beside it; a pipe or a device is written as it is.
    as_it_is = path.exists() and not path.is_file()
    place = path if as_it_is else target.parent
    why = ""
    if path.is_dir():
        why = "it is a folder"
    elif not as_it_is and not target.parent.is_dir():
        why = f"there is no folder `{target.parent}`"
    elif not os.access(place, os.W_OK):
        why = f"`{place}` may not be written"
    if why:
        raise OutputError(f"Nothing can be written to `{path}`: {why}; name another file.")


def latest_first(folder: Path) -> list[Path]:
    """Return the files of a folder, those last written or used first; none where there is no such folder."""
    return [path for _, _, path in _files(folder)]


def prune(folder: Path, limit_bytes: int, keep: str = "") -> None:
    """Remove the least recently used files over the limit, and what a crash left behind, but not ``keep``.

    Other processes may be writing to the folder and pruning it meanwhile; what can't be removed stays.
    """
    room = limit_bytes
    now = time.time()
    for modified, size, path in _files(folder):
        if path.suffix == TEMPORARY:
            unwanted = now - modified > _LEFTOVER_AGE_S
        else:
            room -= size
            unwanted = room < 0 and path.name != keep
        if unwanted:
            with suppress(OSError):
                path.unlink()


def _files(folder: Path) -> list[tuple[float, int, Path]]:
    found: list[tuple[float, int, Path]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # One that went since it was listed hides none of the others.
                state = entry.stat()
                found.append((state.st_mtime, state.st_size, Path(entry.path)))
    return sorted(found, reverse=True)
