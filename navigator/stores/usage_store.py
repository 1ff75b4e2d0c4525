"""Counts what principals use, in a database; one that servers share counts for all of them, by its clock."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

from navigator.errors import StorageError
from navigator.stores.sql import SqlConnection, SqlDatabase
from navigator.stores.usage import Today, Usage, UsageEntry

_NANO = Decimal(10**9)
_KEPT_DAYS = 2
"""Days after which nobody asks for what was used any more."""


class UsageStore:
    """Usage in a database: tokens, billionths of a dollar, milliseconds."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def add(self, entry: UsageEntry) -> None:
        """Count an entry.

        Raises:
            StorageError: it can't be kept.
        """
        (tokens, cost, seconds), old = entry.usage, self._database.dialect.old_usage

        async def add(db: SqlConnection) -> None:
            await db.execute(f"DELETE FROM usage WHERE {old}", entry.principal, _KEPT_DAYS)
            await db.execute(
                "INSERT INTO usage (id, principal, tokens, cost_nano_usd, index_ms) "
                "VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
                entry.id,
                entry.principal,
                tokens,
                round(cost * _NANO),
                round(seconds * 1000),
            )

        with _usable():
            await self._database.act(add, durable=False)

    async def today(self, principal: str) -> Today:
        """Return what a principal has used today.

        Raises:
            StorageError: it can't be read.
        """
        dialect = self._database.dialect
        query = (
            "SELECT coalesce(sum(tokens), 0), coalesce(sum(cost_nano_usd), 0), coalesce(sum(index_ms), 0), "
            f"{dialect.seconds_left} FROM usage WHERE principal = $1 AND at >= {dialect.midnight}"
        )

        async def read(db: SqlConnection) -> Today:
            tokens, cost, milliseconds, left = await db.fetchrow(query, principal)
            used = Usage(int(tokens), Decimal(int(cost)) / _NANO, int(milliseconds) / 1000)
            return Today(used, float(left))

        with _usable():
            return await self._database.act(read, is_read=True)

    async def close(self) -> None:
        """Close what is open; the next use opens it anew."""
        await self._database.close()


@contextmanager
def _usable() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StorageError(
            f"What callers use can't be counted ({error}), and limits of a day are set; free space, or move "
            "`usage.db` in the data folder aside, then call again."
        ) from error
