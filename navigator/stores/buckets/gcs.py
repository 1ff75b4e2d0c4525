"""A bucket of Google Cloud Storage."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Any, Final

import google.auth
import requests
from google.api_core.exceptions import GoogleAPICallError, GoogleAPIError, NotFound, PreconditionFailed
from google.api_core.retry import Retry
from google.auth.credentials import AnonymousCredentials
from google.auth.exceptions import GoogleAuthError, TransportError
from google.cloud import storage
from google.cloud.storage.exceptions import DataCorruption, InvalidResponse

from navigator.stores.buckets.bucket import NO_CREDENTIALS, BucketError, ListedObject, ObjectFacts, ReadObject
from navigator.stores.store_address import BucketAddress

CONNECTING_S: Final = 5.0
ANSWERING_S: Final = 10.0
BACKING_OFF_S: Final = 1.0
"""At most, before the second attempt; twice as much before each further one."""
_LISTED: Final = "items(name,size,timeCreated),nextPageToken"
_NEW: Final = 0
"""The generation of an object that is not there."""
_PASSING: Final = frozenset({408, 429, 500, 502, 503, 504})
_BROKEN: Final = (
    ConnectionError,
    requests.ConnectionError,
    requests.Timeout,
    requests.exceptions.ChunkedEncodingError,
    TransportError,
)


class GcsBucket:
    """Objects in a bucket whose credentials the client looks up where Google's clients do."""

    def __init__(self, address: BucketAddress, attempts: int) -> None:
        self.address = address
        self._attempts = attempts
        self._opened: Any = None

    def names(self, prefix: str) -> list[ListedObject]:
        """Return the objects whose names begin with ``prefix``."""
        start = self.address.prefix
        with _as_bucket_errors():
            found = self._bucket().list_blobs(prefix=start + prefix, fields=_LISTED, **self._bounds())
            return [
                ListedObject(each.name.removeprefix(start), each.size or 0, each.time_created.timestamp())
                for each in found
            ]

    def read(self, name: str, limit: int | None = None) -> ReadObject | None:
        """Return an object, None where there is none or it is larger."""
        content = _Bounded(limit)
        with _as_bucket_errors():
            found = self._object(name)
            try:
                found.download_to_file(content, **self._bounds())
            except NotFound:
                self._see_that_it_is_there()
                return None
            except _TooLargeError:
                return None
            return ReadObject(content.getvalue(), found.content_type)

    def facts(self, name: str) -> ObjectFacts | None:
        """Return what is known of an object, None where there is none."""
        with _as_bucket_errors():
            found = self._object(name)
            try:
                found.reload(**self._bounds())
            except NotFound:
                self._see_that_it_is_there()
                return None
            return ObjectFacts(found.content_type, found.time_created.timestamp())

    def write(self, name: str, content: bytes, kind: str) -> None:
        """Keep an object."""
        with _as_bucket_errors():
            self._object(name).upload_from_string(content, content_type=kind, **self._bounds())

    def create(self, name: str, content: bytes, kind: str) -> bool:
        """Keep an object unless there is one of that name, and return whether it was kept."""
        with _as_bucket_errors():
            try:
                self._object(name).upload_from_string(
                    content, content_type=kind, if_generation_match=_NEW, **self._bounds()
                )
            except PreconditionFailed:
                return False
            return True

    def remove(self, names: Sequence[str]) -> None:
        """Let go of objects."""
        is_one_missing = False
        with _as_bucket_errors():
            for name in names:
                try:
                    self._object(name).delete(**self._bounds())
                except NotFound:
                    is_one_missing = True
            if is_one_missing:
                self._see_that_it_is_there()

    def _object(self, name: str) -> Any:
        return self._bucket().blob(self.address.prefix + name)

    def _see_that_it_is_there(self) -> None:
        """Raise what a listing raises; any other answer is the same if an object is gone or its bucket."""
        next(iter(self._bucket().list_blobs(max_results=1, fields=_LISTED, **self._bounds())), None)

    def _bucket(self) -> Any:
        """Return the client's bucket; threads that come first at once open one each, and one of them stays.

        Credentials are looked for at the first call: that may ask a server of the machine's network.
        """
        if self._opened is None:
            self._opened = _client().bucket(self.address.bucket)
        return self._opened

    def _bounds(self) -> dict[str, Any]:
        return {"timeout": (CONNECTING_S, ANSWERING_S), "retry": _retry(self._attempts)}


class _TooLargeError(Exception):
    """There is more than was asked for."""


class _Bounded(BytesIO):
    """What is downloaded, as long as it is not too much."""

    def __init__(self, limit: int | None) -> None:
        super().__init__()
        self._limit = limit

    def write(self, piece: Any) -> int:
        if self._limit is not None and self.tell() + len(piece) > self._limit:
            raise _TooLargeError
        return super().write(piece)


def _client() -> storage.Client:
    """Return a client, which may be used by many threads.

    Raises:
        BucketError: there are no credentials, or they can't be read.
    """
    # It would ask in a thread of its own where the bucket lies, for traces that nobody collects.
    os.environ.setdefault("DISABLE_GCS_PYTHON_CLIENT_OTEL_BUCKET_METADATA", "true")
    try:
        if "STORAGE_EMULATOR_HOST" in os.environ:
            credentials: Any = AnonymousCredentials()  # type: ignore[no-untyped-call]
        else:
            credentials, _ = google.auth.default(scopes=storage.Client.SCOPE)
        # A project is named only to make a bucket, or to list them.
        return storage.Client(project=None, credentials=credentials)
    except (GoogleAuthError, OSError, ValueError, TypeError, AttributeError, KeyError):
        # The client checks little of what a file of credentials holds; what it says may repeat some of it.
        raise BucketError(NO_CREDENTIALS) from None


def _retry(attempts: int) -> Retry:
    left = attempts

    def may_pass(error: Exception) -> bool:
        nonlocal left
        left -= 1
        match error:
            case InvalidResponse():
                # Nobody has read what answers a download, and unread it keeps its connection.
                _ = error.response.content
                status = error.response.status_code
            case GoogleAPICallError():
                status = error.code
            case _:
                status = None
        return left > 0 and (status in _PASSING or isinstance(error, _BROKEN))

    return Retry(predicate=may_pass, initial=BACKING_OFF_S, multiplier=2.0, timeout=None)


@contextmanager
def _as_bucket_errors() -> Iterator[None]:
    """Tell whatever goes wrong in one way, and without what the storage says in its own words."""
    try:
        yield
    except GoogleAPICallError as error:
        status = "" if error.code is None else f"{int(error.code)} "
        what = f"{status}{type(error).__name__}"
    except (GoogleAPIError, GoogleAuthError, DataCorruption, InvalidResponse, OSError) as error:
        what = type(error).__name__
    else:
        return
    raise BucketError(what) from None
