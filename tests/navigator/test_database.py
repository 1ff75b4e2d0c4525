"""A database of our own: who waits for whom, and what a cancelled call leaves."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest

from navigator.stores.sqlite import database as module
from navigator.stores.sqlite.database import Database

pytestmark = pytest.mark.anyio


def prepare(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE IF NOT EXISTS notes (text TEXT)")


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[Database]:
    with closing(sqlite3.connect(tmp_path / "notes.db")) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    database = Database(tmp_path / "notes.db", prepare)
    yield database
    await database.close()


def noting(*texts: str) -> Callable[[sqlite3.Connection], None]:
    def note(db: sqlite3.Connection) -> None:
        for text in texts:
            db.execute("INSERT INTO notes VALUES (?)", (text,))

    return note


def texts_in(db: sqlite3.Connection) -> list[str]:
    return [text for (text,) in db.execute("SELECT text FROM notes ORDER BY text")]


def stored(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / "notes.db")) as other:
        return texts_in(other)


async def test_a_write_waits_for_another_process_while_others_read(notes: Database, tmp_path: Path) -> None:
    await notes.write(noting("first"))
    with closing(sqlite3.connect(tmp_path / "notes.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO notes VALUES ('theirs')")
        writing = asyncio.create_task(notes.write(noting("second")))
        done, _ = await asyncio.wait({writing}, timeout=0.05)
        assert not done
        assert await notes.read(texts_in) == ["first"]
        other.execute("COMMIT")
    await writing
    assert await notes.read(texts_in) == ["first", "second", "theirs"]


async def test_a_lock_that_never_goes_is_told(
    notes: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.02)
    assert await notes.read(texts_in) == []
    with closing(sqlite3.connect(tmp_path / "notes.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            await notes.write(noting("late"))
    await notes.write(noting("later"))
    assert stored(tmp_path) == ["later"]


async def test_what_fails_half_way_has_written_nothing(notes: Database, tmp_path: Path) -> None:
    def fail(db: sqlite3.Connection) -> None:
        noting("half")(db)
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        await notes.write(fail)
    await notes.write(noting("whole"))
    assert stored(tmp_path) == ["whole"]
    in_memory = Database(None, prepare)
    with pytest.raises(ValueError, match="no more"):
        await in_memory.write(fail)
    assert await in_memory.read(texts_in) == []
    await in_memory.close()


async def test_a_read_sees_one_moment_although_others_write_meanwhile(
    notes: Database, tmp_path: Path
) -> None:
    def twice(db: sqlite3.Connection) -> list[list[str]]:
        before = texts_in(db)
        with closing(sqlite3.connect(tmp_path / "notes.db")) as other, other:
            other.execute("INSERT INTO notes VALUES ('theirs')")
        return [before, texts_in(db)]

    assert await notes.read(twice) == [[], []]
    assert await notes.read(texts_in) == ["theirs"]


async def test_writes_are_made_in_the_order_of_asking(notes: Database, tmp_path: Path) -> None:
    order: list[int] = []

    def writing(number: int) -> Callable[[sqlite3.Connection], None]:
        return lambda _: order.append(number)

    await asyncio.gather(*(notes.write(writing(number)) for number in range(50)))
    assert order == list(range(50))


async def test_whoever_is_cancelled_while_it_writes_has_stored_all_or_nothing(
    notes: Database, tmp_path: Path
) -> None:
    for number in range(20):
        writing = asyncio.create_task(notes.write(noting(f"{number:02}", f"{number:02}")))
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
    found = stored(tmp_path)
    assert all(found.count(text) == 2 for text in found)


async def test_whoever_is_cancelled_before_its_turn_writes_nothing_and_after_it_everything(
    notes: Database, tmp_path: Path
) -> None:
    begun, may_end = Event(), Event()

    def slow(db: sqlite3.Connection) -> None:
        noting("slow")(db)
        begun.set()
        may_end.wait()

    first = asyncio.create_task(notes.write(slow))
    await asyncio.to_thread(begun.wait)
    second = asyncio.create_task(notes.write(noting("second")))
    await asyncio.sleep(0)
    first.cancel()
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert stored(tmp_path) == ["slow"]


async def test_where_there_is_no_log_reads_and_writes_wait_for_each_other(tmp_path: Path) -> None:
    notes = Database(tmp_path / "notes.db", prepare)
    await notes.write(noting("first"))
    with closing(sqlite3.connect(tmp_path / "notes.db", isolation_level=None)) as other:
        other.execute("BEGIN")
        texts_in(other)
        writing = asyncio.create_task(notes.write(noting("patient")))
        done, _ = await asyncio.wait({writing}, timeout=0.05)
        assert not done
        reading = asyncio.create_task(notes.read(texts_in))
        done, _ = await asyncio.wait({reading}, timeout=0.05)
        assert not done
        other.execute("COMMIT")
    await writing
    assert "patient" in stored(tmp_path)
    assert "first" in await reading
    await notes.close()


async def test_a_closed_database_is_opened_anew_by_the_next_call(notes: Database) -> None:
    await notes.write(noting("before"))
    await notes.close()
    await notes.write(noting("after"))
    assert await notes.read(texts_in) == ["after", "before"]


async def test_writes_that_wait_for_the_same_disk_are_committed_together_and_in_order(
    notes: Database, tmp_path: Path
) -> None:
    begun, may_end = Event(), Event()
    commits: list[list[str]] = []

    def slow(db: sqlite3.Connection) -> None:
        begun.set()
        may_end.wait()

    def seen_by_others(db: sqlite3.Connection) -> None:
        noting("last")(db)
        commits.append(stored(tmp_path))

    first = asyncio.create_task(notes.write(slow))
    await asyncio.to_thread(begun.wait)
    waiting = [asyncio.create_task(notes.write(noting(text))) for text in ("a", "b", "c")]
    waiting.append(asyncio.create_task(notes.write(seen_by_others)))
    await asyncio.sleep(0)
    may_end.set()
    await asyncio.gather(first, *waiting)
    assert commits == [[]]
    assert stored(tmp_path) == ["a", "b", "c", "last"]


async def test_one_of_many_writes_that_fails_takes_none_of_the_others_with_it(
    notes: Database, tmp_path: Path
) -> None:
    begun, may_end = Event(), Event()

    def slow(db: sqlite3.Connection) -> None:
        begun.set()
        may_end.wait()

    def fail(db: sqlite3.Connection) -> None:
        noting("half")(db)
        raise ValueError("no more")

    first = asyncio.create_task(notes.write(slow))
    await asyncio.to_thread(begun.wait)
    waiting = [asyncio.create_task(notes.write(act)) for act in (noting("a"), fail, noting("b"))]
    await asyncio.sleep(0)
    may_end.set()
    await first
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None), ValueError, type(None)]
    assert stored(tmp_path) == ["a", "b"]
