"""Which services keep navigations: in a data folder, in a database and a bucket, or in memory."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final

from filelock import FileLock

from navigator.storage.addresses import BucketAddress, DatabaseAddress, require_packages
from navigator.storage.errors import StorageFaults
from navigator.storage.index import LOCKED_S, TABLE, NavigationIndex, SqliteDatabase
from navigator.storage.locks import FileLocks, NavigationLocks
from navigator.storage.sessions import Artifacts, FileArtifacts, Sessions, TableSessions
from navigator.storage.storage import Storage

SESSIONS: Final = "sessions.db"
INDEX: Final = "index.db"
ARTIFACTS: Final = "artifacts"
LOCKS: Final = "locks"
_OLD: Final = ("artifacts", "locks", "answers")
_MIN_FREE_BYTES: Final = 1_000_000
"""Of free disk, without which navigations are kept in memory."""
logger = logging.getLogger(__name__)


def open_storage(
    data_dir: Path | None, store: DatabaseAddress | None = None, bucket: BucketAddress | None = None
) -> Storage:
    """Open the storage under ``data_dir``, or the database and the bucket in place of its parts.

    A folder that can't be used degrades to memory, with a note. A database and a bucket are connected to when
    they are first used.
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
    if store is not None:
        from navigator.storage.postgres import open_postgres  # noqa: PLC0415 - only where one is named

        sessions, index, locks = open_postgres(store, faults)
    elif data_dir is not None:
        database = SqliteDatabase(data_dir / INDEX, data_dir / SESSIONS, create=TABLE)
        open_sessions = _service(
            "google.adk.sessions.sqlite_session_service", "SqliteSessionService", str(data_dir / SESSIONS)
        )
        sessions = TableSessions(open_sessions, database, "adk.sessions")
        index, locks = NavigationIndex(database, faults), NavigationLocks(FileLocks(data_dir / LOCKS))
    else:
        sessions = Sessions(_service("google.adk.sessions", "InMemorySessionService"))
        index = NavigationIndex(SqliteDatabase(None, create=TABLE), faults)
        locks = NavigationLocks()
    artifacts = _open_artifacts(data_dir, bucket)
    return Storage(sessions, artifacts, index, locks, faults, note=note, is_lost=is_lost)


def _open_artifacts(data_dir: Path | None, bucket: BucketAddress | None) -> Artifacts:
    package = "google.adk.artifacts"
    if bucket is not None and bucket.scheme == "gs":
        return Artifacts(_service(package, "GcsArtifactService", bucket.bucket))
    if bucket is not None:
        module = "navigator.storage.s3"
        return Artifacts(_service(module, "S3ArtifactService", bucket.bucket, bucket.prefix))
    if data_dir is None:
        return Artifacts(_service(package, "InMemoryArtifactService"))
    folder = data_dir / ARTIFACTS
    return FileArtifacts(_service(package, "FileArtifactService", folder), folder)


def _service(module: str, name: str, *arguments: object) -> Callable[[], Any]:
    """Return what builds a service; ADK, which takes as long as all the rest, is imported when it is used."""
    return lambda: getattr(import_module(module), name)(*arguments)


def _prepare(data_dir: Path) -> str:
    """Make what a data folder lacks, and return what users should know of it."""
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    with TemporaryFile(dir=data_dir) as probe:
        # A step that can't be stored is lost work: better to know before the first one.
        probe.write(bytes(_MIN_FREE_BYTES))
        probe.flush()
    # Two processes of a new version must not set aside what the other has just made.
    with FileLock(data_dir / ".opening.lock", timeout=10, mode=0o600):
        note = _set_aside_unreadable(data_dir)
        for folder in (ARTIFACTS, LOCKS):
            (data_dir / folder).mkdir(exist_ok=True, mode=0o700)
            # A backup may have been restored in another mode.
            (data_dir / folder).chmod(0o700)
        for path in (data_dir / SESSIONS, data_dir / INDEX):
            # SQLite makes files readable as the umask allows.
            with closing(sqlite3.connect(path, timeout=LOCKED_S)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")  # What several processes write best.
            for ending in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    (data_dir / f"{path.name}{ending}").chmod(0o600)
    return note


def _set_aside_unreadable(data_dir: Path) -> str:
    """Move what an earlier version stored, or what is damaged, into a folder of its own; return a note."""
    databases = [data_dir / name for name in (SESSIONS, INDEX) if (data_dir / name).exists()]
    why = "an earlier version made it" if len(databases) == 1 else ""
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
    try:
        with closing(sqlite3.connect(path, timeout=LOCKED_S)) as connection:
            connection.execute("SELECT name, sql FROM sqlite_master").fetchall()
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if isinstance(error, sqlite3.OperationalError) and "decode" not in str(error):
            raise
        return f"{path.name} is damaged"
    return ""
