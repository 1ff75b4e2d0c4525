"""The cache on disk: one sealed format, one folder, one eviction."""

from __future__ import annotations

import hashlib
import io
import math
import mmap
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from repo_map.atomic_files import latest_first, open_stored, prune, read_stored, replace_file
from repo_map.indexing.cache_folder import cache_folder
from repo_map.indexing.extractor_version import extractor_version
from repo_map.indexing.schema import Tables, from_arrays
from repo_map.limits import USUAL, Limits
from repo_map.worktree.files import Listing, Problem

_FORMAT = b"RNINDEX1"
_ALIGNMENT = 64
_BLOCK_BYTES = 1 << 20
_TRAILER_BYTES = 24


class SnapshotError(Exception):
    """The bytes are no whole snapshot of this version."""


class _Entry(msgspec.Struct, array_like=True, frozen=True):
    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    checksums: tuple[int, ...]
    """One for each block of a mebibyte."""

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
        entries.append(_Entry(name, array.dtype.str, array.shape, offset, tuple(map(_sum, _blocks(data)))))
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
    """Map a snapshot file into memory; raise ``SnapshotError`` or ``OSError`` if it can't be believed."""
    with open_stored(path) as file:
        end = file.seek(0, os.SEEK_END)
        trailer = _read_at(file, end - _TRAILER_BYTES, _TRAILER_BYTES)
        size = int.from_bytes(trailer[:8], "little")
        entries = _decode_footer(_read_at(file, end - _TRAILER_BYTES - size, size), trailer, path.name)
        _verify(file, entries)
        try:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:
            raise SnapshotError(str(error)) from error
    return _tables(mapped, entries)


def decode_snapshot(encoded: bytes | memoryview) -> Tables:
    """Return the tables of a snapshot in memory, whose bytes they go on using."""
    trailer = encoded[-_TRAILER_BYTES:]
    size = int.from_bytes(trailer[:8], "little")
    return _tables(encoded, _decode_footer(encoded[-_TRAILER_BYTES - size : -_TRAILER_BYTES], trailer))


def _tables(buffer: bytes | memoryview | mmap.mmap, entries: tuple[_Entry, ...]) -> Tables:
    arrays = {
        entry.name: np.frombuffer(buffer, entry.dtype, math.prod(entry.shape), entry.offset).reshape(
            entry.shape
        )
        if entry.size
        else np.zeros(entry.shape, entry.dtype)
        for entry in entries
    }
    try:
        return from_arrays(arrays)
    except KeyError as error:
        raise SnapshotError(f"lacks {error}") from error


def _decode_footer(
    encoded: bytes | memoryview, trailer: bytes | memoryview, name: str = ""
) -> tuple[_Entry, ...]:
    if trailer[16:] != _FORMAT or trailer[8:16] != _sum(memoryview(encoded)).to_bytes(8, "little"):
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


def _verify(file: IO[bytes], entries: tuple[_Entry, ...]) -> None:
    """Check every array through one small buffer, so that pages nobody asks for don't stay in memory."""
    buffer = memoryview(bytearray(_BLOCK_BYTES))
    for entry in entries:
        file.seek(entry.offset)
        for number, start in enumerate(range(0, entry.size, _BLOCK_BYTES)):
            block = buffer[: min(_BLOCK_BYTES, entry.size - start)]
            if file.readinto(block) != len(block) or _sum(block) != entry.checksums[number]:  # type: ignore[attr-defined]
                raise SnapshotError("damaged")


def _read_at(file: IO[bytes], offset: int, size: int) -> bytes:
    if offset < 0:
        raise SnapshotError("too short")
    file.seek(offset)
    return file.read(size)


def _blocks(data: memoryview) -> Iterator[memoryview]:
    return (data[start : start + _BLOCK_BYTES] for start in range(0, len(data), _BLOCK_BYTES))


def _sum(data: memoryview | bytes) -> int:
    """Return a checksum that any one damaged word changes; numpy adds words at the speed of memory."""
    whole = len(data) // 8
    words = int(np.add.reduce(np.frombuffer(data, "<u8", whole), dtype=np.uint64)) if whole else 0
    return (words + int.from_bytes(data[whole * 8 :], "little") + len(data)) % (1 << 64)


_SEAL_BYTES = 16
_STATE_BYTES = 40
_RELATED_AT_MOST = 8


class RememberedTree(msgspec.Struct, array_like=True, frozen=True):
    """What is remembered of one tree: its snapshot, and the state of each of the snapshot's files."""

    tree: bytes
    """Its name."""
    snapshot: str
    taken_ns: int
    """Clock before the files were listed."""
    states: bytes
    left_out: tuple[str, ...]
    problems: tuple[Problem, ...]
    digest: bytes

    def listing(self, tables: Tables) -> Listing:
        """Return the listing that the snapshot was made from."""
        states = np.frombuffer(self.states, "<i8").reshape(-1, 5)
        return Listing(tuple(tables.paths), states, self.left_out, self.problems, self.digest)


class Store:
    """A folder of snapshots that any number of processes share; without a folder it keeps nothing."""

    def __init__(self, folder: Path | None, limits: Limits = USUAL) -> None:
        self.folder = folder
        self._limits = limits
        self._suffix = f"-{extractor_version()}{limits.mark}.index"

    def under(self, limits: Limits) -> Store:
        """Return the store of the same folder for indexes that are made under other limits."""
        return self if limits.mark == self._limits.mark else Store(self.folder, limits)

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

    def related(self, paths: Iterable[str]) -> Iterator[Tables]:
        """Return the latest snapshots with a fifth of ``paths`` or more: other branches, other work trees."""
        wanted = frozenset(paths)
        if self.folder is None or not wanted:
            return
        written = latest_first(self.folder / "snapshots")
        for path in [path for path in written if path.name.endswith(self._suffix)][:_RELATED_AT_MOST]:
            tables = _open(path)
            if tables is not None and len(wanted.intersection(tables.paths)) * 5 >= len(wanted):
                yield tables

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
            left_out=listing.left_out,
            problems=listing.problems,
            digest=listing.digest,
        )
        encoded = msgspec.msgpack.encode(memory)
        replace_file(self._tree_file(self.folder, tree), lambda file: file.write(_seal(encoded) + encoded))
        prune(self.folder / "snapshots", int(self._limits.cache_mb * 1e6), keep=memory.snapshot)

    def _tree_file(self, folder: Path, tree: bytes) -> Path:
        return folder / "trees" / (hashlib.sha256(tree).hexdigest()[:24] + self._suffix)


def user_store(limits: Limits = USUAL) -> Store:
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


_FOLDER = "derived"
_ARRAY_SEAL_BYTES = 16
_LIMIT_BYTES = 256_000_000


def recall(folder: Path, name: str) -> list[NDArray[Any]] | None:
    """Return the arrays kept under a name, None where there are none or they are damaged."""
    path = folder / _FOLDER / name
    try:
        sealed = read_stored(path)
        payload = sealed[_ARRAY_SEAL_BYTES:]
        if _array_seal(payload) != sealed[:_ARRAY_SEAL_BYTES]:
            return None
        stream, arrays = io.BytesIO(payload), []
        while stream.tell() < len(payload):
            arrays.append(np.load(stream, allow_pickle=False))
        os.utime(path)  # Those used least recently go first.
    except (OSError, ValueError, EOFError):
        return None
    return arrays


def keep(folder: Path, name: str, arrays: Iterable[NDArray[Any]]) -> None:
    """Keep arrays under a name: other processes see all of them or what was there before."""
    stream = io.BytesIO()
    for array in arrays:
        np.save(stream, array, allow_pickle=False)
    payload = stream.getvalue()
    # A full or read-only disk costs the next process some time, and this one nothing.
    with suppress(OSError):
        path = folder / _FOLDER / name
        replace_file(path, lambda file: file.write(_array_seal(payload) + payload))
        prune(path.parent, _LIMIT_BYTES)


def _array_seal(payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=_ARRAY_SEAL_BYTES).digest()
