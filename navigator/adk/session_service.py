"""ADK's sessions in SQLite, by ADK's public interface, in the tables that its own service writes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

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
    StoredSessions,
    merged,
    state_from,
    text_of,
    updated,
    without_temporary,
)
from navigator.database import Database

SCHEMA = """
CREATE TABLE IF NOT EXISTS app_states (
    app_name TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    update_time REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS user_states (
    app_name TEXT NOT NULL,
    user_id TEXT NOT NULL,
    state TEXT NOT NULL,
    update_time REAL NOT NULL,
    PRIMARY KEY (app_name, user_id)
);
CREATE TABLE IF NOT EXISTS sessions (
    app_name TEXT NOT NULL,
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    create_time REAL NOT NULL,
    update_time REAL NOT NULL,
    PRIMARY KEY (app_name, user_id, id)
);
CREATE TABLE IF NOT EXISTS events (
    id TEXT NOT NULL,
    app_name TEXT NOT NULL,
    user_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    invocation_id TEXT NOT NULL,
    timestamp REAL NOT NULL,
    event_data TEXT NOT NULL,
    PRIMARY KEY (app_name, user_id, session_id, id),
    FOREIGN KEY (app_name, user_id, session_id)
        REFERENCES sessions(app_name, user_id, id) ON DELETE CASCADE
);
"""
_ONE = "app_name = ? AND user_id = ? AND id = ?"


class Table(NamedTuple):
    """The rows of a table, and the statement that puts one into it."""

    insert: str
    rows: list[tuple[Any, ...]]


class SqliteSessions(StoredSessions):
    """Sessions in a database, which ADK's own service could open as well, and the other way round.

    ADK's has a connection and a thread for each call, which takes longer than the call, and lets writers
    fight for the database.
    """

    def __init__(self, path: Path | None, stored: Iterable[Table] = ()) -> None:
        """Describe the sessions; their database is opened when it is first used.

        Args:
            path: the database; None keeps it in memory.
            stored: what a database in memory begins with.
        """
        self._database = Database(path, partial(_prepare, stored=tuple(stored)))

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
        """
        now, parts = get_time(), Scopes.of(state or {})

        def create(db: sqlite3.Connection) -> Session:
            name = _known_as(db, app_name, user_id, session_id or "") or new_name
            try:
                db.execute(
                    "INSERT INTO sessions (app_name, user_id, id, state, create_time, update_time) "
                    "VALUES (?, ?, ?, ?, ?, ?)",
                    (app_name, user_id, name, text_of(parts.session), now, now),
                )
            except sqlite3.IntegrityError as error:
                raise AlreadyExistsError(f"Session with id {name} already exists.") from error
            _update_shared(db, app_name, user_id, parts, now)
            return _session(db, (app_name, user_id, name), parts.session, now)

        # What makes ids may be set for this task alone, and the writer's thread is another.
        new_name = "" if (session_id or "").strip() else new_uuid()
        return await self._database.write(create)

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """Return a session with the events that ``config`` asks for, oldest first; None if it is unknown."""

        def get(db: sqlite3.Connection) -> tuple[Session, list[str]] | None:
            name = _known_as(db, app_name, user_id, session_id)
            where = (app_name, user_id, name)
            row = db.execute(f"SELECT state, update_time FROM sessions WHERE {_ONE}", where).fetchone()
            if row is None:
                return None
            session = _session(db, where, state_from(row["state"]), row["update_time"])
            return session, _events(db, where, config or GetSessionConfig())

        found = await self._database.read(get)
        if found is None:
            return None
        session, events = found
        session.events = [Event.model_validate_json(event) for event in events]
        return session

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """Return the sessions of a user, or of all, without their events, the latest changed last."""

        def rows(db: sqlite3.Connection) -> tuple[list[sqlite3.Row], dict[str, Any], dict[str, Any]]:
            whose, where = (
                (" AND user_id = ?", (app_name, user_id)) if user_id is not None else ("", (app_name,))
            )
            found = db.execute(
                f"SELECT id, user_id, state, update_time FROM sessions WHERE app_name = ?{whose} "
                "ORDER BY update_time, user_id, id",
                where,
            ).fetchall()
            users = db.execute(f"SELECT user_id, state FROM user_states WHERE app_name = ?{whose}", where)
            return (
                found,
                _app_state(db, app_name),
                {row["user_id"]: state_from(row["state"]) for row in users},
            )

        found, of_app, of_users = await self._database.read(rows)
        return ListSessionsResponse(
            sessions=[
                Session(
                    app_name=app_name,
                    user_id=row["user_id"],
                    id=row["id"],
                    state=merged(state_from(row["state"]), of_app, of_users.get(row["user_id"], {})),
                    last_update_time=row["update_time"],
                )
                for row in found
            ]
        )

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete a session with its events; nothing where there is none."""

        def delete(db: sqlite3.Connection) -> None:
            name = _known_as(db, app_name, user_id, session_id)
            db.execute(f"DELETE FROM sessions WHERE {_ONE}", (app_name, user_id, name))

        await self._database.write(delete)

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return what all sessions of a user share, without the prefix of its names."""
        return await self._database.read(lambda db: _user_state(db, app_name, user_id))

    async def append_event(self, session: Session, event: Event) -> Event:
        """Store an event and the state that it changes, and put both into ``session``.

        A partial event is not stored; state with the prefix ``temp:`` reaches ``session`` alone.

        Raises:
            StaleSessionError: the stored session has been changed since ``session`` was read.
            SessionNotFoundError: it is gone.
        """
        if event.partial:
            return event
        where = (session.app_name, session.user_id, session.id)
        read_at, timestamp = session.last_update_time, event.timestamp
        stored = without_temporary(event)
        parts = Scopes.of(stored.actions.state_delta)
        row = (event.id, *where, event.invocation_id, timestamp, stored.model_dump_json(exclude_none=True))

        def append(db: sqlite3.Connection) -> None:
            found = db.execute(f"SELECT state, update_time FROM sessions WHERE {_ONE}", where).fetchone()
            if found is None:
                raise SessionNotFoundError(f"Session {where[2]} not found.")
            if found["update_time"] > read_at:
                raise StaleSessionError(f"Session {where[2]} was changed since it was read.")
            _update_shared(db, where[0], where[1], parts, timestamp)
            state = updated(found["state"], parts.session)
            db.execute(
                f"UPDATE sessions SET state = ?, update_time = ? WHERE {_ONE}", (state, timestamp, *where)
            )
            db.execute(
                "INSERT INTO events "
                "(id, app_name, user_id, session_id, invocation_id, timestamp, event_data) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                row,
            )

        await self._database.write(append)
        session.last_update_time = timestamp
        return await super().append_event(session, event)

    @property
    def errors(self) -> int:
        """Calls that the database did not take since it was opened."""
        return self._database.errors

    async def change_beside(self, session: SessionId, name: str, fields: Mapping[str, Any]) -> None:
        """Change fields of a value of a session's state that no agent reads or writes.

        That is no event, and no change of the session as ADK sees it: whoever runs it meanwhile is not stale.
        It outlives the process, but not a loss of power. Nothing happens where the session is gone.
        """

        def change(db: sqlite3.Connection) -> None:
            found = db.execute(f"SELECT state FROM sessions WHERE {_ONE}", session).fetchone()
            if found is not None:
                value = {**(state_from(found["state"]).get(name) or {}), **fields}
                state = updated(found["state"], {name: value})
                db.execute(f"UPDATE sessions SET state = ? WHERE {_ONE}", (state, *session))

        await self._database.write(change, durable=False)

    async def parts_of_states(
        self, paths: Sequence[str], app_name: str, user_id: str | None = None, session_id: str | None = None
    ) -> list[tuple[SessionId, list[Any]]]:
        """Return parts of the states of all sessions, of a user's or of one, by user and id.

        Args:
            paths: where the parts are, as SQLite writes it: ``$.name.field``. None stands for what is not
                there, and for every part of a state that is damaged.
        """
        wanted = ", ".join(f"json_extract(state, '{path}')" for path in paths)
        where = {"app_name": app_name, "user_id": user_id, "id": session_id}
        given = {name: value for name, value in where.items() if value is not None}
        query = (
            f"SELECT app_name, user_id, id, CASE WHEN json_valid(state) THEN json_array({wanted}) END "
            f"FROM sessions WHERE {' AND '.join(f'{name} = ?' for name in given)} ORDER BY user_id, id"
        )
        rows = await self._database.read(lambda db: db.execute(query, tuple(given.values())).fetchall())
        nothing = [None] * len(paths)
        return [(SessionId(*row[:3]), json.loads(row[3]) if row[3] else nothing) for row in rows]

    async def count_open(self, app_name: str) -> int:
        """Return how many sessions of an app tell no reason why they ended."""
        query = (
            "SELECT count(*) FROM sessions WHERE app_name = ? AND json_valid(state) "
            "AND json_extract(state, '$.navigator_run.stop_reason') IS NULL"
        )
        (number,) = await self._database.read(lambda db: db.execute(query, (app_name,)).fetchone())
        return int(number)

    async def close(self) -> None:
        """Close the database; the next call opens it anew."""
        await self._database.close()


def _prepare(db: sqlite3.Connection, stored: tuple[Table, ...]) -> None:
    db.executescript(SCHEMA)
    for table in stored:
        db.executemany(table.insert, table.rows)


def _known_as(db: sqlite3.Connection, app_name: str, user_id: str, session_id: str) -> str:
    """Return an id as it is stored: without the blanks around it, unless it was stored with them."""
    if session_id == session_id.strip():
        return session_id
    where = (app_name, user_id, session_id)
    is_stored = db.execute(f"SELECT 1 FROM sessions WHERE {_ONE}", where).fetchone() is not None
    return session_id if is_stored else session_id.strip()


def _session(
    db: sqlite3.Connection, where: tuple[str, str, str], state: dict[str, Any], changed: float
) -> Session:
    app_name, user_id, name = where
    whole = merged(state, _app_state(db, app_name), _user_state(db, app_name, user_id))
    return Session(app_name=app_name, user_id=user_id, id=name, state=whole, last_update_time=changed)


def _events(db: sqlite3.Connection, where: tuple[str, str, str], config: GetSessionConfig) -> list[str]:
    """Return the events that are asked for as JSON, oldest first; of one moment, as they were appended."""
    if config.num_recent_events == 0:
        return []
    since = "AND timestamp >= ? " if config.after_timestamp else ""
    latest = "LIMIT ?" if config.num_recent_events is not None else ""
    rows = db.execute(
        "SELECT event_data FROM events WHERE app_name = ? AND user_id = ? AND session_id = ? "
        f"{since}ORDER BY timestamp DESC, rowid DESC {latest}",
        (*where, *filter(None, (config.after_timestamp, config.num_recent_events))),
    )
    return [event for (event,) in rows][::-1]


def _update_shared(db: sqlite3.Connection, app_name: str, user_id: str, parts: Scopes, now: float) -> None:
    """Change the state that sessions share."""
    if parts.app:
        state = text_of({**_app_state(db, app_name), **parts.app})
        db.execute(
            "REPLACE INTO app_states (app_name, state, update_time) VALUES (?, ?, ?)", (app_name, state, now)
        )
    if parts.user:
        state = text_of({**_user_state(db, app_name, user_id), **parts.user})
        db.execute(
            "REPLACE INTO user_states (app_name, user_id, state, update_time) VALUES (?, ?, ?, ?)",
            (app_name, user_id, state, now),
        )


def _app_state(db: sqlite3.Connection, app_name: str) -> dict[str, Any]:
    row = db.execute("SELECT state FROM app_states WHERE app_name = ?", (app_name,)).fetchone()
    return state_from(row["state"]) if row else {}


def _user_state(db: sqlite3.Connection, app_name: str, user_id: str) -> dict[str, Any]:
    where = (app_name, user_id)
    row = db.execute("SELECT state FROM user_states WHERE app_name = ? AND user_id = ?", where).fetchone()
    return state_from(row["state"]) if row else {}
