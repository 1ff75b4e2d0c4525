"""Artifacts in a bucket that speaks S3, on ADK's interface.

The service of ``google-adk-community`` brings redis, orjson and aioboto3, opens a client for each call, and
lists no artifact whose name has a folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from google.adk.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService, ensure_part
from google.genai import types
from typing_extensions import override

_TAKEN: Final = frozenset({"PreconditionFailed", "ConditionalRequestConflict"})
_MAX_DELETED: Final = 1_000
_TIMEOUT_S: Final = 10.0


class S3ArtifactService(BaseArtifactService):
    """Each version is an object whose name ends with its number; boto3 finds keys, region and endpoint."""

    def __init__(self, bucket: str, prefix: str = "") -> None:
        """Describe a bucket, and what the names of all objects begin with; the first use connects to it."""
        self._bucket, self._prefix = bucket, prefix
        retries: Any = {"mode": "standard", "total_max_attempts": 3}
        config = Config(connect_timeout=_TIMEOUT_S / 2, read_timeout=_TIMEOUT_S, retries=retries)
        # A client of boto3 may be used by many threads.
        self._client = boto3.client("s3", config=config)

    @override
    async def save_artifact(
        self, *, artifact: types.Part | dict[str, Any], custom_metadata: Any = None, **names: Any
    ) -> int:
        part = ensure_part(artifact)
        content, kind = (part.text or "").encode(), "text/plain; charset=utf-8"
        if part.inline_data is not None:
            content = part.inline_data.data or b""
            kind = part.inline_data.mime_type or "application/octet-stream"
        return await asyncio.to_thread(self._save, self._folder(**names), content, kind)

    @override
    async def load_artifact(self, *, version: int | None = None, **names: Any) -> types.Part | None:
        return await asyncio.to_thread(self._load, self._folder(**names), version)

    @override
    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        scopes = {self._scope(app_name, user_id, owner) for owner in (None, session_id)}
        return await asyncio.to_thread(
            lambda: sorted({name.rpartition("/")[0] for scope in scopes for name in self._names(scope)})
        )

    @override
    async def delete_artifact(self, **names: Any) -> None:
        await asyncio.to_thread(self._delete, self._folder(**names))

    @override
    async def list_versions(self, **names: Any) -> list[int]:
        return await asyncio.to_thread(self._versions, self._folder(**names))

    @override
    async def list_artifact_versions(self, **names: Any) -> list[ArtifactVersion]:
        address = f"s3://{self._bucket}/{self._folder(**names)}"
        versions = await self.list_versions(**names)
        return [ArtifactVersion(version=each, canonical_uri=f"{address}{each}") for each in versions]

    @override
    async def get_artifact_version(
        self, *, version: int | None = None, **names: Any
    ) -> ArtifactVersion | None:
        found = await self.list_artifact_versions(**names)
        return next((each for each in reversed(found) if version in (None, each.version)), None)

    def _scope(self, app_name: str, user_id: str, session_id: str | None) -> str:
        owner = "user" if session_id is None else f"session/{session_id}"
        return f"{self._prefix}{app_name}/{user_id}/{owner}/"

    def _folder(self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None) -> str:
        is_users = filename.startswith("user:")
        return f"{self._scope(app_name, user_id, None if is_users else session_id)}{filename}/"

    def _save(self, folder: str, content: bytes, kind: str) -> int:
        # Most artifacts have one version: it is tried before the others are counted.
        version = 0
        while True:
            key = {"Bucket": self._bucket, "Key": f"{folder}{version}"}
            try:
                self._client.put_object(**key, Body=content, ContentType=kind, IfNoneMatch="*")
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") not in _TAKEN:
                    raise
                version = max((*self._versions(folder), version)) + 1
            else:
                return version

    def _load(self, folder: str, version: int | None) -> types.Part | None:
        wanted = max(self._versions(folder), default=None) if version is None else version
        try:
            found = self._client.get_object(Bucket=self._bucket, Key=f"{folder}{wanted}")
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == "NoSuchKey":
                return None
            raise
        with found["Body"] as body:
            content = bytes(body.read())
        if found["ContentType"].startswith("text/plain"):
            return types.Part(text=content.decode())
        return types.Part.from_bytes(data=content, mime_type=found["ContentType"])

    def _delete(self, folder: str) -> None:
        keys = [{"Key": f"{folder}{version}"} for version in self._versions(folder)]
        for start in range(0, len(keys), _MAX_DELETED):
            objects = {"Objects": keys[start : start + _MAX_DELETED], "Quiet": True}
            self._client.delete_objects(Bucket=self._bucket, Delete=objects)

    def _versions(self, folder: str) -> list[int]:
        return sorted(int(name) for name in self._names(folder) if name.isascii() and name.isdigit())

    def _names(self, start: str) -> Iterator[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=start)
        for page in pages:
            for each in page.get("Contents", ()):
                yield each["Key"].removeprefix(start)
