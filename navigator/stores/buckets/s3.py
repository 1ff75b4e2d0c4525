"""A bucket of a storage that speaks S3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from navigator.stores.buckets.bucket import NO_CREDENTIALS, BucketError, ListedObject, ObjectFacts, ReadObject
from navigator.stores.store_address import BucketAddress

CONNECTING_S: Final = 5.0
ANSWERING_S: Final = 10.0
_ABSENT: Final = "NoSuchKey"
_NOT_FOUND: Final = "404"
"""What an answer without a body says, whether the object is gone or the bucket."""
_TAKEN: Final = frozenset({"PreconditionFailed", "ConditionalRequestConflict"})
_REMOVED_AT_ONCE: Final = 1_000
"""Objects that one request may delete."""


class S3Bucket:
    """Objects in a bucket; keys, region and endpoint the client looks up in the environment and its files."""

    def __init__(self, address: BucketAddress, attempts: int) -> None:
        self.address = address
        retries: Any = {"mode": "standard", "total_max_attempts": attempts}
        config = Config(connect_timeout=CONNECTING_S, read_timeout=ANSWERING_S, retries=retries)
        # A client of boto3 may be used by many threads.
        self._client = boto3.client("s3", config=config)

    def names(self, prefix: str) -> list[ListedObject]:
        """Return the objects whose names begin with ``prefix``."""
        start = self.address.prefix
        with _as_bucket_errors():
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self.address.bucket, Prefix=start + prefix
            )
            return [
                ListedObject(each["Key"].removeprefix(start), each["Size"], each["LastModified"].timestamp())
                for page in pages
                for each in page.get("Contents", ())
            ]

    def read(self, name: str, limit: int | None = None) -> ReadObject | None:
        """Return an object, None where there is none or it is larger."""
        with _as_bucket_errors():
            try:
                found = self._client.get_object(**self._object(name))
            except ClientError as error:
                if _code(error) == _ABSENT:
                    return None
                raise
            with found["Body"] as body:
                if limit is not None and found["ContentLength"] > limit:
                    return None
                return ReadObject(bytes(body.read()), found["ContentType"])

    def facts(self, name: str) -> ObjectFacts | None:
        """Return what is known of an object, None where there is none."""
        with _as_bucket_errors():
            try:
                found = self._client.head_object(**self._object(name))
            except ClientError as error:
                if _code(error) == _NOT_FOUND:
                    # A listing is refused where it is the bucket that is gone.
                    self._client.list_objects_v2(Bucket=self.address.bucket, MaxKeys=1)
                    return None
                raise
            return ObjectFacts(found["ContentType"], found["LastModified"].timestamp())

    def write(self, name: str, content: bytes, kind: str) -> None:
        """Keep an object."""
        with _as_bucket_errors():
            self._client.put_object(**self._object(name), Body=content, ContentType=kind)

    def create(self, name: str, content: bytes, kind: str) -> bool:
        """Keep an object unless there is one of that name, and return whether it was kept."""
        with _as_bucket_errors():
            try:
                self._client.put_object(**self._object(name), Body=content, ContentType=kind, IfNoneMatch="*")
            except ClientError as error:
                if _code(error) in _TAKEN:
                    return False
                raise
            return True

    def remove(self, names: Sequence[str]) -> None:
        """Let go of objects."""
        keys = [{"Key": self.address.prefix + name} for name in names]
        with _as_bucket_errors():
            for start in range(0, len(keys), _REMOVED_AT_ONCE):
                objects = {"Objects": keys[start : start + _REMOVED_AT_ONCE], "Quiet": True}
                self._client.delete_objects(Bucket=self.address.bucket, Delete=objects)

    def _object(self, name: str) -> dict[str, str]:
        return {"Bucket": self.address.bucket, "Key": self.address.prefix + name}


@contextmanager
def _as_bucket_errors() -> Iterator[None]:
    """Tell whatever goes wrong in one way, and without what the storage says in its own words."""
    try:
        yield
    except ClientError as error:
        what = _code(error)
    except NoCredentialsError:
        what = NO_CREDENTIALS
    except (BotoCoreError, OSError) as error:
        what = type(error).__name__
    else:
        return
    raise BucketError(what) from None


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", "no reason given"))
