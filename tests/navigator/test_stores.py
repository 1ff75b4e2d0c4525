"""The session store under many hands at once: who reads sees what has been written."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from navigator.navigator import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings
from navigator.stores.opening import open_stores
from navigator.stores.session_values import SessionId
from navigator.stores.sessions import SessionStore
from tests.navigator.conftest import write_repository


def named(name: str) -> SessionId:
    return SessionId("app", "user", name)


async def read(sessions: SessionStore, name: str) -> object:
    return await sessions.get(named(name))


@pytest.mark.anyio
async def test_what_is_stored_is_seen_at_once_however_many_read_meanwhile(tmp_path: Path) -> None:
    sessions = open_stores(tmp_path).sessions
    await sessions.create(named("first"), {"size": "x" * 10_000})

    async def keep_reading() -> None:
        while True:
            await read(sessions, "first")

    readers = [asyncio.create_task(keep_reading()) for _ in range(8)]
    try:
        for number in range(20):
            await sessions.create(named(f"s{number}"), {"number": number})
            assert await read(sessions, f"s{number}") is not None
    finally:
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
        await sessions.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
@pytest.mark.anyio
async def test_what_is_kept_is_for_the_user_alone_whatever_folder_he_names(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    navigator = Navigator(NavigatorSettings(data_dir=data, use_cache=False, workers=1))
    await navigator.run(await navigator.open(NavigationRequest("x", tmp_path)))
    modes = {path.name: path.stat().st_mode & 0o077 for path in data.iterdir()}
    await navigator.aclose()
    assert {"sessions.db", "sessions.db-wal", "artifacts", "locks"} <= modes.keys()
    assert set(modes.values()) == {0}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
@pytest.mark.anyio
async def test_what_an_older_version_left_open_to_others_is_closed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for folder in ("artifacts", "locks", "answers"):
        (data / folder).mkdir(parents=True)
        (data / folder).chmod(0o755)
    (data / "sessions.db").touch(0o644)
    data.chmod(0o755)
    await open_stores(data).sessions.close()
    modes = {path.name: path.stat().st_mode & 0o077 for path in data.iterdir()}
    assert {"sessions.db", "artifacts", "locks", "answers"} <= modes.keys()
    assert set(modes.values()) == {0}
    assert data.stat().st_mode & 0o077 == 0o055


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform == "win32", reason="it has no named pipes")
async def test_a_pipe_in_the_place_of_the_database_keeps_nobody_waiting(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    os.mkfifo(data / "sessions.db")
    navigator = Navigator(NavigatorSettings(data_dir=data, use_cache=False, workers=1))
    key = await navigator.open(NavigationRequest("total", write_repository(tmp_path / "shop")))
    notes = (await navigator.context(key)).notes
    await navigator.aclose()
    assert any("sessions.db` is no file), so this navigation lives in memory only" in note for note in notes)
