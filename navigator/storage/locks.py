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

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

BUSY_S: Final = 10.0
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
    """Locks by navigation id: among the tasks of this process, and by ``shared`` among processes."""

    def __init__(self, shared: ProcessLocks | None = None, *, busy_s: float = BUSY_S) -> None:
        self._shared = shared or ProcessLocks()
        self._busy_s = busy_s
        self._local: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, navigation_id: str) -> AsyncIterator[None]:
        """Hold a navigation from reading its state to storing an answer."""
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
        """Raise ``NavigationBusyError`` for a step whose lock may be another process's by now."""
        if self._shared.is_lost(_lock_name(navigation_id)):
            raise NavigationBusyError(
                f"The connection that held `{navigation_id}` was lost, so this step was not stored; read its "
                "report, then step again."
            )

    def is_held(self, navigation_id: str) -> bool:
        local = self._local.get(navigation_id)
        return local is not None and local.locked()

    async def remove(self, navigation_id: str) -> None:
        await self._shared.remove(_lock_name(navigation_id))

    async def close(self) -> None:
        await self._shared.close()

    def _busy(self, navigation_id: str) -> NavigationBusyError:
        return NavigationBusyError(
            f"Another call has been stepping `{navigation_id}` for {self._busy_s:.0f} s; wait for it, or end "
            "the process that hangs, then step again."
        )


def _lock_name(navigation_id: str) -> str:
    # A client's name for a navigation names no file itself.
    return hashlib.sha256(navigation_id.encode("utf-8", "replace")).hexdigest()[:32]


class FileLocks(ProcessLocks):
    """A file for each navigation; the operating system frees those of a process that dies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, FileLock] = {}

    async def take(self, name: str) -> bool:
        lock = FileLock(self._path(name), timeout=0, mode=0o600, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            return False
        self._held[name] = lock
        return True

    async def release(self, name: str) -> None:
        self._held.pop(name).release()

    async def remove(self, name: str) -> None:
        with suppress(OSError):
            self._path(name).unlink()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.lock"


LOCK_SETTINGS: Final = {
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "3",
    "tcp_keepalives_count": "2",
}
"""Of the connection that holds locks: the database ends that of a machine that is gone within 11 s."""


class AdvisoryLocks(ProcessLocks):
    """PostgreSQL's advisory locks, all on one connection that ``connect`` opens; they end with it."""

    def __init__(self, connect: Callable[[], Awaitable[Any]]) -> None:
        self._connect = connect
        self._connection: Any = None
        self._held: dict[str, Any] = {}
        self._using = asyncio.Lock()

    async def take(self, name: str) -> bool:
        async with self._using:
            if self._connection is None or self._connection.is_closed():
                self._connection = await self._connect()
            taken = await self._connection.fetchval("SELECT pg_try_advisory_lock($1)", _number(name))
            if taken:
                self._held[name] = self._connection
        return bool(taken)

    async def release(self, name: str) -> None:
        connection = self._held.pop(name)
        async with self._using:
            with suppress(Exception):  # The connection has ended, and the lock with it.
                await connection.execute("SELECT pg_advisory_unlock($1)", _number(name))
            if not self._held:
                # What lies idle for long may be cut without a sign of it.
                await self.close()

    def is_lost(self, name: str) -> bool:
        connection = self._held.get(name)
        return connection is None or connection.is_closed()

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()


def _number(name: str) -> int:
    return int.from_bytes(bytes.fromhex(name)[:8], signed=True)
