"""A data folder that can only be read: what it holds shows through, what is new is kept in memory."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from google.adk.artifacts import FileArtifactService, InMemoryArtifactService
from google.genai import types

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


class ReadOnlyArtifacts(FileArtifactService):
    """Artifacts of a folder that nothing is written to: new versions follow in memory on those there."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._fresh = InMemoryArtifactService()

    async def save_artifact(self, **request: Any) -> int:
        """Keep a version in memory, and return its number."""
        return len(await self._versions(request)) + await self._fresh.save_artifact(**request)

    async def load_artifact(self, *, version: int | None = None, **request: Any) -> types.Part | None:
        """Return a version, the latest by default."""
        stored = len(await self._versions(request))
        if version is None or version >= stored:
            fresh = None if version is None else version - stored
            if (part := await self._fresh.load_artifact(**request, version=fresh)) is not None:
                return part
        return await super().load_artifact(**request, version=version)

    async def list_artifact_keys(self, **request: Any) -> list[str]:
        """Return the names of all artifacts."""
        found = {
            *await super().list_artifact_keys(**request),
            *await self._fresh.list_artifact_keys(**request),
        }
        return sorted(found)

    async def delete_artifact(self, **request: Any) -> None:
        """Delete what is in memory; the folder stays as it is."""
        await self._fresh.delete_artifact(**request)

    async def _versions(self, request: dict[str, Any]) -> list[int]:
        where = ("app_name", "user_id", "session_id", "filename")
        return await super().list_versions(**{name: request[name] for name in where})
