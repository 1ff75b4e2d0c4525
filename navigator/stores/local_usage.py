"""What principals use, in a SQLite database of one server's own."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from navigator.errors import StorageError
from navigator.stores.database import Database
from navigator.stores.usage import KEPT_DAYS, Today, UsageEntry, today_from

_SCHEMA = """
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
_TODAY = """
SELECT coalesce(sum(tokens), 0), coalesce(sum(cost_nano_usd), 0), coalesce(sum(index_ms), 0),
    unixepoch('now', 'start of day', '+1 day') - unixepoch()
FROM usage WHERE principal = ? AND at >= unixepoch('now', 'start of day')
"""


class LocalUsage:
    """Usage in a file."""

    def __init__(self, path: Path | None) -> None:
        """Describe the database; it is opened when it is first used. Without a path it is in memory."""
        self._path = path
        self._database = Database(path, _prepare)

    async def add(self, entry: UsageEntry) -> None:
        """Count an entry."""

        def add(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM usage WHERE at < unixepoch('now', ?)", (f"-{KEPT_DAYS} days",))
            db.execute(
                "INSERT OR IGNORE INTO usage (id, principal, tokens, cost_nano_usd, index_ms) "
                "VALUES (?, ?, ?, ?, ?)",
                entry.row(),
            )

        try:
            self._close_to_others()
            await self._database.write(add, durable=False)
        except (OSError, sqlite3.Error) as error:
            raise _unusable(error) from error

    async def today(self, principal: str) -> Today:
        """Return what a principal has used today."""
        try:
            self._close_to_others()
            row = await self._database.read(lambda db: db.execute(_TODAY, (principal,)).fetchone())
        except (OSError, sqlite3.Error) as error:
            raise _unusable(error) from error
        return today_from(row)

    async def close(self) -> None:
        """Close the database."""
        await self._database.close()

    def _close_to_others(self) -> None:
        """Make the file, before SQLite makes it for whoever the umask lets read."""
        if self._path is not None and not self._path.exists():
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))


def _prepare(db: sqlite3.Connection) -> None:
    db.executescript(_SCHEMA)


def _unusable(error: Exception) -> StorageError:
    return StorageError(
        f"What callers use can't be counted ({error}), and limits of a day are set; free space, or move "
        "`usage.db` in the data folder aside, then call again."
    )
