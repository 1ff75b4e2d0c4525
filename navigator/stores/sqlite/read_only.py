"""What a database holds that can be read and not written."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from navigator.stores.sqlite.layout import Table

_TABLES = ("app_states", "user_states", "sessions")
"""Without the events: a navigation goes on from its state alone, and events are all but a small part."""


def stored_tables(database: Path) -> list[Table]:
    """Return what a database holds that can't be written.

    Raises:
        OSError, sqlite3.Error: it can't be read either.
    """
    try:
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return _tables(connection)
    except sqlite3.OperationalError:
        # With a log beside it a database can't be read without a file to write to, so a copy of it is read.
        with _copied(database) as copy, closing(sqlite3.connect(copy)) as connection:
            return _tables(connection)


@contextmanager
def _copied(database: Path) -> Iterator[Path]:
    with TemporaryDirectory(prefix="repo-navigator-") as folder:
        for ending in ("", "-wal"):
            source = database.with_name(database.name + ending)
            if source.exists() or not ending:
                shutil.copyfile(source, Path(folder) / source.name)
        yield Path(folder) / database.name


def _tables(connection: sqlite3.Connection) -> list[Table]:
    found = []
    for name in _TABLES:
        cursor = connection.execute(f"SELECT * FROM {name}")
        columns = [column[0] for column in cursor.description]
        places = ", ".join("?" * len(columns))
        insert = f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({places})"
        found.append(Table(insert, cursor.fetchall()))
    return found
