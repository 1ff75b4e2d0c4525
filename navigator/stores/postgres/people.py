"""Whom operators let in and turned away, for all servers that share a database."""

from __future__ import annotations

import json
from collections.abc import Sequence

from navigator.stores.people import People, PeopleToken
from navigator.stores.postgres.database import PostgresDatabase
from navigator.stores.sql import SqlConnection

_NOW = "extract(epoch FROM clock_timestamp())::float8"


class PeopleStore:
    """Rows of two tables; every method may raise ``StorageError``."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def read(self) -> People:
        """Return all."""

        async def read(db: SqlConnection) -> People:
            tokens = await db.fetch(
                "SELECT digest, principal, groups, made_at FROM people_tokens "
                "ORDER BY principal, made_at, digest"
            )
            revoked = await db.fetch("SELECT principal, revoked_at FROM people_revoked ORDER BY principal")
            return People(
                {
                    row["digest"]: PeopleToken(
                        row["principal"], tuple(json.loads(row["groups"])), row["made_at"]
                    )
                    for row in tokens
                },
                {row["principal"]: row["revoked_at"] for row in revoked},
            )

        return await self._database.act(read, is_read=True)

    async def let_in(self, principal: str, digest: str, groups: Sequence[str], *, replaces: bool) -> int:
        """Admit whoever shows the token of a digest as a principal; return how many others end.

        ``replaces`` ends all others of the principal.
        """
        query = (
            "INSERT INTO people_tokens (digest, principal, groups, made_at) "
            f"VALUES ($1, $2, $3, {_NOW}) ON CONFLICT DO NOTHING"
        )
        listed = json.dumps(sorted(set(groups)))

        async def let_in(db: SqlConnection) -> int:
            ended = await _end_tokens(db, principal, but=digest) if replaces else 0
            await db.execute(query, digest, principal, listed)
            return ended

        return await self._database.act(let_in)

    async def revoke(self, principal: str) -> int:
        """Turn a principal away, whoever gave it its token; return how many of ours are gone for good."""
        query = (
            f"INSERT INTO people_revoked (principal, revoked_at) VALUES ($1, {_NOW}) ON CONFLICT DO NOTHING"
        )

        async def revoke(db: SqlConnection) -> int:
            await db.execute(query, principal)
            return await _end_tokens(db, principal)

        return await self._database.act(revoke)

    async def readmit(self, principal: str) -> bool:
        """Turn a principal away no more; tell whether it was."""
        query = "DELETE FROM people_revoked WHERE principal = $1 RETURNING true"
        return bool(await self._database.act(lambda db: db.fetchval(query, principal)))

    async def close(self) -> None:
        """Close the connections."""
        await self._database.close()


async def _end_tokens(db: SqlConnection, principal: str, *, but: str = "") -> int:
    query = "DELETE FROM people_tokens WHERE principal = $1 AND digest <> $2 RETURNING digest"
    return len(await db.fetch(query, principal, but))
