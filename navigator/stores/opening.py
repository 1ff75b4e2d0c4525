"""Where navigations live: in a database and a bucket, in a folder, or in memory beside one that is read."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

from navigator.stores.artifacts import Artifacts, FolderArtifacts, MemoryArtifacts, ReadOnlyArtifacts
from navigator.stores.locks import PATIENCE_S, Locks, NavigationLocks
from navigator.stores.sessions import SessionStore
from navigator.stores.sqlite.layout import SessionDatabase, Table
from navigator.stores.sqlite.read_only import stored_tables
from navigator.stores.store_address import LEASE_S, BucketAddress, DatabaseAddress, require_packages

DATABASE = "sessions.db"
ARTIFACTS = "artifacts"
LOCKS = "locks"
ANSWERS = "answers"
"""Where servers of version 0.1.0 kept what they delivered, until a server takes it over."""
LEAST_ROOM_BYTES = 1_000_000
"""Of free disk, without which navigations are kept in memory."""


class Stores(NamedTuple):
    """Where navigations live."""

    sessions: SessionStore
    artifacts: Artifacts
    locks: Locks
    note: str
    """Why what is new is in memory although a folder was asked for; empty when all is well."""
    damage: str = ""
    """Why the database that is there can't be read, empty where there is none or it can."""

    @property
    def is_read_only(self) -> bool:
        """Whether what is stored stays as it is, and what is new is in memory."""
        return isinstance(self.artifacts, ReadOnlyArtifacts)


def open_stores(
    data_dir: Path | None,
    store: DatabaseAddress | None = None,
    bucket: BucketAddress | None = None,
    lease_s: float = LEASE_S,
) -> Stores:
    """Open the stores under ``data_dir``, or those that are named instead of its database and its artifacts.

    A folder that can't be written degrades to memory, with a note; what it holds can be read all the same,
    and gone on with. A database and a bucket are connected to when they are first used.

    Raises:
        StorageError: the packages for a database or a bucket are not installed.
    """
    require_packages(store, bucket)
    if store is None:
        stores = _open_folder(data_dir)
        return stores if bucket is None else stores._replace(artifacts=_in_bucket(bucket))
    sessions, locks = _in_database(store, lease_s)
    if bucket is not None:
        return Stores(sessions, _in_bucket(bucket), locks, "")
    return _open_folder(data_dir)._replace(sessions=sessions, locks=locks, damage="")


def _in_database(address: DatabaseAddress, lease_s: float) -> tuple[SessionStore, Locks]:
    from navigator.stores.postgres.database import PostgresDatabase  # noqa: PLC0415 - only where one is named
    from navigator.stores.postgres.leases import NavigationLeases  # noqa: PLC0415 - only where one is named

    database = PostgresDatabase(address, stalling_s=lease_s)
    leases = NavigationLeases(database, lease_s=lease_s, patience_s=PATIENCE_S + lease_s)
    return SessionStore(database, leases.claim), leases


def _in_bucket(address: BucketAddress) -> Artifacts:
    from navigator.stores.buckets.artifacts import BucketArtifacts  # noqa: PLC0415 - only where one is named
    from navigator.stores.buckets.opening import open_bucket  # noqa: PLC0415 - only where one is named

    return BucketArtifacts(open_bucket(address))


def _open_folder(data_dir: Path | None) -> Stores:
    if data_dir is not None:
        # To open a pipe waits for whoever writes into it, and a device may do anything.
        database = data_dir / DATABASE
        with suppress(OSError):
            if database.exists() and not database.is_file():
                return _unusable(data_dir, f"`{database}` is no file")
        try:
            return _on_disk(data_dir)
        except (OSError, sqlite3.Error) as error:
            return _read_only(data_dir, error)
    return _in_memory("")


def _read_only(data_dir: Path, error: Exception) -> Stores:
    try:
        stored = stored_tables(data_dir / DATABASE)
        artifacts = ReadOnlyArtifacts(data_dir / ARTIFACTS)
    except (OSError, sqlite3.Error) as unread:
        damage = str(unread) if isinstance(unread, sqlite3.DatabaseError) else ""
        return _unusable(data_dir, error)._replace(damage=damage)
    note = (
        f"The data folder {data_dir} can't be written ({error}): what it holds can be read, and what is new "
        "lives in memory only; free space, or name another with REPO_NAVIGATOR_DATA."
    )
    return _in_memory(note, artifacts, stored)


def _unusable(data_dir: Path, why: object) -> Stores:
    return _in_memory(
        f"The data folder {data_dir} can't be used ({why}), so this navigation lives in memory only; name "
        "another with REPO_NAVIGATOR_DATA."
    )


def _on_disk(data_dir: Path) -> Stores:
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    with TemporaryFile(dir=data_dir) as probe:
        # A step that can't be kept is lost work: better to know before the first one.
        probe.write(bytes(LEAST_ROOM_BYTES))
        probe.flush()
    for folder in (ARTIFACTS, LOCKS):
        (data_dir / folder).mkdir(exist_ok=True, mode=0o700)
    for folder in (ARTIFACTS, LOCKS, ANSWERS):
        _close_to_others(data_dir / folder, 0o700)
    database = data_dir / DATABASE
    # SQLite gives its log the mode of the database, and makes the database for whoever the umask lets read.
    # Not where it is there: to close a file drops the locks that this process's other connections hold on it.
    if not database.exists():
        os.close(os.open(database, os.O_RDWR | os.O_CREAT, 0o600))
    if not os.access(database, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(database))
    for ending in ("", "-wal", "-shm"):
        _close_to_others(data_dir / f"{DATABASE}{ending}", 0o600)
    with closing(sqlite3.connect(database)) as connection:
        # A write-ahead log needs one flush a commit instead of four, and readers don't wait for writers.
        connection.execute("PRAGMA journal_mode=WAL")
    artifacts = FolderArtifacts(data_dir / ARTIFACTS)
    sessions = SessionStore(SessionDatabase(database))
    return Stores(sessions, artifacts, NavigationLocks(data_dir / LOCKS), "")


def _close_to_others(path: Path, mode: int) -> None:
    """Take from others what an older version, or whoever restored a backup, let them read.

    The folder that the user named keeps its mode, it may be his own; nobody gets past those that are closed,
    whatever the modes of the files in them.
    """
    with suppress(OSError):  # Not there, or another user's.
        if path.stat().st_mode & 0o077:
            path.chmod(mode)


def _in_memory(note: str, artifacts: Artifacts | None = None, stored: Sequence[Table] = ()) -> Stores:
    # ADK's own in-memory sessions copy the whole trail at each step; an in-memory database does not.
    sessions = SessionStore(SessionDatabase(None, stored))
    return Stores(sessions, artifacts or MemoryArtifacts(), NavigationLocks(None), note)
