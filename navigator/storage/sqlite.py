"""SQLite in a thread of its own, for the index of navigations."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

LOCKED_S: Final = 10.0
"""Seconds that a statement waits for a database that another process has locked."""


class SqliteDatabase:
    """A file, or memory; all statements run one after the other in one thread, each a transaction."""

    merge = "json_patch({old}, {new})"
    """What merges the JSON object ``{new}`` into ``{old}``."""

    def __init__(self, path: Path | None, sessions: Path | None = None, *, create: str = "") -> None:
        """Describe a database; it is opened when it is first used.

        Args:
            path: its file; None for memory.
            sessions: the database of ADK's session service, which statements know as ``adk``.
            create: statements that make its tables where there are none.
        """
        self._path, self._sessions, self._create = path, sessions, create
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, "navigation-index")

    async def execute(self, statement: str, *values: Any, durable: bool = False) -> Sequence[Any]:
        """Return the rows of a statement, once what it wrote is committed.

        Args:
            statement: one statement.
            values: of its parameters, which are written ``$1``, ``$2``.
            durable: whether it must outlive a loss of power; it outlives the process in any case.
        """
        running = asyncio.get_running_loop().run_in_executor(
            self._thread, self._execute, statement, values, durable
        )
        # A statement that has begun is waited for: a cancelled call has written all or nothing.
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            await asyncio.wait({running})
            raise

    async def close(self) -> None:
        """Close the file; the next statement opens it again."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown(wait=False)
        self._thread = ThreadPoolExecutor(1, "navigation-index")

    def _execute(self, statement: str, values: Sequence[Any], durable: bool) -> Sequence[Any]:
        if self._connection is None:
            self._connection = self._open()
        if durable:
            self._connection.execute("PRAGMA synchronous = FULL")
        try:
            named = {str(number): value for number, value in enumerate(values, start=1)}
            return self._connection.execute(statement, named).fetchall()
        finally:
            if durable:
                self._connection.execute("PRAGMA synchronous = NORMAL")

    def _open(self) -> sqlite3.Connection:
        # Without an isolation level each statement is committed by itself.
        name = ":memory:" if self._path is None else str(self._path)
        connection = sqlite3.connect(name, timeout=LOCKED_S, isolation_level=None, check_same_thread=False)
        try:
            if self._sessions is not None:
                connection.execute("ATTACH ? AS adk", (str(self._sessions),))
            connection.executescript(f"PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; {self._create}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
