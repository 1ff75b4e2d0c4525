"""The layout of the tables, as the steps that lead to it; each is taken once, and only forwards.

A step changes what an earlier version of the program reads or writes, so that one refuses to go on. An
addition brings what earlier versions never look at, and they go on beside it: servers of both versions
share a database while they are upgraded one by one, or brought back.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from navigator.errors import StorageError

logger = logging.getLogger(__name__)

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


def _use_of(row: str) -> str:
    """Return what selects the columns of ``session_uses`` for a row of ``sessions``."""
    # One look at the state for all: each path that is asked for by itself reads all of it again.
    return (
        f"SELECT {row}.app_name, {row}.user_id, {row}.id, {row}.update_time, "
        "CASE WHEN json_typeof(navigator_delivery -> 'used_at') = 'number' "
        "THEN (navigator_delivery ->> 'used_at')::double precision END, "
        "(navigator_run ->> 'stop_reason') IS NULL "
        f"FROM json_to_record(CASE WHEN json_typeof({row}.state) = 'object' THEN {row}.state END) "
        "AS parts (navigator_delivery json, navigator_run json)"
    )


_USES: Final = f"""
CREATE TABLE session_uses (
    app_name text NOT NULL,
    user_id text NOT NULL,
    id text NOT NULL,
    changed_at double precision NOT NULL,
    used_at double precision,
    is_open boolean NOT NULL,
    PRIMARY KEY (app_name, user_id, id),
    FOREIGN KEY (app_name, user_id, id)
        REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE
);
CREATE INDEX session_uses_by_time ON session_uses (app_name, used_at, user_id, id);
CREATE INDEX session_uses_open ON session_uses (app_name) WHERE is_open;
CREATE FUNCTION note_session_use() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO session_uses {_use_of("NEW")}
    ON CONFLICT (app_name, user_id, id) DO UPDATE SET
        changed_at = excluded.changed_at, used_at = excluded.used_at, is_open = excluded.is_open;
    RETURN NULL;
END
$$;
CREATE TRIGGER note_session_use AFTER INSERT OR UPDATE OF state, update_time ON sessions
    FOR EACH ROW EXECUTE FUNCTION note_session_use();
"""
"""What start-up, lists, limits, metrics and the removal of what is old ask for, in rows of some bytes.

A column of ``sessions`` that follows from the state would have all of that table written anew at once, with
nobody let in. This one is made empty, and the trigger keeps it true whoever writes.
"""


class Batches(NamedTuple):
    """A step that is taken in many transactions, each of a bounded number of rows."""

    statement: str
    """Takes the rows behind the key of a session, and returns the key of the last; nothing at the end."""


_FILL_USES: Final = Batches(f"""
WITH batch AS (
    SELECT app_name, user_id, id, update_time, state FROM sessions
    WHERE (app_name, user_id, id) > ($1, $2, $3)
    ORDER BY app_name, user_id, id LIMIT 1000 FOR KEY SHARE
), put AS (
    INSERT INTO session_uses SELECT used.* FROM batch CROSS JOIN LATERAL ({_use_of("batch")}) AS used
    WHERE (
        SELECT true FROM session_uses u
        WHERE (u.app_name, u.user_id, u.id) = (batch.app_name, batch.user_id, batch.id)
    ) IS NULL ON CONFLICT DO NOTHING
)
SELECT app_name, user_id, id FROM batch ORDER BY app_name DESC, user_id DESC, id DESC LIMIT 1
""")
"""A session that is deleted meanwhile waits for the batch, which else would refer to what is gone."""
_NO_REASON: Final = """
DROP INDEX open_sessions;
ALTER TABLE sessions DROP COLUMN stop_reason;
ANALYZE session_uses;
"""
"""What the fourth step added: ``session_uses`` tells it."""
_FORGOTTEN: Final = """
CREATE TABLE forgotten_sessions (
    app_name text NOT NULL,
    user_id text NOT NULL,
    id text NOT NULL,
    PRIMARY KEY (app_name, user_id, id)
);
"""
"""Sessions that are gone and whose artifacts, which lie elsewhere, may still be there."""
_HOST_PROJECTS: Final = """
CREATE TABLE host_projects (
    project text PRIMARY KEY,
    asked_at double precision NOT NULL DEFAULT 0,
    readers text NOT NULL DEFAULT '[]',
    told_at double precision NOT NULL DEFAULT 0,
    pushed_at double precision NOT NULL DEFAULT 0
);
"""
"""What git hosts say of projects: who reads them, and when one was pushed to."""
STEPS: Final[tuple[str | Batches, ...]] = (
    _SESSIONS,
    _LEASES,
    _DERIVED,
    _USAGE,
    _USES,
    _FILL_USES,
    _NO_REASON,
    _FORGOTTEN,
    _HOST_PROJECTS,
)
"""The first makes version 1 of nothing, and so on; one that was released is never changed."""
_PEOPLE: Final = """
CREATE TABLE people_tokens (
    digest text PRIMARY KEY,
    principal text NOT NULL,
    groups text NOT NULL DEFAULT '[]',
    made_at double precision NOT NULL
);
CREATE TABLE people_revoked (
    principal text PRIMARY KEY,
    revoked_at double precision NOT NULL
);
"""
"""Whom operators let in and turned away; of a token there is its digest alone."""
ADDITIONS: Final[Mapping[str, str]] = MappingProxyType({"people": _PEOPLE})
"""By name, each one transaction. It makes tables and indexes of its own, and changes no table of a step."""
_ONE_AT_A_TIME: Final = 0x5265706F
"""The advisory lock under which one server at a time changes the layout."""
_BEGINNING: Final = ("", "", "")
"""Before every key of a session."""


async def bring_up_to_date(connection: Any, schema: str) -> None:
    """Take the steps that a database lacks; several servers may start at once, and take turns.

    Each step is a transaction, and so is each batch of those that are taken in batches: whoever is cut short
    has others go on where it was, and nobody waits for more than a batch.

    Raises:
        StorageError: a newer version of the program has changed it already.
    """
    begun, after = await _version(connection), _BEGINNING
    version = begun
    while version != len(STEPS):
        async with connection.transaction():
            await connection.execute(f"SELECT pg_advisory_xact_lock({_ONE_AT_A_TIME})")
            await _make_room(connection, schema)
            version = await _version(connection)
            if version > len(STEPS):
                raise StorageError(
                    f"The database has layout {version}, of a newer Repo Navigator than this one, which "
                    f"knows {len(STEPS)}; update this one, or give REPO_NAVIGATOR_STORE another schema."
                )
            if version == len(STEPS):
                break
            step, is_done = STEPS[version], True
            if isinstance(step, str):
                await connection.execute(step)
            elif last := await connection.fetchrow(step.statement, *after):
                after, is_done = tuple(last), False
            if is_done:
                version, after = version + 1, _BEGINNING
                await connection.execute("INSERT INTO layout (version) VALUES ($1)", version)
    if begun != version:
        logger.info("The database was brought from layout %d to layout %d", begun, version)
    for name in await _lacking(connection):
        async with connection.transaction():
            await connection.execute(f"SELECT pg_advisory_xact_lock({_ONE_AT_A_TIME})")
            # A wait for that lock shows a connection no tables that were made meanwhile; this does.
            await connection.execute(_ADDED)
            if name in await _lacking(connection):
                await connection.execute(ADDITIONS[name])
                await connection.execute("INSERT INTO layout_additions (name) VALUES ($1)", name)
                logger.info("The database was given the tables of %s", name)


_ADDED: Final = (
    "CREATE TABLE IF NOT EXISTS layout_additions (name text PRIMARY KEY, "
    "taken_at timestamptz NOT NULL DEFAULT clock_timestamp())"
)


async def _lacking(connection: Any) -> list[str]:
    """Return the additions that a database lacks, in their order."""
    has = set[str]()
    if await connection.fetchval("SELECT to_regclass('layout_additions')") is not None:
        has = {row["name"] for row in await connection.fetch("SELECT name FROM layout_additions")}
    return [name for name in ADDITIONS if name not in has]


async def _make_room(connection: Any, schema: str) -> None:
    """Make the schema and the table of versions where there are none."""
    # "IF NOT EXISTS" asks for the right to make one although it is there.
    if await connection.fetchval("SELECT to_regnamespace($1)", schema) is None:
        await connection.execute(f'CREATE SCHEMA "{schema}"')
    if await connection.fetchval("SELECT to_regclass('layout')") is None:
        await connection.execute(
            "CREATE TABLE layout (version integer PRIMARY KEY, "
            "taken_at timestamptz NOT NULL DEFAULT clock_timestamp())"
        )


async def _version(connection: Any) -> int:
    if await connection.fetchval("SELECT to_regclass('layout')") is None:
        return 0
    return int(await connection.fetchval("SELECT coalesce(max(version), 0) FROM layout"))


class LayoutState(StrEnum):
    """What the tables of a database are to this version of the program."""

    MISSING = "no tables yet; the first server makes them"
    OLDER = "tables of an earlier version; the next server that starts changes them"
    ADDING = "tables of this version but for some that the next server adds; earlier servers may run on"
    CURRENT = "tables of this version"
    NEWER = "tables of a newer version, which this one refuses"


async def look_at(connection: Any) -> LayoutState:
    """Return what the tables are; nothing is made or changed."""
    version = await _version(connection)
    if version == len(STEPS):
        return LayoutState.ADDING if await _lacking(connection) else LayoutState.CURRENT
    if not version:
        return LayoutState.MISSING
    return LayoutState.OLDER if version < len(STEPS) else LayoutState.NEWER
