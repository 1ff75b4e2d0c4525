"""What a tree's rows are made of: a key for each file, and the segment that holds the file's rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

import msgspec
import numpy as np

from repo_map.indexing.extractor_version import extractor_version
from repo_map.indexing.snapshot import SnapshotError

KEY_BYTES: Final = 16
MOST_SEGMENTS: Final = 64
"""Of a tree; half of them at most are those of earlier trees, so that what lies scattered is written anew."""
MOST_SEGMENT_BYTES: Final = 400_000_000
"""Of the columns in a segment."""
_DIGITS: Final = frozenset("0123456789abcdef")


class Segment(msgspec.Struct, array_like=True, frozen=True):
    """Columns of some files, which any number of trees share."""

    name: str
    """The SHA-256 of the object, in hexadecimal digits."""
    size: int
    """Bytes of the object."""
    columns: int
    """Bytes of the columns in it."""
    files: int


class _Checked(msgspec.Struct, array_like=True, frozen=True):
    extractor: str
    segments: list[Segment]
    keys: bytes
    places: bytes


class TreeManifest:
    """The keys of a tree's files, by segment."""

    def __init__(self, segments: list[Segment], keys: list[bytes], places: bytes) -> None:
        """``places`` holds the number of a segment for each of ``keys``."""
        self.segments = segments
        self._keys = keys
        self._places = places

    @classmethod
    def decode(cls, encoded: bytes) -> TreeManifest:
        """Return what ``encode`` wrote.

        Raises:
            SnapshotError: the bytes are no manifest of this version.
        """
        try:
            found = msgspec.msgpack.decode(encoded, type=_Checked)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise SnapshotError(str(error)) from error
        if found.extractor != extractor_version():
            raise SnapshotError("made by another version")
        if len(found.keys) != KEY_BYTES * len(found.places) or len(found.segments) > MOST_SEGMENTS:
            raise SnapshotError("no whole manifest")
        if found.places and max(found.places) >= len(found.segments):
            raise SnapshotError("names a segment that it lacks")
        for segment in found.segments:
            is_named = len(segment.name) == 64 and _DIGITS.issuperset(segment.name)
            if not is_named or min(segment.size, segment.columns, segment.files) < 1:
                raise SnapshotError("has a segment that can't be")
        cuts = range(0, len(found.keys), KEY_BYTES)
        return cls(found.segments, [found.keys[at : at + KEY_BYTES] for at in cuts], found.places)

    def encode(self) -> bytes:
        """Return the manifest as bytes, the same for the same files and segments."""
        whole = _Checked(extractor_version(), self.segments, b"".join(self._keys), self._places)
        return msgspec.msgpack.encode(whole)

    def keys_of(self, number: int) -> list[bytes]:
        """Return the keys of the files whose rows are in one segment."""
        at = np.flatnonzero(np.frombuffer(self._places, np.uint8) == number)
        return [self._keys[place] for place in at.tolist()]


def row_key(path: bytes, digest: bytes) -> bytes:
    """Return what a file's rows are found by: its path and its bytes decide them, and nothing else does."""
    return hashlib.sha256(path + b"\0" + digest).digest()[:KEY_BYTES]


def tree_name(keys: Iterable[bytes]) -> str:
    """Return the name of the tree of these files, given in path order."""
    return hashlib.sha256(b"".join(keys)).hexdigest()[:32]
