"""Bytes put aside by many threads until all are there, in a file where a disk has room."""

from __future__ import annotations

import mmap
import tempfile
from contextlib import suppress
from threading import Lock
from typing import Final

_ALIGNMENT: Final = 64


class Spool:
    """Pieces of bytes that any thread puts, to be got back once all are there; in memory if no disk is."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pieces: list[bytes | slice] = []
        self._end = 0
        self._file = None
        with suppress(OSError):
            # Without a buffer: what a full disk refused would be written, and refused, again at the end.
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - it lives as long as the spool

    def put(self, piece: bytes) -> int:
        """Keep ``piece`` and return its number."""
        with self._lock:
            self._pieces.append(self._write(piece))
            return len(self._pieces) - 1

    def take_all(self) -> list[bytes | memoryview]:
        """Return the pieces by number, each at an address where any array may start, and close the spool."""
        mapped = memoryview(b"")
        if self._file is not None:
            with self._file as file:
                if self._end:
                    mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return [piece if isinstance(piece, bytes) else mapped[piece] for piece in self._pieces]

    def close(self) -> None:
        """Give up what was put."""
        if self._file is not None:
            self._file.close()

    def _write(self, piece: bytes) -> bytes | slice:
        if self._file is None or not piece:
            return piece
        try:
            self._file.seek(self._end)
            aligned = piece + bytes(-len(piece) % _ALIGNMENT)
            if self._file.write(aligned) != len(aligned):
                return piece
        except (OSError, ValueError):  # The disk is full, or the spool was closed meanwhile.
            return piece
        start = self._end
        self._end += len(piece) + -len(piece) % _ALIGNMENT
        return slice(start, start + len(piece))
