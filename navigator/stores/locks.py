"""One step at a time in each navigation, across the tasks of a process and across processes.

A navigation has a lock of its own, a file that is made when a step begins and removed when it ends: no two
navigations wait for each other, and what a crash left behind goes with the next look for what is abandoned.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from time import monotonic
from weakref import WeakValueDictionary

from navigator.errors import NavigationBusyError, unsaved

PATIENCE_S = 30.0
"""How long a navigation that somebody else holds is waited for."""
PAUSE_S = 0.02
"""Between two looks at a lock that another process holds."""


class Locks(ABC):
    """One step at a time in each navigation."""

    lost = 0
    """How many somebody else took over while they were held here."""

    def __init__(self) -> None:
        self._local: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, navigation_id: str) -> AsyncIterator[None]:
        """Hold a navigation for one step: nobody else, here or in another process, steps it meanwhile.

        Raises:
            NavigationBusyError: somebody else has held it for too long.
            StorageError: what would tell others that it is held can't be written.
        """
        local = self._local.setdefault(navigation_id, asyncio.Lock())
        async with local, self._held_against_others(navigation_id):
            yield

    @abstractmethod
    def _held_against_others(self, navigation_id: str) -> AbstractAsyncContextManager[None]:
        """Hold a navigation against other processes."""

    @abstractmethod
    async def remove_abandoned(self) -> None:
        """Remove what processes left that were killed within a step."""

    def is_held(self, navigation_id: str) -> bool:
        """Return whether a task of this process is stepping the navigation."""
        local = self._local.get(navigation_id)
        return local is not None and local.locked()

    @property
    def held(self) -> int:
        """How many navigations this process holds."""
        return sum(lock.locked() for lock in self._local.values())


def lock_name(navigation_id: str) -> str:
    """Return what a navigation's lock is called; a client's name for a navigation names nothing itself."""
    return hashlib.sha256(navigation_id.encode("utf-8", "replace")).hexdigest()[:32]


class NavigationLocks(Locks):
    """Locks by navigation id; the operating system frees those of a process that dies, and none else."""

    def __init__(self, folder: Path | None, *, patience_s: float = PATIENCE_S) -> None:
        super().__init__()
        self._folder = folder
        self._patience_s = patience_s

    @asynccontextmanager
    async def _held_against_others(self, navigation_id: str) -> AsyncIterator[None]:
        if self._folder is None:
            yield
            return
        path = self._folder / f"{lock_name(navigation_id)}.lock"
        file = await self._take(path, navigation_id)
        try:
            yield
        finally:
            _release(path, file)

    async def remove_abandoned(self) -> None:
        """Remove the files of processes that were killed within a step: nobody holds their locks."""
        for path in () if self._folder is None else sorted(self._folder.glob("*.lock")):
            try:
                file = os.open(path, os.O_RDWR)
            except OSError:
                continue
            if _locked(file) and _is_at(path, file):
                _release(path, file)
            else:
                os.close(file)

    async def _take(self, path: Path, navigation_id: str) -> int:
        ends = monotonic() + self._patience_s
        while True:
            file = _open(path)
            if _locked(file):
                if _is_at(path, file):
                    _sign(file)
                    return file
                # Whoever held it has removed it meanwhile: it locks nothing any more.
                os.close(file)
                continue
            if monotonic() > ends:
                holder = _holder(file)
                os.close(file)
                raise NavigationBusyError(
                    f"{holder} has been stepping `{navigation_id}` for {self._patience_s:.0f} s; "
                    "wait for it, or end it if it hangs, then step again."
                )
            os.close(file)
            await asyncio.sleep(PAUSE_S)


def _open(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise unsaved(error) from error


def _is_at(path: Path, file: int) -> bool:
    """Return whether an open file is the one at ``path`` still."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except OSError:
        return False


def _release(path: Path, file: int) -> None:
    if sys.platform == "win32":
        # No file can be removed there while anybody has it open; one that is waited for stays.
        os.close(file)
        file = -1
    with suppress(OSError):
        path.unlink()
    if file >= 0:
        os.close(file)


def _sign(file: int) -> None:
    """Write into a lock who holds it, for whoever waits in vain."""
    if not hasattr(os, "pwrite"):
        return
    name = str(os.getpid()).encode()
    with suppress(OSError):  # A full disk must not stop a step that may yet be kept.
        # A file that is cut to nothing goes to the disk when it is closed, and a step would wait for that.
        if os.pread(file, len(name) + 1, 0) != name:
            os.ftruncate(file, 0)
            os.pwrite(file, name, 0)


def _holder(file: int) -> str:
    """Return who holds a lock, in words."""
    try:
        number = os.pread(file, 20, 0).decode() if hasattr(os, "pread") else ""
    except OSError:
        number = ""
    return f"Process {number}" if number.isdecimal() else "Another process"


def _locked(file: int) -> bool:
    """Try to lock an open file; closing it frees the lock."""
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415 - only on Windows

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415 - not on Windows

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
