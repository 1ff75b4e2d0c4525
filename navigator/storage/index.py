"""The table of navigations: what lists, expiry and answers ask, so that they read no session; and SQLite."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from navigator.state.client_state import StoredNavigation
from navigator.state.reports import StopReason
from navigator.storage import state
from navigator.storage.sessions import NavigationKey

if TYPE_CHECKING:
    from navigator.state.run_state import Navigation
    from navigator.storage.errors import StorageFaults
    from navigator.storage.postgres import PostgresDatabase

TABLE: Final = """
CREATE TABLE IF NOT EXISTS navigations (
    user_id text NOT NULL,
    id text NOT NULL,
    status text NOT NULL,
    repo_path text NOT NULL,
    goal text NOT NULL,
    step integer NOT NULL DEFAULT 0,
    stop_reason text,
    delivery text,
    created_at double precision NOT NULL,
    changed_at double precision NOT NULL,
    used_at double precision,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX IF NOT EXISTS navigations_by_use ON navigations (used_at, user_id, id);
"""
"""A row comes before its session and goes after it: ``new``, ``stored``, then ``forgotten``."""
ABANDONED_S: Final = 3_600.0
"""Seconds after which a row that is still new belongs to a process that was killed."""
_ONE: Final = "user_id = $1 AND id = $2"
_STORED: Final = "status = 'stored'"


class NavigationIndex:
    """The navigations of all users, one row each; every call raises ``StorageError`` where it fails."""

    def __init__(self, database: SqliteDatabase | PostgresDatabase, faults: StorageFaults) -> None:
        self._database = database
        self._faults = faults

    async def add(self, navigation: Navigation, user: str) -> None:
        """Add a navigation that is about to be stored; lists leave it out until something of it is."""
        now = time.time()
        await self._execute(
            "INSERT INTO navigations (user_id, id, status, repo_path, goal, created_at, changed_at) "
            "VALUES ($1, $2, 'new', $3, $4, $5, $5)",
            user,
            navigation.run.navigation_id,
            navigation.state.repo_path,
            navigation.state.user_task,
            now,
        )

    async def update(self, navigation: Navigation, user: str) -> None:
        """Note the latest step of a navigation, as it has just been stored."""
        run = navigation.run
        await self._execute(
            "UPDATE navigations SET status = 'stored', step = $3, stop_reason = $4, changed_at = $5 "
            f"WHERE {_ONE} AND status <> 'forgotten'",
            user,
            run.navigation_id,
            run.step,
            None if run.stop_reason is None else run.stop_reason.value,
            time.time(),
        )

    async def deliver(self, key: NavigationKey, fields: Mapping[str, Any]) -> None:
        """Change fields of what was delivered of a navigation; nothing happens where it is gone."""
        merged = self._database.merge.format(old="coalesce(delivery, '{}')", new="$3")
        await self._execute(
            f"UPDATE navigations SET delivery = {merged}, used_at = coalesce($4, used_at) WHERE {_ONE}",
            *key,
            json.dumps(fields),
            fields.get("used_at"),
        )

    async def known(self, key: NavigationKey) -> StoredNavigation | None:
        """Return a navigation, None where the user has none of that id."""
        if not state.can_be_stored(key.navigation_id):
            return None
        return next(iter(await self._stored(_ONE, *key)), None)

    async def stored(self, user: str | None = None, limit: int | None = None) -> list[StoredNavigation]:
        """Return the navigations of a user, or of all, the latest changed first."""
        whose, values = ("TRUE", ()) if user is None else ("user_id = $1", (user,))
        most = "" if limit is None else f" LIMIT {limit}"
        return await self._stored(f"{whose} ORDER BY changed_at DESC, id DESC{most}", *values)

    async def unused_since(self, before: float) -> list[StoredNavigation]:
        """Return navigations that a server responded with, and none since ``before``."""
        return await self._stored("used_at < $1 ORDER BY used_at", before)

    async def mark_forgotten(self, key: NavigationKey) -> bool:
        """Hide a navigation until it is deleted; return False where the user has none of that id."""
        if not state.can_be_stored(key.navigation_id):
            return False
        query = f"UPDATE navigations SET status = 'forgotten' WHERE {_ONE} AND {_STORED} RETURNING 1"
        return bool(await self._execute(query, *key))

    async def forgotten(self, limit: int) -> list[NavigationKey]:
        """Return navigations whose deletion, or whose beginning, was cut short, ``limit`` at most."""
        rows = await self._execute(
            "SELECT user_id, id FROM navigations WHERE status = 'forgotten' "
            "OR (status = 'new' AND created_at < $1) ORDER BY user_id, id LIMIT $2",
            time.time() - ABANDONED_S,
            limit,
        )
        return [NavigationKey(*row) for row in rows]

    async def remove(self, key: NavigationKey) -> None:
        """Remove the row of a navigation of which nothing else is left."""
        await self._execute(f"DELETE FROM navigations WHERE {_ONE}", *key)

    async def close(self) -> None:
        await self._database.close()

    async def _stored(self, where: str, *values: Any) -> list[StoredNavigation]:
        rows = await self._execute(
            "SELECT id, user_id, goal, repo_path, step, stop_reason, changed_at, used_at, delivery "
            f"FROM navigations WHERE {_STORED} AND {where}",
            *values,
        )
        return [StoredNavigation._make((*row[:5], row[5] and StopReason(row[5]), *row[6:])) for row in rows]

    async def _execute(self, statement: str, *values: Any) -> Sequence[Any]:
        with self._faults.raised(writes=not statement.startswith("SELECT")):
            return await self._database.execute(statement, *values)


LOCKED_S: Final = 10.0


class SqliteDatabase:
    """A file, or memory; all statements run one after the other in one thread, each a transaction."""

    merge = "json_patch({old}, {new})"

    def __init__(self, path: Path | None, sessions: Path | None = None, *, create: str = "") -> None:
        """Describe a database; statements know ``sessions``, that of ADK's service, as ``adk``."""
        self._path, self._sessions, self._create = path, sessions, create
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, "navigation-index")

    async def execute(self, statement: str, *values: Any) -> Sequence[Any]:
        """Return the rows of a statement with parameters ``$1``, ``$2``, once what it wrote is committed."""
        running = asyncio.get_running_loop().run_in_executor(self._thread, self._execute, statement, values)
        # A statement that has begun is waited for: a cancelled call has written all or nothing.
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            await asyncio.wait({running})
            raise

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown(wait=False)
        self._thread = ThreadPoolExecutor(1, "navigation-index")

    def _execute(self, statement: str, values: Sequence[Any]) -> Sequence[Any]:
        if self._connection is None:
            self._connection = self._open()
        named = {str(number): value for number, value in enumerate(values, start=1)}
        return self._connection.execute(statement, named).fetchall()

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
