"""One step at a time in each navigation: among the tasks of a process, among processes, among replicas."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

from filelock import FileLock, Timeout

from navigator.errors import NavigationBusyError
from navigator.supervision import supervise

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

BUSY_S: Final = 10.0
"""Seconds to wait for a lock that another call holds."""
_PAUSE_S: Final = 0.02
"""Between two looks at a lock that another process holds."""


class ProcessLocks:
    """Locks against other processes, by name; these are for a process that has its navigations alone."""

    async def take(self, _name: str) -> bool:
        """Take a lock, unless another process holds it; return whether it is taken."""
        return True

    async def release(self, name: str) -> None:
        """Release a lock that was taken."""

    def is_lost(self, _name: str) -> bool:
        """Return whether a lock that was taken may be another process's by now."""
        return False

    async def remove(self, name: str) -> None:
        """Remove what a lock leaves behind, for a navigation that is no more."""

    async def close(self) -> None:
        """Close what is open."""


class NavigationLocks:
    """Locks by navigation id."""

    def __init__(self, shared: ProcessLocks | None = None, *, busy_s: float = BUSY_S) -> None:
        """Lock among the tasks of this process, and by ``shared`` among processes."""
        self._shared = shared or ProcessLocks()
        self._busy_s = busy_s
        self._local: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, navigation_id: str) -> AsyncIterator[None]:
        """Hold a navigation from reading its state to storing an answer.

        Raises:
            NavigationBusyError: it was held by others for too long.
            StorageError: it is unknown whether others hold it.
        """
        local = self._local.setdefault(navigation_id, asyncio.Lock())
        name, deadline = _lock_name(navigation_id), monotonic() + self._busy_s
        try:
            async with asyncio.timeout(self._busy_s):
                await local.acquire()
        except TimeoutError:
            raise self._busy(navigation_id) from None
        try:
            while not await self._shared.take(name):
                if monotonic() > deadline:
                    raise self._busy(navigation_id)
                await asyncio.sleep(_PAUSE_S)
            try:
                yield
            finally:
                await asyncio.shield(self._shared.release(name))
        finally:
            local.release()

    def require_held(self, navigation_id: str) -> None:
        """Refuse to write for a step whose lock may be another process's by now.

        Raises:
            NavigationBusyError: it may.
        """
        if self._shared.is_lost(_lock_name(navigation_id)):
            raise NavigationBusyError(
                f"The connection that held `{navigation_id}` was lost, so this step was not stored; read its "
                "report, then step again."
            )

    def is_held(self, navigation_id: str) -> bool:
        """Return whether a task of this process holds the navigation."""
        local = self._local.get(navigation_id)
        return local is not None and local.locked()

    async def remove(self, navigation_id: str) -> None:
        """Remove what the lock of a deleted navigation leaves behind."""
        await self._shared.remove(_lock_name(navigation_id))

    async def close(self) -> None:
        """Close what is open."""
        await self._shared.close()

    def _busy(self, navigation_id: str) -> NavigationBusyError:
        return NavigationBusyError(
            f"Another call has been stepping `{navigation_id}` for {self._busy_s:.0f} s; wait for it, or end "
            "the process that hangs, then step again."
        )


def _lock_name(navigation_id: str) -> str:
    """Return what a navigation's lock is called; a client's name for a navigation names no file itself."""
    return hashlib.sha256(navigation_id.encode("utf-8", "replace")).hexdigest()[:32]


class FileLocks(ProcessLocks):
    """A file for each navigation; the operating system frees those of a process that dies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, FileLock] = {}

    async def take(self, name: str) -> bool:
        """Take the lock, unless another process holds it."""
        lock = FileLock(self._path(name), timeout=0, mode=0o600, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            return False
        self._held[name] = lock
        return True

    async def release(self, name: str) -> None:
        """Release the lock."""
        self._held.pop(name).release()

    async def remove(self, name: str) -> None:
        """Remove the file."""
        with suppress(OSError):
            self._path(name).unlink()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.lock"


BEAT_S: Final = 3.0
"""Between two signs of life on the connection that holds locks."""
STALLED_S: Final = 20.0
"""Seconds without one after which the database ends that connection, and others may take its locks."""
LOCK_SETTINGS: Final = {
    "idle_session_timeout": f"{STALLED_S:.0f}s",
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "3",
    "tcp_keepalives_count": "2",
}
"""Of the connection that holds locks."""


class AdvisoryLocks(ProcessLocks):
    """PostgreSQL's advisory locks, all on one connection; the database frees them when it ends.

    A replica that stalls gives no sign of life, so the database ends its connection too.
    """

    def __init__(self, connect: Callable[[], Awaitable[Any]]) -> None:
        """Lock by connections that ``connect`` opens; one at a time is used."""
        self._connect = connect
        self._connection: Any = None
        self._held: dict[str, Any] = {}
        """The connection that holds a lock, by its name."""
        self._using = asyncio.Lock()
        self._beating: asyncio.Task[None] | None = None

    async def take(self, name: str) -> bool:
        """Take the lock, unless another replica holds it."""
        async with self._using:
            if self._connection is None or self._connection.is_closed():
                self._connection = await self._connect()
            taken = await self._connection.fetchval("SELECT pg_try_advisory_lock($1)", _number(name))
            if taken:
                self._held[name] = self._connection
            if self._beating is None or self._beating.done():
                self._beating = supervise(self._beat(), "keeping the locks' connection")
        return bool(taken)

    async def release(self, name: str) -> None:
        """Release the lock, unless it went with its connection."""
        connection = self._held.pop(name)
        async with self._using:
            if not connection.is_closed():
                # What it says otherwise is that the connection has just ended, and the lock with it.
                with suppress(Exception):
                    await connection.execute("SELECT pg_advisory_unlock($1)", _number(name))

    def is_lost(self, name: str) -> bool:
        """Return whether the connection that held the lock has ended."""
        connection = self._held.get(name)
        return connection is None or connection.is_closed()

    async def close(self) -> None:
        """Close the connection."""
        if self._beating is not None:
            self._beating.cancel()
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()

    async def _beat(self) -> None:
        """Give signs of life while a lock is held, then close the connection before the database does."""
        while self._connection is not None:
            await asyncio.sleep(BEAT_S)
            async with self._using:
                if not self._held:
                    self._connection.terminate()
                    self._connection = None
                    return
                with suppress(Exception):  # The next write finds out that the connection has ended.
                    await self._connection.execute("SELECT 1")


def _number(name: str) -> int:
    """Return the 64-bit number that a lock has in the database."""
    return int.from_bytes(bytes.fromhex(name)[:8], signed=True)
