"""A connection to SQLite as ADK uses one: statements run at once, commits in a thread while others go on."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import monotonic
from types import TracebackType
from typing import Any, TypeVar

PATIENCE_S = 5.0
"""As long as SQLite itself would wait for another process that writes."""
PAUSE_S = 0.005
"""Between two attempts."""
_BUSY = sqlite3.SQLITE_BUSY
_T = TypeVar("_T")


class Connection:
    """One connection; its users take turns, and each transaction is one's own.

    A statement on a database of this size takes microseconds, to hand it to a thread and back ten times as
    long, and a step takes thirty. What may take long is waited for elsewhere: a commit until the disk has it,
    a lock that another process holds in pauses that let the event loop go on.
    """

    def __init__(self, path: str) -> None:
        # The thread that commits is the only other one, and nobody uses the connection meanwhile.
        self._real = sqlite3.connect(path, timeout=0, check_same_thread=False)
        self._real.row_factory = sqlite3.Row
        self._committing = ThreadPoolExecutor(1, "commit")

    def execute(self, sql: str, parameters: Iterable[Any] = ()) -> Statement:
        """Return a statement that runs when it is awaited or entered."""
        return Statement(self, sql, tuple(parameters))

    async def execute_fetchall(self, sql: str, parameters: Iterable[Any] = ()) -> list[sqlite3.Row]:
        """Run a statement and return its rows."""
        return (await self.execute(sql, parameters)).rows

    async def executescript(self, script: str) -> None:
        """Run several statements, each on its own."""
        await self.patiently(lambda: self._real.executescript(script))

    async def run(self, sql: str, parameters: tuple[Any, ...]) -> list[sqlite3.Row]:
        """Run a statement to its last row, so that it leaves no read open."""
        return await self.patiently(lambda: self._real.execute(sql, parameters).fetchall())

    async def commit(self) -> None:
        """Return when what was written is on the disk; whoever is cancelled waits for it all the same."""
        if not self._real.in_transaction:
            return
        committed = asyncio.get_running_loop().run_in_executor(self._committing, self._commit)
        try:
            await asyncio.shield(committed)
        except asyncio.CancelledError:
            await asyncio.wait({committed})
            raise

    def _commit(self) -> None:
        # In a thread SQLite may wait by itself: where there is no log, readers are in a commit's way.
        self._real.execute(f"PRAGMA busy_timeout = {PATIENCE_S * 1000:.0f}")
        try:
            self._real.commit()
        finally:
            self._real.execute("PRAGMA busy_timeout = 0")

    async def rollback(self) -> None:
        """Undo what was written since the last commit; nothing where the connection is closed already."""
        with suppress(RuntimeError, sqlite3.ProgrammingError):
            # In the same thread: after a commit that its caller did not wait for.
            self._committing.submit(self._real.rollback).result()

    async def close(self) -> None:
        """Close the connection; what was not committed is undone."""
        self._committing.shutdown()
        self._real.close()

    async def patiently(self, act: Callable[[], _T]) -> _T:
        """Return what ``act`` does, once no other process is in its way."""
        ends = monotonic() + PATIENCE_S
        begun = self._real.in_transaction
        while True:
            try:
                return act()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != _BUSY or begun or monotonic() > ends:
                    raise
            # A transaction that got no lock would look at what was there before the other process wrote.
            self._real.rollback()
            await asyncio.sleep(PAUSE_S)


class Statement:
    """A statement and, once it ran, its rows."""

    def __init__(self, connection: Connection, sql: str, parameters: tuple[Any, ...]) -> None:
        self._connection = connection
        self._sql = sql
        self._parameters = parameters
        self.rows: list[sqlite3.Row] = []
        self._read = 0

    async def fetchone(self) -> sqlite3.Row | None:
        """Return the next row, None after the last."""
        self._read += 1
        return self.rows[self._read - 1] if self._read <= len(self.rows) else None

    async def __aiter__(self) -> AsyncIterator[sqlite3.Row]:
        """Yield the rows that were not fetched yet."""
        while (row := await self.fetchone()) is not None:
            yield row

    def __await__(self) -> Generator[Any, None, Statement]:
        """Run the statement."""
        return self._run().__await__()

    async def __aenter__(self) -> Statement:
        """Run the statement."""
        return await self._run()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the rows behind."""

    async def _run(self) -> Statement:
        self.rows = await self._connection.run(self._sql, self._parameters)
        return self
