"""ADK's artifacts in a bucket that speaks S3.

The community's service for S3 can't be used: it opens a client for each call, knows no prefix, keeps no empty
text, and does not list names with a slash, so that nothing of a navigation would be removed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar
from urllib.parse import quote, unquote

from botocore.exceptions import BotoCoreError, ClientError
from google.adk.artifacts import BaseArtifactService
from google.adk.artifacts.base_artifact_service import ArtifactVersion, ensure_part
from google.genai import types

from navigator.bucket import ABSENT, REMOVED_AT_ONCE, code_of
from navigator.errors import StorageError
from navigator.store_address import BucketAddress

_TAKEN: Final = frozenset({"PreconditionFailed", "ConditionalRequestConflict"})
_TEXT: Final = "text/plain; charset=utf-8"
_T = TypeVar("_T")


class BucketArtifacts(BaseArtifactService):
    """Artifacts, each version an object whose key ends with its number."""

    def __init__(self, client: Any, address: BucketAddress) -> None:
        self._client = client
        self._address = address
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
        folder = self._folder(app_name, user_id, session_id, filename)

        def save() -> int:
            # Most have one version only: it is tried before anybody asks how many there are.
            version = 0
            while not self._put(f"{folder}{version}", body, kind):
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
        folder = self._folder(app_name, user_id, session_id, filename)

        def load() -> types.Part | None:
            wanted = max(self._numbers(folder), default=None) if version is None else version
            return None if wanted is None else self._get(f"{folder}{wanted}")

        return await self._in_thread(load)

    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        """Return the names of all artifacts of a session and of its user."""
        places = [("user:", self._place(app_name, user_id, None))]
        if session_id is not None:
            places.append(("", self._place(app_name, user_id, session_id)))

        def names() -> list[str]:
            found = {
                before + unquote(key.removeprefix(place).rpartition("/")[0])
                for before, place in places
                for key in self._keys(place)
            }
            return sorted(found)

        return await self._in_thread(names)

    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Delete every version."""
        folder = self._folder(app_name, user_id, session_id, filename)

        def delete() -> None:
            keys = [{"Key": f"{folder}{number}"} for number in self._numbers(folder)]
            for start in range(0, len(keys), REMOVED_AT_ONCE):
                objects = {"Objects": keys[start : start + REMOVED_AT_ONCE], "Quiet": True}
                self._client.delete_objects(Bucket=self._address.bucket, Delete=objects)

        await self._in_thread(delete)

    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """Return the numbers of all versions, ascending."""
        folder = self._folder(app_name, user_id, session_id, filename)
        return await self._in_thread(lambda: sorted(self._numbers(folder)))

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """Return all versions, ascending, with their places and times."""
        folder = self._folder(app_name, user_id, session_id, filename)

        def versions() -> list[ArtifactVersion]:
            return [self._version(folder, number) for number in sorted(self._numbers(folder))]

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
        folder = self._folder(app_name, user_id, session_id, filename)

        def found() -> ArtifactVersion | None:
            numbers = self._numbers(folder)
            wanted = max(numbers, default=None) if version is None else version
            return self._version(folder, wanted) if wanted in numbers and wanted is not None else None

        return await self._in_thread(found)

    def _place(self, app_name: str, user_id: str, session_id: str | None) -> str:
        """Return what the keys of a session begin with, or those of a user; no name leads out of it."""
        where = ("user",) if session_id is None else ("session", session_id)
        names = "/".join(quote(name, safe="") for name in (app_name, user_id, *where))
        return f"{self._address.prefix}{names}/"

    def _folder(self, app_name: str, user_id: str, session_id: str | None, filename: str) -> str:
        """Return what the keys of an artifact's versions begin with."""
        is_users = session_id is None or filename.startswith("user:")
        place = self._place(app_name, user_id, None if is_users else session_id)
        return f"{place}{quote(filename.removeprefix('user:'), safe='')}/"

    def _keys(self, place: str) -> Iterator[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._address.bucket, Prefix=place
        )
        for page in pages:
            for each in page.get("Contents", ()):
                yield each["Key"]

    def _numbers(self, folder: str) -> list[int]:
        ends = (key.removeprefix(folder) for key in self._keys(folder))
        return [int(end) for end in ends if end.isdecimal()]

    def _put(self, key: str, body: bytes, kind: str) -> bool:
        """Keep an object, unless there is one of that key already."""
        try:
            self._client.put_object(
                Bucket=self._address.bucket, Key=key, Body=body, ContentType=kind, IfNoneMatch="*"
            )
        except ClientError as error:
            if code_of(error) in _TAKEN:
                return False
            raise
        return True

    def _get(self, key: str) -> types.Part | None:
        try:
            found = self._client.get_object(Bucket=self._address.bucket, Key=key)
        except ClientError as error:
            if code_of(error) in ABSENT:
                return None
            raise
        body = found["Body"].read()
        if found["ContentType"] == _TEXT:
            return types.Part(text=body.decode("utf-8"))
        return types.Part.from_bytes(data=body, mime_type=found["ContentType"])

    def _version(self, folder: str, number: int) -> ArtifactVersion:
        key = f"{folder}{number}"
        about = self._client.head_object(Bucket=self._address.bucket, Key=key)
        return ArtifactVersion(
            version=number,
            canonical_uri=f"s3://{self._address.bucket}/{key}",
            create_time=about["LastModified"].timestamp(),
            mime_type=None if about["ContentType"] == _TEXT else about["ContentType"],
        )

    async def _in_thread(self, act: Callable[[], _T]) -> _T:
        try:
            return await asyncio.to_thread(act)
        except ClientError as error:
            raise self._told(code_of(error)) from None
        except BotoCoreError as error:
            raise self._told(type(error).__name__) from None

    def _told(self, what: str) -> StorageError:
        self.errors += 1
        return StorageError(
            f"The bucket {self._address} does not take the call ({what}); see that it is there and that this "
            "server's keys may read and write in it, then call again: whatever was answered is kept."
        )


def _content(part: types.Part) -> tuple[bytes, str]:
    if part.text is not None:
        # Half a character, which JSON can say, is no UTF-8; a map holds none.
        return part.text.encode("utf-8", "replace"), _TEXT
    if part.inline_data is not None and part.inline_data.data is not None:
        return part.inline_data.data, part.inline_data.mime_type or "application/octet-stream"
    raise ValueError("An artifact is text or bytes.")
