"""Texts beside sessions, by name and version: in a folder, as ADK lays them out, or in memory."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import quote

from navigator.stores.session_values import SessionId

_VERSIONS: Final = "versions"
_RESERVED: Final = frozenset({"", ".", "..", "apps", "artifacts", "sessions", "users", _VERSIONS})


class Artifacts(Protocol):
    """Texts of sessions; each has versions, numbered in the order of saving."""

    @property
    def errors(self) -> int:
        """Calls that were not taken since it was opened."""

    async def save(self, session: SessionId, name: str, text: str) -> int:
        """Keep a version and return its number; of those who save at once each gets one of its own.

        Raises:
            OSError, StorageError: it is not taken.
        """

    async def load(self, session: SessionId, name: str, version: int | None = None) -> str | None:
        """Return a version, the latest by default; None where there is none.

        Raises:
            StorageError: the store does not answer.
        """

    async def versions(self, session: SessionId, name: str) -> list[int]:
        """Return the numbers of all versions, ascending.

        Raises:
            StorageError: the store does not answer.
        """

    async def clear(self, session: SessionId) -> None:
        """Delete everything of a session.

        Raises:
            StorageError: the store does not answer.
        """


class FolderArtifacts:
    """Artifacts in a folder, laid out as by ADK's ``FileArtifactService``, which reads them.

    A version is a folder, which is written under another name and then renamed: readers see it whole or not
    at all. One that a kill left keeps its number.
    """

    errors = 0

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def save(self, session: SessionId, name: str, text: str) -> int:
        """Keep a version and return its number."""
        return await asyncio.to_thread(_save, self._of(session, name), text)

    async def load(self, session: SessionId, name: str, version: int | None = None) -> str | None:
        """Return a version, the latest by default; None where there is none, or it can't be read."""
        return await asyncio.to_thread(_load, self._of(session, name), version)

    async def versions(self, session: SessionId, name: str) -> list[int]:
        """Return the numbers of all versions, ascending."""
        return await asyncio.to_thread(_versions, self._of(session, name))

    async def clear(self, session: SessionId) -> None:
        """Delete everything of a session, also what a kill left of a version."""
        await asyncio.to_thread(shutil.rmtree, self._of(session).parent, ignore_errors=True)

    def _of(self, session: SessionId, name: str = "") -> Path:
        app_name, user, called = map(_folder_name, session)
        return Path(f"{self.folder}/apps/{app_name}/users/{user}/sessions/{called}/artifacts/{name}")


class MemoryArtifacts:
    """Artifacts that end with the process."""

    errors = 0

    def __init__(self) -> None:
        self._texts: dict[SessionId, dict[str, list[str]]] = {}

    async def save(self, session: SessionId, name: str, text: str) -> int:
        """Keep a version and return its number."""
        texts = self._texts.setdefault(session, {}).setdefault(name, [])
        texts.append(text)
        return len(texts) - 1

    async def load(self, session: SessionId, name: str, version: int | None = None) -> str | None:
        """Return a version, the latest by default; None where there is none."""
        texts = self._texts.get(session, {}).get(name, [])
        wanted = len(texts) - 1 if version is None else version
        return texts[wanted] if 0 <= wanted < len(texts) else None

    async def versions(self, session: SessionId, name: str) -> list[int]:
        """Return the numbers of all versions, ascending."""
        return [*range(len(self._texts.get(session, {}).get(name, [])))]

    async def clear(self, session: SessionId) -> None:
        """Delete everything of a session."""
        self._texts.pop(session, None)


class ReadOnlyArtifacts:
    """Artifacts of a folder that nothing is written to: new versions follow in memory on those there."""

    errors = 0

    def __init__(self, folder: Path) -> None:
        """Show what ``folder`` holds.

        Raises:
            OSError: it can't be read.
        """
        self._stored = FolderArtifacts(folder)
        self._fresh = MemoryArtifacts()
        if folder.exists():
            next(folder.iterdir(), None)

    async def save(self, session: SessionId, name: str, text: str) -> int:
        """Keep a version in memory, and return its number."""
        return await self._first_fresh(session, name) + await self._fresh.save(session, name, text)

    async def load(self, session: SessionId, name: str, version: int | None = None) -> str | None:
        """Return a version, the latest by default."""
        fresh = None if version is None else version - await self._first_fresh(session, name)
        found = await self._fresh.load(session, name, fresh)
        return await self._stored.load(session, name, version) if found is None else found

    async def versions(self, session: SessionId, name: str) -> list[int]:
        """Return the numbers of all versions, ascending."""
        first = await self._first_fresh(session, name)
        fresh = await self._fresh.versions(session, name)
        return [*await self._stored.versions(session, name), *(first + number for number in fresh)]

    async def clear(self, session: SessionId) -> None:
        """Delete what is in memory; the folder stays as it is."""
        await self._fresh.clear(session)

    async def _first_fresh(self, session: SessionId, name: str) -> int:
        """Return the number of the first version in memory."""
        return max(await self._stored.versions(session, name), default=-1) + 1


def _folder_name(name: str) -> str:
    """Return a name as a path below a folder; one that would lead elsewhere is quoted."""
    parts = name.split("/")
    is_odd = not _RESERVED.isdisjoint(parts) or "\\" in name or "\0" in name or name[1:2] == ":"
    return f"%{quote(name, safe='')}" if is_odd else name


def _save(folder: Path, text: str) -> int:
    versions = folder / _VERSIONS
    versions.mkdir(parents=True, exist_ok=True)
    number = max(_versions(folder), default=-1) + 1
    while True:
        unfinished, finished = versions / f".{number}.pending", versions / str(number)
        try:
            unfinished.mkdir()
        except FileExistsError:
            number += 1
            continue
        if not finished.exists():
            break
        unfinished.rmdir()
        number += 1
    try:
        # Half a character, which JSON can say, is no UTF-8; a map holds none.
        (unfinished / folder.name).write_bytes(text.encode(errors="replace"))
        unfinished.replace(finished)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return number


def _load(folder: Path, version: int | None) -> str | None:
    number = max(_versions(folder), default=None) if version is None else version
    try:
        return (folder / _VERSIONS / str(number) / folder.name).read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None


def _versions(folder: Path) -> list[int]:
    try:
        return sorted(int(each.name) for each in (folder / _VERSIONS).iterdir() if each.name.isdecimal())
    except (FileNotFoundError, NotADirectoryError):
        return []
