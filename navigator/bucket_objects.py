"""Shared objects in a bucket, beside the artifacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from navigator.bucket import ABSENT, REMOVED_AT_ONCE, code_of
from navigator.store_address import BucketAddress
from repo_map.indexing.shared_objects import SharedObjectsError, StoredObject


class BucketObjects:
    """Objects below the prefix of a bucket; a client of boto3 may be used by many threads."""

    def __init__(self, client: Any, address: BucketAddress) -> None:
        self._client = client
        self._address = address

    def names(self, prefix: str) -> list[StoredObject]:
        """Return the objects whose names begin with ``prefix``."""
        start = self._address.prefix
        with self._told():
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._address.bucket, Prefix=start + prefix
            )
            return [
                StoredObject(each["Key"].removeprefix(start), each["Size"], each["LastModified"].timestamp())
                for page in pages
                for each in page.get("Contents", ())
            ]

    def read(self, name: str, limit: int) -> bytes | None:
        """Return an object, None where there is none or it is larger."""
        with self._told():
            try:
                found = self._client.get_object(Bucket=self._address.bucket, Key=self._address.prefix + name)
            except ClientError as error:
                if code_of(error) in ABSENT:
                    return None
                raise
            with found["Body"] as body:
                return None if found["ContentLength"] > limit else bytes(body.read())

    def write(self, name: str, content: bytes) -> None:
        """Keep an object."""
        with self._told():
            self._client.put_object(
                Bucket=self._address.bucket, Key=self._address.prefix + name, Body=content
            )

    def remove(self, names: Sequence[str]) -> None:
        """Let go of objects."""
        keys = [{"Key": self._address.prefix + name} for name in names]
        with self._told():
            for start in range(0, len(keys), REMOVED_AT_ONCE):
                objects = {"Objects": keys[start : start + REMOVED_AT_ONCE], "Quiet": True}
                self._client.delete_objects(Bucket=self._address.bucket, Delete=objects)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tell whatever goes wrong in one way, and without what the storage says in its own words."""
        try:
            yield
        except ClientError as error:
            what = code_of(error)
        except (BotoCoreError, OSError) as error:
            what = type(error).__name__
        else:
            return
        raise SharedObjectsError(f"the bucket {self._address} does not take the call ({what})")
