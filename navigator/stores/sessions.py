"""Sessions in SQLite or PostgreSQL: a state each, which events change, in the tables of ADK's own services.

ADK reads and writes them by ``navigator.adk.session_service``; a navigation that no model decides needs none
of it. ADK's own services are not used. That for SQLite has a connection and a thread for each call, which
takes longer than the call, and lets writers fight for the database; each opens the other's file. That for
PostgreSQL refuses texts with U+0000 in its ``jsonb``, repeats in its errors the state that they were about,
gives shared states the time of whatever zone the connection is in, and can bind no write to a lease.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import count
from typing import Any

from navigator.stores.session_values import (
    NewEvent,
    Scopes,
    SessionId,
    SessionUse,
    StoredSession,
    merged,
    state_from,
    text_of,
)
from navigator.stores.sql import SqlConnection, SqlDatabase

Claim = Callable[[str], Callable[[SqlConnection], Awaitable[bool]] | None]
"""From a session's id to what tells, within a transaction, whether this process may still change it.

None where nobody asks.
"""
_ONE = "app_name = $1 AND user_id = $2 AND id = $3"
_SHARED = (
    "(SELECT state FROM app_states a WHERE a.app_name = $1) AS of_app, "
    "(SELECT state FROM user_states u WHERE u.app_name = $1 AND u.user_id = $2) AS of_user"
)
_ALL = 2**62
"""More events than any session has."""


class StaleSessionError(Exception):
    """A session has been changed since it was read, or another server has taken it over."""


class SessionGoneError(Exception):
    """There is no session of that id."""


class IdTakenError(Exception):
    """There is another session, or another event of the session, of that id."""


class SessionStore:
    """Sessions, and the little that the navigator asks of its store besides.

    Every call raises what its database raises where it can't be used.
    """

    def __init__(self, database: SqlDatabase, claim: Claim = lambda _session: None) -> None:
        """Keep sessions in ``database``; with a ``claim``, only what is claimed still is changed."""
        self._database = database
        self._dialect = database.dialect
        self._claim = claim

    async def create(
        self, wanted: SessionId, state: Mapping[str, Any], at: float | None = None
    ) -> StoredSession:
        """Create a session.

        Args:
            wanted: what it is to be called; blanks around its id are no part of it.
            state: what it begins with.
            at: when it is created, in seconds since the epoch; now by default.

        Raises:
            IdTakenError: there is one of that id.
        """
        now, parts = time.time() if at is None else at, Scopes.of(state)
        kept, tries = self._text_of(parts.session), count()

        async def create(db: SqlConnection) -> StoredSession:
            is_first = next(tries) == 0
            where = await _known_as(db, wanted)
            made = await db.fetchval(
                "INSERT INTO sessions (app_name, user_id, id, state, create_time, update_time) "
                "VALUES ($1, $2, $3, $4, $5, $5) ON CONFLICT DO NOTHING RETURNING true",
                *where,
                kept,
                now,
            )
            if not made and (is_first or await _is_another(db, where, kept, now)):
                raise IdTakenError(f"Session with id {where.id} already exists.")
            await self._update_shared(db, where, parts, now)
            row = await db.fetchrow(f"SELECT {_SHARED}", where.app_name, where.user_id)
            return self._session(where, parts.session, now, row)

        return await self._database.act(create)

    async def get(
        self, wanted: SessionId, events: int | None = 0, after: float | None = None
    ) -> tuple[StoredSession, list[str]] | None:
        """Return a session, None if it is unknown, with its latest events as JSON, the oldest first.

        Args:
            wanted: what it is called.
            events: how many at most; None for all.
            after: none before this time, in seconds since the epoch.
        """

        async def get(db: SqlConnection) -> tuple[StoredSession, list[str]] | None:
            where = await _known_as(db, wanted)
            row = await db.fetchrow(
                f"SELECT state, update_time, {_SHARED} FROM sessions WHERE {_ONE}", *where
            )
            if row is None:
                return None
            session = self._session(where, self._state(row["state"]), row["update_time"], row)
            return session, await self._events(db, where, events, after)

        return await self._database.act(get, is_read=True)

    async def all(self, app_name: str, user_id: str | None = None) -> list[StoredSession]:
        """Return the sessions of a user, or of all, the latest changed last."""
        by_bytes = self._dialect.by_bytes
        whose, where = _of(app_name, user_id, "s.")
        rows = await self._rows(
            "SELECT s.id, s.user_id, s.state, s.update_time, u.state AS of_user, "
            "(SELECT state FROM app_states a WHERE a.app_name = $1) AS of_app "
            "FROM sessions s LEFT JOIN user_states u ON (u.app_name, u.user_id) = (s.app_name, s.user_id) "
            f"WHERE {whose} ORDER BY s.update_time, s.user_id{by_bytes}, s.id{by_bytes}",
            *where,
        )
        return [
            self._session(
                SessionId(app_name, row["user_id"], row["id"]),
                self._state(row["state"]),
                row["update_time"],
                row,
            )
            for row in rows
        ]

    async def delete(self, wanted: SessionId) -> None:
        """Delete a session with its events; nothing where there is none."""

        async def delete(db: SqlConnection) -> None:
            await db.execute(f"DELETE FROM sessions WHERE {_ONE}", *await _known_as(db, wanted))

        await self._database.act(delete)

    async def user_state(self, app_name: str, user_id: str) -> dict[str, Any]:
        """Return what all sessions of a user share, without the prefix of its names."""
        query = "SELECT state FROM user_states WHERE app_name = $1 AND user_id = $2"
        return self._state(await self._value(query, app_name, user_id))

    async def append(self, session: StoredSession, event: NewEvent) -> StoredSession:
        """Store an event and the state that it changes, and return the session as it is then.

        Raises:
            StaleSessionError: the stored session has been changed since ``session`` was read, or another
                server has taken it over.
            SessionGoneError: it is gone.
            IdTakenError: there is an event of that id, and it is another.
        """
        where, claimed = session.named, self._claim(session.named.id)
        parts, tries = Scopes.of(event.delta), count()

        async def append(db: SqlConnection) -> None:
            # Once more because a connection was cut: the first time may have stored it.
            if next(tries) and await _holds_event(db, where, event.id):
                return
            await _require_claim(db, where.id, claimed)
            found = await self._row_to_change(db, where)
            if found is None:
                raise SessionGoneError(f"Session {where.id} not found.")
            if self._dialect.is_stale(found["update_time"], session.changed_at):
                raise StaleSessionError(f"Session {where.id} was changed since it was read.")
            await self._update_shared(db, where, parts, event.timestamp)
            state = self._updated(found["state"], parts.session)
            query = f"UPDATE sessions SET state = $4, update_time = $5 WHERE {_ONE}"
            await db.execute(query, *where, state, event.timestamp)
            await self._insert(db, where, event)

        await self._database.act(append)
        return StoredSession(where, {**session.state, **event.delta}, event.timestamp)

    @property
    def errors(self) -> int:
        """Calls that the database did not take since it was opened."""
        return self._database.errors

    async def change_beside(self, session: SessionId, name: str, fields: Mapping[str, Any]) -> None:
        """Change fields of a value of a session's state that no agent reads or writes.

        That is no event, and no change of the session as ADK sees it: whoever runs it meanwhile is not stale.
        Nothing happens where the session is gone.
        """

        async def change(db: SqlConnection) -> None:
            found = await self._row_to_change(db, session)
            if found is not None:
                value = {**(self._state(found["state"]).get(name) or {}), **fields}
                state = self._updated(found["state"], {name: value})
                await db.execute(f"UPDATE sessions SET state = $4 WHERE {_ONE}", *session, state)

        await self._database.act(change, durable=False)

    async def parts_of_state(self, paths: Sequence[str], session: SessionId) -> list[Any] | None:
        """Return parts of the state of a session, None where there is none.

        Args:
            paths: where the parts are: ``name.field``. None stands for what is not there, and for every part
                of a state that is damaged.
            session: the session.
        """
        query = f"SELECT {self._dialect.parts(paths)} AS parts FROM sessions WHERE {_ONE}"
        rows = await self._rows(query, *session)
        if not rows:
            return None
        text = rows[0]["parts"]
        return [None] * len(paths) if text is None else list(json.loads(self._dialect.as_written(text)))

    async def states(
        self, app_name: str, user_id: str, ids: Sequence[str]
    ) -> dict[str, tuple[dict[str, Any], float]]:
        """Return the states of some of a user's sessions and the times of their latest change, by id.

        What sessions share is not in them. Left out are sessions that are not there.

        Raises:
            ValueError: one of them is damaged.
        """
        if not ids:
            return {}
        wanted = ", ".join(f"${number}" for number, _ in enumerate(ids, start=3))
        rows = await self._rows(
            "SELECT id, state, update_time FROM sessions "
            f"WHERE app_name = $1 AND user_id = $2 AND id IN ({wanted})",
            app_name,
            user_id,
            *ids,
        )
        return {row["id"]: (self._state(row["state"]), row["update_time"]) for row in rows}

    async def uses(self, app_name: str, user_id: str | None = None) -> list[SessionUse]:
        """Return how a user's sessions, or all, are used, by user and id; none whose state is damaged."""
        by_bytes = self._dialect.by_bytes
        whose, where = _of(app_name, user_id)
        return await self._uses(f"{whose} ORDER BY user_id{by_bytes}, id{by_bytes}", *where)

    async def latest_use(self, app_name: str) -> float | None:
        """Return when something of any session was handed out last."""
        await self._database.complete()
        found = await self._value("SELECT max(used_at) FROM session_uses WHERE app_name = $1", app_name)
        return None if found is None else float(found)

    async def unused_since(
        self, app_name: str, before: float, most: int, after: SessionUse | None = None
    ) -> list[SessionUse]:
        """Return sessions of which something was handed out, and nothing since ``before``.

        Args:
            app_name: the app.
            before: in seconds since the epoch.
            most: how many are returned at most, those used least lately first.
            after: the last one of an earlier answer, which this one goes on from.
        """
        last = (float("-inf"), "", "") if after is None else (after.used_at, *after.session[1:])
        return await self._uses(
            "app_name = $1 AND used_at < $2 AND (used_at, user_id, id) > ($4, $5, $6) "
            "ORDER BY used_at, user_id, id LIMIT $3",
            app_name,
            before,
            most,
            *last,
        )

    async def count_open(self, app_name: str) -> int:
        """Return how many sessions of an app give no reason why they ended."""
        await self._database.complete()
        query = "SELECT count(*) FROM session_uses WHERE app_name = $1 AND is_open"
        return int(await self._value(query, app_name))

    async def forget(self, session: SessionId) -> None:
        """Delete a session with its events, and note that its artifacts are to follow: both or neither.

        Raises:
            StaleSessionError: another server has taken the session over.
        """
        claimed = self._claim(session.id)

        async def forget(db: SqlConnection) -> None:
            await _require_claim(db, session.id, claimed)
            if await db.fetchval(f"DELETE FROM sessions WHERE {_ONE} RETURNING true", *session):
                query = "INSERT INTO forgotten_sessions VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
                await db.execute(query, *session)

        await self._database.act(forget)

    async def forgotten(self, app_name: str, most: int) -> list[SessionId]:
        """Return sessions that were forgotten and whose artifacts may still be there, ``most`` at most."""
        query = "SELECT app_name, user_id, id FROM forgotten_sessions WHERE app_name = $1"
        rows = await self._rows(f"{query} ORDER BY user_id, id LIMIT $2", app_name, most)
        return [SessionId(*row) for row in rows]

    async def note_deleted(self, session: SessionId) -> None:
        """Note that a forgotten session has no artifacts any more."""

        async def note(db: SqlConnection) -> None:
            await db.execute(f"DELETE FROM forgotten_sessions WHERE {_ONE}", *session)

        await self._database.act(note, durable=False)

    async def close(self) -> None:
        """Close what is open; the next call opens it anew."""
        await self._database.close()

    async def _rows(self, query: str, *values: Any) -> list[Any]:
        async def read(db: SqlConnection) -> list[Any]:
            return await db.fetch(query, *values)

        return await self._database.act(read, is_read=True)

    async def _value(self, query: str, *values: Any) -> Any:
        rows = await self._rows(query, *values)
        return rows[0][0] if rows else None

    async def _uses(self, condition: str, *values: Any) -> list[SessionUse]:
        await self._database.complete()
        query = "SELECT app_name, user_id, id, changed_at, used_at, is_open FROM session_uses"
        rows = await self._rows(f"{query} WHERE {condition}", *values)
        return [SessionUse(SessionId(*row[:3]), row[3], row[4], bool(row[5])) for row in rows]

    def _session(self, where: SessionId, state: dict[str, Any], changed: float, shared: Any) -> StoredSession:
        whole = merged(state, self._state(shared["of_app"]), self._state(shared["of_user"]))
        return StoredSession(where, whole, changed)

    def _state(self, text: str | None) -> dict[str, Any]:
        return {} if text is None else state_from(self._dialect.as_written(text))

    def _text_of(self, state: Mapping[str, Any]) -> str:
        return self._dialect.as_stored(text_of(state))

    def _updated(self, text: str, delta: Mapping[str, Any]) -> str:
        return self._text_of({**self._state(text), **delta}) if delta else text

    async def _row_to_change(self, db: SqlConnection, session: SessionId) -> Any:
        query = f"SELECT state, update_time FROM sessions WHERE {_ONE}{self._dialect.for_update}"
        return await db.fetchrow(query, *session)

    async def _events(
        self, db: SqlConnection, where: SessionId, most: int | None, after: float | None
    ) -> list[str]:
        """Return the latest events as JSON, oldest first, those of one moment as appended."""
        if most == 0:
            return []
        rows = await db.fetch(
            "SELECT event_data FROM events WHERE app_name = $1 AND user_id = $2 AND session_id = $3 "
            f"AND timestamp >= $4 ORDER BY timestamp DESC, {self._dialect.event_order} DESC LIMIT $5",
            *where,
            after or float("-inf"),
            _ALL if most is None else most,
        )
        return [row["event_data"] for row in rows][::-1]

    async def _insert(self, db: SqlConnection, where: SessionId, event: NewEvent) -> None:
        try:
            await db.execute(
                "INSERT INTO events "
                "(app_name, user_id, session_id, id, invocation_id, timestamp, event_data) "
                "VALUES ($1, $2, $3, $4, $5, $6, $7)",
                *where,
                event.id,
                event.invocation_id,
                event.timestamp,
                event.text,
            )
        except self._dialect.duplicate_event as error:
            raise IdTakenError(f"Event with id {event.id} already exists.") from error

    async def _update_shared(self, db: SqlConnection, where: SessionId, parts: Scopes, now: float) -> None:
        """Change the state that sessions share."""
        for table, keys, delta in (
            ("app_states", {"app_name": where.app_name}, parts.app),
            ("user_states", {"app_name": where.app_name, "user_id": where.user_id}, parts.user),
        ):
            if not delta:
                continue
            values, [state, time] = keys.values(), [f"${len(keys) + 1}", f"${len(keys) + 2}"]
            one = " AND ".join(f"{key} = ${number}" for number, key in enumerate(keys, start=1))
            places = ", ".join(f"${number}" for number, _ in enumerate(keys, start=1))
            insert = f"INSERT INTO {table} VALUES ({places}, '{{}}', {state}) ON CONFLICT DO NOTHING"
            await db.execute(insert, *values, now)
            query = f"SELECT state FROM {table} WHERE {one}{self._dialect.for_update}"
            text = self._updated(await db.fetchval(query, *values), delta)
            update = f"UPDATE {table} SET state = {state}, update_time = {time} WHERE {one}"
            await db.execute(update, *values, text, now)


def _of(app_name: str, user_id: str | None, table: str = "") -> tuple[str, tuple[str, ...]]:
    """Return the condition of rows of a user, or of all, and its values."""
    if user_id is None:
        return f"{table}app_name = $1", (app_name,)
    return f"{table}app_name = $1 AND {table}user_id = $2", (app_name, user_id)


async def _known_as(db: SqlConnection, wanted: SessionId) -> SessionId:
    """Return an id as it is stored: without the blanks around it, unless it was stored with them."""
    bare = wanted._replace(id=wanted.id.strip())
    if bare == wanted:
        return wanted
    return wanted if await db.fetchval(f"SELECT true FROM sessions WHERE {_ONE}", *wanted) else bare


async def _require_claim(
    db: SqlConnection, session_id: str, claimed: Callable[[SqlConnection], Awaitable[bool]] | None
) -> None:
    """Refuse what a server writes whose lease another has taken over."""
    if claimed is not None and not await claimed(db):
        raise StaleSessionError(f"Session {session_id} was taken over by another server.")


async def _holds_event(db: SqlConnection, where: SessionId, name: str) -> bool:
    query = "SELECT true FROM events WHERE app_name = $1 AND user_id = $2 AND session_id = $3 AND id = $4"
    return bool(await db.fetchval(query, *where, name))


async def _is_another(db: SqlConnection, where: SessionId, kept: str, created: float) -> bool:
    """Tell whether a session is another than the one that a cut connection may have made."""
    row = await db.fetchrow(f"SELECT state, create_time, update_time FROM sessions WHERE {_ONE}", *where)
    return row is None or (row["state"], row["create_time"], row["update_time"]) != (kept, created, created)
