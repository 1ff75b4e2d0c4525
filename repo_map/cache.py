"""Caches in memory and on disk: bounded, shared by threads and processes, and without half-written files."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import io
import os
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, Final, Generic, TypeVar

from repo_map.errors import OutputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

CACHE_VARIABLE: Final = "REPO_NAVIGATOR_CACHE"
TEMPORARY: Final = ".part"
"""Suffix of a file that is being written, or was left behind by a process that died."""
_LEFTOVER_AGE_S = 3600
_MAX_STORED_BYTES = 500_000_000
"""Of a file that is read whole; the states of 200,000 files take 30 million."""
_ARRAY_FOLDER: Final = "derived"
_MAX_ARRAY_BYTES = 256_000_000
"""Of all stored arrays of a cache folder."""
_CHECKSUM_BYTES: Final = 16
_M_MMAP_THRESHOLD: Final = -3
_MIN_MAPPED_BYTES: Final = 1 << 18

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class LRUCache(Generic[_Key, _Value]):
    """A cache of limited size that evicts the least recently used values. Thread-safe."""

    def __init__(self, capacity: int, size_of: Callable[[_Value], int]) -> None:
        """Limit the sum of ``size_of`` over all values to ``capacity``; a larger value is cached alone."""
        self._capacity = capacity
        self._size_of = size_of
        self._values: dict[_Key, _Value] = {}
        self._size = 0
        self._lock = Lock()

    def get(self, key: _Key) -> _Value | None:
        """Return the value, None if it isn't cached."""
        with self._lock:
            if key not in self._values:
                return None
            value = self._values[key] = self._values.pop(key)
            return value

    def put(self, key: _Key, value: _Value) -> None:
        """Add a value, unless the key has one."""
        with self._lock:
            if key in self._values:
                return
            size = self._size_of(value)
            while self._values and self._size + size > self._capacity:
                self._size -= self._size_of(self._values.pop(next(iter(self._values))))
            self._values[key] = value
            self._size += size


def return_arrays_when_freed() -> None:
    """Have glibc return every freed array to the system; by itself it learns to keep ever larger ones.

    Measured: a server takes 439 instead of 475 MB after four navigations of a tree with an index of 83 MB,
    in the same CPU time.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # Another C library.
            ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _MIN_MAPPED_BYTES)


def return_freed_memory() -> None:
    """Return freed memory to the system after work that took much: glibc would keep tens of megabytes."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # Another C library.
            ctypes.CDLL(None).malloc_trim(0)


def cache_folder(environment: Mapping[str, str], platform: str, home: Path) -> Path | None:
    """Return the folder for caches: ``REPO_NAVIGATOR_CACHE`` or the platform's; None if it is off."""
    chosen = environment.get(CACHE_VARIABLE, "")
    if chosen.lower() == "off":
        return None
    if chosen:
        # Unlike pathlib, which raises, it leaves the home of an unknown user as it is written.
        return Path(os.path.expanduser(chosen))  # noqa: PTH111
    if platform == "win32":
        base = environment.get("LOCALAPPDATA")
        return (Path(base) if base else home / "AppData" / "Local") / "repo-navigator" / "Cache"
    if platform == "darwin":
        return home / "Library" / "Caches" / "repo-navigator"
    base = environment.get("XDG_CACHE_HOME", "")
    # The XDG specification has relative paths ignored.
    return (Path(base) if base.startswith("/") else home / ".cache") / "repo-navigator"


def replace_file(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file atomically; raise ``OSError`` if that fails."""
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
    """Open a file of ours; raise ``OSError``, also for a pipe, which would block, or a device."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a file", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_stored(path: Path) -> bytes:
    """Return the content of a file of ours; raise ``OSError``, also if it is too large."""
    with open_stored(path) as file:
        if os.fstat(file.fileno()).st_size > _MAX_STORED_BYTES:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        return file.read()


def seal(payload: bytes) -> bytes:
    """Return a payload preceded by its checksum."""
    return hashlib.blake2b(payload, digest_size=_CHECKSUM_BYTES).digest() + payload


def unseal(sealed: bytes) -> bytes:
    """Return the payload that was sealed; raise ``ValueError`` if it is damaged."""
    payload = sealed[_CHECKSUM_BYTES:]
    if seal(payload) != sealed:
        raise ValueError("damaged")
    return payload


def load_arrays(folder: Path, name: str) -> list[NDArray[Any]] | None:
    """Return the arrays stored under a name in a cache folder, None if there are none or they are damaged."""
    import numpy as np  # noqa: PLC0415 - a server starts without numpy

    path = folder / _ARRAY_FOLDER / name
    try:
        payload = unseal(read_stored(path))
        stream, arrays = io.BytesIO(payload), []
        while stream.tell() < len(payload):
            arrays.append(np.load(stream, allow_pickle=False))
        os.utime(path)
    except (OSError, ValueError, EOFError):
        return None
    return arrays


def save_arrays(folder: Path, name: str, arrays: Iterable[NDArray[Any]]) -> None:
    """Store arrays under a name in a cache folder; a full or read-only disk is no error."""
    import numpy as np  # noqa: PLC0415 - a server starts without numpy

    stream = io.BytesIO()
    for array in arrays:
        np.save(stream, array, allow_pickle=False)
    payload = stream.getvalue()
    with suppress(OSError):
        path = folder / _ARRAY_FOLDER / name
        replace_file(path, lambda file: file.write(seal(payload)))
        prune(path.parent, _MAX_ARRAY_BYTES)


def replace_text(path: Path, text: str) -> None:
    """Write a text where the user wants it: a file atomically and with its permissions, a pipe as it is."""
    # Not resolved: the target of a pipe of this process has no name of its own.
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
    """Raise ``OutputError`` if a path is a folder, or in a folder that is missing or can't be written."""
    target = path.resolve()
    # A file is replaced by another one beside it; a pipe or a device is written as it is.
    is_special = path.exists() and not path.is_file()
    written = path if is_special else target.parent
    reason = ""
    if path.is_dir():
        reason = "it is a folder"
    elif not is_special and not target.parent.is_dir():
        reason = f"there is no folder `{target.parent}`"
    elif not os.access(written, os.W_OK):
        reason = f"`{written}` may not be written"
    if reason:
        raise OutputError(f"Nothing can be written to `{path}`: {reason}; name another file.")


def newest_first(folder: Path) -> list[Path]:
    """Return the files of a folder, the most recently written or used first; none if there is no folder."""
    return [path for _, _, path in _files(folder)]


def prune(folder: Path, limit_bytes: int, keep: Collection[str] = ()) -> None:
    """Remove the least recently used files over the limit, and old temporary files, but not ``keep``.

    Other processes may write to the folder and prune it at the same time; what can't be removed stays.
    """
    room = limit_bytes
    now = time.time()
    for modified, size, path in _files(folder):
        if path.suffix == TEMPORARY:
            is_removed = now - modified > _LEFTOVER_AGE_S
        else:
            room -= size
            is_removed = room < 0 and path.name not in keep
        if is_removed:
            with suppress(OSError):
                path.unlink()


def _files(folder: Path) -> list[tuple[float, int, Path]]:
    found: list[tuple[float, int, Path]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # One that was removed since hides none of the others.
                state = entry.stat()
                found.append((state.st_mtime, state.st_size, Path(entry.path)))
    return sorted(found, reverse=True)
