"""Sessions and artifacts: in the data folder, or in memory where there is none."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, nullcontext, suppress
from contextvars import ContextVar
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from google.adk.artifacts import BaseArtifactService, FileArtifactService, InMemoryArtifactService
from google.adk.events import Event
from google.adk.sessions import Session
from google.adk.sessions.sqlite_session_service import (
    CREATE_SCHEMA_SQL,
    PRAGMA_FOREIGN_KEYS,
    SqliteSessionService,
)

from navigator.adk.connection import Connection

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
    """The data folder, None where everything is in memory."""
    note: str
    """Why the data is in memory although a folder was asked for; empty when all is well."""


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
    """Open the stores under ``data_dir``; a folder that can't be used degrades to memory, with a note."""
    if data_dir is not None:
        try:
            return _on_disk(data_dir)
        except (OSError, sqlite3.Error, RuntimeError) as error:  # ADK tells some of SQLite's as the last.
            note = (
                f"The data folder {data_dir} can't be used ({error}), so this navigation lives in memory "
                "only; name another with REPO_NAVIGATOR_DATA."
            )
            return _in_memory(note)
    return _in_memory("")


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
