"""Navigations in PostgreSQL: ADK's sessions, the index and the locks, in one schema."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from enum import StrEnum
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import asyncpg
from sqlalchemy.engine import URL
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from navigator.errors import StorageError
from navigator.storage.database import PostgresDatabase
from navigator.storage.errors import StorageFaults
from navigator.storage.index import TABLE, NavigationIndex
from navigator.storage.locks import LOCK_SETTINGS, AdvisoryLocks, NavigationLocks
from navigator.storage.sessions import Sessions, TableSessions

if TYPE_CHECKING:
    from google.adk.sessions import DatabaseSessionService

    from navigator.storage.addresses import DatabaseAddress

CONNECTIONS: Final = 8
"""Of one process. A transaction takes milliseconds, so these serve hundreds of steps at once."""
CONNECTING_S: Final = 5.0
ANSWERING_S: Final = 10.0
_ONE_AT_A_TIME: Final = 0x5265706F
"""The advisory lock under which one replica at a time makes the schema."""
OLD_TABLE: Final = "layout"
"""A table that earlier versions made."""
logger = logging.getLogger(__name__)


def open_postgres(
    address: DatabaseAddress, faults: StorageFaults
) -> tuple[Sessions, NavigationIndex, NavigationLocks]:
    """Return the services of a database; it is connected to when one of them is first used."""
    schema = Schema(address)
    database = SchemaDatabase(schema)
    locks = NavigationLocks(AdvisoryLocks(partial(schema.connect, **LOCK_SETTINGS)))
    sessions = TableSessions(lambda: schema.session_service, database)
    return sessions, NavigationIndex(database, faults), locks


class SchemaState(StrEnum):
    """What a schema is to this version of the program."""

    MISSING = "no tables yet; the first server makes them"
    OLDER = "tables of an earlier version; the next server that starts sets them aside"
    CURRENT = "tables of this version"


async def look_at(address: DatabaseAddress) -> SchemaState:
    """Return what the schema of a database is; nothing is made or changed.

    Raises:
        StorageError: the database can't be reached, or refuses.
    """
    with StorageFaults(str(address)).raised():
        connection = await Schema(address).connect()
        try:
            if await _has(connection, address.schema, OLD_TABLE):
                return SchemaState.OLDER
            is_made = await _has(connection, address.schema, "navigations")
            return SchemaState.CURRENT if is_made else SchemaState.MISSING
        finally:
            await connection.close(timeout=CONNECTING_S)


async def _has(connection: Any, schema: str, table: str) -> bool:
    return await connection.fetchval("SELECT to_regclass($1)", f'"{schema}".{table}') is not None


class Schema:
    """The schema of a database in which navigations lie, and the connections to it."""

    def __init__(self, address: DatabaseAddress) -> None:
        self.address = address
        self._is_ready = asyncio.Event()
        self._making = asyncio.Lock()
        server = {
            "application_name": "repo-navigator",
            "search_path": f'"{address.schema}"',
            "timezone": "UTC",
            "statement_timeout": f"{ANSWERING_S:.0f}s",
            "idle_in_transaction_session_timeout": f"{ANSWERING_S:.0f}s",
        }
        self._options: dict[str, Any] = {
            "ssl": address.ssl,
            "timeout": CONNECTING_S,
            "command_timeout": ANSWERING_S,
            "server_settings": server,
        }
        url = URL.create(
            "postgresql+asyncpg",
            username=address.user,
            password=address.password,
            host=address.host,
            port=address.port,
            database=address.database,
        )
        self.engine: AsyncEngine = create_async_engine(
            url,
            pool_size=CONNECTIONS,
            max_overflow=CONNECTIONS,
            pool_timeout=ANSWERING_S,
            pool_pre_ping=True,
            connect_args=self._options,
        )

    @cached_property
    def session_service(self) -> DatabaseSessionService:
        """ADK's session service on the schema."""
        from google.adk.sessions import DatabaseSessionService  # noqa: PLC0415 - ADK is imported when it is first used

        return DatabaseSessionService(db_engine=self.engine)

    async def connect(self, **settings: str) -> Any:
        """Return a connection of its own, which no pool shares."""
        address, options = self.address, self._options
        return await asyncpg.connect(
            host=address.host,
            port=address.port,
            user=address.user,
            password=address.password,
            database=address.database,
            **{**options, "server_settings": {**options["server_settings"], **settings}},
        )

    async def make(self) -> None:
        """Make the schema and the index where they are missing; one of an earlier version is set aside.

        Raises:
            StorageError: an earlier version's schema can't be renamed.
        """
        if self._is_ready.is_set():
            return
        async with self._making:
            if self._is_ready.is_set():
                return
            connection = await self.connect()
            try:
                # ADK's service makes its tables on a connection of its own while this one has the lock.
                await connection.execute(f"SELECT pg_advisory_lock({_ONE_AT_A_TIME})")
                async with connection.transaction():
                    await self._make(connection)
                service = await asyncio.to_thread(lambda: self.session_service)
                await service.prepare_tables()
            finally:
                await connection.close(timeout=CONNECTING_S)
            self._is_ready.set()

    async def _make(self, connection: Any) -> None:
        name = self.address.schema
        if await _has(connection, name, OLD_TABLE):
            aside = await connection.fetchval(
                "SELECT $1 || '_before_' || to_char(clock_timestamp(), 'YYYYMMDDHH24MISS')", name[:40]
            )
            try:
                await connection.execute(f'ALTER SCHEMA "{name}" RENAME TO "{aside}"')
            except asyncpg.InsufficientPrivilegeError:
                raise StorageError(
                    f"The schema `{name}` holds navigations of an earlier version, and this user may not "
                    "rename it; name another schema in REPO_NAVIGATOR_STORE, as `?schema=NAME`."
                ) from None
            logger.warning(
                "The schema %s held navigations of an earlier version, which can't be read; it is called %s "
                "now, and nothing was deleted",
                name,
                aside,
            )
        # "IF NOT EXISTS" asks for the right to make one although it is there.
        if await connection.fetchval("SELECT to_regnamespace($1)", f'"{name}"') is None:
            await connection.execute(f'CREATE SCHEMA "{name}"')
        await connection.execute(TABLE)


class SchemaDatabase(PostgresDatabase):
    """The index in a schema that the first statement makes."""

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema.engine)
        self._schema = schema

    async def execute(self, statement: str, *values: Any, durable: bool = False) -> Sequence[Any]:
        """Return the rows of a statement, once what it wrote is committed."""
        await self._schema.make()
        return await super().execute(statement, *values, durable=durable)
