"""Own BaseSessionService over SQLite: one writer, many readers."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, nullcontext, suppress
from contextvars import ContextVar
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from google.adk.artifacts import BaseArtifactService, FileArtifactService, InMemoryArtifactService
from google.adk.events import Event
from google.adk.sessions import Session
from google.adk.sessions.sqlite_session_service import (
    CREATE_SCHEMA_SQL,
    PRAGMA_FOREIGN_KEYS,
    SqliteSessionService,
)

from navigator.adk.overlay import MemorySessions, ReadOnlyArtifacts, stored_tables

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


DATABASE = "sessions.db"
ARTIFACTS = "artifacts"
LOCKS = "locks"
ANSWERS = "answers"
"""Of the server: made here too, so that all that is made is for the user alone."""
LEAST_ROOM_BYTES = 1_000_000
"""Of free disk, without which navigations are kept in memory."""
_writes: ContextVar[bool] = ContextVar("writes", default=False)


class Stores(NamedTuple):
    """Where navigations live."""

    sessions: SqliteSessionService
    artifacts: BaseArtifactService
    folder: Path | None
    """The data folder, None where what is new is in memory."""
    note: str
    """Why what is new is in memory although a folder was asked for; empty when all is well."""
    damage: str = ""
    """Why the database that is there can't be read, empty where there is none or it can."""


class QueuedSessions(SqliteSessionService):
    """Sessions in SQLite over two open connections: on one reads stand in line, on the other writes.

    SQLite lets writers try again for five seconds and serves them in no order: of fifty at once, some starve.
    ADK's own way, a connection with a thread of its own for each call, takes longer than the calls. And reads
    that overlap on one connection share the moment at which the first began: what is stored since is unseen.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._turn = asyncio.Lock()
        self._reading = asyncio.Lock()
        self._opening = asyncio.Lock()
        self._connections: dict[bool, Connection] = {}

    async def create_session(self, **request: Any) -> Session:
        """Create a session when its turn has come."""
        async with self._writing():
            return await super().create_session(**request)

    async def append_event(self, session: Session, event: Event) -> Event:
        """Append an event when its turn has come."""
        async with self._writing():
            return await super().append_event(session, event)

    async def delete_session(self, **request: Any) -> None:
        """Delete a session when its turn has come."""
        async with self._writing():
            await super().delete_session(**request)

    async def close(self) -> None:
        """Close both connections; the next call opens new ones."""
        async with self._turn, self._reading, self._opening:
            for connection in self._connections.values():
                await connection.close()
            self._connections.clear()
        await super().close()

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[None]:
        async with self._turn:
            token = _writes.set(True)
            try:
                yield
            finally:
                _writes.reset(token)

    @asynccontextmanager
    async def _get_db_connection(self) -> AsyncIterator[Any]:
        writes = _writes.get()
        async with nullcontext() if writes else self._reading:
            connection = await self._connection(writes=writes)
            # Nothing that follows waits by itself: whoever reads on and on would let nobody else go on.
            await asyncio.sleep(0)
            try:
                yield connection
            except BaseException:
                # Half a step must not be committed with the next one.
                await connection.rollback()
                raise

    async def _connection(self, *, writes: bool) -> Connection:
        async with self._opening:
            if writes not in self._connections:
                fresh = Connection(self._db_connect_path)
                self._connections[writes] = fresh
                await fresh.execute(PRAGMA_FOREIGN_KEYS)
                await fresh.executescript(CREATE_SCHEMA_SQL)
            return self._connections[writes]


def open_stores(data_dir: Path | None) -> Stores:
    """Open the stores under ``data_dir``; a folder that can't be written degrades to memory, with a note.

    What such a folder holds can be read all the same, and gone on with.
    """
    if data_dir is not None:
        try:
            return _on_disk(data_dir)
        except (OSError, sqlite3.Error, RuntimeError) as error:  # ADK tells some of SQLite's as the last.
            return _read_only(data_dir, error)
    return _in_memory("")


def _read_only(data_dir: Path, error: Exception) -> Stores:
    try:
        stored = stored_tables(data_dir / DATABASE)
        artifacts = ReadOnlyArtifacts(data_dir / ARTIFACTS)
    except (OSError, sqlite3.Error) as unread:
        damage = str(unread) if isinstance(unread, sqlite3.DatabaseError) else ""
        return _in_memory(
            f"The data folder {data_dir} can't be used ({error}), so this navigation lives in memory "
            "only; name another with REPO_NAVIGATOR_DATA."
        )._replace(damage=damage)
    note = (
        f"The data folder {data_dir} can't be written ({error}): what it holds can be read, and what is new "
        "lives in memory only; free space, or name another with REPO_NAVIGATOR_DATA."
    )
    return Stores(MemorySessions(stored), artifacts, None, note)


def _on_disk(data_dir: Path) -> Stores:
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    with TemporaryFile(dir=data_dir) as probe:
        # A step that can't be kept is lost work: better to know before the first one.
        probe.write(bytes(LEAST_ROOM_BYTES))
        probe.flush()
    for folder in (ARTIFACTS, LOCKS, ANSWERS):
        (data_dir / folder).mkdir(exist_ok=True, mode=0o700)
        _close_to_others(data_dir / folder, 0o700)
    database = data_dir / DATABASE
    # SQLite gives its log the mode of the database, and makes the database for whoever the umask lets read.
    # Not where it is there: to close a file drops the locks that this process's other connections hold on it.
    if not database.exists():
        os.close(os.open(database, os.O_RDWR | os.O_CREAT, 0o600))
    if not os.access(database, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(database))
    for ending in ("", "-wal", "-shm"):
        _close_to_others(data_dir / f"{DATABASE}{ending}", 0o600)
    with closing(sqlite3.connect(database)) as connection:
        # A write-ahead log needs one flush a commit instead of four, and readers don't wait for writers.
        connection.execute("PRAGMA journal_mode=WAL")
    return Stores(QueuedSessions(str(database)), FileArtifactService(data_dir / ARTIFACTS), data_dir, "")


def _close_to_others(path: Path, mode: int) -> None:
    """Take from others what an older version, or whoever restored a backup, let them read.

    The folder that the user named keeps its mode, it may be his own; nobody gets past those that are closed,
    whatever the modes of the files in them.
    """
    with suppress(OSError):  # Not there, or another user's.
        if path.stat().st_mode & 0o077:
            path.chmod(mode)


def _in_memory(note: str) -> Stores:
    # ADK's own in-memory sessions copy the whole trail at each step; an in-memory database does not.
    return Stores(SqliteSessionService(":memory:"), InMemoryArtifactService(), None, note)
