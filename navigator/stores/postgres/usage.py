"""What principals use, in a database that servers share: by its clock, whichever of them counts."""

from __future__ import annotations

from typing import Any

from navigator.stores.postgres.database import PostgresDatabase
from navigator.stores.usage import KEPT_DAYS, Today, UsageEntry, today_from

_MIDNIGHT = "date_trunc('day', clock_timestamp() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'"
_TODAY = f"""
SELECT coalesce(sum(tokens), 0)::bigint, coalesce(sum(cost_nano_usd), 0)::bigint,
    coalesce(sum(index_ms), 0)::bigint,
    extract(epoch FROM {_MIDNIGHT} + interval '1 day' - clock_timestamp())::double precision
FROM usage WHERE principal = $1 AND at >= {_MIDNIGHT}
"""


class PostgresUsage:
    """Usage in the database of sessions."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def add(self, entry: UsageEntry) -> None:
        """Count an entry."""

        async def add(db: Any) -> None:
            # Each principal's calls remove what is over of its own: no two servers wait for each other.
            await db.execute(
                "DELETE FROM usage WHERE principal = $1 "
                "AND at < clock_timestamp() - make_interval(days => $2)",
                entry.principal,
                KEPT_DAYS,
            )
            await db.execute(
                "INSERT INTO usage (id, principal, tokens, cost_nano_usd, index_ms) "
                "VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
                *entry.row(),
            )

        await self._database.act(add)

    async def today(self, principal: str) -> Today:
        """Return what a principal has used today."""

        async def read(db: Any) -> Any:
            return await db.fetchrow(_TODAY, principal)

        return today_from(await self._database.act(read, is_read=True))

    async def close(self) -> None:
        """Nothing: whoever opened the database closes it."""
