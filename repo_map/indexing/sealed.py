"""Bytes that travel: compressed, and with a digest by which whoever gets them knows that they are whole."""

from __future__ import annotations

import hashlib
import zlib
from typing import Final

from repo_map.indexing.snapshot import SnapshotError

_FORMAT: Final = b"RNSHARE1"
_DIGEST_BYTES: Final = 32
_LENGTH_BYTES: Final = 8
_HEAD_BYTES: Final = len(_FORMAT) + _DIGEST_BYTES + _LENGTH_BYTES
_LEVEL: Final = 3
"""Columns of 8 MB: 2.2 MB in 0.15 s; level 1 takes 2.4 MB in 0.09 s, level 6 2.1 MB in 0.4 s."""


def seal(content: bytes) -> bytes:
    """Return ``content`` as it is stored: format, SHA-256 of the rest, length, compressed bytes."""
    rest = len(content).to_bytes(_LENGTH_BYTES, "little") + zlib.compress(content, _LEVEL)
    return _FORMAT + hashlib.sha256(rest).digest() + rest


def unseal(stored: bytes, limit: int) -> bytes:
    """Return what was sealed.

    Raises:
        SnapshotError: the bytes are damaged, or hold more than ``limit`` bytes.
    """
    rest = stored[len(_FORMAT) + _DIGEST_BYTES :]
    if not stored.startswith(_FORMAT) or len(stored) < _HEAD_BYTES:
        raise SnapshotError("no shared object")
    if hashlib.sha256(rest).digest() != stored[len(_FORMAT) : -len(rest)]:
        raise SnapshotError("damaged")
    length = int.from_bytes(rest[:_LENGTH_BYTES], "little")
    if length > limit:
        raise SnapshotError(f"over {limit:,} bytes")
    # Whatever length is claimed, no more is unpacked than that.
    inflate = zlib.decompressobj()
    try:
        content = inflate.decompress(rest[_LENGTH_BYTES:], length + 1)
    except zlib.error as error:
        raise SnapshotError(str(error)) from error
    if len(content) != length or not inflate.eof:
        raise SnapshotError("of another length than it says")
    return content
