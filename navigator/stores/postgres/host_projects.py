"""What servers that share a database know of projects at git hosts."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from navigator.stores.host_projects import HostProject, HostProjects
from navigator.stores.postgres.database import PostgresDatabase
from navigator.stores.sql import SqlConnection

_NOW = "extract(epoch FROM clock_timestamp())::float8"


class SharedHostProjects:
    """Rows of a table."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def claim(self, projects: Sequence[str], every_s: float) -> list[str]:
        """Return those that nobody has asked a host about for so long; from now on this server has."""
        query = (
            f"INSERT INTO host_projects AS known (project, asked_at) SELECT unnest($1::text[]), {_NOW} "
            f"ON CONFLICT (project) DO UPDATE SET asked_at = excluded.asked_at "
            f"WHERE known.asked_at <= {_NOW} - $2 RETURNING project"
        )

        async def claim(db: SqlConnection) -> list[str]:
            return [row["project"] for row in await db.fetch(query, sorted(projects), every_s)]

        return await self._database.act(claim)

    async def tell(self, project: str, readers: Collection[str]) -> None:
        """Keep who reads a project by what its host says now."""
        query = (
            f"INSERT INTO host_projects AS known (project, readers, told_at) VALUES ($1, $2, {_NOW}) "
            "ON CONFLICT (project) DO UPDATE SET readers = excluded.readers, told_at = excluded.told_at"
        )
        await self._database.act(lambda db: db.execute(query, project, json.dumps(sorted(readers))))

    async def note_push(self, projects: Sequence[str]) -> None:
        """Keep that somebody has pushed to projects."""
        query = (
            f"INSERT INTO host_projects AS known (project, pushed_at) SELECT unnest($1::text[]), {_NOW} "
            "ON CONFLICT (project) DO UPDATE SET pushed_at = excluded.pushed_at"
        )
        await self._database.act(lambda db: db.execute(query, sorted(projects)))

    async def since(self, then: float) -> HostProjects:
        """Return what was told or pushed later than ``then``, by the database's clock."""
        query = (
            "SELECT project, readers, told_at, pushed_at FROM host_projects "
            "WHERE told_at > $1 OR pushed_at > $1"
        )

        async def read(db: SqlConnection) -> HostProjects:
            rows = await db.fetch(query, then)
            found = {
                row["project"]: HostProject(
                    frozenset(json.loads(row["readers"])), row["told_at"], row["pushed_at"]
                )
                for row in rows
            }
            return HostProjects(await db.fetchval(f"SELECT {_NOW}"), found)

        return await self._database.act(read, is_read=True)

    async def close(self) -> None:
        """Close the connections."""
        await self._database.close()
