"""Sessions and artifacts by ADK's own services; those of a data folder are read without importing ADK."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.adk.artifacts import BaseArtifactService
    from google.adk.sessions import BaseSessionService

    from navigator.storage.index import SqliteDatabase
    from navigator.storage.postgres import PostgresDatabase

APP_NAME: Final = "repo_navigator"
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.@+")


class NavigationKey(NamedTuple):
    """What names a navigation."""

    user: str
    navigation_id: str

    @property
    def user_id(self) -> str:
        """The user in ADK's services: a name that could not be a folder's is quoted."""
        is_plain = (
            0 < len(self.user) <= 100 and not self.user.startswith(".") and _PLAIN.issuperset(self.user)
        )
        return self.user if is_plain else f"%{quote(self.user, safe='')}"

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments by which every call of ADK's services names its session."""
        return {"app_name": APP_NAME, "user_id": self.user_id, "session_id": self.navigation_id}


class Sessions:
    """The sessions of an ADK service."""

    def __init__(self, open_service: Callable[[], BaseSessionService]) -> None:
        self._open = open_service

    @cached_property
    def service(self) -> BaseSessionService:
        return self._open()

    async def state(self, key: NavigationKey) -> Mapping[str, Any] | None:
        """Return the state of a navigation's session, None where there is none."""
        session = await self.service.get_session(**key.arguments)
        return None if session is None else session.state

    async def delete(self, key: NavigationKey) -> None:
        """Delete a session with its events; nothing where there is none."""
        await self.service.delete_session(**key.arguments)

    async def close(self) -> None:
        if "service" in self.__dict__ and (close := getattr(self.service, "close", None)):
            await close()


class TableSessions(Sessions):
    """The sessions in a table beside the index: a state is read at once, and without importing ADK."""

    def __init__(
        self,
        open_service: Callable[[], BaseSessionService],
        database: SqliteDatabase | PostgresDatabase,
        table: str = "sessions",
    ) -> None:
        super().__init__(open_service)
        self._database, self._table = database, table

    async def state(self, key: NavigationKey) -> Mapping[str, Any] | None:
        rows = await self._execute(
            f"SELECT CAST(s.state AS text) FROM {self._table} s, navigations n WHERE s.app_name = $1 "
            "AND s.user_id = $2 AND s.id = $3 AND n.user_id = $4 AND n.id = $3 AND n.status = 'stored'",
            *(APP_NAME, key.user_id, key.navigation_id, key.user),
        )
        return json.loads(rows[0][0]) if rows else None

    async def delete(self, key: NavigationKey) -> None:
        one = "app_name = $1 AND user_id = $2 AND id = $3"
        await self._execute(
            f"DELETE FROM {self._table} WHERE {one}", APP_NAME, key.user_id, key.navigation_id
        )

    async def _execute(self, statement: str, *values: str) -> Sequence[Any]:
        try:
            return await self._database.execute(statement, *values)
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):  # ADK's service makes it with its first session.
                return ()
            raise


class Artifacts:
    """The artifacts of an ADK service."""

    def __init__(self, open_service: Callable[[], BaseArtifactService]) -> None:
        self._open = open_service

    @cached_property
    def service(self) -> BaseArtifactService:
        return self._open()

    async def load(self, key: NavigationKey, name: str, version: int) -> str | None:
        """Return a version of an artifact, None where there is none."""
        part = await self.service.load_artifact(**key.arguments, filename=name, version=version)
        if part is None:
            return None
        if part.inline_data is not None and part.inline_data.data is not None:
            return part.inline_data.data.decode()
        return part.text

    async def delete(self, key: NavigationKey) -> None:
        """Delete all artifacts of a session."""
        for name in await self.service.list_artifact_keys(**key.arguments):
            if not name.startswith("user:"):
                await self.service.delete_artifact(**key.arguments, filename=name)


class FileArtifacts(Artifacts):
    """The artifacts in a folder, as ADK's ``FileArtifactService`` lays them out."""

    def __init__(self, open_service: Callable[[], BaseArtifactService], folder: Path) -> None:
        super().__init__(open_service)
        self._folder = folder / "apps" / APP_NAME / "users"

    async def load(self, key: NavigationKey, name: str, version: int) -> str | None:
        file = self._of(key) / "artifacts" / name / "versions" / str(version) / Path(name).name
        try:
            return (await asyncio.to_thread(file.read_bytes)).decode()
        except (FileNotFoundError, NotADirectoryError):
            return None

    async def delete(self, key: NavigationKey) -> None:
        await asyncio.to_thread(shutil.rmtree, self._of(key), ignore_errors=True)

    def _of(self, key: NavigationKey) -> Path:
        return self._folder / key.user_id / "sessions" / key.navigation_id
