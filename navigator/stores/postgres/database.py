"""A PostgreSQL database: connections that are shared, and faults told in a sentence."""

from __future__ import annotations

import asyncio
import operator
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import asyncpg

from navigator.errors import StorageError
from navigator.stores.postgres.json_text import as_stored, as_written
from navigator.stores.postgres.layout import LayoutState, bring_up_to_date, look_at
from navigator.stores.sql import Dialect, SqlConnection
from navigator.stores.store_address import LEASE_S, DatabaseAddress

MOST_CONNECTIONS: Final = 8
"""Of one process. A transaction takes milliseconds, so these serve hundreds of steps at once."""
CONNECTING_S: Final = 5.0
ANSWERING_S: Final = 10.0
"""Longest that a statement, or a connection that is free, is waited for."""
_LOST: Final = (
    ConnectionError,
    asyncpg.InterfaceError,
    # A statement on a connection that the database has just ended, before the socket is seen to be closed.
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleInTransactionSessionTimeoutError,
)
"""What a connection ends with that was cut, or refused by a database that restarts: the next may be good."""
_FIRST_PAUSE_S: Final = 0.05
_LONGEST_PAUSE_S: Final = 1.0
"""Before a connection is tried for again; each pause is twice the one before."""
_FAULTS: Final = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
_T = TypeVar("_T")
_MIDNIGHT: Final = "date_trunc('day', clock_timestamp() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'"


def _parts(paths: Sequence[str]) -> str:
    wanted = ", ".join(f"state #> '{{{path.replace('.', ',')}}}'" for path in paths)
    return f"json_build_array({wanted})"


POSTGRES: Final = Dialect(
    for_update=" FOR UPDATE",
    by_bytes=' COLLATE "C"',
    event_order="position",
    parts=_parts,
    as_stored=as_stored,
    as_written=as_written,
    # By the clocks of several machines a later change may have an earlier time.
    is_stale=operator.ne,
    duplicate_event=(asyncpg.UniqueViolationError,),
    midnight=_MIDNIGHT,
    seconds_left=f"extract(epoch FROM {_MIDNIGHT} + interval '1 day' - clock_timestamp())",
    # Each principal's calls remove what is over of its own: no two servers wait for each other.
    old_usage="principal = $1 AND at < clock_timestamp() - make_interval(days => $2)",
)


class PostgresDatabase:
    """Acts on a database, each a transaction; a connection that was cut is replaced by another.

    A database that was reached before and then restarts is waited for. One never reached is told at once.
    """

    def __init__(self, address: DatabaseAddress, *, stalling_s: float = LEASE_S) -> None:
        """Describe a database; it is connected to, and its tables made, when it is first used.

        Args:
            stalling_s: how long a transaction may stay open in which nothing happens, and how long a
                restart is waited for. It is as long as a lease holds: later, another server may have gone on.
        """
        self.address = address
        self._stalling_s = stalling_s
        self._pool: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._connecting = asyncio.Lock()
        self._was_reached = False
        self.errors = 0
        """Calls that the database did not take."""

    @property
    def dialect(self) -> Dialect:
        """Where its SQL differs."""
        return POSTGRES

    async def act(
        self, act: Callable[[SqlConnection], Awaitable[_T]], *, is_read: bool = False, durable: bool = True
    ) -> _T:
        """Return what ``act`` returns, once what it wrote is committed; where it raises, nothing was.

        Args:
            act: is given a connection within a transaction. Where a connection is cut it is called again, on
                another one, and what it did before may have been committed: the next time must find that.
            is_read: whether it only reads, all of it as it was at one moment.
            durable: every write is, whatever is asked for: the database alone decides it.

        Raises:
            StorageError: the database can't be reached, or refuses.
        """
        now = asyncio.get_running_loop().time
        pause, give_up_at = 0.0, now() + self._stalling_s
        while True:
            try:
                return await self._once(act, is_read)
            except _FAULTS as error:
                may_pass = isinstance(error, _LOST) and (not pause or self._was_reached)
                if not may_pass or now() + pause > give_up_at:
                    raise self._storage_error(error) from None
            await asyncio.sleep(pause)
            pause = min(pause * 2 or _FIRST_PAUSE_S, _LONGEST_PAUSE_S)

    async def complete(self) -> None:
        """Do nothing: whoever connects first brings the tables up to date."""

    async def layout(self) -> LayoutState:
        """Return what the tables are to this version of the program; nothing is made or changed.

        Raises:
            StorageError: the database can't be reached, or refuses.
        """
        try:
            pool = await self._new_pool()
            try:
                async with pool.acquire(timeout=ANSWERING_S) as connection:
                    return await look_at(connection)
            finally:
                pool.terminate()
        except _FAULTS as error:
            raise self._storage_error(error) from None

    async def close(self) -> None:
        """Close the connections; the next use opens new ones."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        if self._loop is not asyncio.get_running_loop():
            pool.terminate()
            return
        try:
            await asyncio.wait_for(pool.close(), ANSWERING_S)
        except (TimeoutError, *_LOST):
            pool.terminate()

    async def _once(self, act: Callable[[Any], Awaitable[_T]], is_read: bool) -> _T:
        async with self._connection() as connection:
            isolation = "repeatable_read" if is_read else "read_committed"
            async with connection.transaction(isolation=isolation, readonly=is_read):
                return await act(connection)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        pool = await self._connected()
        connection = await pool.acquire(timeout=ANSWERING_S)
        try:
            yield connection
        except _LOST:
            connection.terminate()
            raise
        finally:
            await pool.release(connection, timeout=ANSWERING_S)

    async def _connected(self) -> Any:
        loop = asyncio.get_running_loop()
        if self._pool is not None and self._loop is loop:
            return self._pool
        if self._loop is not loop:
            # At once, for calls that begin together: each would else connect for itself.
            self._connecting, self._pool, self._loop = asyncio.Lock(), None, loop
        async with self._connecting:
            if self._pool is None:
                pool = await self._new_pool()
                try:
                    async with pool.acquire(timeout=ANSWERING_S) as connection:
                        await bring_up_to_date(connection, self.address.schema)
                except BaseException:
                    pool.terminate()
                    raise
                self._pool, self._was_reached = pool, True
        return self._pool

    async def _new_pool(self) -> Any:
        address = self.address
        return await asyncpg.create_pool(
            host=address.host,
            port=address.port,
            database=address.database,
            user=address.user,
            password=address.password,
            ssl=address.ssl,
            min_size=0,
            max_size=MOST_CONNECTIONS,
            timeout=CONNECTING_S,
            command_timeout=ANSWERING_S,
            server_settings={
                "application_name": "repo-navigator",
                "search_path": f'"{address.schema}"',
                # Every time is told in seconds since the epoch; whatever is not reads the same everywhere.
                "timezone": "UTC",
                "statement_timeout": f"{ANSWERING_S:.0f}s",
                "lock_timeout": f"{ANSWERING_S / 2:.0f}s",
                # A server that stalls within a transaction must not keep others from what it has locked.
                "idle_in_transaction_session_timeout": f"{self._stalling_s * 1000:.0f}ms",
            },
        )

    def _storage_error(self, error: BaseException) -> StorageError:
        """Return the error that a caller is told: it holds neither what was written nor who asked."""
        self.errors += 1
        return StorageError(
            f"The database at {self.address} failed ({_words(error)}); check that it runs, has free "
            "space and admits this server, then call again: answered steps are kept."
        )


def _words(error: BaseException) -> str:
    """Return what went wrong in a few words; a message of the database may repeat what was written."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, asyncpg.InvalidCatalogNameError):
        return "no such database"
    if isinstance(error, asyncpg.InvalidPasswordError | asyncpg.InvalidAuthorizationSpecificationError):
        return "it does not let this user in"
    if isinstance(error, ConnectionError) and "rejected SSL" in str(error):
        return "it has no TLS, which `ssl` in the address asks for"
    if isinstance(error, ssl.SSLError):
        return "its certificate is not accepted"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, ConnectionError):
        return "connection lost"
    if isinstance(error, OSError):
        return error.strerror or "no connection"
    name = re.sub(r"(Error|Exception)$", "", type(error).__name__)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
