"""Rows that servers share: each is derived once from a file's path and bytes, and found by both.

Under ``derived/VERSION/REPOSITORY/`` lie segments (``rows/…``, columns of some files, named by what they are)
and manifests (``trees/…``, which files a tree had and which segment holds the rows of each). A tree that has
much in common with an earlier one refers to its segments, and brings one with what is new.

Nothing here is asked for by a hash that somebody names. A manifest is looked for where the repository that
was opened has its own, and a row is taken only for a file whose path and bytes the server has itself read
there.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.indexing.extractor_version import extractor_version
from repo_map.indexing.schema import Tables
from repo_map.indexing.sealed import seal, unseal
from repo_map.indexing.shared_notes import is_decided_by_bytes
from repo_map.indexing.shared_objects import SharedObjectsError, Sharing, StoredObject
from repo_map.indexing.sharing_scope import scope_of
from repo_map.indexing.snapshot import SnapshotError, encode_snapshot
from repo_map.indexing.soundness import read_untrusted
from repo_map.indexing.splicing import FileRange, splice
from repo_map.indexing.tree_manifest import (
    MOST_SEGMENT_BYTES,
    MOST_SEGMENTS,
    Segment,
    TreeManifest,
    row_key,
    tree_name,
)
from repo_map.limits import Limits
from repo_map.worktree.file_kinds import FileFlag

ROOT: Final = "derived/"
WORTH_SHARING_BYTES: Final = 1_000_000
"""Of source that nobody has parsed: less is parsed sooner than asked for."""
_WORTH_ASKING_BYTES: Final = 50_000
"""Of source that is left to parse, once some rows were fetched."""
_TREES_AT_MOST: Final = 8
"""Manifests that are looked at, the latest first."""
_MOST_MANIFEST_BYTES: Final = 8_000_000
_MOST_OBJECT_BYTES: Final = 200_000_000
_SEGMENT_SOURCE_BYTES: Final = 100_000_000
"""Of source whose columns a segment holds: some 35 MB of them, 10 MB as they are stored. To join segments
costs more than to read them, so there are few."""
_WORTH_READING: Final = 0.05
"""Bytes of source that a segment saves to parse, for each byte of its columns; to parse a byte takes about as
long as to read twenty of columns."""
_MOST_COLUMNS_PER_SOURCE_BYTE: Final = 4
"""That are read in all, whatever manifests claim; columns take about a third of their source."""
_HALF_USED: Final = 0.5
"""Share of a segment's files that a tree must have to refer to it."""
_WORTH_WRITING_SHARE: Final = 0.005
_RENEWED_AFTER_S: Final = 86_400.0
"""What is still used is written again after a day, so that it is not taken for what nobody uses."""
_ROOM_LEFT: Final = 0.9
"""Of what may be kept, once some had to go."""

logger = logging.getLogger(__name__)


class Shared(NamedTuple):
    """What became of an attempt to share a tree."""

    objects: int = 0
    """Written."""
    bytes: int = 0
    """Of them."""
    files: int = 0
    """Whose rows were written; the others were there, or are of files that are not shared."""


class SharedRows:
    """The shared rows of one repository's trees. What can't be reached or read is told in the log alone."""

    def __init__(self, sharing: Sharing, root: Path, limits: Limits) -> None:
        """Look, once it is needed, for what the trees of the repository at ``root`` share."""
        self._objects = sharing.objects
        self._most_bytes = sharing.most_bytes
        self._name = sharing.repository
        self._root = root
        self._version = f"{extractor_version()}{limits.mark}"
        self._is_lost = False

    def has_any(self) -> bool:
        """Say whether anybody has shared rows of the repository, before its files are read for them."""
        try:
            return not self._is_lost and bool(self._place and self._listed)
        except SharedObjectsError as error:
            # Who waited for it once does not wait again while one tree is opened.
            self._is_lost = True
            logger.warning(
                "What other servers parsed can't be reached, so this server parses everything: %s", error
            )
            return False

    def tables_with(self, wanted: Mapping[bytes, int]) -> Iterator[Tables]:
        """Return tables with some of the rows that are wanted, the latest tree's first.

        Args:
            wanted: the key of each file whose rows are missing, and the bytes of its source.
        """
        left = dict(wanted)
        room = _MOST_COLUMNS_PER_SOURCE_BYTE * sum(left.values())
        try:
            for segment, held in self._latest_segments():
                if sum(left.values()) < _WORTH_ASKING_BYTES:
                    return
                covered = [key for key in held if key in left]
                gain = sum(left[key] for key in covered)
                if gain < segment.columns * _WORTH_READING or segment.columns > room:
                    continue
                room -= segment.columns
                tables = self._segment(segment)
                if tables is not None:
                    for key in covered:
                        del left[key]
                    yield tables
        except SharedObjectsError as error:
            logger.warning(
                "What other servers parsed can't be reached, so this server parses the rest: %s", error
            )

    def share(self, tables: Tables, is_wanted: Callable[[], bool] = lambda: True) -> Shared:
        """Share the rows of a tree that nobody has shared yet, and let go of what is over the limit.

        Rows of two kinds stay here. Of a file in which a secret was masked not even the digest is shared: it
        would tell whether a guess at the secret is right. And what could not be read whole, in the time that
        this machine had for it, may be read whole elsewhere.
        """
        try:
            if not self._place:
                return Shared()
            shared = self._share(tables, is_wanted)
            if shared.objects:
                self._evict()
        except SharedObjectsError as error:
            logger.warning("What was parsed here could not be shared with other servers: %s", error)
            return Shared()
        return shared

    def _share(self, tables: Tables, is_wanted: Callable[[], bool]) -> Shared:
        keys = _keys(tables)
        if int(tables.files.size[list(keys.values())].sum()) < WORTH_SHARING_BYTES:
            return Shared()
        name = self._tree_object(tree_name(keys))
        if name in self._listed:
            manifest = self._manifest(name)
            self._renew([*map(self._segment_name, manifest.segments if manifest else ()), name])
            return Shared()
        referred = list(self._usable(keys))
        place = {key: number for number, (_, held) in enumerate(referred) for key in held}
        rows = np.fromiter((row for key, row in keys.items() if key not in place), np.int64)
        sizes = tables.files.size
        if referred and int(sizes[rows].sum()) < int(sizes.sum()) * _WORTH_WRITING_SHARE:
            return Shared()
        segments = [segment for segment, _ in referred]
        key_of = dict(zip(keys.values(), keys, strict=True))
        for part in _cut(rows, sizes):
            if not is_wanted():
                return Shared()
            place.update((key_of[row], len(segments)) for row in part.tolist())
            segments.append(self._write_segment(tables, part))
        sealed = seal(TreeManifest(segments, list(keys), bytes(map(place.__getitem__, keys))).encode())
        self._objects.write(name, sealed)
        self._renew(map(self._segment_name, segments))
        new = segments[len(referred) :]
        return Shared(1 + len(new), len(sealed) + sum(segment.size for segment in new), len(rows))

    def _write_segment(self, tables: Tables, rows: NDArray[np.int64]) -> Segment:
        encoded = encode_snapshot(splice(_runs(tables, rows)))
        sealed = seal(encoded)
        segment = Segment(hashlib.sha256(sealed).hexdigest(), len(sealed), len(encoded), len(rows))
        self._objects.write(self._segment_name(segment), sealed)
        return segment

    def _usable(self, keys: Mapping[bytes, int]) -> Iterator[tuple[Segment, list[bytes]]]:
        """Return the segments that a tree can refer to, each with the keys that are left for it."""
        left = set(keys)
        used: set[str] = set()
        for segment, every in self._latest_segments():
            held = [key for key in every if key in left]
            # Room for what is new; and a segment that is hardly used would be read in vain by everybody.
            is_useful = segment.name not in used and len(held) >= segment.files * _HALF_USED
            if is_useful and len(used) < MOST_SEGMENTS // 2 and self._segment_name(segment) in self._listed:
                used.add(segment.name)
                left.difference_update(held)
                yield segment, held

    def _renew(self, names: Iterable[str]) -> None:
        """Write objects that are still used again, where they were written a while ago."""
        now = time.time()
        for name in names:
            stored = self._listed.get(name)
            if stored is None or now - stored.written < _RENEWED_AFTER_S:
                continue
            if (content := self._objects.read(name, _MOST_OBJECT_BYTES)) is not None:
                self._objects.write(name, content)

    def _evict(self) -> None:
        """Remove what was written least lately, while there is too much of all repositories together."""
        every = sorted(self._objects.names(ROOT), key=lambda stored: (-stored.written, stored.name))
        if sum(stored.size for stored in every) <= self._most_bytes:
            return
        room = self._most_bytes * _ROOM_LEFT
        unwanted = []
        for stored in every:
            room -= stored.size
            if room < 0:
                unwanted.append(stored.name)
        self._objects.remove(unwanted)

    @cached_property
    def _place(self) -> str:
        """What the names of the repository's objects begin with, ``""`` where it shares nothing."""
        scope = scope_of(self._root, self._name)
        return "" if scope is None else f"{ROOT}{self._version}/{scope}/"

    @cached_property
    def _listed(self) -> dict[str, StoredObject]:
        return {stored.name: stored for stored in self._objects.names(self._place)}

    def _latest_segments(self) -> Iterator[tuple[Segment, list[bytes]]]:
        """Return the segments of the latest trees, each with the keys of a tree's files in it."""
        start = self._tree_object("")
        trees = [stored for name, stored in self._listed.items() if name.startswith(start)]
        for tree in sorted(trees, key=lambda stored: (-stored.written, stored.name))[:_TREES_AT_MOST]:
            manifest = self._manifest(tree.name)
            if manifest is not None:
                for number, segment in enumerate(manifest.segments):
                    yield segment, manifest.keys_of(number)

    def _tree_object(self, name: str) -> str:
        return f"{self._place}trees/{name}"

    def _segment_name(self, segment: Segment) -> str:
        return f"{self._place}rows/{segment.name}"

    def _manifest(self, name: str) -> TreeManifest | None:
        stored = self._objects.read(name, _MOST_MANIFEST_BYTES)
        if stored is None:
            return None
        try:
            return TreeManifest.decode(unseal(stored, _MOST_MANIFEST_BYTES))
        except SnapshotError as error:
            logger.warning("Ignoring a shared tree that fails its checks: %s", error)
            return None

    def _segment(self, segment: Segment) -> Tables | None:
        stored = self._objects.read(self._segment_name(segment), _MOST_OBJECT_BYTES)
        if stored is None:
            return None
        try:
            if hashlib.sha256(stored).hexdigest() != segment.name:
                raise SnapshotError("other bytes than its name says")
            return read_untrusted(unseal(stored, min(segment.columns, MOST_SEGMENT_BYTES)))
        except SnapshotError as error:
            logger.warning("Ignoring shared columns that fail their checks: %s", error)
            return None


def _keys(tables: Tables) -> dict[bytes, int]:
    """Return the key of each file whose rows may be shared, in path order, with its row."""
    files = tables.files
    notes = tables.notes
    is_passing = np.array([not is_decided_by_bytes(note) for note in tables.messages], np.bool_)
    passing = np.concatenate((np.zeros(1, np.int64), np.cumsum(is_passing[notes.message])))
    is_whole = passing[notes.file_start[1:]] == passing[notes.file_start[:-1]]
    may = files.digest.any(axis=1) & is_whole & (files.flags & int(FileFlag.SECRETS) == 0)
    digests = files.digest
    return {
        row_key(tables.paths.bytes_at(row), digests[row].tobytes()): row
        for row in np.flatnonzero(may).tolist()
    }


def _cut(rows: NDArray[np.int64], sizes: NDArray[np.int64]) -> Iterable[NDArray[np.int64]]:
    """Cut rows into stretches of about as much source as a segment holds."""
    if not len(rows):
        return []
    numbers = np.cumsum(sizes[rows]) // _SEGMENT_SOURCE_BYTES
    return np.split(rows, np.flatnonzero(np.diff(numbers)) + 1)


def _runs(tables: Tables, rows: NDArray[np.int64]) -> list[FileRange]:
    ends = np.flatnonzero(np.diff(rows) != 1) + 1
    return [FileRange(tables, int(run[0]), int(run[-1]) + 1) for run in np.split(rows, ends)]
