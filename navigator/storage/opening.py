"""Which services keep navigations: in a data folder, in a database and a bucket, or in memory."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final

from filelock import FileLock

from navigator.storage.addresses import GCS, BucketAddress, DatabaseAddress, require_packages
from navigator.storage.database import SqliteDatabase, make_database_file
from navigator.storage.errors import StorageFaults
from navigator.storage.index import TABLE, NavigationIndex
from navigator.storage.locks import FileLocks, NavigationLocks
from navigator.storage.sessions import Artifacts, FileArtifacts, Sessions, SqliteSessions
from navigator.storage.storage import Storage

if TYPE_CHECKING:
    from google.adk.artifacts import BaseArtifactService
    from google.adk.sessions import BaseSessionService

SESSIONS: Final = "sessions.db"
INDEX: Final = "index.db"
ARTIFACTS: Final = "artifacts"
LOCKS: Final = "locks"
_OLD: Final = ("artifacts", "locks", "answers")
"""Folders of earlier versions beside their databases."""
MIN_FREE_BYTES: Final = 1_000_000
"""Of free disk, without which navigations are kept in memory."""
logger = logging.getLogger(__name__)


def open_storage(
    data_dir: Path | None, store: DatabaseAddress | None = None, bucket: BucketAddress | None = None
) -> Storage:
    """Open the storage under ``data_dir``, or the database and the bucket in place of its parts.

    A folder that can't be used degrades to memory, with a note. A database and a bucket are connected to when
    they are first used.

    Raises:
        StorageError: the packages for a database or a bucket are not installed.
    """
    require_packages(store, bucket)
    note, is_lost = "", False
    if data_dir is not None and (store is None or bucket is None):
        try:
            note = _prepare(data_dir)
        except (OSError, sqlite3.Error) as error:
            logger.warning("The data folder %s can't be used (%s)", data_dir, error)
            note = (
                f"The data folder {data_dir} can't be used ({error}), so this navigation lives in memory "
                "only; name another with REPO_NAVIGATOR_DATA."
            )
            data_dir, is_lost = None, store is None
    faults = StorageFaults("" if store is None else str(store), "" if bucket is None else str(bucket))
    artifacts = _open_artifacts(data_dir) if bucket is None else Artifacts(lambda: _bucket_artifacts(bucket))
    if store is not None:
        from navigator.storage.postgres import open_postgres  # noqa: PLC0415 - only where one is named

        sessions, index, locks = open_postgres(store, faults)
        return Storage(sessions, artifacts, index, locks, faults, note=note)
    if data_dir is None:
        index = NavigationIndex(SqliteDatabase(None, create=TABLE), faults)
        sessions, locks = Sessions(_memory_sessions), NavigationLocks()
        return Storage(sessions, artifacts, index, locks, faults, note=note, is_lost=is_lost)
    database = SqliteDatabase(data_dir / INDEX, data_dir / SESSIONS, create=TABLE)
    sessions = SqliteSessions(lambda: _sqlite_sessions(data_dir / SESSIONS), database)
    locks = NavigationLocks(FileLocks(data_dir / LOCKS))
    return Storage(sessions, artifacts, NavigationIndex(database, faults), locks, faults, note=note)


def _open_artifacts(data_dir: Path | None) -> Artifacts:
    if data_dir is None:
        return Artifacts(_memory_artifacts)
    return FileArtifacts(lambda: _file_artifacts(data_dir / ARTIFACTS), data_dir / ARTIFACTS)


def _prepare(data_dir: Path) -> str:
    """Make what a data folder lacks, and return what users should know of it.

    Raises:
        OSError, sqlite3.Error: it can't be used.
    """
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    with TemporaryFile(dir=data_dir) as probe:
        # A step that can't be stored is lost work: better to know before the first one.
        probe.write(bytes(MIN_FREE_BYTES))
        probe.flush()
    # Two processes of a new version must not set aside what the other has just made.
    with FileLock(data_dir / ".opening.lock", timeout=10, mode=0o600):
        note = _set_aside_unreadable(data_dir)
        for folder in (ARTIFACTS, LOCKS):
            (data_dir / folder).mkdir(exist_ok=True, mode=0o700)
            # A backup may have been restored in another mode.
            (data_dir / folder).chmod(0o700)
        for name in (SESSIONS, INDEX):
            make_database_file(data_dir / name)
            for ending in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    (data_dir / f"{name}{ending}").chmod(0o600)
    return note


def _set_aside_unreadable(data_dir: Path) -> str:
    """Move what an earlier version stored, or what is damaged, into a folder of its own; return a note."""
    databases = [data_dir / name for name in (SESSIONS, INDEX) if (data_dir / name).exists()]
    if not databases:
        return ""
    why = "" if len(databases) == 2 else "an earlier version made it"
    for database in databases:
        why = why or _damage(database)
    if not why:
        return ""
    aside = data_dir / f"before-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    aside.mkdir(mode=0o700)
    for each in sorted(data_dir.iterdir()):
        if each.name in _OLD or each.name.endswith((".db", ".db-wal", ".db-shm")):
            each.rename(aside / each.name)
    note = (
        f"The earlier navigations can't be read ({why}); they were moved to {aside}, and nothing was deleted."
    )
    logger.warning("%s", note)
    return note


def _damage(path: Path) -> str:
    """Return why a database can't be read, ``""`` where it can."""
    try:
        connection = sqlite3.connect(path, timeout=10)
        try:
            connection.execute("SELECT name, sql FROM sqlite_master").fetchall()
        finally:
            connection.close()
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if isinstance(error, sqlite3.OperationalError) and "decode" not in str(error):
            raise
        return f"{path.name} is damaged"
    return ""


def _memory_sessions() -> BaseSessionService:
    from google.adk.sessions import InMemorySessionService  # noqa: PLC0415 - ADK is imported when it is first used

    return InMemorySessionService()


def _sqlite_sessions(path: Path) -> BaseSessionService:
    from google.adk.sessions.sqlite_session_service import SqliteSessionService  # noqa: PLC0415 - as above

    return SqliteSessionService(str(path))


def _memory_artifacts() -> BaseArtifactService:
    from google.adk.artifacts import InMemoryArtifactService  # noqa: PLC0415 - as above

    return InMemoryArtifactService()


def _file_artifacts(folder: Path) -> BaseArtifactService:
    from google.adk.artifacts import FileArtifactService  # noqa: PLC0415 - as above

    return FileArtifactService(folder)


def _bucket_artifacts(address: BucketAddress) -> BaseArtifactService:
    if address.storage == GCS:
        from google.adk.artifacts import GcsArtifactService  # noqa: PLC0415 - as above

        return GcsArtifactService(address.bucket)
    from navigator.storage.s3 import S3ArtifactService  # noqa: PLC0415 - as above

    return S3ArtifactService(address.bucket, address.prefix)
