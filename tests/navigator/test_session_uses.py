"""What stores tell of navigations without reading their states, in SQLite and in PostgreSQL alike."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from google.adk.events import Event, EventActions
from google.adk.sessions.sqlite_session_service import SqliteSessionService

from navigator.adk.session_service import SessionService
from navigator.stores.session_values import SessionId, SessionUse
from navigator.stores.sessions import SessionStore
from navigator.stores.sqlite.layout import SCHEMA, SessionDatabase
from navigator.stores.store_address import DatabaseAddress
from tests.support.team_stores import own_schema

pytestmark = pytest.mark.anyio
APP = {"app_name": "app", "user_id": "user"}
Opened = Callable[[], SessionService]
FillOld = Callable[[list[tuple[str, str]]], Awaitable[None]]


def state(used_at: float | None = None, stop_reason: str | None = None) -> dict[str, Any]:
    kept: dict[str, Any] = {"navigator": {}, "navigator_run": {"stop_reason": stop_reason}}
    return kept if used_at is None else {**kept, "navigator_delivery": {"used_at": used_at}}


def named(found: list[SessionUse]) -> list[str]:
    return [use.session.id for use in found]


class Folder:
    """A data folder's database."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def sessions(self) -> SessionService:
        return SessionService(SessionStore(SessionDatabase(self._path)))

    async def store_as_before(self, rows: list[tuple[str, str]]) -> None:
        """Keep sessions, each an id and a state, as a version did that told nothing beside the states."""
        with closing(sqlite3.connect(self._path)) as connection, connection:
            connection.executescript(SCHEMA)
            connection.executemany("INSERT INTO sessions VALUES ('app', 'user', ?, ?, 1.0, 2.0)", rows)


class Team:
    """A database that servers share."""

    def __init__(self, address: DatabaseAddress) -> None:
        self._address = address

    def sessions(self) -> SessionService:
        from navigator.stores.postgres.database import PostgresDatabase

        return SessionService(SessionStore(PostgresDatabase(self._address)))


@pytest.fixture(params=["folder", "database"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Folder | Team]:
    if request.param == "folder":
        yield Folder(tmp_path / "sessions.db")
        return
    with own_schema() as address:
        yield Team(address)


@pytest.fixture(autouse=True)
async def _closed_connections(anyio_backend: str) -> AsyncIterator[None]:
    """Let the loop end what was closed last; a transport that outlives its loop warns."""
    yield
    for _ in range(3):
        await asyncio.sleep(0)


@pytest.fixture
async def sessions(store: Folder | Team, anyio_backend: str) -> AsyncIterator[SessionService]:
    opened = store.sessions()
    yield opened
    await opened.close()


async def test_what_is_told_of_a_session_follows_every_change_of_it(sessions: SessionService) -> None:
    assert (await sessions.stored.uses("app"), await sessions.stored.latest_use("app")) == ([], None)
    made = await sessions.create_session(**APP, session_id="nav-1", state=state())
    one = SessionId("app", "user", "nav-1")
    assert await sessions.stored.uses("app", "user") == [SessionUse(one, made.last_update_time, None, True)]
    await sessions.stored.change_beside(one, "navigator_delivery", {"used_at": 5.5})
    assert await sessions.stored.uses("app", "user") == [SessionUse(one, made.last_update_time, 5.5, True)]
    delta = {"navigator_run": {"stop_reason": "finished"}}
    event = Event(author="user", actions=EventActions(state_delta=delta))
    await sessions.append_event(made, event)
    assert await sessions.stored.uses("app") == [SessionUse(one, event.timestamp, 5.5, False)]
    assert (await sessions.stored.latest_use("app"), await sessions.stored.count_open("app")) == (5.5, 0)
    await sessions.delete_session(**APP, session_id="nav-1")
    assert (await sessions.stored.uses("app"), await sessions.stored.latest_use("app")) == ([], None)


async def test_each_user_and_each_app_is_told_of_alone(sessions: SessionService) -> None:
    for app, user in (("app", "ann"), ("app", "bob"), ("other", "ann")):
        await sessions.create_session(app_name=app, user_id=user, session_id="nav-1", state=state(1.0))
    assert [use.session for use in await sessions.stored.uses("app", "ann")] == [
        SessionId("app", "ann", "nav-1")
    ]
    assert [use.session.user_id for use in await sessions.stored.uses("app")] == ["ann", "bob"]
    assert (await sessions.stored.count_open("app"), await sessions.stored.count_open("other")) == (2, 1)
    assert [use.session.app_name for use in await sessions.stored.unused_since("other", 9.0, 9)] == ["other"]


async def test_what_was_used_least_lately_comes_first_and_page_by_page(sessions: SessionService) -> None:
    for name, used_at in {"d": 3.0, "a": 1.0, "c": 2.0, "b": 2.0, "late": 9.0, "never": None}.items():
        await sessions.create_session(**APP, session_id=name, state=state(used_at))
    first = await sessions.stored.unused_since("app", 9.0, 2)
    assert named(first) == ["a", "b"]
    await sessions.delete_session(**APP, session_id="a")
    second = await sessions.stored.unused_since("app", 9.0, 2, first[-1])
    assert named(second) == ["c", "d"]
    assert await sessions.stored.unused_since("app", 9.0, 2, second[-1]) == []


@pytest.mark.parametrize("odd", ['"yesterday"', "null", "true", "{}", "[1]"])
async def test_a_time_that_is_none_is_not_told(sessions: SessionService, odd: str) -> None:
    beside = {**state(), "navigator_delivery": {"used_at": json.loads(odd)}}
    await sessions.create_session(**APP, session_id="nav-1", state=beside)
    ((_, _, used_at, is_open),) = await sessions.stored.uses("app")
    assert (used_at, is_open) == (None, True)


async def test_a_state_that_is_damaged_is_not_told_of(tmp_path: Path) -> None:
    store = Folder(tmp_path / "sessions.db")
    await store.store_as_before([("nav-1", "no JSON"), ("nav-2", json.dumps(state(1.0)))])
    sessions = store.sessions()
    assert named(await sessions.stored.uses("app")) == ["nav-2"]
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as connection, connection:
        connection.execute("UPDATE sessions SET state = 'no JSON' WHERE id = 'nav-2'")
    assert (await sessions.stored.uses("app"), await sessions.stored.count_open("app")) == ([], 0)
    await sessions.close()


async def test_what_adks_own_service_writes_is_told_of_too(tmp_path: Path) -> None:
    ours, theirs = (
        SessionService(SessionStore(SessionDatabase(tmp_path / "s.db"))),
        SqliteSessionService(str(tmp_path / "s.db")),
    )
    assert await ours.stored.uses("app") == []
    session = await theirs.create_session(**APP, session_id="nav-1", state=state(1.0))
    delta = state(2.0, "finished")
    await theirs.append_event(session, Event(author="user", actions=EventActions(state_delta=delta)))
    ((_, _, used_at, is_open),) = await ours.stored.uses("app", "user")
    assert (used_at, is_open) == (2.0, False)
    await theirs.delete_session(**APP, session_id="nav-1")
    assert await ours.stored.uses("app") == []
    await ours.close()
    await theirs.close()
