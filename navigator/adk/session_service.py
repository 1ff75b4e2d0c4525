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
    SessionUse,
    StoredSessions,
    merged,
    state_from,
    text_of,
    updated,
    without_temporary,
)
from navigator.stores.database import Database

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


def _use_of(row: str) -> str:
    """Return the columns of ``session_uses`` for a row of ``sessions`` whose state is no damaged one."""
    used_at = f"{row}.state, '$.navigator_delivery.used_at'"
    return (
        f"{row}.app_name, {row}.user_id, {row}.id, {row}.update_time, "
        f"CASE WHEN json_type({used_at}) IN ('integer', 'real') THEN json_extract({used_at}) END, "
        f"json_extract({row}.state, '$.navigator_run.stop_reason') IS NULL"
    )


_NOTE = f"""
    INSERT INTO session_uses SELECT {_use_of("NEW")} WHERE json_valid(NEW.state)
    ON CONFLICT (app_name, user_id, id) DO UPDATE SET
        changed_at = excluded.changed_at, used_at = excluded.used_at, is_open = excluded.is_open;
"""
_OLD = "(app_name, user_id, id) = (OLD.app_name, OLD.user_id, OLD.id)"
USES = f"""
CREATE TABLE IF NOT EXISTS session_uses (
    app_name TEXT NOT NULL,
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    changed_at REAL NOT NULL,
    used_at REAL,
    is_open INTEGER NOT NULL,
    PRIMARY KEY (app_name, user_id, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS session_uses_by_time ON session_uses (app_name, used_at, user_id, id);
CREATE INDEX IF NOT EXISTS session_uses_open ON session_uses (app_name) WHERE is_open;
CREATE TRIGGER IF NOT EXISTS session_use_made AFTER INSERT ON sessions BEGIN {_NOTE} END;
CREATE TRIGGER IF NOT EXISTS session_use_changed AFTER UPDATE OF state, update_time ON sessions BEGIN
    DELETE FROM session_uses WHERE {_OLD} AND NOT json_valid(NEW.state);
    {_NOTE}
END;
CREATE TABLE IF NOT EXISTS forgotten_sessions (
    app_name TEXT NOT NULL,
    user_id TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (app_name, user_id, id)
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS session_use_gone AFTER DELETE ON sessions BEGIN
    DELETE FROM session_uses WHERE {_OLD};
END;
"""
"""What start-up, lists, limits, metrics and the removal of what is old ask for, in rows of some bytes.

Triggers keep it true whoever writes: an older version of the program, or ADK's own service.
"""
_FILLED = 1
"""``user_version`` of a database whose sessions all have their row in ``session_uses``."""
_BATCH = 500
"""Sessions whose rows are filled in at once: other writers wait for no more than these."""
_LAST_OF_BATCH = f"""
SELECT * FROM (
    SELECT app_name, user_id, id FROM sessions WHERE (app_name, user_id, id) > (?, ?, ?)
    ORDER BY app_name, user_id, id LIMIT {_BATCH}
) ORDER BY app_name DESC, user_id DESC, id DESC LIMIT 1
"""
_FILL = f"""
INSERT OR IGNORE INTO session_uses SELECT {_use_of("s")} FROM sessions s
WHERE (app_name, user_id, id) > (?, ?, ?) AND (app_name, user_id, id) <= (?, ?, ?) AND NOT EXISTS (
    SELECT 1 FROM session_uses u WHERE (u.app_name, u.user_id, u.id) = (s.app_name, s.user_id, s.id)
) AND json_valid(state)
"""


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
        self._is_filled = False

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

    async def parts_of_state(self, paths: Sequence[str], session: SessionId) -> list[Any] | None:
        """Return parts of the state of a session, None where there is none.

        Args:
            paths: where the parts are, as SQLite writes it: ``$.name.field``. None stands for what is not
                there, and for every part of a state that is damaged.
            session: the session.
        """
        wanted = ", ".join(f"json_extract(state, '{path}')" for path in paths)
        query = f"SELECT CASE WHEN json_valid(state) THEN json_array({wanted}) END FROM sessions WHERE {_ONE}"
        row = await self._database.read(lambda db: db.execute(query, session).fetchone())
        if row is None:
            return None
        return [None] * len(paths) if row[0] is None else list(json.loads(row[0]))

    async def states(
        self, app_name: str, user_id: str, ids: Sequence[str]
    ) -> dict[str, tuple[dict[str, Any], float]]:
        """Return the states of some of a user's sessions and the times of their latest change, by id."""
        query = (
            "SELECT id, state, update_time FROM sessions WHERE app_name = ? AND user_id = ? "
            "AND id IN (SELECT value FROM json_each(?))"
        )
        where = (app_name, user_id, json.dumps(list(ids)))
        rows = await self._database.read(lambda db: db.execute(query, where).fetchall())
        return {row["id"]: (state_from(row["state"]), row["update_time"]) for row in rows}

    async def uses(self, app_name: str, user_id: str | None = None) -> list[SessionUse]:
        """Return what is told of a user's sessions, or of all, by user and id; none of damaged states."""
        whose, where = ("", (app_name,)) if user_id is None else (" AND user_id = ?", (app_name, user_id))
        return await self._uses(f"app_name = ?{whose} ORDER BY user_id, id", *where)

    async def latest_use(self, app_name: str) -> float | None:
        """Return when something of any session was handed out last."""
        found: float | None = await self._value(
            "SELECT max(used_at) FROM session_uses WHERE app_name = ?", app_name
        )
        return found

    async def unused_since(
        self, app_name: str, before: float, most: int, after: SessionUse | None = None
    ) -> list[SessionUse]:
        """Return sessions of which something was handed out, and nothing since ``before``."""
        last = (float("-inf"), "", "") if after is None else (after.used_at, *after.session[1:])
        return await self._uses(
            "app_name = ? AND used_at < ? AND (used_at, user_id, id) > (?, ?, ?) "
            "ORDER BY used_at, user_id, id LIMIT ?",
            app_name,
            before,
            *last,
            most,
        )

    async def count_open(self, app_name: str) -> int:
        """Return how many sessions of an app tell no reason why they ended."""
        query = "SELECT count(*) FROM session_uses WHERE app_name = ? AND is_open"
        return int(await self._value(query, app_name))

    async def forget(self, session: SessionId) -> None:
        """Delete a session with its events, and note that its artifacts are yet to be deleted."""

        def forget(db: sqlite3.Connection) -> None:
            if db.execute(f"DELETE FROM sessions WHERE {_ONE}", session).rowcount:
                db.execute("INSERT OR IGNORE INTO forgotten_sessions VALUES (?, ?, ?)", session)

        await self._database.write(forget)

    async def forgotten(self, app_name: str, most: int) -> list[SessionId]:
        """Return sessions that were forgotten and whose artifacts may still be there, ``most`` at most."""
        query = (
            "SELECT app_name, user_id, id FROM forgotten_sessions WHERE app_name = ? "
            "ORDER BY user_id, id LIMIT ?"
        )
        rows = await self._database.read(lambda db: db.execute(query, (app_name, most)).fetchall())
        return [SessionId(*row) for row in rows]

    async def note_deleted(self, session: SessionId) -> None:
        """Note that a forgotten session has no artifacts any more."""
        query = f"DELETE FROM forgotten_sessions WHERE {_ONE}"
        await self._database.write(lambda db: db.execute(query, session), durable=False)

    async def close(self) -> None:
        """Close the database; the next call opens it anew."""
        await self._database.close()

    async def _value(self, query: str, *where: Any) -> Any:
        await self._fill()
        (value,) = await self._database.read(lambda db: db.execute(query, where).fetchone())
        return value

    async def _uses(self, condition: str, *where: Any) -> list[SessionUse]:
        await self._fill()
        query = "SELECT app_name, user_id, id, changed_at, used_at, is_open FROM session_uses"
        rows = await self._database.read(
            lambda db: db.execute(f"{query} WHERE {condition}", where).fetchall()
        )
        return [SessionUse(SessionId(*row[:3]), row[3], row[4], bool(row[5])) for row in rows]

    async def _fill(self) -> None:
        """Give what an earlier version stored its rows, a batch at a time; others write in between."""
        if self._is_filled:
            return
        version = await self._database.read(lambda db: db.execute("PRAGMA user_version").fetchone()[0])
        after: tuple[str, str, str] | None = None if version == _FILLED else ("", "", "")
        while after is not None:
            after = await self._database.write(partial(_fill_batch, after=after))
        self._is_filled = True


def _fill_batch(db: sqlite3.Connection, after: tuple[str, str, str]) -> tuple[str, str, str] | None:
    """Give the sessions behind a key their rows, and return the key of the last; None at the end."""
    last = db.execute(_LAST_OF_BATCH, after).fetchone()
    if last is None:
        db.execute(f"PRAGMA user_version = {_FILLED}")
        return None
    db.execute(_FILL, (*after, *last))
    return tuple(last)


def _prepare(db: sqlite3.Connection, stored: tuple[Table, ...]) -> None:
    db.executescript(SCHEMA + USES)
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
