"""The layout of the tables, as the steps that lead to it; each is taken once, and only forwards."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from navigator.errors import StorageError

_SESSIONS: Final = """
CREATE TABLE app_states (
    app_name text PRIMARY KEY,
    state json NOT NULL,
    update_time double precision NOT NULL
);
CREATE TABLE user_states (
    app_name text NOT NULL,
    user_id text NOT NULL,
    state json NOT NULL,
    update_time double precision NOT NULL,
    PRIMARY KEY (app_name, user_id)
);
CREATE TABLE sessions (
    app_name text NOT NULL,
    user_id text NOT NULL,
    id text NOT NULL,
    state json NOT NULL,
    create_time double precision NOT NULL,
    update_time double precision NOT NULL,
    PRIMARY KEY (app_name, user_id, id)
);
CREATE TABLE events (
    id text NOT NULL,
    app_name text NOT NULL,
    user_id text NOT NULL,
    session_id text NOT NULL,
    invocation_id text NOT NULL,
    timestamp double precision NOT NULL,
    event_data json NOT NULL,
    position bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (app_name, user_id, session_id, id),
    FOREIGN KEY (app_name, user_id, session_id)
        REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE
);
"""
"""As ADK's own service has them in SQLite. Times are seconds since the epoch, which know no zone, and
``json`` keeps a text as it was written: ``jsonb`` refuses the character U+0000, which a goal may hold."""
_LEASES: Final = """
CREATE SEQUENCE lease_tokens;
CREATE TABLE leases (
    name text PRIMARY KEY,
    token bigint NOT NULL,
    holder text NOT NULL,
    until timestamptz NOT NULL
);
"""
_DERIVED: Final = """
CREATE TABLE derived_objects (
    name text PRIMARY KEY,
    content bytea NOT NULL,
    written timestamptz NOT NULL DEFAULT clock_timestamp()
);
ALTER TABLE derived_objects ALTER COLUMN content SET STORAGE EXTERNAL;
"""
"""What was derived from files. It is compressed when it comes, so the database does not try to."""
_USAGE: Final = """
CREATE TABLE usage (
    id text PRIMARY KEY,
    principal text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    tokens bigint NOT NULL,
    cost_nano_usd bigint NOT NULL,
    index_ms bigint NOT NULL
);
CREATE INDEX usage_by_principal ON usage (principal, at);
ALTER TABLE sessions ADD COLUMN stop_reason text
    GENERATED ALWAYS AS (state #>> '{navigator_run,stop_reason}') STORED;
CREATE INDEX open_sessions ON sessions (app_name, user_id) WHERE stop_reason IS NULL;
"""
"""Whatever asks how many navigations are open must not read all their states."""
STEPS: Final = (_SESSIONS, _LEASES, _DERIVED, _USAGE)
"""The first makes version 1 of nothing, and so on; one that was released is never changed."""
_ONE_AT_A_TIME: Final = 0x5265706F
"""The advisory lock under which one server at a time changes the layout."""


async def bring_up_to_date(connection: Any, schema: str) -> None:
    """Take the steps that a database lacks, all or none; several servers may start at once.

    Raises:
        StorageError: a newer version of the program has changed it already.
    """
    if await _version(connection) == len(STEPS):
        return
    async with connection.transaction():
        await connection.execute(f"SELECT pg_advisory_xact_lock({_ONE_AT_A_TIME})")
        # "IF NOT EXISTS" asks for the right to make one although it is there.
        if await connection.fetchval("SELECT to_regnamespace($1)", schema) is None:
            await connection.execute(f'CREATE SCHEMA "{schema}"')
        await connection.execute(
            "CREATE TABLE IF NOT EXISTS layout (version integer PRIMARY KEY, "
            "taken_at timestamptz NOT NULL DEFAULT clock_timestamp())"
        )
        version = await _version(connection)
        if version > len(STEPS):
            raise StorageError(
                f"The database has layout {version}, of a newer Repo Navigator than this one, which knows "
                f"{len(STEPS)}; update this one, or give REPO_NAVIGATOR_STORE another schema."
            )
        for number, step in enumerate(STEPS[version:], start=version + 1):
            await connection.execute(step)
            await connection.execute("INSERT INTO layout (version) VALUES ($1)", number)


async def _version(connection: Any) -> int:
    if await connection.fetchval("SELECT to_regclass('layout')") is None:
        return 0
    return int(await connection.fetchval("SELECT coalesce(max(version), 0) FROM layout"))


class LayoutState(StrEnum):
    """What the tables of a database are to this version of the program."""

    MISSING = "no tables yet; the first server makes them"
    OLDER = "tables of an earlier version; the next server that starts changes them"
    CURRENT = "tables of this version"
    NEWER = "tables of a newer version, which this one refuses"


async def look_at(connection: Any) -> LayoutState:
    """Return what the tables are; nothing is made or changed."""
    version = await _version(connection)
    if version in (0, len(STEPS)):
        return LayoutState.CURRENT if version else LayoutState.MISSING
    return LayoutState.OLDER if version < len(STEPS) else LayoutState.NEWER
