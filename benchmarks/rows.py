"""Rows of a measurement, kept as JSON lines so that a stopped one resumes, and intervals of their means."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec

Row = TypeVar("Row")
_RESAMPLES: Final = 1000


class RowFile(Generic[Row]):
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


def bootstrap(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean (1,000 resamples, seed 0)."""
    chance = random.Random(0)
    means = sorted(sum(chance.choices(values, k=len(values))) / len(values) for _ in range(_RESAMPLES))
    return means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES)]
