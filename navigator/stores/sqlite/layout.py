"""The tables in SQLite: ADK's sessions as its own service has them, columns beside their states, usage."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from navigator.stores.sqlite.database import Database

SCHEMA = """
CREATE TABLE IF NOT EXISTS app_states (
    app_name TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    update_time REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS user_states (
    app_name TEXT NOT NULL,
    user_id TEXT NOT NULL,
    state TEXT NOT NULL,
    update_time REAL NOT NULL,
    PRIMARY KEY (app_name, user_id)
);
CREATE TABLE IF NOT EXISTS sessions (
    app_name TEXT NOT NULL,
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    create_time REAL NOT NULL,
    update_time REAL NOT NULL,
    PRIMARY KEY (app_name, user_id, id)
);
CREATE TABLE IF NOT EXISTS events (
    id TEXT NOT NULL,
    app_name TEXT NOT NULL,
    user_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    invocation_id TEXT NOT NULL,
    timestamp REAL NOT NULL,
    event_data TEXT NOT NULL,
    PRIMARY KEY (app_name, user_id, session_id, id),
    FOREIGN KEY (app_name, user_id, session_id)
        REFERENCES sessions(app_name, user_id, id) ON DELETE CASCADE
);
"""


def _use_of(row: str) -> str:
    """Return the columns of ``session_uses`` for a row of ``sessions`` whose state is no damaged one."""
    used_at = f"{row}.state, '$.navigator_delivery.used_at'"
    return (
        f"{row}.app_name, {row}.user_id, {row}.id, {row}.update_time, "
        f"CASE WHEN json_type({used_at}) IN ('integer', 'real') THEN json_extract({used_at}) END, "
        f"json_extract({row}.state, '$.navigator_run.stop_reason') IS NULL"
    )


_NOTE = f"""
    INSERT INTO session_uses SELECT {_use_of("NEW")} WHERE json_valid(NEW.state)
    ON CONFLICT (app_name, user_id, id) DO UPDATE SET
        changed_at = excluded.changed_at, used_at = excluded.used_at, is_open = excluded.is_open;
"""
_OLD = "(app_name, user_id, id) = (OLD.app_name, OLD.user_id, OLD.id)"
USES = f"""
CREATE TABLE IF NOT EXISTS session_uses (
    app_name TEXT NOT NULL,
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    changed_at REAL NOT NULL,
    used_at REAL,
    is_open INTEGER NOT NULL,
    PRIMARY KEY (app_name, user_id, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS session_uses_by_time ON session_uses (app_name, used_at, user_id, id);
CREATE INDEX IF NOT EXISTS session_uses_open ON session_uses (app_name) WHERE is_open;
CREATE TRIGGER IF NOT EXISTS session_use_made AFTER INSERT ON sessions BEGIN {_NOTE} END;
CREATE TRIGGER IF NOT EXISTS session_use_changed AFTER UPDATE OF state, update_time ON sessions BEGIN
    DELETE FROM session_uses WHERE {_OLD} AND NOT json_valid(NEW.state);
    {_NOTE}
END;
CREATE TABLE IF NOT EXISTS forgotten_sessions (
    app_name TEXT NOT NULL,
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (app_name, user_id, id)
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS session_use_gone AFTER DELETE ON sessions BEGIN
    DELETE FROM session_uses WHERE {_OLD};
END;
"""
"""What start-up, lists, limits, metrics and the removal of what is old ask for, in rows of some bytes.

Triggers keep it true whoever writes: an older version of the program, or ADK's own service.
"""
_FILLED = 1
"""``user_version`` of a database whose sessions all have their row in ``session_uses``."""
_BATCH = 500
"""Sessions whose rows are filled in at once: other writers wait for no more than these."""
_LAST_OF_BATCH = f"""
SELECT * FROM (
    SELECT app_name, user_id, id FROM sessions WHERE (app_name, user_id, id) > (?, ?, ?)
    ORDER BY app_name, user_id, id LIMIT {_BATCH}
) ORDER BY app_name DESC, user_id DESC, id DESC LIMIT 1
"""
_FILL = f"""
INSERT OR IGNORE INTO session_uses SELECT {_use_of("s")} FROM sessions s
WHERE (app_name, user_id, id) > (?, ?, ?) AND (app_name, user_id, id) <= (?, ?, ?) AND NOT EXISTS (
    SELECT 1 FROM session_uses u WHERE (u.app_name, u.user_id, u.id) = (s.app_name, s.user_id, s.id)
) AND json_valid(state)
"""


_USAGE = """
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS usage (
    id TEXT PRIMARY KEY,
    principal TEXT NOT NULL,
    at INTEGER NOT NULL DEFAULT (unixepoch()),
    tokens INTEGER NOT NULL,
    cost_nano_usd INTEGER NOT NULL,
    index_ms INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS usage_by_principal ON usage (principal, at);
"""


class Table(NamedTuple):
    """The rows of a table, and the statement that puts one into it."""

    insert: str
    rows: list[tuple[Any, ...]]


class SessionDatabase(Database):
    """A database of sessions."""

    def __init__(self, path: Path | None, stored: Iterable[Table] = ()) -> None:
        """Describe a database; it is opened when it is first used.

        Args:
            path: its file; None keeps it in memory.
            stored: what a database in memory begins with.
        """
        super().__init__(path, partial(_prepare, stored=tuple(stored)))
        self._is_complete = False

    async def complete(self) -> None:
        """Give what an earlier version stored its rows, a batch at a time; others write in between."""
        if self._is_complete:
            return
        version = await self.read(lambda db: db.execute("PRAGMA user_version").fetchone()[0])
        after: tuple[str, str, str] | None = None if version == _FILLED else ("", "", "")
        while after is not None:
            after = await self.write(partial(_fill_batch, after=after))
        self._is_complete = True


def usage_database(path: Path | None) -> Database:
    """Return a database of what principals use; without a path it is in memory."""
    return Database(path, lambda db: db.executescript(_USAGE))


def _fill_batch(db: sqlite3.Connection, after: tuple[str, str, str]) -> tuple[str, str, str] | None:
    """Give the sessions behind a key their rows, and return the key of the last; None at the end."""
    last = db.execute(_LAST_OF_BATCH, after).fetchone()
    if last is None:
        db.execute(f"PRAGMA user_version = {_FILLED}")
        return None
    db.execute(_FILL, (*after, *last))
    return tuple(last)


def _prepare(db: sqlite3.Connection, stored: tuple[Table, ...]) -> None:
    db.executescript(SCHEMA + USES)
    for table in stored:
        db.executemany(table.insert, table.rows)
