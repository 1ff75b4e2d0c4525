"""Navigations in PostgreSQL: ADK's sessions, the index and the locks, in one schema."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import asyncpg
from sqlalchemy.ext.asyncio import create_async_engine

from navigator.errors import StorageError
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


def open_postgres(
    address: DatabaseAddress, faults: StorageFaults
) -> tuple[Sessions, NavigationIndex, NavigationLocks]:
    """Return the services of a database; it is connected to when one of them is first used."""
    database = PostgresDatabase(address)
    locks = NavigationLocks(AdvisoryLocks(partial(database.connect, **LOCK_SETTINGS)))
    sessions = TableSessions(lambda: database.session_service, database)
    return sessions, NavigationIndex(database, faults), locks


async def look_at(address: DatabaseAddress) -> str:
    """Return what this version would change in a database, ``""`` for nothing; it changes nothing."""
    with StorageFaults(str(address)).raised():
        connection = await PostgresDatabase(address).connect()
        try:
            found = await connection.fetchval("SELECT to_regclass($1)", f'"{address.schema}".navigations')
            return "no tables yet; the first server makes them" if found is None else ""
        finally:
            await connection.close(timeout=CONNECTING_S)


class PostgresDatabase:
    """The index in a schema that the first statement makes, by the connections of ADK's session service."""

    merge = "({old}::jsonb || {new}::jsonb)::text"

    def __init__(self, address: DatabaseAddress) -> None:
        self._address = address
        self._is_ready = False
        self._making = asyncio.Lock()
        self._engine = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=self.connect,
            pool_size=CONNECTIONS,
            max_overflow=CONNECTIONS,
            pool_timeout=ANSWERING_S,
            pool_pre_ping=True,
        )
        # Each statement of the index is a transaction by itself.
        self._statements = self._engine.execution_options(isolation_level="AUTOCOMMIT")

    @cached_property
    def session_service(self) -> DatabaseSessionService:
        from google.adk.sessions import DatabaseSessionService  # noqa: PLC0415 - ADK is imported when it is first used

        return DatabaseSessionService(db_engine=self._engine)

    async def connect(self, **settings: str) -> Any:
        address = self._address
        server_settings = {
            "application_name": "repo-navigator",
            "search_path": f'"{address.schema}"',
            "timezone": "UTC",
            "statement_timeout": f"{ANSWERING_S:.0f}s",
            "idle_in_transaction_session_timeout": f"{ANSWERING_S:.0f}s",
            **settings,
        }
        return await asyncpg.connect(
            host=address.host,
            port=address.port,
            user=address.user,
            password=address.password,
            database=address.database,
            ssl=address.ssl,
            timeout=CONNECTING_S,
            command_timeout=ANSWERING_S,
            server_settings=server_settings,
        )

    async def execute(self, statement: str, *values: Any) -> Sequence[Any]:
        """Return the rows of a statement, once what it wrote is committed."""
        async with self._making:
            if not self._is_ready:
                await self._make()
                self._is_ready = True
        async with self._statements.connect() as connection:
            result = await connection.exec_driver_sql(statement, values or None)
            return result.fetchall() if result.returns_rows else ()

    async def close(self) -> None:
        await self._engine.dispose()

    async def _make(self) -> None:
        name, connection = self._address.schema, await self.connect()
        try:
            # ADK's service makes its tables on a connection of its own while this one has the lock.
            await connection.execute(f"SELECT pg_advisory_lock({_ONE_AT_A_TIME})")
            async with connection.transaction():
                if await connection.fetchval("SELECT to_regclass($1)", f'"{name}".layout') is not None:
                    raise StorageError(
                        f"The schema `{name}` holds navigations of an earlier version, which can't be read; "
                        "name another schema in REPO_NAVIGATOR_STORE, as `?schema=NAME`."
                    )
                # "IF NOT EXISTS" asks for the right to make one although it is there.
                if await connection.fetchval("SELECT to_regnamespace($1)", f'"{name}"') is None:
                    await connection.execute(f'CREATE SCHEMA "{name}"')
                await connection.execute(TABLE)
            service = await asyncio.to_thread(lambda: self.session_service)
            await service.prepare_tables()
        finally:
            await connection.close(timeout=CONNECTING_S)
