"""A SQLite database: one writer with a thread of its own, and reads that wait for nobody."""

from __future__ import annotations

import asyncio
import operator
import os
import sqlite3
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any, Final, NamedTuple, TypeVar

from navigator.stores.sql import Dialect, SqlConnection

PATIENCE_S = 5.0
"""How long another process that writes is waited for, as SQLite itself would by default."""
PAUSE_S = 0.005
"""Between two attempts to read."""
MOST_TOGETHER: Final = 64
"""Writes that are committed together: those who wait would else wait for the disk once for each of them."""
_BUSY = sqlite3.SQLITE_BUSY
_T = TypeVar("_T")


class _Write(NamedTuple):
    """A write that stands in line."""

    act: Callable[[sqlite3.Connection], Any]
    durable: bool
    outcome: Future[Any]


def _parts(paths: Sequence[str]) -> str:
    wanted = ", ".join(f"json_extract(state, '$.{path}')" for path in paths)
    return f"CASE WHEN json_valid(state) THEN json_array({wanted}) END"


SQLITE: Final = Dialect(
    for_update="",
    by_bytes="",
    event_order="rowid",
    parts=_parts,
    as_stored=str,
    as_written=str,
    # ADK's own service, which may write the same file, stores an event whose time is earlier all the same.
    is_stale=operator.gt,
    duplicate_event=(),
    midnight="unixepoch('now', 'start of day')",
    seconds_left="unixepoch('now', 'start of day', '+1 day') - unixepoch()",
    old_usage="at < unixepoch('now', '-' || $2 || ' days')",
)
"""One writer has the whole database, so no row of it need be locked."""


class Database:
    """Reads and writes, each whole or not at all.

    Writes stand in line for the one thread that makes them: SQLite alone lets writers try again for some
    seconds and serves them in no order, so of fifty at once some starve. Those that have come while the disk
    took the ones before are committed together. Reads run where they are asked for: they take microseconds,
    and to hand one to a thread and back takes ten times as long.
    """

    def __init__(self, path: Path | None, prepare: Callable[[sqlite3.Connection], object]) -> None:
        """Describe a database; it is opened when it is first used.

        Args:
            path: its file; None keeps it in memory, for this object alone.
            prepare: makes the tables that are missing, on each connection that is opened.
        """
        self._path = path
        self._prepare = prepare
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None
        """In memory there is one connection; of a file this one is used by the writer's thread alone."""
        self._is_durable: bool | None = None
        """Whether the writer waits for the disk; None before it was told."""
        self._writing = ThreadPoolExecutor(1, "database")
        self._line: deque[_Write] = deque()
        self.errors = 0
        """Reads and writes that SQLite did not make."""

    @property
    def dialect(self) -> Dialect:
        """Where its SQL differs."""
        return SQLITE

    async def act(
        self, act: Callable[[SqlConnection], Awaitable[_T]], *, is_read: bool = False, durable: bool = True
    ) -> _T:
        """Return what ``act`` returns, by statements that every database takes.

        Raises:
            sqlite3.Error: as ``read`` and ``write`` do.
        """

        def at_once(db: sqlite3.Connection) -> _T:
            return _outcome_at_once(act(_Statements(db)))

        return await (self.read(at_once) if is_read else self.write(at_once, durable=durable))

    async def complete(self) -> None:
        """Do nothing: each connection makes the tables that are missing."""

    async def read(self, act: Callable[[sqlite3.Connection], _T]) -> _T:
        """Return what ``act`` reads, all of it as it was at one moment.

        Raises:
            sqlite3.Error: it can't be read, or another process has kept it locked for ``PATIENCE_S``.
        """
        # Nothing that follows waits by itself: whoever reads on and on would let nobody else go on.
        await asyncio.sleep(0)
        ends = monotonic() + PATIENCE_S
        while True:
            try:
                if self._reader is None:
                    self._reader = self._connect(patience_s=0.0)
                with _transaction(self._reader, "BEGIN"):
                    return act(self._reader)
            except sqlite3.OperationalError as error:
                # Where there is no write-ahead log, a commit is in the way of those who read.
                if error.sqlite_errorcode & 0xFF != _BUSY or monotonic() > ends:
                    self.errors += 1
                    raise
            await asyncio.sleep(PAUSE_S)

    async def write(self, act: Callable[[sqlite3.Connection], _T], *, durable: bool = True) -> _T:
        """Return what ``act`` returns, once what it wrote is committed; where it raises, nothing was written.

        Whoever is cancelled has written all or nothing: what has begun is waited for.

        Args:
            act: runs in the writer's thread, so it must touch nothing but its connection and its own values.
                It runs once more where a write beside it failed.
            durable: whether the disk must have it, or the system may keep it for a while: that outlives the
                process, but not a loss of power.

        Raises:
            sqlite3.Error: it can't be written, or another process has kept it locked for ``PATIENCE_S``.
        """
        if self._path is None:
            return await self.read(act)
        begun: Future[_T] = Future()
        self._line.append(_Write(act, durable, begun))
        self._writing.submit(self._write_line)
        try:
            return await _outcome(begun)
        except sqlite3.OperationalError:
            self.errors += 1
            raise

    async def close(self) -> None:
        """Close what is open, after the writes that stand in line; the next use opens it anew."""
        await _outcome(self._writing.submit(self._close_writer))
        self._writing.shutdown()
        self._writing = ThreadPoolExecutor(1, "database")
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _write_line(self) -> None:
        """Make the writes that stand in line, unless an earlier look at the line has."""
        waiting = [self._line.popleft() for _ in range(min(len(self._line), MOST_TOGETHER))]
        together = [write for write in waiting if write.outcome.set_running_or_notify_cancel()]
        if len(together) > 1:
            with suppress(Exception):  # Then each finds out by itself what is wrong.
                results = self._written(together)
                for write, result in zip(together, results, strict=True):
                    write.outcome.set_result(result)
                return
        for write in together:
            try:
                [result] = self._written([write])
            except BaseException as error:
                write.outcome.set_exception(error)
            else:
                write.outcome.set_result(result)

    def _written(self, writes: Sequence[_Write]) -> list[Any]:
        """Return what the writes come to, once all of them are committed; else none has written anything."""
        if self._writer is None:
            self._writer = self._connect(PATIENCE_S)
        # With a write-ahead log the disk is waited for at the first of these only.
        durable = any(write.durable for write in writes)
        if durable != self._is_durable:
            self._writer.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._is_durable = durable
        with _transaction(self._writer, "BEGIN IMMEDIATE"):
            return [write.act(self._writer) for write in writes]

    def _close_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = self._is_durable = None

    def _connect(self, patience_s: float) -> sqlite3.Connection:
        # Without an isolation level Python begins no transactions of its own.
        name = ":memory:" if self._path is None else str(self._path)
        # SQLite would make the file for whoever the umask lets read. Where it can't be made, SQLite says why.
        # One that is there is left: to close it drops the locks that other connections hold on it.
        if self._path is not None and not self._path.exists():
            with suppress(OSError):
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(name, timeout=patience_s, isolation_level=None)
        try:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA foreign_keys = ON")
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection


class _Statements:
    """A connection as ``SqlConnection`` has it; nothing is waited for."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def execute(self, query: str, *values: Any) -> None:
        self._run(query, values)

    async def fetch(self, query: str, *values: Any) -> list[Any]:
        return self._run(query, values).fetchall()

    async def fetchrow(self, query: str, *values: Any) -> Any:
        rows = self._run(query, values).fetchall()
        return rows[0] if rows else None

    async def fetchval(self, query: str, *values: Any) -> Any:
        row = await self.fetchrow(query, *values)
        return None if row is None else row[0]

    def _run(self, query: str, values: Sequence[Any]) -> sqlite3.Cursor:
        # ``$1`` is a name to SQLite, so values are given by their names.
        named = {str(number): value for number, value in enumerate(values, start=1)}
        return self._connection.execute(query, named)


def _outcome_at_once(steps: Awaitable[_T]) -> _T:
    """Return what statements come to that wait for nothing, without a loop to run them."""
    if not isinstance(steps, Coroutine):
        raise TypeError("What acts on a database is an async function.")
    try:
        steps.send(None)
    except StopIteration as ended:
        outcome: _T = ended.value
        return outcome
    steps.close()
    raise RuntimeError("What acts on a database awaited something else than its connection.")


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # Some errors have SQLite undo it by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


async def _outcome(begun: Future[_T]) -> _T:
    """Return what the writer's thread comes to; a cancelled call leaves the line if its turn is not yet."""
    waiting = asyncio.wrap_future(begun)
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        if not begun.cancel():
            await asyncio.wait({waiting})
            if not waiting.cancelled():
                waiting.exception()
        raise
