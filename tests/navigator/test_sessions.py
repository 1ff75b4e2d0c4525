"""Our sessions do what ADK's own do, call by call, over the same tables."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from google.adk.errors import StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events import Event, EventActions
from google.adk.platform.time import reset_time_provider, set_time_provider
from google.adk.platform.uuid import reset_id_provider, set_id_provider
from google.adk.sessions import BaseSessionService, Session
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from navigator.adk.session_service import SessionService
from navigator.stores.sessions import SessionStore
from navigator.stores.sqlite.layout import SCHEMA, SessionDatabase
from navigator.stores.store_address import DatabaseAddress
from tests.support.team_stores import own_schema, run_sql

APP = {"app_name": "app", "user_id": "user"}

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)
names = st.builds("{}{}".format, st.sampled_from(["", "", "app:", "user:", "temp:"]), st.sampled_from("xyz"))
states = st.dictionaries(names, values, max_size=3)
users = st.sampled_from(["ann", "bob"])
ids = st.sampled_from(["one", "two", " one ", "  "])
times = st.integers(0, 6).map(float)
configs = st.none() | st.builds(
    GetSessionConfig,
    num_recent_events=st.none() | st.integers(0, 3),
    after_timestamp=st.none() | times,
)
calls = st.one_of(
    st.tuples(st.just("create"), users, st.none() | ids, states),
    st.tuples(st.just("get"), users, ids, configs),
    st.tuples(st.just("list"), st.none() | users),
    st.tuples(st.just("delete"), users, ids),
    st.tuples(st.just("user_state"), users),
    # To one of the sessions that an earlier call returned, stale ones among them.
    st.tuples(st.just("append"), st.integers(0, 9), states, times, st.booleans(), st.sampled_from("abcd")),
)


class Driver:
    """Makes the calls on one service, and remembers the sessions that it returned."""

    def __init__(self, service: BaseSessionService, later: bool = False) -> None:
        """Drive ``service``; with ``later``, each event has a later time, and an id of its own."""
        self.service = service
        self.now: float | None = 0.0 if later else None
        self.sessions: list[Session] = []

    async def make(self, call: tuple[Any, ...]) -> object:
        """Return what a call came to, an answer or a kind of error, and the sessions as they are by now."""
        if self.now is not None:
            self.now += 1
        try:
            answer = await self._answer(*call)
        except (ValueError, AlreadyExistsError, StaleSessionError, sqlite3.Error) as error:
            answer = type(error)
        return answer, [session.model_dump() for session in self.sessions]

    async def _answer(self, kind: str, *parts: Any) -> object:
        match kind, parts:
            case "create", (user, name, state):
                made = await self.service.create_session(
                    app_name="app", user_id=user, session_id=name, state=dict(state)
                )
                self.sessions.append(made)
            case "get", (user, name, config):
                found = await self.service.get_session(
                    app_name="app", user_id=user, session_id=name, config=config
                )
                if found is None:
                    return "nothing"
                self.sessions.append(found)
            case "list", (user,):
                listed = await self.service.list_sessions(app_name="app", user_id=user)
                return [session.model_dump() for session in listed.sessions]
            case "delete", (user, name):
                await self.service.delete_session(app_name="app", user_id=user, session_id=name)
            case "user_state", (user,):
                return await self.service.get_user_state(app_name="app", user_id=user)
            case "append", (which, state, at, partial, name) if self.sessions:
                actions = EventActions(state_delta=dict(state))
                event = Event(
                    author="user",
                    id=name if self.now is None else f"{name}{self.now}",
                    invocation_id="i",
                    timestamp=at if self.now is None else self.now,
                    partial=partial and at > 4,
                    actions=actions,
                )
                session = self.sessions[which % len(self.sessions)]
                appended = await self.service.append_event(session, event)
                return appended.model_dump()
        return None


@contextmanager
def fixed_time_and_ids() -> Iterator[list[int]]:
    """Let ADK's clock and the ids that it makes go by the number in the list."""
    number = [0]
    set_time_provider(lambda: float(number[0] // 2))
    set_id_provider(lambda: f"made-{number[0]}")
    try:
        yield number
    finally:
        reset_time_provider()
        reset_id_provider()


@given(st.lists(calls, min_size=1, max_size=12), st.booleans())
@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
def test_the_same_calls_have_the_same_answers_as_of_adks_own_service(
    wanted: list[tuple[Any, ...]], in_memory: bool
) -> None:
    async def run(service: SessionService | SqliteSessionService) -> list[object]:
        driver = Driver(service)
        try:
            made = []
            for number[0], call in enumerate(wanted):
                made.append(await driver.make(call))
            return made
        finally:
            await service.close()

    with tempfile.TemporaryDirectory() as folder, fixed_time_and_ids() as number:
        ours = asyncio.run(
            run(
                SessionService(SessionStore(SessionDatabase(None if in_memory else Path(folder) / "ours.db")))
            )
        )
        theirs = asyncio.run(run(SqliteSessionService(":memory:")))
    assert ours == theirs


@pytest.fixture(scope="module")
def database() -> Iterator[DatabaseAddress]:
    with own_schema() as address:
        yield address


@pytest.mark.slow
@given(st.lists(calls, min_size=1, max_size=12))
@settings(
    deadline=None, max_examples=60, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow]
)
def test_the_same_calls_have_the_same_answers_in_a_database_that_servers_share(
    database: DatabaseAddress, wanted: list[tuple[Any, ...]]
) -> None:
    from navigator.stores.postgres.database import PostgresDatabase

    async def run(service: SessionService | SqliteSessionService) -> list[object]:
        # A change that is earlier than the one before is no stale one for ADK; for ours it is.
        driver = Driver(service, later=True)
        try:
            return [await driver.make(call) for number[0], call in enumerate(wanted)]
        finally:
            await service.close()

    async def ours() -> list[object]:
        made = await run(SessionService(SessionStore(PostgresDatabase(database))))
        await run_sql(database, "TRUNCATE sessions, session_uses, events, user_states, app_states")
        return made

    with fixed_time_and_ids() as number:
        assert asyncio.run(ours()) == asyncio.run(run(SqliteSessionService(":memory:")))


@pytest.mark.anyio
async def test_each_reads_what_the_other_wrote(tmp_path: Path) -> None:
    ours, theirs = (
        SessionService(SessionStore(SessionDatabase(tmp_path / "s.db"))),
        SqliteSessionService(str(tmp_path / "s.db")),
    )
    await theirs.create_session(**APP, session_id="one", state={"a": 1, "user:b": [0.1], "app:c": None})
    session = await ours.get_session(**APP, session_id="one")
    assert session is not None
    await ours.append_event(session, Event(author="user", actions=EventActions(state_delta={"a": {"d": 2}})))
    again = await theirs.get_session(**APP, session_id="one")
    assert again is not None
    assert again.model_dump() == session.model_dump()
    await ours.close()
    await theirs.close()


def test_the_tables_are_those_of_adks_own_service(tmp_path: Path) -> None:
    async def made() -> None:
        service = SqliteSessionService(str(tmp_path / "theirs.db"))
        await service.list_sessions(app_name="app")
        await service.close()

    asyncio.run(made())
    with (
        closing(sqlite3.connect(tmp_path / "theirs.db")) as theirs,
        closing(sqlite3.connect(":memory:")) as ours,
    ):
        ours.executescript(SCHEMA)
        for pragma in ("table_info", "foreign_key_list", "index_list"):
            for table in ("app_states", "user_states", "sessions", "events"):
                query = f"PRAGMA {pragma}({table})"
                assert ours.execute(query).fetchall() == theirs.execute(query).fetchall()
