"""Arrays that follow from an index, kept on disk by name, so that no other process makes them again."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from repo_map.atomic_files import prune, read_stored, replace_file

_FOLDER = "derived"
_CHECKSUM_BYTES = 16
_LIMIT_BYTES = 256_000_000
"""Of all arrays of a cache folder together."""


def recall_arrays(folder: Path, name: str) -> list[NDArray[Any]] | None:
    """Return the arrays kept under a name, None where there are none or they are damaged."""
    path = folder / _FOLDER / name
    try:
        checked = read_stored(path)
        payload = checked[_CHECKSUM_BYTES:]
        if _checksum(payload) != checked[:_CHECKSUM_BYTES]:
            return None
        stream, arrays = io.BytesIO(payload), []
        while stream.tell() < len(payload):
            arrays.append(np.load(stream, allow_pickle=False))
        os.utime(path)  # Those used least recently go first.
    except (OSError, ValueError, EOFError):
        return None
    return arrays


def keep_arrays(folder: Path, name: str, arrays: Iterable[NDArray[Any]]) -> None:
    """Keep arrays under a name: other processes see all of them or what was there before."""
    stream = io.BytesIO()
    for array in arrays:
        np.save(stream, array, allow_pickle=False)
    payload = stream.getvalue()
    # A full or read-only disk costs the next process some time, and this one nothing.
    with suppress(OSError):
        path = folder / _FOLDER / name
        replace_file(path, lambda file: file.write(_checksum(payload) + payload))
        prune(path.parent, _LIMIT_BYTES)


def _checksum(payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=_CHECKSUM_BYTES).digest()
