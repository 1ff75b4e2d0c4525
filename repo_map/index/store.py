"""The cache on disk: which snapshot each tree has, in one folder, with one eviction."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from repo_map.atomic_files import latest_first, prune, read_stored, replace_file
from repo_map.index.cache_folder import cache_folder
from repo_map.index.extractor_version import extractor_version
from repo_map.index.schema import Tables
from repo_map.index.snapshot import SnapshotError, open_snapshot, read_paths, write_snapshot
from repo_map.limits import DEFAULT, Limits
from repo_map.sources.files import Listing, Problem

_SEAL_BYTES = 16
_STATE_BYTES = 40
_ASKED_PATHS = 64
"""By which a snapshot is told to be of much the same files."""
_RELATED_SHARE = 0.2


class RememberedTree(msgspec.Struct, array_like=True, frozen=True):
    """What is remembered of one tree: its snapshot, and the state of each of the snapshot's files."""

    tree: bytes
    """Its name."""
    snapshot: str
    taken_ns: int
    """Clock before the files were listed."""
    states: bytes
    skipped: tuple[str, ...]
    problems: tuple[Problem, ...]
    digest: bytes

    def listing(self, tables: Tables) -> Listing:
        """Return the listing that the snapshot was made from."""
        states = np.frombuffer(self.states, "<i8").reshape(-1, 5)
        return Listing(tuple(tables.paths), states, self.skipped, self.problems, self.digest)


class Store:
    """A folder of snapshots that any number of processes share; without a folder it keeps nothing."""

    def __init__(self, folder: Path | None, limits: Limits = DEFAULT) -> None:
        self.folder = folder
        self._limits = limits
        self._suffix = f"-{extractor_version()}{limits.cache_suffix}.index"

    def under(self, limits: Limits) -> Store:
        """Return the store of the same folder for indexes that are made under other limits."""
        return self if limits.cache_suffix == self._limits.cache_suffix else Store(self.folder, limits)

    def recall(self, tree: bytes) -> tuple[RememberedTree, Tables] | None:
        """Return what is remembered of a tree, or None; raises ``SnapshotError`` where it is damaged."""
        if self.folder is None:
            return None
        try:
            memory = _unseal(read_stored(self._tree_file(self.folder, tree)))
            if memory.tree != tree:
                return None
            tables = open_snapshot(self.folder / "snapshots" / memory.snapshot)
        except OSError:
            return None
        if len(tables) * _STATE_BYTES != len(memory.states):
            raise SnapshotError("the snapshot is of another listing")
        with suppress(OSError):
            os.utime(self.folder / "snapshots" / memory.snapshot)  # Those used least recently go first.
        return memory, tables

    def knows(self, tree: bytes) -> bool:
        """Tell whether something is remembered of a tree, whether or not it can be used."""
        return self.folder is not None and self._tree_file(self.folder, tree).exists()

    def related(self, paths: Sequence[str]) -> Iterator[Tables]:
        """Open, latest first, the snapshots with about a fifth of ``paths`` or more: branches, work trees."""
        asked = paths[:: 1 + len(paths) // _ASKED_PATHS]
        if self.folder is None or not asked:
            return
        for path in latest_first(self.folder / "snapshots"):
            if not path.name.endswith(self._suffix):
                continue
            with suppress(OSError, SnapshotError):
                held = read_paths(path)
                if sum(each in held for each in asked) >= _RELATED_SHARE * len(asked):
                    yield open_snapshot(path)

    def keep(self, fingerprint: str, arrays: Callable[[], Iterable[tuple[str, NDArray[Any]]]]) -> Tables:
        """Write a snapshot unless there is one with this fingerprint, and return its tables, memory-mapped.

        Raises ``OSError`` where it can't be written.
        """
        if self.folder is None:
            raise OSError(0, "there is no cache folder")
        path = self.folder / "snapshots" / (fingerprint + self._suffix)
        tables = _open(path)
        if tables is None:
            replace_file(path, lambda file: write_snapshot(file, arrays(), path.name))
            tables = _open(path)
        if tables is None:
            raise OSError(0, "what was written can't be read back")
        return tables

    def remember(self, tree: bytes, fingerprint: str, listing: Listing, taken_ns: int) -> None:
        """Note which snapshot a tree has; raises ``OSError`` where that can't be written."""
        if self.folder is None:
            return
        memory = RememberedTree(
            tree=tree,
            snapshot=fingerprint + self._suffix,
            taken_ns=taken_ns,
            states=listing.states.astype("<i8").tobytes(),
            skipped=listing.skipped,
            problems=listing.problems,
            digest=listing.digest,
        )
        encoded = msgspec.msgpack.encode(memory)
        replace_file(self._tree_file(self.folder, tree), lambda file: file.write(_seal(encoded) + encoded))
        prune(self.folder / "snapshots", int(self._limits.cache_mb * 1e6), keep=memory.snapshot)

    def _tree_file(self, folder: Path, tree: bytes) -> Path:
        return folder / "trees" / (hashlib.sha256(tree).hexdigest()[:24] + self._suffix)


def user_store(limits: Limits = DEFAULT) -> Store:
    """Return the store in this user's cache folder, which ``REPO_NAVIGATOR_CACHE`` names or turns off."""
    try:
        home = Path.home()
    except RuntimeError:  # No home folder: a service account.
        home = Path(tempfile.gettempdir())
    return Store(cache_folder(os.environ, sys.platform, home), limits)


def _open(path: Path) -> Tables | None:
    try:
        return open_snapshot(path)
    except (OSError, SnapshotError):
        return None


def _seal(encoded: bytes) -> bytes:
    return hashlib.sha256(encoded).digest()[:_SEAL_BYTES]


def _unseal(sealed: bytes) -> RememberedTree:
    encoded = sealed[_SEAL_BYTES:]
    if sealed[:_SEAL_BYTES] != _seal(encoded):
        raise SnapshotError("damaged")
    try:
        return msgspec.msgpack.decode(encoded, type=RememberedTree)
    except msgspec.MsgspecError as error:
        raise SnapshotError(str(error)) from error
