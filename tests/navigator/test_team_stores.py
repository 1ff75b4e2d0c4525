"""A database and a bucket that several servers share: who may write, and what is told of faults."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from google.adk.errors import StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events import Event, EventActions
from hypothesis import given
from hypothesis import strategies as st

from navigator.adk.session_service import SessionService
from navigator.errors import NavigationBusyError, StorageError
from navigator.navigator import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings
from navigator.stores.navigation_artifacts import NavigationArtifacts
from navigator.stores.opening import open_stores
from navigator.stores.session_values import SessionId
from navigator.stores.sessions import SessionStore
from navigator.stores.store_address import LEASE_S, BucketAddress, DatabaseAddress
from tests.navigator.conftest import MakeNavigator
from tests.support.proxy import Proxy
from tests.support.team_stores import BUCKETS, own_bucket, own_schema, run_sql

pytestmark = pytest.mark.anyio
APP = {"app_name": "app", "user_id": "user"}


@pytest.fixture
def database() -> Iterator[DatabaseAddress]:
    with own_schema() as address:
        yield address


@pytest.fixture(params=BUCKETS)
def bucket(request: pytest.FixtureRequest) -> BucketAddress:
    return own_bucket(request.param, request)


@asynccontextmanager
async def opened(
    address: DatabaseAddress, *, stalling_s: float = LEASE_S, **times: float
) -> AsyncIterator[Any]:
    """One server's sessions and leases: ``lease_s`` and ``patience_s`` are those of its leases.

    ``stalling_s`` is how long a transaction may stand still; a machine with much to do needs some time.
    """
    from navigator.stores.postgres.database import PostgresDatabase
    from navigator.stores.postgres.leases import NavigationLeases

    database = PostgresDatabase(address, stalling_s=stalling_s)
    leases = NavigationLeases(database, **times)
    sessions = SessionService(SessionStore(database, leases.claim))
    try:
        yield sessions, leases
    finally:
        await sessions.close()


def changing(**delta: Any) -> Event:
    return Event(author="user", actions=EventActions(state_delta=delta))


@asynccontextmanager
async def stalled(leases: Any, navigation_id: str) -> AsyncIterator[None]:
    """Hold a navigation as a server does that stands still: nobody renews its lease."""
    async with leases.hold(navigation_id):
        for task in asyncio.all_tasks():
            if "_renew" in repr(task.get_coro()):
                task.cancel()
        yield


async def test_a_server_that_stalled_and_was_overtaken_writes_nothing(database: DatabaseAddress) -> None:
    async with (
        opened(database, lease_s=0.2) as (slow, slow_leases),
        opened(database) as (quick, quick_leases),
    ):
        await slow.create_session(**APP, session_id="nav-1", state={"by": "nobody"})
        async with stalled(slow_leases, "nav-1"):
            before = await slow.get_session(**APP, session_id="nav-1")
            async with quick_leases.hold("nav-1"):
                session = await quick.get_session(**APP, session_id="nav-1")
                with pytest.raises(StaleSessionError, match="taken over"):
                    await slow.append_event(before, changing(by="slow"))
                await quick.append_event(session, changing(by="quick"))
            # Nobody holds it any more, and the lease that it had is still not the latest.
            with pytest.raises(StaleSessionError, match="taken over"):
                await slow.append_event(before, changing(by="slow"))
        assert (await quick.get_session(**APP, session_id="nav-1")).state == {"by": "quick"}


async def test_a_server_that_stalled_and_was_not_overtaken_goes_on(database: DatabaseAddress) -> None:
    async with opened(database, lease_s=0.05) as (sessions, leases):
        await sessions.create_session(**APP, session_id="nav-1")
        async with stalled(leases, "nav-1"):
            session = await sessions.get_session(**APP, session_id="nav-1")
            await run_sql(database, "SELECT pg_sleep(0.1)")
            await sessions.append_event(session, changing(by="slow"))


async def test_a_lease_is_renewed_while_its_step_takes_long(database: DatabaseAddress) -> None:
    async with opened(database, lease_s=0.3) as (_, leases), opened(database, patience_s=0.0) as (_, others):
        async with leases.hold("nav-1"):
            await run_sql(database, "SELECT pg_sleep(0.7)")
            with pytest.raises(NavigationBusyError, match="Another server has been stepping `nav-1`"):
                async with others.hold("nav-1"):
                    pass
        async with others.hold("nav-1"):
            pass
    assert await run_sql(database, "SELECT * FROM leases") == []


async def test_a_server_that_stalls_within_a_transaction_keeps_nobody_out_for_long(
    database: DatabaseAddress,
) -> None:
    async with (
        opened(database, stalling_s=0.1, lease_s=0.1) as (slow, slow_leases),
        opened(database) as (_, quick_leases),
        stalled(slow_leases, "nav-1"),
    ):
        inside, is_latest = asyncio.Event(), slow_leases.claim("nav-1")
        tries = []

        async def stand_still(db: Any) -> bool:
            tries.append(1)
            if not await is_latest(db):
                return False
            inside.set()
            await asyncio.Event().wait() if len(tries) == 1 else None
            return True

        writing = asyncio.create_task(slow.stored._database.act(stand_still))
        await inside.wait()
        async with quick_leases.hold("nav-1"):
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
            assert not await slow.stored._database.act(stand_still)


async def test_of_many_who_want_one_navigation_each_has_it_alone(database: DatabaseAddress) -> None:
    inside, most, turns = 0, 0, 0
    async with (
        opened(database) as (_, one),
        opened(database) as (_, two),
        opened(database) as (_, three),
    ):

        async def step(leases: Any) -> None:
            nonlocal inside, most, turns
            async with leases.hold("../nav/\0one\ud800"):
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(0)
                inside -= 1
                turns += 1

        await asyncio.gather(*(step(leases) for leases in (one, two, three) for _ in range(4)))
    assert (most, turns) == (1, 12)


async def test_a_change_with_an_earlier_time_is_seen_by_a_server_whose_clock_is_ahead(
    database: DatabaseAddress,
) -> None:
    async with opened(database) as (ahead, _), opened(database) as (behind, _):
        mine = await ahead.create_session(**APP, session_id="nav-1")
        theirs = await behind.get_session(**APP, session_id="nav-1")
        earlier = changing(by="behind")
        earlier.timestamp = mine.last_update_time - 100
        await behind.append_event(theirs, earlier)
        with pytest.raises(StaleSessionError):
            await ahead.append_event(mine, changing(by="ahead"))


async def test_an_event_is_stored_once(database: DatabaseAddress) -> None:
    async with opened(database) as (sessions, _):
        session = await sessions.create_session(**APP, session_id="nav-1")
        event = await sessions.append_event(session, changing(a=1))
        with pytest.raises(AlreadyExistsError, match=event.id):
            await sessions.append_event(session, event)
        with pytest.raises(AlreadyExistsError, match="nav-1"):
            await sessions.create_session(**APP, session_id="nav-1")


async def test_a_record_that_an_overtaken_server_left_is_read_by_nobody(
    make_navigator: MakeNavigator, repository: Path, database: DatabaseAddress, bucket: BucketAddress
) -> None:
    navigator = make_navigator(store=database, bucket=bucket)
    navigation_id = await navigator.open(NavigationRequest("token_expired", repository, mode="interactive"))
    taken = await navigator.step(navigation_id, updates={"budget": 900})
    late = NavigationArtifacts(
        open_stores(None, database, bucket).artifacts, SessionId("repo_navigator", "local", navigation_id)
    )
    record = await late.load_record(1, None)
    foreign = record.report.model_copy(update={"reasoning": "by a server that was overtaken"})
    assert await late.save_record(record.model_copy(update={"report": foreign})) == 1
    other = make_navigator(store=database, bucket=bucket)
    assert (await other.report(navigation_id)).reasoning == taken.reasoning
    await other.step(navigation_id, updates={"budget": 800})
    assert (await other.report(navigation_id, step=1)).reasoning == taken.reasoning


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "America/St_Johns"])
async def test_times_are_the_same_in_every_zone(
    zone: str, database: DatabaseAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    monkeypatch.setenv("PGTZ", zone)
    time.tzset()
    try:
        async with opened(database) as (sessions, leases):
            before = time.time()
            session = await sessions.create_session(**APP, session_id="nav-1")
            assert before <= session.last_update_time <= time.time()
            async with leases.hold("nav-1"):
                event = changing(**{"a": 1, "user:b": 2})
                await sessions.append_event(session, event)
                again = await sessions.get_session(**APP, session_id="nav-1")
                rows = await run_sql(database, "SELECT until > clock_timestamp() FROM leases")
            assert again.last_update_time == event.timestamp == again.events[0].timestamp
            assert [tuple(row) for row in rows] == [(True,)]

            async def zone_of(db: Any) -> str:
                return str(await db.fetchval("SHOW timezone"))

            assert await sessions.stored._database.act(zone_of) == "UTC"
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()


async def test_a_state_may_hold_every_text_that_json_can_say(database: DatabaseAddress) -> None:
    async with opened(database) as (sessions, _):
        goal = "a\0b\ud800 \udc00\U0001f600 \ue000\ue001\\u0000\\\0 \ue800"
        session = await sessions.create_session(**APP, session_id="nav-1", state={"goal": goal})
        await sessions.append_event(session, changing(more="\0"))
        again = await sessions.get_session(**APP, session_id="nav-1")
        assert again.state == {"goal": goal, "more": "\0"}
        parts = await sessions.stored.parts_of_state(["more", "none"], SessionId("app", "user", "nav-1"))
        assert parts == ["\0", None]


@given(st.text() | st.text(st.sampled_from("\0\\u0de8f\ue000\ue001\ue002\ue800\ud800\udc00\U0001f600")))
def test_json_comes_back_as_it_was_written_whatever_it_says(words: str) -> None:
    from navigator.stores.postgres.json_text import as_stored, as_written

    said = json.dumps({"words": words, words: 1})
    stored = as_stored(said)
    assert as_written(stored) == said
    assert "\0" not in "".join(json.loads(stored))
    "".join(json.loads(stored)).encode()


async def test_a_layout_of_an_earlier_version_is_brought_up_to_date_with_what_it_holds(
    database: DatabaseAddress,
) -> None:
    from navigator.stores.postgres import layout

    schema = database.schema
    await run_sql(
        database,
        f'CREATE SCHEMA "{schema}"',
        "CREATE TABLE layout (version integer PRIMARY KEY, taken_at timestamptz NOT NULL DEFAULT now())",
        *(statement for statement in layout.STEPS[0].split(";") if statement.strip()),
        "INSERT INTO layout (version) VALUES (1)",
        """INSERT INTO sessions VALUES ('app', 'user', 'nav-1', '{"a":1}', 1.0, 2.0)""",
    )
    # Several servers start at once.
    async with opened(database) as (one, _), opened(database) as (two, leases):
        found = await asyncio.gather(*(each.get_session(**APP, session_id="nav-1") for each in (one, two)))
        assert [session.state for session in found] == [{"a": 1}, {"a": 1}]
        async with leases.hold("nav-1"):
            await two.append_event(found[1], changing(a=2))
    rows = await run_sql(database, "SELECT version FROM layout ORDER BY version")
    assert [row["version"] for row in rows] == [*range(1, len(layout.STEPS) + 1)]


async def test_a_layout_of_a_later_version_is_left_alone(database: DatabaseAddress) -> None:
    async with opened(database) as (sessions, _):
        await sessions.list_sessions(app_name="app")
    await run_sql(database, "INSERT INTO layout (version) VALUES (99)")
    async with opened(database) as (sessions, _):
        with pytest.raises(StorageError, match="has layout 99, of a newer Repo Navigator"):
            await sessions.list_sessions(app_name="app")


@pytest.mark.parametrize("fault", ["port", "database", "host"])
async def test_a_database_that_cannot_be_reached_is_told_without_who_asked(
    fault: str, database: DatabaseAddress, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = {"port": {"port": 1}, "database": {"database": "nowhere"}, "host": {"host": "nowhere.invalid"}}
    caplog.set_level(logging.DEBUG)
    word = "s3cr3t-word"
    address = replace(database, user="postgres", password=word, **wrong[fault])  # type: ignore[arg-type]
    navigator = Navigator(NavigatorSettings(store=address, use_cache=False, workers=1))
    with pytest.raises(StorageError) as caught:
        await navigator.navigations()
    await navigator.aclose()
    assert str(caught.value).startswith(f"The database at {address} failed (")
    for told in (str(caught.value), repr(caught.value), repr(navigator._settings), caplog.text):
        assert word not in told
    assert "postgres" not in str(caught.value).replace("postgresql", "")


async def test_a_database_that_answers_slowly_is_waited_for_and_then_told(
    database: DatabaseAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    from navigator.stores.postgres import database as module

    monkeypatch.setattr(module, "ANSWERING_S", 0.5)
    monkeypatch.setattr(module, "CONNECTING_S", 0.5)
    with Proxy(database.host, database.port) as proxy:
        async with opened(replace(database, port=proxy.port)) as (sessions, _):
            session = await sessions.create_session(**APP, session_id="nav-1", state={"a": 1})
            proxy.hold_up()
            with pytest.raises(StorageError, match=r"\(no answer in time\)"):
                await sessions.append_event(session, changing(a=2))
            proxy.go_on()
            again = await sessions.get_session(**APP, session_id="nav-1")
            # Whether it was stored is for the next reader to see; nothing of it is half.
            assert (again.state["a"], again.last_update_time > session.last_update_time) in (
                (1, False),
                (2, True),
            )


async def test_a_database_that_restarts_is_waited_for_within_the_call(database: DatabaseAddress) -> None:
    with Proxy(database.host, database.port) as proxy:
        async with opened(replace(database, port=proxy.port)) as (sessions, _):
            session = await sessions.create_session(**APP, session_id="nav-1", state={"a": 1})
            proxy.cut()
            stored = asyncio.create_task(sessions.append_event(session, changing(a=2)))
            await asyncio.to_thread(proxy.wait_for_a_refusal)
            proxy.mend()
            await stored
            assert (await sessions.get_session(**APP, session_id="nav-1")).state["a"] == 2


async def test_a_database_that_never_answered_is_told_at_once(database: DatabaseAddress) -> None:
    with Proxy(database.host, database.port) as proxy:
        proxy.cut()
        async with opened(replace(database, port=proxy.port)) as (sessions, _):
            with pytest.raises(StorageError, match=r"\(connection "):
                await asyncio.wait_for(sessions.get_session(**APP, session_id="nav-1"), LEASE_S / 2)


@pytest.mark.parametrize("error", ["closed", "ended by the database"])
@pytest.mark.parametrize("lost", ["before", "after"])
async def test_a_connection_that_is_cut_at_a_commit_stores_an_event_once(
    lost: str, error: str, database: DatabaseAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    from asyncpg import InternalClientError
    from asyncpg.transaction import Transaction

    # What asyncpg raises on a connection whose last words have been read and whose end has not.
    ended = InternalClientError("cannot switch to state 15; another operation (2) is in progress")
    cut = ConnectionResetError() if error == "closed" else ended

    async with opened(database) as (sessions, _):
        session = await sessions.create_session(**APP, session_id="nav-1", state={"a": 1})
        leave, cuts = Transaction.__aexit__, []

        async def leave_with_a_cut(self: Any, *exception: Any) -> None:
            if lost == "before" and not cuts:
                cuts.append(1)
                self._connection.terminate()
                raise cut
            await leave(self, *exception)
            if not cuts:
                cuts.append(1)
                self._connection.terminate()
                raise cut

        monkeypatch.setattr(Transaction, "__aexit__", leave_with_a_cut)
        await sessions.append_event(session, changing(a=2))
        assert cuts == [1]
        again = await sessions.get_session(**APP, session_id="nav-1")
        assert (again.state, len(again.events)) == ({"a": 2}, 1)
        cuts.clear()
        other = await sessions.create_session(**APP, session_id="nav-2", state={"b": 1})
        assert (other.state, cuts) == ({"b": 1}, [1])


async def test_a_bucket_that_is_gone_is_told_and_the_step_did_not_happen(
    make_navigator: MakeNavigator, repository: Path, database: DatabaseAddress, bucket: BucketAddress
) -> None:
    navigator = make_navigator(store=database, bucket=bucket)
    navigation_id = await navigator.open(NavigationRequest("token_expired", repository, mode="interactive"))
    lost = make_navigator(store=database, bucket=replace(bucket, bucket="navigations-that-are-gone"))
    with pytest.raises(StorageError, match=r"The bucket (s3|gs)://.* \((NoSuchBucket|404 NotFound)\)"):
        await lost.step(navigation_id, updates={"budget": 900})
    assert (await navigator.report(navigation_id)).step_number == 0
    assert (await navigator.step(navigation_id, updates={"budget": 900})).step_number == 1


async def test_artifacts_are_numbered_by_whoever_saves_at_once(bucket: BucketAddress) -> None:
    from navigator.stores.buckets.artifacts import BucketArtifacts
    from navigator.stores.buckets.opening import open_bucket

    artifacts = BucketArtifacts(open_bucket(bucket))
    one, name = SessionId("a", "../../u", "nav-1"), "steps/1.json"
    versions = await asyncio.gather(*(artifacts.save(one, name, str(number)) for number in range(4)))
    assert sorted(versions) == [0, 1, 2, 3] == await artifacts.versions(one, name)
    for number, version in enumerate(versions):
        assert await artifacts.load(one, name, version) == str(number)
    other = one._replace(id="nav-2")
    await artifacts.save(other, name, "another's")
    assert await artifacts.load(one, name) == await artifacts.load(one, name, 3)
    await artifacts.clear(one)
    assert (await artifacts.load(one, name), await artifacts.versions(one, name)) == (None, [])
    assert await artifacts.load(other, name) == "another's"


async def test_a_user_who_may_use_one_schema_needs_no_other_right(database: DatabaseAddress) -> None:
    role = database.schema
    await run_sql(database, f'CREATE ROLE "{role}" LOGIN', f'CREATE SCHEMA "{role}" AUTHORIZATION "{role}"')
    try:
        async with opened(replace(database, user=role)) as (sessions, leases):
            session = await sessions.create_session(**APP, session_id="nav-1")
            async with leases.hold("nav-1"):
                await sessions.append_event(session, changing(a=1))
            await sessions.delete_session(**APP, session_id="nav-1")
            assert (await sessions.list_sessions(app_name="app")).sessions == []
    finally:
        await run_sql(database, f'DROP SCHEMA "{role}" CASCADE', f'DROP ROLE "{role}"')
