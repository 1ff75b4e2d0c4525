"""Shared objects in a bucket, beside the artifacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from navigator.stores.buckets.bucket import Bucket, BucketError
from repo_map.indexing.shared_objects import SharedObjectsError, StoredObject

_KIND: Final = "application/octet-stream"


class BucketObjects:
    """Objects of a bucket, as servers share them."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def names(self, prefix: str) -> list[StoredObject]:
        """Return the objects whose names begin with ``prefix``."""
        with self._as_shared_objects_errors():
            return [StoredObject(*each) for each in self._bucket.names(prefix)]

    def read(self, name: str, limit: int) -> bytes | None:
        """Return an object, None where there is none or it is larger."""
        with self._as_shared_objects_errors():
            found = self._bucket.read(name, limit)
        return None if found is None else found.content

    def write(self, name: str, content: bytes) -> None:
        """Keep an object."""
        with self._as_shared_objects_errors():
            self._bucket.write(name, content, _KIND)

    def remove(self, names: Sequence[str]) -> None:
        """Let go of objects."""
        with self._as_shared_objects_errors():
            self._bucket.remove(names)

    @contextmanager
    def _as_shared_objects_errors(self) -> Iterator[None]:
        try:
            yield
        except BucketError as error:
            what = f"the bucket {self._bucket.address} failed ({error})"
            raise SharedObjectsError(what) from None
