"""Tables in one file: arrays that are verified, then mapped into memory."""

from __future__ import annotations

import hashlib
import math
import mmap
import sys
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from repo_map.cache import open_stored
from repo_map.index.schema import Tables, from_arrays
from repo_map.index.strings import StringTable

_FORMAT = b"RNINDEX1"
_ALIGNMENT = 64
_TRAILER_BYTES = 24
_LAYERS_ABOVE = frozenset(
    ("check", "graph", "history", "lookup", "outline", "ranking", "relations", "steering")
)
"""Folders of the package that the index does not import, by the layers in ``pyproject.toml``."""
_DEPENDENCIES = ("tree_sitter", "pystemmer", "ahocorasick_rs")


class SnapshotError(Exception):
    """The bytes are not a complete snapshot of this version."""


class _Entry(msgspec.Struct, array_like=True, frozen=True):
    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    checksum: int

    @property
    def size(self) -> int:
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


class _Footer(msgspec.Struct, array_like=True, frozen=True):
    extractor: str
    entries: tuple[_Entry, ...]
    name: str = ""
    """Of the file: the snapshot of another tree, copied here, is not this one's."""


def write_snapshot(file: IO[bytes], arrays: Iterable[tuple[str, NDArray[Any]]], file_name: str = "") -> None:
    """Write arrays one after the other, so that no two of them need be in memory.

    The parts: each array from a multiple of 64 bytes on, the footer, its length and checksum, the format.
    """
    entries = []
    offset = 0
    for name, array in arrays:
        data = memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))  # type: ignore[arg-type]
        entries.append(_Entry(name, array.dtype.str, array.shape, offset, _sum(data)))
        file.write(data)
        padding = -len(data) % _ALIGNMENT
        file.write(bytes(padding))
        offset += len(data) + padding
    footer = msgspec.msgpack.encode(_Footer(extractor_version(), tuple(entries), file_name))
    file.write(footer + len(footer).to_bytes(8, "little") + _sum(footer).to_bytes(8, "little") + _FORMAT)


def encode_snapshot(arrays: Iterable[tuple[str, NDArray[Any]]]) -> bytes:
    """Return a snapshot as bytes."""
    file = BytesIO()
    write_snapshot(file, arrays)
    return file.getvalue()


def open_snapshot(path: Path) -> Tables:
    """Map a snapshot file into memory; raise ``SnapshotError`` or ``OSError`` if it is damaged."""
    mapped = _map(path)
    buffer = memoryview(mapped)
    entries = _read_footer(buffer, path.name)
    for entry in entries:
        if _sum(buffer[entry.offset : entry.offset + entry.size]) != entry.checksum:
            raise SnapshotError("damaged")
    if hasattr(mmap, "MADV_DONTNEED"):
        # Pages that nobody reads again don't stay in memory.
        mapped.madvise(mmap.MADV_DONTNEED)
    return _tables(buffer, entries)


def read_paths(path: Path) -> StringTable:
    """Return the paths of a snapshot, not verified: they only decide whether it is worth opening.

    Raises what ``open_snapshot`` raises.
    """
    buffer = memoryview(_map(path))
    entries = {entry.name: entry for entry in _read_footer(buffer, path.name)}
    try:
        return StringTable(*(_array(buffer, entries[f"paths.{part}"]) for part in ("starts", "blob")))
    except (KeyError, ValueError) as error:
        raise SnapshotError(f"lacks its paths: {error}") from error


def decode_snapshot(encoded: bytes) -> Tables:
    """Return the tables of an encoded snapshot, which share its memory."""
    buffer = memoryview(encoded)
    return _tables(buffer, _read_footer(buffer))


def _map(path: Path) -> mmap.mmap:
    with open_stored(path) as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:  # An empty file.
            raise SnapshotError(str(error)) from error


def _tables(buffer: memoryview, entries: tuple[_Entry, ...]) -> Tables:
    arrays = {entry.name: _array(buffer, entry) for entry in entries}
    try:
        return from_arrays(arrays)
    except KeyError as error:
        raise SnapshotError(f"lacks {error}") from error


def _array(buffer: memoryview, entry: _Entry) -> NDArray[Any]:
    if not entry.size:
        return np.zeros(entry.shape, entry.dtype)
    flat = np.frombuffer(buffer, entry.dtype, math.prod(entry.shape), entry.offset)
    return flat.reshape(entry.shape)


def _read_footer(buffer: memoryview, name: str = "") -> tuple[_Entry, ...]:
    trailer = bytes(buffer[-_TRAILER_BYTES:])
    size = int.from_bytes(trailer[:8], "little")
    encoded = buffer[-_TRAILER_BYTES - size : -_TRAILER_BYTES] if size < len(buffer) else buffer[:0]
    if trailer[16:] != _FORMAT or trailer[8:16] != _sum(encoded).to_bytes(8, "little"):
        raise SnapshotError("damaged, or no snapshot at all")
    try:
        footer = msgspec.msgpack.decode(encoded, type=_Footer)
    except msgspec.MsgspecError as error:
        raise SnapshotError(str(error)) from error
    if footer.extractor != extractor_version():
        raise SnapshotError("made by another version")
    if footer.name != name:
        raise SnapshotError("the snapshot of another tree")
    return footer.entries


def _sum(data: memoryview | bytes) -> int:
    """Return a checksum that any one damaged word changes; numpy adds words at the speed of memory."""
    whole = len(data) // 8
    words = int(np.add.reduce(np.frombuffer(data, "<u8", whole), dtype=np.uint64)) if whole else 0
    return (words + int.from_bytes(data[whole * 8 :], "little") + len(data)) % (1 << 64)


@cache
def extractor_version() -> str:
    """Return a digest of the code, queries and grammars that make tables out of a repository's bytes."""
    whole = hashlib.sha256(repr(sys.version_info[:2]).encode())
    package = Path(__file__).parent.parent
    folders = (each for each in package.iterdir() if each.name not in _LAYERS_ABOVE)
    for path in sorted(found for each in folders for found in (each, *each.rglob("*"))):
        if path.suffix in (".py", ".scm", ".toml"):
            name = path.relative_to(package).as_posix()
            whole.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    for name in _installed_versions():
        whole.update(name.encode() + b"\0")
    return whole.hexdigest()[:16]


def _installed_versions() -> list[str]:
    """Return the names of the parsers' metadata folders, which end with their versions."""
    spec = find_spec("tree_sitter")
    if spec is None or spec.origin is None:
        return []
    packages = Path(spec.origin).parent.parent
    names = (entry.name for entry in packages.iterdir() if entry.suffix == ".dist-info")
    return sorted(name for name in names if name.lower().startswith(_DEPENDENCIES))
