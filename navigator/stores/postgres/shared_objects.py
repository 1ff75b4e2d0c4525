"""Shared objects in the database, for a team without a bucket."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from navigator.errors import StorageError
from navigator.stores.postgres.database import PostgresDatabase
from navigator.stores.store_address import DatabaseAddress
from repo_map.indexing.shared_objects import SharedObjectsError, StoredObject

_T = TypeVar("_T")


class PostgresObjects:
    """Objects as rows of a table.

    It is called by threads that build indexes, a few times for each; every call has a connection of its own,
    so that megabytes on their way hold up no step.
    """

    def __init__(self, address: DatabaseAddress) -> None:
        self._address = address

    def names(self, prefix: str) -> list[StoredObject]:
        """Return the objects whose names begin with ``prefix``."""
        query = (
            "SELECT name, octet_length(content) AS size, extract(epoch FROM written)::float8 AS written "
            "FROM derived_objects WHERE starts_with(name, $1)"
        )
        rows = self._act(lambda db: db.fetch(query, prefix), is_read=True)
        return [StoredObject(row["name"], row["size"], row["written"]) for row in rows]

    def read(self, name: str, limit: int) -> bytes | None:
        """Return an object, None where there is none or it is larger."""
        query = "SELECT content FROM derived_objects WHERE name = $1 AND octet_length(content) <= $2"
        content: bytes | None = self._act(lambda db: db.fetchval(query, name, limit), is_read=True)
        return content

    def write(self, name: str, content: bytes) -> None:
        """Keep an object."""
        query = (
            "INSERT INTO derived_objects (name, content) VALUES ($1, $2) "
            "ON CONFLICT (name) DO UPDATE SET content = excluded.content, written = clock_timestamp()"
        )
        self._act(lambda db: db.execute(query, name, content))

    def remove(self, names: Sequence[str]) -> None:
        """Let go of objects."""
        query = "DELETE FROM derived_objects WHERE name = ANY($1::text[])"
        self._act(lambda db: db.execute(query, list(names)))

    def _act(self, act: Callable[[Any], Awaitable[_T]], *, is_read: bool = False) -> _T:
        async def once() -> _T:
            database = PostgresDatabase(self._address)
            try:
                return await database.act(act, is_read=is_read)
            finally:
                await database.close()

        try:
            return asyncio.run(once())
        except StorageError as error:
            raise SharedObjectsError(str(error).removesuffix(".")) from None
