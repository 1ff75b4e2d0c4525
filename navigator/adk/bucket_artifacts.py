"""ADK's artifacts in a bucket.

Neither service that there is can be used. The community's for S3 opens a client for each call, knows no
prefix, keeps no empty text, and does not list names with a slash, so that nothing of a navigation would be
removed. ADK's for Google's storage knows no prefix either, and waits for minutes where the bucket is slow.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, TypeVar
from urllib.parse import quote, unquote

from google.adk.artifacts import BaseArtifactService
from google.adk.artifacts.base_artifact_service import ArtifactVersion, ensure_part
from google.genai import types

from navigator.errors import StorageError
from navigator.stores.buckets.bucket import Bucket, BucketError

_TEXT: Final = "text/plain; charset=utf-8"
_T = TypeVar("_T")


class BucketArtifacts(BaseArtifactService):
    """Artifacts, each version an object whose name ends with its number."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self.errors = 0
        """Calls that the bucket did not take."""

    async def save_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        artifact: types.Part | dict[str, Any],
        session_id: str | None = None,
        custom_metadata: dict[str, Any] | None = None,
    ) -> int:
        """Keep a version and return its number; of those who save at once each gets one of its own.

        Raises:
            StorageError: the bucket does not take it.
            ValueError: it is neither text nor bytes, or has metadata, which are not kept.
        """
        if custom_metadata:
            raise ValueError("Metadata of artifacts are not kept.")
        body, kind = _content(ensure_part(artifact))
        folder = _folder(app_name, user_id, session_id, filename)

        def save() -> int:
            # Most have one version only: it is tried before anybody asks how many there are.
            version = 0
            while not self._bucket.create(f"{folder}{version}", body, kind):
                version = max((*self._numbers(folder), version)) + 1
            return version

        return await self._in_thread(save)

    async def load_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> types.Part | None:
        """Return a version, the latest by default; None where there is none."""
        folder = _folder(app_name, user_id, session_id, filename)

        def load() -> types.Part | None:
            wanted = max(self._numbers(folder), default=None) if version is None else version
            found = None if wanted is None else self._bucket.read(f"{folder}{wanted}")
            return None if found is None else _part(found.content, found.kind)

        return await self._in_thread(load)

    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        """Return the names of all artifacts of a session and of its user."""
        places = [("user:", _place(app_name, user_id, None))]
        if session_id is not None:
            places.append(("", _place(app_name, user_id, session_id)))

        def names() -> list[str]:
            found = {
                before + unquote(each.name.removeprefix(place).rpartition("/")[0])
                for before, place in places
                for each in self._bucket.names(place)
            }
            return sorted(found)

        return await self._in_thread(names)

    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Delete every version."""
        folder = _folder(app_name, user_id, session_id, filename)

        def delete() -> None:
            self._bucket.remove([f"{folder}{number}" for number in self._numbers(folder)])

        await self._in_thread(delete)

    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """Return the numbers of all versions, ascending."""
        folder = _folder(app_name, user_id, session_id, filename)
        return await self._in_thread(lambda: sorted(self._numbers(folder)))

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """Return all versions, ascending, with their places and times."""
        folder = _folder(app_name, user_id, session_id, filename)

        def versions() -> list[ArtifactVersion]:
            found = (self._version(folder, number) for number in sorted(self._numbers(folder)))
            return [each for each in found if each is not None]

        return await self._in_thread(versions)

    async def get_artifact_version(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> ArtifactVersion | None:
        """Return the place and the time of a version, the latest by default; None where there is none."""
        folder = _folder(app_name, user_id, session_id, filename)

        def found() -> ArtifactVersion | None:
            wanted = max(self._numbers(folder), default=None) if version is None else version
            return None if wanted is None else self._version(folder, wanted)

        return await self._in_thread(found)

    def _numbers(self, folder: str) -> list[int]:
        ends = (each.name.removeprefix(folder) for each in self._bucket.names(folder))
        return [int(end) for end in ends if end.isdecimal()]

    def _version(self, folder: str, number: int) -> ArtifactVersion | None:
        name = f"{folder}{number}"
        facts = self._bucket.facts(name)
        return facts and ArtifactVersion(
            version=number,
            canonical_uri=f"{self._bucket.address}{name}",
            create_time=facts.written,
            mime_type=None if facts.kind == _TEXT else facts.kind,
        )

    async def _in_thread(self, act: Callable[[], _T]) -> _T:
        try:
            return await asyncio.to_thread(act)
        except BucketError as error:
            self.errors += 1
            raise StorageError(
                f"The bucket {self._bucket.address} does not take the call ({error}); see that it is there "
                "and that this server's keys may read and write in it, then call again: whatever was "
                "answered is kept."
            ) from None


def _place(app_name: str, user_id: str, session_id: str | None) -> str:
    """Return what the names of a session's objects begin with, or of a user's; no name leads out of it."""
    where = ("user",) if session_id is None else ("session", session_id)
    return "".join(f"{quote(name, safe='')}/" for name in (app_name, user_id, *where))


def _folder(app_name: str, user_id: str, session_id: str | None, filename: str) -> str:
    """Return what the names of an artifact's versions begin with."""
    is_users = session_id is None or filename.startswith("user:")
    place = _place(app_name, user_id, None if is_users else session_id)
    return f"{place}{quote(filename.removeprefix('user:'), safe='')}/"


def _part(content: bytes, kind: str) -> types.Part:
    if kind == _TEXT:
        return types.Part(text=content.decode("utf-8"))
    return types.Part.from_bytes(data=content, mime_type=kind)


def _content(part: types.Part) -> tuple[bytes, str]:
    if part.text is not None:
        # Half a character, which JSON can say, is no UTF-8; a map holds none.
        return part.text.encode("utf-8", "replace"), _TEXT
    if part.inline_data is not None and part.inline_data.data is not None:
        return part.inline_data.data, part.inline_data.mime_type or "application/octet-stream"
    raise ValueError("An artifact is text or bytes.")
