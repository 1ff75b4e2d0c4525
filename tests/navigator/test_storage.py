"""Navigations in ADK's own services, in a data folder and in PostgreSQL with a bucket."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from navigator.errors import InvalidArgumentError, NavigationBusyError, StorageError, UnknownNavigationError
from navigator.navigator import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings
from navigator.storage.index import NavigationKey
from navigator.storage.locks import FileLocks, NavigationLocks
from tests.navigator.conftest import MakeNavigator
from tests.navigator.test_state import validate
from tests.support.team_stores import EVERY_STORE, kept_in_stores, own_bucket, own_schema, run_sql, url_of

pytestmark = pytest.mark.anyio
GOAL = "token_expired compares the wrong way"


@pytest.fixture(params=EVERY_STORE)
def kept_in(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Any]]:
    with kept_in_stores(request.param, request) as fields:
        yield {"data_dir": tmp_path / "data", **fields}


of_the_folder = pytest.mark.parametrize("kept_in", ["folder"], indirect=True)
OPEN_WITH_ADK = """
import asyncio, json, sys
from google.adk.artifacts import FileArtifactService, GcsArtifactService
from google.adk.sessions import DatabaseSessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
kind, sessions, artifacts, navigation = sys.argv[1:]

async def main():
    if kind == "folder":
        service = SqliteSessionService(sessions)
    else:
        url, _, schema = sessions.partition("?schema=")
        service = DatabaseSessionService(url, connect_args={"server_settings": {"search_path": schema}})
    if kind == "gs":
        files = GcsArtifactService(artifacts)
    elif kind == "s3":
        from navigator.storage.s3 import S3ArtifactService
        files = S3ArtifactService(*artifacts.split("/", 1))
    else:
        files = FileArtifactService(artifacts)
    named = {"app_name": "repo_navigator", "user_id": "local", "session_id": navigation}
    session = await service.get_session(**named)
    names = await files.list_artifact_keys(**named)
    versions = {name: await files.list_versions(**named, filename=name) for name in names}
    latest = await files.load_artifact(**named, filename="map.txt")
    text = latest.text or latest.inline_data.data.decode()
    events = [each.model_dump(mode="json", exclude_none=True) for each in session.events]
    print(json.dumps({"state": session.state, "events": events, "versions": versions, "map": text}))
    assert "navigator.navigator" not in sys.modules

asyncio.run(main())
"""


async def test_adks_own_services_open_what_is_stored_in_a_fresh_process(
    make_navigator: MakeNavigator, repository: Path, kept_in: dict[str, Any]
) -> None:
    navigator = make_navigator()
    navigation_id = await navigator.open(NavigationRequest(GOAL, repository))
    output = await navigator.run(navigation_id)
    kind, sessions, artifacts = "folder", str(kept_in["data_dir"] / "sessions.db"), ""
    if "store" in kept_in:
        bucket = kept_in["bucket"]
        kind, sessions = bucket.scheme, url_of(kept_in["store"])
        artifacts = f"{bucket.bucket}/{bucket.prefix}" if kind == "s3" else bucket.bucket
    opened = await asyncio.to_thread(
        subprocess.run,
        [
            *(sys.executable, "-c", OPEN_WITH_ADK, kind, sessions),
            *(artifacts or str(kept_in["data_dir"] / "artifacts"), navigation_id),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert opened.returncode == 0, opened.stderr
    found = json.loads(opened.stdout)
    validate(found["state"]["navigator"])
    assert found["state"]["navigator"]["reasoning_summary"] == output.reasoning_summary
    assert found["map"] == output.context_string
    assert found["versions"]["map.txt"][0] == 0
    assert {"steps/0000.json", f"steps/{output.step_number:04}.json"} <= found["versions"].keys()
    calls = [
        part["function_call"]["name"]
        for event in found["events"]
        for part in event["content"]["parts"]
        if "function_call" in part
    ]
    assert calls == ["update_flight_plan", "finalize_context"]


async def test_a_process_that_is_killed_leaves_every_answered_step(
    repository: Path, kept_in: dict[str, Any], tmp_path: Path
) -> None:
    code = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from navigator.navigator import Navigator\n"
        "from navigator.settings import NavigationRequest, NavigatorSettings\n"
        "from navigator.storage.addresses import read_bucket_address, read_database_address\n"
        "data, repository, store, bucket = sys.argv[1:]\n"
        "async def main():\n"
        "    navigator = Navigator(NavigatorSettings(data_dir=Path(data), use_cache=False, workers=1,\n"
        "        store=read_database_address(store) if store else None,\n"
        "        bucket=read_bucket_address(bucket) if bucket else None))\n"
        f"    key = await navigator.open(NavigationRequest({GOAL!r}, repository, mode='interactive'))\n"
        "    for budget in range(1000, 9000):\n"
        "        report = await navigator.step(key, updates={'budget': budget})\n"
        "        print(key, report.step_number, budget, flush=True)\n"
        "asyncio.run(main())\n"
    )
    store, bucket = "", ""
    if "store" in kept_in:
        store, bucket = url_of(kept_in["store"]), str(kept_in["bucket"]).rstrip("/")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code, str(kept_in["data_dir"]), str(repository), store, bucket),
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    for _ in range(4):
        line = await process.stdout.readline()
    process.kill()
    lines = [line, *(await process.stdout.read()).splitlines()]
    await process.wait()
    key, step, budget = lines[-1].decode().split()
    navigator = Navigator(NavigatorSettings(use_cache=False, workers=1, **kept_in))
    report = await navigator.report(key)
    # The step that was under way may be stored, and not answered.
    assert report.step_number - int(step) in (0, 1)
    assert (await navigator.report(key, step=int(step))).map_token_budget == int(budget)
    assert (await navigator.step(key, updates={"budget": 700})).step_number == report.step_number + 1
    await navigator.aclose()


@of_the_folder
async def test_what_an_earlier_version_stored_is_set_aside(
    make_navigator: MakeNavigator, repository: Path, kept_in: dict[str, Any]
) -> None:
    data = kept_in["data_dir"]
    before = stored_by_an_earlier_version(data)
    navigator = make_navigator()
    navigation_id = await navigator.open(NavigationRequest(GOAL, repository))
    (aside,) = set_aside(data)
    assert (aside / "sessions.db").read_bytes() == before
    assert any(str(aside) in note for note in (await navigator.context(navigation_id)).notes)
    # The next process finds its own format, and says nothing more.
    assert [each.navigation_id for each in await make_navigator().navigations()] == [navigation_id]
    assert set_aside(data) == [aside]


def stored_by_an_earlier_version(data: Path) -> bytes:
    """Write a database of version 0.2.0, and return its bytes."""
    (data / "artifacts" / "apps").mkdir(parents=True)
    with closing(sqlite3.connect(data / "sessions.db")) as earlier:
        earlier.executescript(
            "CREATE TABLE session_uses (id TEXT); INSERT INTO session_uses VALUES ('nav-1')"
        )
    return (data / "sessions.db").read_bytes()


def set_aside(data: Path) -> list[Path]:
    """Return the folders in which there are artifacts of earlier versions."""
    return [each for each in data.glob("before-*") if (each / "artifacts" / "apps").is_dir()]


async def test_a_schema_of_an_earlier_version_is_refused_and_stays(repository: Path, tmp_path: Path) -> None:
    with own_schema() as address:
        await run_sql(
            address,
            f"CREATE SCHEMA {address.schema}",
            "CREATE TABLE layout (version integer)",
            "INSERT INTO layout VALUES (1)",
        )
        settings = NavigatorSettings(store=address, data_dir=tmp_path / "data", use_cache=False, workers=1)
        navigator = Navigator(settings)
        with pytest.raises(StorageError, match="earlier version"):
            await navigator.open(NavigationRequest(GOAL, repository))
        await navigator.aclose()
        assert [tuple(row) for row in await run_sql(address, "SELECT version FROM layout")] == [(1,)]


async def test_a_deletion_that_was_cut_short_is_finished_later(
    make_navigator: MakeNavigator, repository: Path, kept_in: dict[str, Any]
) -> None:
    navigator = make_navigator()
    gone = await navigator.open(NavigationRequest(GOAL, repository))
    stays = await navigator.open(NavigationRequest(GOAL, repository))
    # What a kill leaves right after the first change of a deletion.
    assert await navigator.store.index.mark_forgotten(NavigationKey("local", gone))
    with pytest.raises(UnknownNavigationError):
        await navigator.context(gone)
    services = await navigator.store.services()
    named = {"app_name": "repo_navigator", "user_id": "local"}
    assert await services.artifacts.list_artifact_keys(**named, session_id=gone)
    await navigator.store.delete_forgotten()
    assert await services.artifacts.list_artifact_keys(**named, session_id=gone) == []
    assert await services.sessions.get_session(**named, session_id=gone) is None
    assert await services.sessions.get_session(**named, session_id=stays) is not None
    assert [each.navigation_id for each in await navigator.navigations()] == [stays]


async def test_what_a_kill_leaves_of_a_beginning_is_deleted(
    make_navigator: MakeNavigator, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    navigator = make_navigator()

    async def killed(*_: object) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr(navigator.store, "create", killed)
    with pytest.raises(RuntimeError):
        await navigator.open(NavigationRequest(GOAL, repository))
    assert await navigator.navigations() == []
    (key,) = [NavigationKey(*row) for row in await _rows(navigator, "SELECT user_id, id FROM navigations")]
    await navigator.store.delete_forgotten()
    # Whoever is still at it is left alone for an hour.
    assert len(await _rows(navigator, "SELECT id FROM navigations")) == 1
    monkeypatch.setattr("navigator.storage.index.ABANDONED_S", -1.0)
    await navigator.store.delete_forgotten()
    assert await _rows(navigator, "SELECT id FROM navigations") == []
    services = await navigator.store.services()
    named = {"app_name": "repo_navigator", "user_id": "local", "session_id": key.navigation_id}
    assert await services.artifacts.list_artifact_keys(**named) == []


async def _rows(navigator: Navigator, query: str) -> list[Any]:
    return [*await navigator.store.index._database.execute(query)]


async def test_two_processes_on_one_navigation_lose_no_step(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    one, two = make_navigator(), make_navigator()
    navigation_id = await one.open(NavigationRequest(GOAL, repository, mode="interactive"))
    taken = 0
    for number in range(5):
        # Each a change of its own: one that changes nothing would take no step.
        steps = (
            each.step(navigation_id, updates={"budget": 1_000 + 2 * number + place})
            for place, each in enumerate((one, two))
        )
        taken += len(await asyncio.gather(*steps))
    assert (await one.report(navigation_id)).step_number == taken
    assert (await two.report(navigation_id)) == (await one.report(navigation_id))


async def test_a_replica_whose_connection_is_cut_stores_nothing_more_of_its_step(
    repository: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with own_schema() as address:
        settings = NavigatorSettings(
            store=address, bucket=own_bucket("s3", request), use_cache=False, workers=1
        )
        navigator = Navigator(settings)
        navigation_id = await navigator.open(NavigationRequest(GOAL, repository, mode="interactive"))
        async with navigator.store.hold(navigation_id):
            navigator.store.locks.require_held(navigation_id)
            before = await navigator.store.load(navigation_id, "local")
            connection: Any = navigator.store.locks._shared._connection  # type: ignore[union-attr]
            ended = asyncio.Event()
            connection.add_termination_listener(lambda _: ended.set())
            await run_sql(address, f"SELECT pg_terminate_backend({connection.get_server_pid()})")
            await ended.wait()
            with pytest.raises(NavigationBusyError):
                await navigator.store.change(before, "local")
        assert (await navigator.step(navigation_id, updates={"budget": 900})).step_number == 1
        await navigator.aclose()


HOLD = """
import asyncio, sys; from pathlib import Path
from navigator.storage.locks import FileLocks, NavigationLocks
async def main():
    async with NavigationLocks(FileLocks(Path(sys.argv[1]))).hold("nav-one"):
        print("held", flush=True); sys.stdin.read()
asyncio.run(main())
"""


async def test_a_navigation_that_others_step_for_too_long_is_busy(tmp_path: Path) -> None:
    holder = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", HOLD, str(tmp_path)), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    await holder.stdout.readline()
    locks = NavigationLocks(FileLocks(tmp_path), busy_s=0.05)
    with pytest.raises(NavigationBusyError):
        async with locks.hold("nav-one"):
            pass
    holder.kill()
    await holder.wait()
    # That of a dead process is free.
    async with locks.hold("nav-one"):
        assert locks.is_held("nav-one")


async def test_a_navigation_that_another_replica_steps_is_busy() -> None:
    from navigator.storage.locks import AdvisoryLocks
    from navigator.storage.postgres import PostgresDatabase

    with own_schema() as address:
        shared = [AdvisoryLocks(PostgresDatabase(address).connect) for _ in range(2)]
        ours, theirs = (NavigationLocks(each, busy_s=0.1) for each in shared)
        async with theirs.hold("nav-one"):
            with pytest.raises(NavigationBusyError):
                await ours.hold("nav-one").__aenter__()
        async with ours.hold("nav-one"):
            assert ours.is_held("nav-one")
        for each in shared:
            await each.close()


async def test_of_many_who_want_one_navigation_each_has_it_alone(tmp_path: Path) -> None:
    # Locks of their own stand for processes: each opens the file anew.
    processes = [NavigationLocks(FileLocks(tmp_path)) for _ in range(4)]
    inside, most, turns = 0, 0, 0

    async def step(locks: NavigationLocks) -> None:
        nonlocal inside, most, turns
        async with locks.hold("../nav/one\0"):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1
            turns += 1

    await asyncio.gather(*(step(locks) for locks in processes for _ in range(10)))
    assert (most, turns) == (1, 40)


@of_the_folder
async def test_a_folder_that_cannot_be_written_degrades_to_memory_with_a_note(
    make_navigator: MakeNavigator, repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "data").write_text("a file")
    navigator = make_navigator()
    navigation_id = await navigator.open(NavigationRequest(GOAL, repository))
    assert any("lives in memory only" in note for note in (await navigator.run(navigation_id)).notes)
    # What was stored there before can't be found, which is no reason to call it unknown.
    with pytest.raises(StorageError):
        await navigator.context("nav-of-before")


@pytest.mark.skipif(sys.platform == "win32", reason="it has no named pipes")
@of_the_folder
async def test_a_pipe_in_the_place_of_a_database_keeps_nobody_waiting(
    make_navigator: MakeNavigator, repository: Path, kept_in: dict[str, Any]
) -> None:
    kept_in["data_dir"].mkdir()
    os.mkfifo(kept_in["data_dir"] / "sessions.db")
    navigator = make_navigator()
    navigation_id = await navigator.open(NavigationRequest(GOAL, repository))
    assert (await navigator.context(navigation_id)).notes


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
@of_the_folder
async def test_what_is_stored_is_for_the_user_alone(
    make_navigator: MakeNavigator, repository: Path, kept_in: dict[str, Any]
) -> None:
    data = kept_in["data_dir"]
    data.mkdir(mode=0o755)
    navigator = make_navigator()
    await navigator.run(await navigator.open(NavigationRequest(GOAL, repository)))
    modes = {path.name: path.stat().st_mode & 0o077 for path in data.iterdir()}
    assert {"sessions.db", "index.db", "artifacts", "locks"} <= modes.keys()
    assert set(modes.values()) == {0}


@pytest.mark.parametrize("odd", ["the goal\0", "the goal \ud800"])
async def test_text_that_no_database_holds_is_refused(odd: str, repository: Path) -> None:
    navigator = Navigator(NavigatorSettings(use_cache=False, workers=1))
    with pytest.raises(InvalidArgumentError) as refused:
        await navigator.open(NavigationRequest(odd, repository))
    assert refused.value.argument == "goal"
    navigation_id = await navigator.open(NavigationRequest(GOAL, repository))
    for call in (
        {"feedback": odd},
        {"show": [odd]},
        {"updates": {"verbosity": [{"pattern": odd, "level": 1}]}},
    ):
        with pytest.raises(InvalidArgumentError):
            await navigator.step(navigation_id, **call)  # type: ignore[arg-type]
    await navigator.aclose()


async def test_each_version_of_an_artifact_in_a_bucket_has_a_number_of_its_own(
    request: pytest.FixtureRequest,
) -> None:
    from google.genai import types

    from navigator.storage.s3 import S3ArtifactService

    bucket = own_bucket("s3", request)
    service = S3ArtifactService(bucket.bucket, bucket.prefix)
    named = {"app_name": "app", "user_id": "alice", "session_id": "nav-1"}
    saved = await asyncio.gather(
        *(
            service.save_artifact(**named, filename="a/b.txt", artifact=types.Part(text=f"text {number}"))
            for number in range(6)
        )
    )
    assert sorted(saved) == [0, 1, 2, 3, 4, 5] == await service.list_versions(**named, filename="a/b.txt")
    picture = types.Part.from_bytes(data=b"\x89PNG", mime_type="image/png")
    await service.save_artifact(**named, filename="a", artifact=picture)
    await service.save_artifact(app_name="app", user_id="alice", filename="user:x", artifact=picture)
    assert await service.list_artifact_keys(**named) == ["a", "a/b.txt", "user:x"]
    found = await service.load_artifact(**named, filename="a")
    assert found is not None
    assert found.inline_data is not None
    assert (found.inline_data.data, found.inline_data.mime_type) == (b"\x89PNG", "image/png")
    assert await service.load_artifact(**named, filename="a/b.txt", version=9) is None
    assert await service.load_artifact(**named, filename="nothing") is None
    described = await service.get_artifact_version(**named, filename="a/b.txt")
    assert described is not None
    assert described.version == 5
    await service.delete_artifact(**named, filename="a")
    assert len(await service.list_versions(**named, filename="a/b.txt")) == 6
    assert await service.list_artifact_keys(**named) == ["a/b.txt", "user:x"]
