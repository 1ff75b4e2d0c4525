"""Clones that servers share through their bucket: one fetches a push, and the others take a bundle of it.

What is taken is held to what the git host says: a bundle whose branches and tags are not those that the host
lists is left alone. So whoever writes into the bucket puts no commit into a clone.
"""

from __future__ import annotations

import hashlib
import logging
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from navigator.stores.buckets.bucket import Bucket, BucketError
from navigator.workspaces.catalogue import RepositoryEntry
from repo_map.worktree.fetching import FetchError, Refs, fetch, local_refs, remote_refs, write_bundle
from repo_map.worktree.git import Deadline

MOST_BYTES: Final = 500_000_000
"""Of a bundle; a larger repository is fetched from its host by each server."""
_KIND: Final = "application/x-git-bundle"
_PATIENCE_S: Final = 120.0
"""How long another server is waited for that fetches what is wanted here too."""
_AGAIN_S: Final = 1.0
_STALE_S: Final = 3_600.0
"""After which the bundles and claims of earlier states go."""
logger = logging.getLogger(__name__)


class _Wanted(NamedTuple):
    """What a clone is to have."""

    clone: Path
    entry: RepositoryEntry
    refs: Refs
    place: str
    """What the names of its objects in the bucket begin with: the repository's name, and its host's state."""
    deadline: Deadline

    def is_there(self) -> bool:
        """Tell whether the clone has it."""
        return local_refs(self.clone, self.entry.branches, self.deadline) == self.refs


class SharedClones:
    """Fetches for several servers."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def fetch(
        self, name: str, clone: Path, entry: RepositoryEntry, deadline: Deadline, most_bytes: int
    ) -> None:
        """Bring a clone to what its host has; raises ``FetchError`` where that can't be done."""
        refs = remote_refs(entry.address, entry.branches, deadline)
        state = hashlib.sha256(repr(refs).encode()).hexdigest()[:32]
        wanted = _Wanted(clone, entry, refs, f"clones/{name}/{state}", deadline)
        if wanted.is_there() or self._take(wanted, most_bytes):
            return
        fetch(clone, entry.address, entry.branches, deadline, most_bytes)
        # Where the host went on meanwhile, the next round knows.
        with suppress(BucketError, FetchError, OSError):
            if wanted.is_there():
                self._give(wanted)

    def _take(self, wanted: _Wanted, most_bytes: int) -> bool:
        """Tell whether another server's bundle was taken; it is waited for where one is being made."""
        clone, branches, deadline = wanted.clone, wanted.entry.branches, wanted.deadline
        try:
            content = self._bundle(wanted.place)
        except BucketError as error:
            logger.warning("Clones can't be shared: %s", error)
            return False
        if content is None:
            return False
        with tempfile.TemporaryDirectory(prefix=".new-", dir=clone.parent) as folder:
            path = Path(folder) / "bundle"
            path.write_bytes(content)
            try:
                if remote_refs(str(path), branches, deadline).refs != wanted.refs.refs:
                    return False
                fetch(clone, str(path), branches, deadline, most_bytes, head=wanted.refs.head)
            except FetchError as error:
                logger.warning("A bundle of `%s` is not used: %s", wanted.place.split("/")[1], error)
                return False
        return True

    def _bundle(self, place: str) -> bytes | None:
        """Return the bundle of a state; None where it is for this server to fetch."""
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until:
            if (found := self._bucket.read(f"{place}.bundle", MOST_BYTES)) is not None:
                return found.content
            if self._bucket.create(f"{place}.claim", b"", _KIND):
                return None
            time.sleep(_AGAIN_S)
        return None

    def _give(self, wanted: _Wanted) -> None:
        with tempfile.TemporaryDirectory(prefix=".new-", dir=wanted.clone.parent) as folder:
            path = Path(folder) / "bundle"
            write_bundle(wanted.clone, path, wanted.deadline)
            if path.stat().st_size <= MOST_BYTES:
                self._bucket.write(f"{wanted.place}.bundle", path.read_bytes(), _KIND)
        old = time.time() - _STALE_S
        stored = self._bucket.names(f"{wanted.place.rpartition('/')[0]}/")
        others = [each for each in stored if not each.name.startswith(wanted.place)]
        self._bucket.remove([each.name for each in others if each.written < old])
