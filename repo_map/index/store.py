"""The cache of indexes on disk: snapshots, and which one each tree has, in one pruned folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from repo_map.cache import cache_folder, newest_first, prune, read_stored, replace_file, seal, unseal
from repo_map.index.schema import Tables
from repo_map.index.snapshot import (
    SnapshotError,
    extractor_version,
    open_snapshot,
    read_paths,
    write_snapshot,
)
from repo_map.limits import DEFAULT, Limits
from repo_map.sources.files import Listing, Problem

_BYTES_PER_STATE = 40
_SAMPLED_PATHS = 64
"""Of a listing, by which snapshots of similar trees are found."""
_RELATED_SHARE = 0.2


class StoredState(msgspec.Struct, array_like=True, frozen=True):
    """What is stored of one tree: its snapshot, and the file states of the listing it was made from."""

    tree: bytes
    """Name of the tree."""
    snapshot: str
    taken_ns: int
    """Time before the files were listed."""
    states: bytes
    skipped: tuple[str, ...]
    problems: tuple[Problem, ...]
    digest: bytes

    def listing(self, tables: Tables) -> Listing:
        """Return the listing that the snapshot was made from."""
        states = np.frombuffer(self.states, "<i8").reshape(-1, 5)
        return Listing(tuple(tables.paths), states, self.skipped, self.problems, self.digest)


class Store:
    """A folder of snapshots that any number of processes share; without a folder nothing is stored."""

    def __init__(self, folder: Path | None, limits: Limits = DEFAULT) -> None:
        self.folder = folder
        self._limits = limits
        self._suffix = f"-{extractor_version()}{limits.cache_suffix}.index"

    def under(self, limits: Limits) -> Store:
        """Return the store of the same folder for indexes that are made under other limits."""
        return self if limits.cache_suffix == self._limits.cache_suffix else Store(self.folder, limits)

    def load_state(self, tree: bytes) -> tuple[StoredState, Tables] | None:
        """Return the stored state of a tree, None if there is none.

        Raises:
            SnapshotError: The stored files are damaged.
        """
        if self.folder is None:
            return None
        try:
            encoded = unseal(read_stored(self._state_file(self.folder, tree)))
            state = msgspec.msgpack.decode(encoded, type=StoredState)
            if state.tree != tree:
                return None
            snapshot = self.folder / "snapshots" / state.snapshot
            tables = open_snapshot(snapshot)
        except OSError:
            return None
        except (ValueError, msgspec.MsgspecError) as error:
            raise SnapshotError(str(error)) from error
        if len(tables) * _BYTES_PER_STATE != len(state.states):
            raise SnapshotError("the snapshot is of another listing")
        for path in (snapshot, self._state_file(self.folder, tree)):
            with suppress(OSError):
                os.utime(path)  # The least recently used are removed first.
        return state, tables

    def has_state(self, tree: bytes) -> bool:
        """Return True if a state of the tree is stored, even if it can't be used."""
        return self.folder is not None and self._state_file(self.folder, tree).exists()

    def related(self, paths: Sequence[str]) -> Iterator[Tables]:
        """Yield the snapshots that share 20 % of ``paths``, newest first: branches, work trees."""
        sample = paths[:: 1 + len(paths) // _SAMPLED_PATHS]
        if self.folder is None or not sample:
            return
        for path in newest_first(self.folder / "snapshots"):
            if not path.name.endswith(self._suffix):
                continue
            with suppress(OSError, SnapshotError):
                stored = read_paths(path)
                if sum(each in stored for each in sample) >= _RELATED_SHARE * len(sample):
                    yield open_snapshot(path)

    def save_snapshot(
        self, fingerprint: str, arrays: Callable[[], Iterable[tuple[str, NDArray[Any]]]]
    ) -> Tables:
        """Write a snapshot unless there is one with this fingerprint, and return its tables, memory-mapped.

        Raises:
            OSError: It can't be written.
        """
        if self.folder is None:
            raise OSError(0, "there is no cache folder")
        path = self.folder / "snapshots" / (fingerprint + self._suffix)
        tables = _open(path)
        if tables is None:
            replace_file(path, lambda file: write_snapshot(file, arrays(), path.name))
            tables = _open(path)
        if tables is None:
            raise OSError(0, "the written snapshot can't be read")
        return tables

    def save_state(self, tree: bytes, fingerprint: str, listing: Listing, taken_ns: int) -> None:
        """Store which snapshot a tree has, and remove old files; raise ``OSError`` if that fails."""
        if self.folder is None:
            return
        state = StoredState(
            tree=tree,
            snapshot=fingerprint + self._suffix,
            taken_ns=taken_ns,
            states=listing.states.astype("<i8").tobytes(),
            skipped=listing.skipped,
            problems=listing.problems,
            digest=listing.digest,
        )
        path = self._state_file(self.folder, tree)
        replace_file(path, lambda file: file.write(seal(msgspec.msgpack.encode(state))))
        limit = int(self._limits.cache_mb * 1e6)
        prune(path.parent, limit, keep={path.name, state.snapshot})
        # Versions before 0.3 stored commits there.
        shutil.rmtree(self.folder / "history", ignore_errors=True)

    def _state_file(self, folder: Path, tree: bytes) -> Path:
        name = hashlib.sha256(tree).hexdigest()[:24] + self._suffix
        return folder / "snapshots" / Path(name).with_suffix(".tree")


def user_store(limits: Limits = DEFAULT) -> Store:
    """Return the store in this user's cache folder, which ``REPO_NAVIGATOR_CACHE`` sets or turns off."""
    try:
        home = Path.home()
    except RuntimeError:  # A service account has no home folder.
        home = Path(tempfile.gettempdir())
    return Store(cache_folder(os.environ, sys.platform, home), limits)


def _open(path: Path) -> Tables | None:
    try:
        return open_snapshot(path)
    except (OSError, SnapshotError):
        return None
