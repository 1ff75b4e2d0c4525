"""Artifacts in a bucket: each version is an object whose name ends with its number."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar
from urllib.parse import quote

from navigator.errors import StorageError
from navigator.stores.buckets.bucket import Bucket, BucketError
from navigator.stores.session_values import SessionId

_TEXT: Final = "text/plain; charset=utf-8"
_T = TypeVar("_T")


class BucketArtifacts:
    """Artifacts of a team's servers."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self.errors = 0

    async def save(self, session: SessionId, name: str, text: str) -> int:
        """Keep a version and return its number."""
        folder = _folder(session, name)
        # Half a character, which JSON can say, is no UTF-8; a map holds none.
        content = text.encode("utf-8", "replace")

        def save() -> int:
            # Most have one version only: it is tried before anybody asks how many there are.
            version = 0
            while not self._bucket.create(f"{folder}{version}", content, _TEXT):
                version = max((*self._numbers(folder), version)) + 1
            return version

        return await self._in_thread(save)

    async def load(self, session: SessionId, name: str, version: int | None = None) -> str | None:
        """Return a version, the latest by default; None where there is none."""
        folder = _folder(session, name)

        def load() -> str | None:
            wanted = max(self._numbers(folder), default=None) if version is None else version
            found = None if wanted is None else self._bucket.read(f"{folder}{wanted}")
            return None if found is None else found.content.decode()

        return await self._in_thread(load)

    async def versions(self, session: SessionId, name: str) -> list[int]:
        """Return the numbers of all versions, ascending."""
        return await self._in_thread(lambda: sorted(self._numbers(_folder(session, name))))

    async def clear(self, session: SessionId) -> None:
        """Delete everything of a session."""
        place = _place(session)
        await self._in_thread(lambda: self._bucket.remove([each.name for each in self._bucket.names(place)]))

    def _numbers(self, folder: str) -> list[int]:
        ends = (each.name.removeprefix(folder) for each in self._bucket.names(folder))
        return [int(end) for end in ends if end.isdecimal()]

    async def _in_thread(self, act: Callable[[], _T]) -> _T:
        try:
            return await asyncio.to_thread(act)
        except BucketError as error:
            self.errors += 1
            raise StorageError(
                f"The bucket {self._bucket.address} failed ({error}); check that it exists and that "
                "this server's keys may read and write in it, then call again: answered steps are "
                "kept."
            ) from None


def _place(session: SessionId) -> str:
    """Return what the names of a session's objects begin with; no name leads out of it."""
    app_name, user, name = (quote(part, safe="") for part in session)
    return f"{app_name}/{user}/session/{name}/"


def _folder(session: SessionId, name: str) -> str:
    """Return what the names of an artifact's versions begin with."""
    return f"{_place(session)}{quote(name, safe='')}/"
