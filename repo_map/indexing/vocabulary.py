"""A sorted table of strings in two arrays, that can be memory-mapped and searched as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.uint32]


class StringTable(Sequence[str]):
    """Distinct strings in the order of their UTF-8 bytes; a string's id is its position."""

    __slots__ = ("_blob", "_cuts", "blob", "starts")

    def __init__(self, starts: NDArray[np.uint32], blob: NDArray[np.uint8]) -> None:
        """``starts`` (n + 1 offsets) cut ``blob`` into the n strings."""
        self.starts = starts
        self.blob = blob
        # Plain buffers give Python ints and bytes several times faster than numpy scalars.
        self._cuts = memoryview(starts)  # type: ignore[arg-type]
        self._blob = memoryview(blob)  # type: ignore[arg-type]

    @classmethod
    def of(cls, strings: Iterable[str]) -> StringTable:
        """Make the table of the distinct ``strings``."""
        return cls.of_sorted_bytes(sorted({encode(string) for string in strings}))

    @classmethod
    def of_sorted(cls, strings: Sequence[str]) -> StringTable:
        """Make the table of distinct strings in order, none with lone surrogates.

        Strings and their UTF-8 bytes have the same order.
        """
        whole = "".join(strings)
        if not whole.isascii():
            return cls.of_sorted_bytes([string.encode() for string in strings])
        starts = np.zeros(len(strings) + 1, np.uint32)
        np.cumsum(np.fromiter(map(len, strings), np.uint32, len(strings)), out=starts[1:])
        return cls(starts, np.frombuffer(whole.encode(), np.uint8))

    @classmethod
    def of_sorted_bytes(cls, encoded: Sequence[bytes]) -> StringTable:
        """Make the table of strings that are distinct and in order already."""
        starts = np.zeros(len(encoded) + 1, np.uint32)
        np.cumsum(np.fromiter(map(len, encoded), np.uint32, len(encoded)), out=starts[1:])
        return cls(starts, np.frombuffer(b"".join(encoded), np.uint8))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        return str(self._blob[self._cuts[index] : self._cuts[index + 1]], "utf-8")

    def __iter__(self) -> Iterator[str]:
        return (encoded.decode() for encoded in self.iter_bytes())

    def __contains__(self, string: object) -> bool:
        return isinstance(string, str) and self.get(string) is not None

    def get(self, string: str) -> int | None:
        """Return the id of ``string``, None where the table lacks it."""
        encoded = encode(string)
        position = self.position(encoded)
        return position if position < len(self) and self.bytes_at(position) == encoded else None

    def position(self, encoded: bytes) -> int:
        """Return the number of strings that come before ``encoded``."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.bytes_at(middle) < encoded:
                low = middle + 1
            else:
                high = middle
        return low

    def bytes_at(self, index: int) -> bytes:
        """Return the UTF-8 bytes of one string."""
        return bytes(self._blob[self._cuts[index] : self._cuts[index + 1]])

    def iter_bytes(self) -> Iterator[bytes]:
        """Return the UTF-8 bytes of each string in order."""
        whole = bytes(self._blob)
        ends = self.starts.tolist()
        return (whole[ends[i] : ends[i + 1]] for i in range(len(ends) - 1))

    def many(self, ids: Any) -> list[str]:
        """Return the strings of an array of ids."""
        return [self[i] for i in np.asarray(ids).tolist()]


def encode(string: str) -> bytes:
    """Return the UTF-8 bytes of ``string``; lone surrogates, which no text file can hold, become ``?``."""
    return string.encode("utf-8", "replace")
