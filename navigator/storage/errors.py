"""Faults of databases, folders and buckets, told in one sentence."""

from __future__ import annotations

import re
import sqlite3
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from navigator.errors import NavigationBusyError, NavigatorError, StorageError

_DATABASE: Final = frozenset({"sqlalchemy", "asyncpg"})
_BUCKET: Final = frozenset({"botocore", "boto3", "google", "requests", "urllib3"})
"""Packages whose errors session and artifact services raise; they are loaded only where one is used."""
_STALE: Final = "StaleSessionError"
"""ADK's name for a session that was changed since it was read."""
_WORDS: Final = {
    "InvalidCatalogNameError": "no such database",
    "QueryCanceledError": "no answer in time",
    "TimeoutError": "no answer in time",
    "ConnectionRefusedError": "connection refused",
    "ConnectionError": "connection lost",
    "InterfaceError": "connection lost",
    "InternalClientError": "connection lost",
    "PostgresConnectionError": "connection lost",
}
"""By the names of an error's classes; another one is named in its own words."""


class StorageFaults(NamedTuple):
    """What a storage is made of, as its errors name it."""

    database: str = ""
    """Address of the database without user and password, ``""`` for the data folder's."""
    bucket: str = ""

    @contextmanager
    def raised(self, navigation_id: str = "", *, writes: bool = False) -> Iterator[None]:
        """Raise faults of services as errors for users.

        Raises:
            NavigationBusyError: another process has stepped the navigation.
            StorageError: a service can't be used.
        """
        try:
            yield
        except NavigatorError:
            raise
        except Exception as error:
            if type(error).__name__ == _STALE:
                raise NavigationBusyError(
                    f"Another process has just stepped `{navigation_id}`; read its report, then step again."
                ) from error
            sentence = self._sentence(error, writes=writes)
            if sentence is None:
                raise
            # A database's own error may repeat what was written.
            raise StorageError(sentence) from None

    def _sentence(self, error: Exception, *, writes: bool) -> str | None:
        package = type(error).__module__.partition(".")[0]
        is_connection = isinstance(error, ConnectionError | TimeoutError | ssl.SSLError)
        if package in _DATABASE or (self.database and is_connection):
            return (
                f"The database at {self.database} failed ({_words(error)}); check that it runs, has free "
                "space and admits this server, then call again: answered steps are kept."
            )
        if package in _BUCKET or (self.bucket and is_connection):
            return (
                f"The bucket {self.bucket} failed ({_words(error)}); check that it exists and that this "
                "server's keys may read and write in it, then call again: answered steps are kept."
            )
        if not isinstance(error, sqlite3.Error | OSError):
            return None
        what = (error.strerror if isinstance(error, OSError) else None) or str(error)
        if writes:
            return (
                f"The step could not be stored ({what}); free space, or name another data folder with "
                "REPO_NAVIGATOR_DATA, then take the step again."
            )
        return (
            f"The stored navigations can't be read ({what}); move `sessions.db` and `index.db` in the data "
            "folder aside and keep them, or name another folder with REPO_NAVIGATOR_DATA, then start again."
        )


def _words(error: BaseException) -> str:
    """Return what went wrong in a few words, without the text of the error."""
    # SQLAlchemy wraps its adapter's error, which wraps the driver's.
    found: BaseException = getattr(error, "orig", None) or error
    while type(found).__module__.startswith("sqlalchemy") and found.__cause__ is not None:
        found = found.__cause__
    if isinstance(answer := getattr(found, "response", None), dict):
        return str(answer.get("Error", {}).get("Code", "no reason given"))
    if isinstance(found, ConnectionError) and "rejected SSL" in str(found):
        return "it has no TLS, which `ssl` in the address asks for"
    names = [each.__name__ for each in type(found).__mro__]
    if words := next((_WORDS[name] for name in names if name in _WORDS), ""):
        return words
    name = re.sub(r"(Error|Exception)$", "", names[0])
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower() or "no reason given"
