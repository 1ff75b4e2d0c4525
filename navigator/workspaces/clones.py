"""Keeps the clones of a catalogue up to date, each on its own: one that fails keeps what it had."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from stat import S_IFDIR
from typing import Final, NamedTuple

from navigator.stores.buckets.bucket import Bucket
from navigator.workspaces.catalogue import WANTED, Catalogue, RepositoryEntry
from navigator.workspaces.shared_clones import SharedClones
from navigator.workspaces.summaries import keep_summary
from repo_map.errors import RepositoryNotFoundError
from repo_map.worktree.disk import kind
from repo_map.worktree.fetching import MOST_BYTES, fetch, head_commit, make_clone
from repo_map.worktree.git import Deadline, GitError

SECONDS: Final = 900.0
"""Of one repository; a first fetch of a very large one takes longer."""
_AT_ONCE: Final = 4
_Get = Callable[[str, Path, RepositoryEntry, Deadline, int], None]
"""Brings the clone of a name, in a folder, to what its host has."""


class Synced(NamedTuple):
    """What became of one repository."""

    name: str
    head: str = ""
    """Its branch and its commit by now."""
    failed: str = ""
    """Why nothing was fetched; ``""`` where all was."""


class Kept(NamedTuple):
    """One repository as it is."""

    name: str
    entry: RepositoryEntry
    head: str
    """Its branch and its commit, ``""`` for one that was never fetched."""
    fetched_at: datetime | None


def sync(
    catalogue: Catalogue,
    names: Sequence[str],
    on_done: Callable[[Synced], object],
    seconds: float = SECONDS,
    most_bytes: int = MOST_BYTES,
    *,
    older_s: float = 0.0,
    bucket: Bucket | None = None,
) -> bool:
    """Fetch repositories, all of them where none is named; return whether each was fetched.

    Where none is named, those stay that were fetched less than ``older_s`` ago and that no webhook has told
    of since. Each has ``seconds``, and its clone may hold ``most_bytes``.

    Servers that share a ``bucket`` fetch each push once, and take it of each other.

    ``on_done`` is called for each, in the catalogue's order. Whoever reads meanwhile reads a clone as it was
    before, or as it is after.

    Raises:
        RepositoryNotFoundError: one that is named is not in the catalogue.
    """
    entries = catalogue.entries()
    if unknown := [name for name in names if name not in entries]:
        raise RepositoryNotFoundError(
            f"No repository is called `{unknown[0]}` in `{catalogue.file}`; "
            "`repo-navigator repositories add` adds one."
        )
    wanted, since = wanted_of(catalogue), time.time() - older_s

    def is_due(name: str) -> bool:
        return name in names or (
            not names and (name in wanted or not older_s or _fetched_s(catalogue.clones / name) <= since)
        )

    for name in sorted(wanted):
        if name not in entries or is_due(name):
            # Before it is fetched: a push that comes meanwhile is told of anew.
            (catalogue.clones / WANTED / name).unlink(missing_ok=True)
    chosen = [(name, entry) for name, entry in entries.items() if is_due(name)]
    get = _alone if bucket is None else SharedClones(bucket).fetch
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        results = list[bool]()
        for done in pool.map(partial(_sync_one, catalogue.clones, seconds, most_bytes, get), chosen):
            on_done(done)
            results.append(not done.failed)
    return all(results)


def wanted_of(catalogue: Catalogue) -> set[str]:
    """Return the names of what is to be fetched soon."""
    with suppress(OSError):
        return {path.name for path in (catalogue.clones / WANTED).iterdir()}
    return set()


def kept(catalogue: Catalogue) -> Iterator[Kept]:
    """Yield the repositories as they are, in the catalogue's order."""
    for name, entry in catalogue.entries().items():
        clone = catalogue.clones / name
        yield Kept(name, entry, head_commit(clone), _fetched_at(clone))


def clones_of(catalogue: Catalogue) -> Iterator[tuple[str, str, datetime | None]]:
    """Yield name, head and time of fetching of each clone, for whoever can't read the catalogue."""
    with suppress(OSError):
        for clone in sorted(catalogue.clones.iterdir()):
            if kind(clone / ".git") == S_IFDIR:
                yield clone.name, head_commit(clone), _fetched_at(clone)


def _alone(name: str, clone: Path, entry: RepositoryEntry, deadline: Deadline, most_bytes: int) -> None:
    del name
    fetch(clone, entry.address, entry.branches, deadline, most_bytes)


def _sync_one(
    clones: Path, seconds: float, most_bytes: int, get: _Get, named: tuple[str, RepositoryEntry]
) -> Synced:
    name, entry = named
    clone, deadline = clones / name, Deadline(seconds)
    try:
        if kind(clone / ".git") == S_IFDIR:
            get(name, clone, entry, deadline, most_bytes)
        else:
            _begin(clone, entry, deadline, most_bytes, get)
    except GitError as error:
        return Synced(name, failed=str(error))
    except OSError as error:
        return Synced(name, failed=f"its clone can't be written ({error.strerror})")
    keep_summary(clone, entry, name)
    # The folder's own time says when it was fetched last.
    with suppress(OSError):
        os.utime(clone)
    return Synced(name, head_commit(clone))


def _begin(clone: Path, entry: RepositoryEntry, deadline: Deadline, most_bytes: int, get: _Get) -> None:
    """Make a clone beside its place, and move it there once it is whole."""
    clone.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".new-", dir=clone.parent))
    try:
        made = draft / clone.name
        make_clone(made, deadline)
        get(clone.name, made, entry, deadline, most_bytes)
        made.rename(clone)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _fetched_at(clone: Path) -> datetime | None:
    seconds = _fetched_s(clone)
    return datetime.fromtimestamp(seconds, UTC) if seconds else None


def _fetched_s(clone: Path) -> float:
    with suppress(OSError):
        return clone.stat().st_mtime
    return 0.0
