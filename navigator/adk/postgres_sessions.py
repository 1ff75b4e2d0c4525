"""ADK's sessions in PostgreSQL, by ADK's public interface; what they answer is what they answer in SQLite.

ADK's own service can't be used: its ``jsonb`` refuses texts with U+0000, its errors repeat the state that
they were about, its shared states have the time of whatever zone the connection is in, and no write of it can
be bound to a lease.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

import asyncpg
from google.adk.errors import StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events import Event
from google.adk.platform.time import get_time
from google.adk.platform.uuid import new_uuid
from google.adk.sessions import Session
from google.adk.sessions.base_session_service import GetSessionConfig, ListSessionsResponse

from navigator.adk.session_values import (
    Scopes,
    SessionId,
    SessionUse,
    StoredSessions,
    merged,
    state_from,
    text_of,
    without_temporary,
)
from navigator.stores.postgres.database import PostgresDatabase
from navigator.stores.postgres.json_text import as_said, as_stored
from navigator.stores.postgres.leases import is_latest

_ONE = "app_name = $1 AND user_id = $2 AND id = $3"
_SHARED = (
    "(SELECT state FROM app_states a WHERE a.app_name = $1) AS of_app, "
    "(SELECT state FROM user_states u WHERE u.app_name = $1 AND u.user_id = $2) AS of_user"
)


class PostgresSessions(StoredSessions):
    """Sessions in a database that several servers share."""

    def __init__(
        self, database: PostgresDatabase, token: Callable[[str], int | None] = lambda _session: None
    ) -> None:
        """Keep sessions in ``database``.

        Args:
            token: returns the token of the lease under which this process may change a session, by its id;
                None where nobody asks for one.
        """
        self._database = database
        self._token = token

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Create a session.

        Raises:
            AlreadyExistsError: there is one of that id.
            StorageError: the database can't be used.
        """
        now, parts = get_time(), Scopes.of(state or {})
        new_name = "" if (session_id or "").strip() else new_uuid()
        kept, tries = _text_of(parts.session), count()

        async def create(db: Any) -> Session:
            is_first = next(tries) == 0
            name = await _known_as(db, app_name, user_id, session_id or "") or new_name
            where = (app_name, user_id, name)
            made = await db.fetchval(
                "INSERT INTO sessions (app_name, user_id, id, state, create_time, update_time) "
                "VALUES ($1, $2, $3, $4, $5, $5) ON CONFLICT DO NOTHING RETURNING true",
                *where,
                kept,
                now,
            )
            if not made and (is_first or await _is_another(db, where, kept, now)):
                raise AlreadyExistsError(f"Session with id {name} already exists.")
            await _update_shared(db, app_name, user_id, parts, now)
            row = await db.fetchrow(f"SELECT {_SHARED}", app_name, user_id)
            return _session(where, parts.session, now, row)

        return await self._database.act(create)

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """Return a session with the events that ``config`` asks for, oldest first; None if it is unknown."""

        async def get(db: Any) -> tuple[Session, list[str]] | None:
            name = await _known_as(db, app_name, user_id, session_id)
            where = (app_name, user_id, name)
            row = await db.fetchrow(
                f"SELECT state, update_time, {_SHARED} FROM sessions WHERE {_ONE}", *where
            )
            if row is None:
                return None
            session = _session(where, _state(row["state"]), row["update_time"], row)
            return session, await _events(db, where, config or GetSessionConfig())

        found = await self._database.act(get, is_read=True)
        if found is None:
            return None
        session, events = found
        session.events = [Event.model_validate_json(event) for event in events]
        return session

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """Return the sessions of a user, or of all, without their events, the latest changed last."""

        async def rows(db: Any) -> list[Any]:
            found: list[Any] = await db.fetch(
                "SELECT s.id, s.user_id, s.state, s.update_time, u.state AS of_user, "
                "(SELECT state FROM app_states a WHERE a.app_name = $1) AS of_app "
                "FROM sessions s LEFT JOIN user_states u USING (app_name, user_id) "
                "WHERE s.app_name = $1 AND ($2::text IS NULL OR s.user_id = $2) "
                'ORDER BY s.update_time, s.user_id COLLATE "C", s.id COLLATE "C"',
                app_name,
                user_id,
            )
            return found

        return ListSessionsResponse(
            sessions=[
                _session((app_name, row["user_id"], row["id"]), _state(row["state"]), row["update_time"], row)
                for row in await self._database.act(rows, is_read=True)
            ]
        )

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete a session with its events; nothing where there is none."""

        async def delete(db: Any) -> None:
            name = await _known_as(db, app_name, user_id, session_id)
            await db.execute(f"DELETE FROM sessions WHERE {_ONE}", app_name, user_id, name)

        await self._database.act(delete)

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return what all sessions of a user share, without the prefix of its names."""

        async def get(db: Any) -> str | None:
            query = "SELECT state FROM user_states WHERE app_name = $1 AND user_id = $2"
            found: str | None = await db.fetchval(query, app_name, user_id)
            return found

        text = await self._database.act(get, is_read=True)
        return _state(text or "{}")

    async def append_event(self, session: Session, event: Event) -> Event:
        """Store an event and the state that it changes, and put both into ``session``.

        A partial event is not stored; state with the prefix ``temp:`` reaches ``session`` alone.

        Raises:
            StaleSessionError: the stored session has been changed since ``session`` was read, or another
                server has taken it over.
            SessionNotFoundError: it is gone.
            AlreadyExistsError: there is an event of that id, and it is another.
            StorageError: the database can't be used.
        """
        if event.partial:
            return event
        where = (session.app_name, session.user_id, session.id)
        read_at, token = session.last_update_time, self._token(session.id)
        stored, tries = without_temporary(event), count()

        async def append(db: Any) -> None:
            # Once more because a connection was cut: the first time may have stored it.
            if next(tries) and await _holds_event(db, where, event.id):
                return
            await _require_latest(db, session.id, token)
            await _append(db, where, stored, read_at)

        await self._database.act(append)
        session.last_update_time = event.timestamp
        return await super().append_event(session, event)

    @property
    def errors(self) -> int:
        """Calls that the database did not take since it was opened."""
        return self._database.errors

    async def change_beside(self, session: SessionId, name: str, fields: Mapping[str, Any]) -> None:
        """Change fields of a value of a session's state that no agent reads or writes."""

        async def change(db: Any) -> None:
            text = await db.fetchval(f"SELECT state FROM sessions WHERE {_ONE} FOR UPDATE", *session)
            if text is not None:
                value = {**(_state(text).get(name) or {}), **fields}
                state = _updated(text, {name: value})
                await db.execute(f"UPDATE sessions SET state = $4 WHERE {_ONE}", *session, state)

        await self._database.act(change)

    async def parts_of_state(self, paths: Sequence[str], session: SessionId) -> list[Any] | None:
        """Return parts of the state of a session, None where there is none."""
        wanted = ", ".join(f"state #> '{{{path.removeprefix('$.').replace('.', ',')}}}'" for path in paths)
        query = f"SELECT json_build_array({wanted}) FROM sessions WHERE {_ONE}"
        found = await self._value(query, *session)
        return None if found is None else list(json.loads(as_said(found)))

    async def states(
        self, app_name: str, user_id: str, ids: Sequence[str]
    ) -> dict[str, tuple[dict[str, Any], float]]:
        """Return the states of some of a user's sessions and the times of their latest change, by id."""

        async def read(db: Any) -> list[Any]:
            query = "SELECT id, state, update_time FROM sessions WHERE app_name = $1 AND user_id = $2"
            found: list[Any] = await db.fetch(
                f"{query} AND id = ANY($3::text[])", app_name, user_id, list(ids)
            )
            return found

        rows = await self._database.act(read, is_read=True)
        return {row["id"]: (_state(row["state"]), row["update_time"]) for row in rows}

    async def uses(self, app_name: str, user_id: str | None = None) -> list[SessionUse]:
        """Return what is told of a user's sessions, or of all, by user and id."""
        whose, where = ("", (app_name,)) if user_id is None else (" AND user_id = $2", (app_name, user_id))
        return await self._uses(f'app_name = $1{whose} ORDER BY user_id COLLATE "C", id COLLATE "C"', *where)

    async def latest_use(self, app_name: str) -> float | None:
        """Return when something of any session was handed out last."""
        found = await self._value("SELECT max(used_at) FROM session_uses WHERE app_name = $1", app_name)
        return None if found is None else float(found)

    async def unused_since(
        self, app_name: str, before: float, most: int, after: SessionUse | None = None
    ) -> list[SessionUse]:
        """Return sessions of which something was handed out, and nothing since ``before``."""
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
        """Return how many sessions of an app tell no reason why they ended."""
        query = "SELECT count(*) FROM session_uses WHERE app_name = $1 AND is_open"
        return int(await self._value(query, app_name))

    async def forget(self, session: SessionId) -> None:
        """Delete a session with its events, and note that its artifacts are yet to be deleted."""
        token = self._token(session.id)

        async def forget(db: Any) -> None:
            await _require_latest(db, session.id, token)
            await db.execute(
                f"WITH gone AS (DELETE FROM sessions WHERE {_ONE} RETURNING app_name, user_id, id) "
                "INSERT INTO forgotten_sessions SELECT * FROM gone ON CONFLICT DO NOTHING",
                *session,
            )

        await self._database.act(forget)

    async def forgotten(self, app_name: str, most: int) -> list[SessionId]:
        """Return sessions that were forgotten and whose artifacts may still be there, ``most`` at most."""

        async def read(db: Any) -> list[Any]:
            query = "SELECT app_name, user_id, id FROM forgotten_sessions WHERE app_name = $1"
            found: list[Any] = await db.fetch(f"{query} ORDER BY user_id, id LIMIT $2", app_name, most)
            return found

        return [SessionId(*row) for row in await self._database.act(read, is_read=True)]

    async def note_deleted(self, session: SessionId) -> None:
        """Note that a forgotten session has no artifacts any more."""

        async def note(db: Any) -> None:
            await db.execute(f"DELETE FROM forgotten_sessions WHERE {_ONE}", *session)

        await self._database.act(note)

    async def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        await self._database.close()

    async def _value(self, query: str, *where: Any) -> Any:
        async def read(db: Any) -> Any:
            return await db.fetchval(query, *where)

        return await self._database.act(read, is_read=True)

    async def _uses(self, condition: str, *where: Any) -> list[SessionUse]:
        async def read(db: Any) -> list[Any]:
            query = "SELECT app_name, user_id, id, changed_at, used_at, is_open FROM session_uses"
            found: list[Any] = await db.fetch(f"{query} WHERE {condition}", *where)
            return found

        rows = await self._database.act(read, is_read=True)
        return [SessionUse(SessionId(*row[:3]), *row[3:]) for row in rows]


async def _require_latest(db: Any, session_id: str, token: int | None) -> None:
    """Refuse what a server writes whose lease another has taken over."""
    if token is not None and not await is_latest(db, session_id, token):
        raise StaleSessionError(f"Session {session_id} was taken over by another server.")


def _state(text: str) -> dict[str, Any]:
    return state_from(as_said(text))


def _text_of(state: Mapping[str, Any]) -> str:
    return as_stored(text_of(state))


def _updated(text: str, delta: Mapping[str, Any]) -> str:
    return _text_of({**_state(text), **delta}) if delta else text


async def _append(db: Any, where: tuple[str, str, str], event: Event, read_at: float) -> None:
    found = await db.fetchrow(f"SELECT state, update_time FROM sessions WHERE {_ONE} FOR UPDATE", *where)
    if found is None:
        raise SessionNotFoundError(f"Session {where[2]} not found.")
    # By the clocks of several machines a later change may have an earlier time.
    if found["update_time"] != read_at:
        raise StaleSessionError(f"Session {where[2]} was changed since it was read.")
    parts = Scopes.of(event.actions.state_delta)
    await _update_shared(db, where[0], where[1], parts, event.timestamp)
    state = _updated(found["state"], parts.session)
    await db.execute(
        f"UPDATE sessions SET state = $4, update_time = $5 WHERE {_ONE}", *where, state, event.timestamp
    )
    try:
        await db.execute(
            "INSERT INTO events (app_name, user_id, session_id, id, invocation_id, timestamp, event_data) "
            "VALUES ($1, $2, $3, $4, $5, $6, $7)",
            *where,
            event.id,
            event.invocation_id,
            event.timestamp,
            event.model_dump_json(exclude_none=True),
        )
    except asyncpg.UniqueViolationError as error:
        raise AlreadyExistsError(f"Event with id {event.id} already exists.") from error


async def _holds_event(db: Any, where: tuple[str, str, str], name: str) -> bool:
    query = "SELECT true FROM events WHERE app_name = $1 AND user_id = $2 AND session_id = $3 AND id = $4"
    return bool(await db.fetchval(query, *where, name))


async def _is_another(db: Any, where: tuple[str, str, str], kept: str, created: float) -> bool:
    """Tell whether a session is another than the one that a cut connection may have made."""
    row = await db.fetchrow(f"SELECT state, create_time, update_time FROM sessions WHERE {_ONE}", *where)
    return row is None or (row["state"], row["create_time"], row["update_time"]) != (kept, created, created)


async def _known_as(db: Any, app_name: str, user_id: str, session_id: str) -> str:
    """Return an id as it is stored: without the blanks around it, unless it was stored with them."""
    if session_id == session_id.strip():
        return session_id
    query = f"SELECT true FROM sessions WHERE {_ONE}"
    return session_id if await db.fetchval(query, app_name, user_id, session_id) else session_id.strip()


def _session(where: tuple[str, str, str], state: dict[str, Any], changed: float, row: Any) -> Session:
    app_name, user_id, name = where
    whole = merged(state, _state(row["of_app"] or "{}"), _state(row["of_user"] or "{}"))
    return Session(app_name=app_name, user_id=user_id, id=name, state=whole, last_update_time=changed)


async def _events(db: Any, where: tuple[str, str, str], config: GetSessionConfig) -> list[str]:
    """Return the events that are asked for as JSON, oldest first; of one moment, as they were appended."""
    if config.num_recent_events == 0:
        return []
    rows = await db.fetch(
        "SELECT event_data FROM events WHERE app_name = $1 AND user_id = $2 AND session_id = $3 "
        "AND ($4::double precision IS NULL OR timestamp >= $4) "
        "ORDER BY timestamp DESC, position DESC LIMIT $5",
        *where,
        config.after_timestamp or None,
        config.num_recent_events,
    )
    return [row["event_data"] for row in rows][::-1]


async def _update_shared(db: Any, app_name: str, user_id: str, parts: Scopes, now: float) -> None:
    """Change the state that sessions share."""
    if parts.app:
        await db.execute("INSERT INTO app_states VALUES ($1, '{}', $2) ON CONFLICT DO NOTHING", app_name, now)
        query = "SELECT state FROM app_states WHERE app_name = $1 FOR UPDATE"
        state = _updated(await db.fetchval(query, app_name), parts.app)
        query = "UPDATE app_states SET state = $2, update_time = $3 WHERE app_name = $1"
        await db.execute(query, app_name, state, now)
    if parts.user:
        where = (app_name, user_id)
        await db.execute(
            "INSERT INTO user_states VALUES ($1, $2, '{}', $3) ON CONFLICT DO NOTHING", *where, now
        )
        query = "SELECT state FROM user_states WHERE app_name = $1 AND user_id = $2 FOR UPDATE"
        state = _updated(await db.fetchval(query, *where), parts.user)
        query = "UPDATE user_states SET state = $3, update_time = $4 WHERE app_name = $1 AND user_id = $2"
        await db.execute(query, *where, state, now)
