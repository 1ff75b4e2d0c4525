"""One writer of each navigation among all servers of a database, for as long as it gives signs of life.

A lease has a token, a number that only grows. What its holder writes is written only while the token is the
navigation's latest: a server that stalls, loses its lease and wakes up again writes nothing.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import Final

import asyncpg

from navigator.errors import NavigationBusyError, StorageError
from navigator.stores.locks import Locks, lock_name
from navigator.stores.postgres.database import PostgresDatabase
from navigator.stores.sql import SqlConnection
from navigator.stores.store_address import LEASE_S

PAUSE_S: Final = 0.1
"""Between two looks at a lease that another server holds."""
_ABANDONED_S: Final = 3_600.0
"""Seconds since a lease was over, after which its holder is taken for gone."""
logger = logging.getLogger(__name__)


class NavigationLeases(Locks):
    """Leases by navigation id."""

    def __init__(
        self, database: PostgresDatabase, *, lease_s: float = LEASE_S, patience_s: float = 2 * LEASE_S
    ) -> None:
        """Take leases in ``database``.

        Args:
            lease_s: how long one lasts from its latest renewal, by the clock of the database.
            patience_s: how long one that another server holds is waited for.
        """
        super().__init__()
        self._database = database
        self._lease_s = lease_s
        self._patience_s = patience_s
        self._tokens: dict[str, int] = {}

    @asynccontextmanager
    async def _held_against_others(self, navigation_id: str) -> AsyncIterator[None]:
        name, holder = lock_name(navigation_id), secrets.token_hex(16)
        token = await self._wait_for(name, holder, navigation_id)
        self._tokens[navigation_id] = token
        renewing = asyncio.create_task(self._renew(name, token))
        try:
            yield
        finally:
            del self._tokens[navigation_id]
            renewing.cancel()
            with suppress(asyncio.CancelledError):
                await renewing
            await self._release(name, token)

    async def remove_abandoned(self) -> None:
        """Delete the leases of servers that were killed; whoever wakes up again finds that he lost his."""

        async def remove(db: SqlConnection) -> None:
            query = "DELETE FROM leases WHERE until < clock_timestamp() - make_interval(secs => $1)"
            await db.execute(query, _ABANDONED_S)

        await self._database.act(remove)

    @property
    def held(self) -> int:
        """How many navigations this process holds."""
        return len(self._tokens)

    def claim(self, navigation_id: str) -> Callable[[SqlConnection], Awaitable[bool]] | None:
        """Return what tells whether the lease held now is still the latest, None where none is held.

        It sees to it that it stays so in its transaction.
        """
        token = self._tokens.get(navigation_id)
        if token is None:
            return None

        async def is_latest(db: SqlConnection) -> bool:
            query = "SELECT token FROM leases WHERE name = $1 FOR SHARE"
            return bool(await db.fetchval(query, lock_name(navigation_id)) == token)

        return is_latest

    async def _wait_for(self, name: str, holder: str, navigation_id: str) -> int:
        ends = monotonic() + self._patience_s
        while True:
            token = await self._database.act(lambda db: _take(db, name, holder, self._lease_s))
            if token is not None:
                return token
            if monotonic() > ends:
                raise NavigationBusyError(
                    f"Another server has been stepping `{navigation_id}` for {self._patience_s:.0f} s; "
                    "wait for it, then step again."
                )
            await asyncio.sleep(PAUSE_S)

    async def _renew(self, name: str, token: int) -> None:
        while True:
            await asyncio.sleep(self._lease_s / 3)
            with suppress(StorageError):  # Until the lease is over there is time for another attempt.
                if not await self._database.act(lambda db: _extend(db, name, token, self._lease_s)):
                    self.lost += 1
                    logger.warning("A step took so long that another server has taken its navigation over")
                    return

    async def _release(self, name: str, token: int) -> None:
        async def release(db: SqlConnection) -> None:
            await db.execute("DELETE FROM leases WHERE name = $1 AND token = $2", name, token)

        try:
            await asyncio.shield(self._database.act(release))
        except StorageError as error:
            logger.warning("A navigation stays held for %.0f s at most: %s", self._lease_s, error)


async def _take(db: SqlConnection, name: str, holder: str, lease_s: float) -> int | None:
    """Return the token of a lease that is free, or was this holder's already; None where another has it."""
    try:
        await db.execute("SET LOCAL lock_timeout = '1s'")
        taken: int | None = await db.fetchval(
            "INSERT INTO leases AS held (name, token, holder, until) "
            "VALUES ($1, nextval('lease_tokens'), $2, clock_timestamp() + make_interval(secs => $3)) "
            "ON CONFLICT (name) DO UPDATE "
            "SET token = excluded.token, holder = excluded.holder, until = excluded.until "
            "WHERE held.until < clock_timestamp() OR held.holder = excluded.holder RETURNING token",
            name,
            holder,
            lease_s,
        )
    except asyncpg.LockNotAvailableError:
        # Its holder is writing at this moment.
        return None
    return taken


async def _extend(db: SqlConnection, name: str, token: int, lease_s: float) -> bool:
    """Renew a lease, and return whether it was still this one."""
    query = (
        "UPDATE leases SET until = clock_timestamp() + make_interval(secs => $3) "
        "WHERE name = $1 AND token = $2 RETURNING true"
    )
    return bool(await db.fetchval(query, name, token, lease_s))
