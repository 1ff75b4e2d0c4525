"""ADK's sessions over a connection of our own: who waits for whom, and what a cancelled call leaves."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from navigator.adk import session_service as module
from navigator.adk.session_service import DATABASE, Connection, open_stores

APP = {"app_name": "app", "user_id": "user"}


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[Connection]:
    connection = Connection(str(tmp_path / "notes.db"))
    await connection.executescript("PRAGMA journal_mode=WAL; CREATE TABLE IF NOT EXISTS notes (text TEXT)")
    yield connection
    await connection.close()


def stored(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / "notes.db")) as other:
        return [text for (text,) in other.execute("SELECT text FROM notes ORDER BY text")]


@pytest.mark.anyio
async def test_a_write_waits_for_another_process_while_others_go_on(tmp_path: Path) -> None:
    sessions = open_stores(tmp_path).sessions
    await sessions.create_session(**APP, session_id="first")
    with closing(sqlite3.connect(tmp_path / DATABASE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE sessions SET update_time = 1")
        writing = asyncio.create_task(sessions.create_session(**APP, session_id="second"))
        done, _ = await asyncio.wait({writing}, timeout=0.05)
        assert not done
        assert await sessions.get_session(**APP, session_id="first") is not None
        other.execute("COMMIT")
    assert (await writing).id == "second"
    first = await sessions.get_session(**APP, session_id="first")
    assert first is not None
    assert first.last_update_time == 1
    await sessions.close()


@pytest.mark.anyio
async def test_a_lock_that_never_goes_is_told(
    notes: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.02)
    with closing(sqlite3.connect(tmp_path / "notes.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            await notes.execute("INSERT INTO notes VALUES ('late')")
    await notes.execute("INSERT INTO notes VALUES ('later')")
    await notes.commit()
    assert stored(tmp_path) == ["later"]


@pytest.mark.anyio
async def test_rows_come_one_by_one_all_at_once_and_in_a_loop(notes: Connection) -> None:
    for text in ("a", "b", "c"):
        await notes.execute("INSERT INTO notes VALUES (?)", (text,))
    await notes.commit()
    async with notes.execute("SELECT text FROM notes ORDER BY text") as found:
        first = await found.fetchone()
        assert first is not None
        assert [first["text"], *[row["text"] async for row in found]] == ["a", "b", "c"]
        assert await found.fetchone() is None
    rows = await notes.execute_fetchall("SELECT text FROM notes WHERE text > ? ORDER BY text", ["a"])
    assert [row["text"] for row in rows] == ["b", "c"]


@pytest.mark.anyio
async def test_what_is_rolled_back_is_gone_and_a_closed_connection_has_nothing_to_undo(
    notes: Connection, tmp_path: Path
) -> None:
    await notes.execute("INSERT INTO notes VALUES ('half a step')")
    await notes.rollback()
    await notes.commit()
    assert stored(tmp_path) == []
    await notes.close()
    await notes.rollback()


@pytest.mark.anyio
async def test_whoever_is_cancelled_while_it_commits_has_stored_all_or_nothing(
    notes: Connection, tmp_path: Path
) -> None:
    async def write(text: str) -> None:
        await notes.execute("INSERT INTO notes VALUES (?)", (text,))
        await notes.execute("INSERT INTO notes VALUES (?)", (text,))
        await notes.commit()

    for number in range(20):
        writing = asyncio.create_task(write(f"{number:02}"))
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        await notes.rollback()
    found = stored(tmp_path)
    assert found == [f"{number:02}" for number in range(20) for _ in "xx"]


@pytest.mark.anyio
async def test_where_there_is_no_log_a_commit_waits_until_others_have_read(
    notes: Connection, tmp_path: Path
) -> None:
    await notes.executescript("PRAGMA journal_mode=DELETE")
    with closing(sqlite3.connect(tmp_path / "notes.db", isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM notes").fetchall()
        await notes.execute("INSERT INTO notes VALUES ('patient')")
        committing = asyncio.create_task(notes.commit())
        done, _ = await asyncio.wait({committing}, timeout=0.05)
        assert not done
        other.execute("COMMIT")
    await committing
    assert stored(tmp_path) == ["patient"]
