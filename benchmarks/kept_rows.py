"""Rows of a measurement as JSON lines: one that was stopped goes on where it was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

Row = TypeVar("Row")


class KeptRows(Generic[Row]):
    """The file of one measurement's rows."""

    def __init__(self, file: Path, kind: type[Row]) -> None:
        self._file = file
        self._kind = kind

    def __iter__(self) -> Iterator[Row]:
        lines = self._file.read_bytes().split(b"\n") if self._file.exists() else []
        for line in lines:
            # A run that was killed may have left half a line.
            with contextlib.suppress(msgspec.DecodeError):
                yield msgspec.json.decode(line, type=self._kind)

    def append(self, *rows: Row) -> None:
        """Add rows; half a line before them swallows none of them."""
        if not rows:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("ab") as file:
            lead = b"" if file.tell() == 0 else b"\n"
            file.write(lead + b"\n".join(map(msgspec.json.encode, rows)))
