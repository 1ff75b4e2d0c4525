"""String tables and their merge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from sys import intern
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from repo_map.arrays import offsets_of

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
        return map(whole.__getitem__, map(slice, ends, islice(ends, 1, None)))

    def many(self, ids: Any) -> list[str]:
        """Return the strings of an array of ids; equal ones are one string, also of several calls."""
        wanted = np.asarray(ids).tolist()
        blob, cuts = self._blob, self._cuts
        known = {i: intern(str(blob[cuts[i] : cuts[i + 1]], "utf-8")) for i in set(wanted)}
        return [known[i] for i in wanted]


def encode(string: str) -> bytes:
    """Return the UTF-8 bytes of ``string``; lone surrogates, which no text file can hold, become ``?``."""
    return string.encode("utf-8", "replace")


NewIds = NDArray[np.int32]
"""Shape (strings,): the id that each string of a table has in the merged one."""
Used = NDArray[np.bool_]
"""Shape (strings,): whether a string of a table counts."""

# Searching a string in a table costs about as much as taking twenty from it.
_SEARCH_WORTH = 20


def merge(tables: Sequence[StringTable], used: Sequence[Used | None]) -> tuple[StringTable, list[NewIds]]:
    """Return the table of all used strings, and for each table the new id of each of its strings.

    ``used`` marks the strings that count, None standing for all; the new id of an unused string is arbitrary.
    """
    if not tables:
        return StringTable.of(()), []
    largest = max(range(len(tables)), key=lambda number: len(tables[number]))
    others = [number for number in range(len(tables)) if number != largest]
    if not others and used[largest] is None:
        return tables[largest], [np.arange(len(tables[largest]), dtype=np.int32)]
    if sum(len(tables[number]) for number in others) * _SEARCH_WORTH <= len(tables[largest]):
        return _merge_into(tables, used, largest, others)
    return _merge_all(tables, used)


def _merge_all(
    tables: Sequence[StringTable], used: Sequence[Used | None]
) -> tuple[StringTable, list[NewIds]]:
    every: set[bytes] = set()
    for table, marks in zip(tables, used, strict=True):
        every.update(_strings(table, marks))
    ordered = sorted(every)
    rank = {string: position for position, string in enumerate(ordered)}
    new_ids = [_ranks(table, marks, rank) for table, marks in zip(tables, used, strict=True)]
    return StringTable.of_sorted_bytes(ordered), new_ids


def _strings(table: StringTable, marks: Used | None) -> list[bytes]:
    if marks is None:
        return list(table.iter_bytes())
    return [table.bytes_at(i) for i in np.flatnonzero(marks).tolist()]


def _merge_into(
    tables: Sequence[StringTable], used: Sequence[Used | None], largest: int, others: list[int]
) -> tuple[StringTable, list[NewIds]]:
    """Merge a few strings into a large table, looking at none of its strings but their neighbours."""
    base, marks = tables[largest], used[largest]
    kept = np.ones(len(base), np.bool_) if marks is None else marks.copy()
    found: dict[bytes, int] = {}
    missing: dict[bytes, int] = {}
    for number in others:
        for string in _strings(tables[number], used[number]):
            position = base.position(string)
            if position < len(base) and base.bytes_at(position) == string:
                found[string] = position
                kept[position] = True
            else:
                missing[string] = position
    added = sorted(missing)
    # Of each string that is added, the number of strings of the base that come before it, and of kept ones.
    positions = np.fromiter(map(missing.__getitem__, added), np.int64, len(added))
    kept_before = offsets_of(kept)
    before = kept_before[positions]
    base_ids = (kept_before[:-1] + np.searchsorted(positions, np.arange(len(kept)), "right")).astype(np.int32)
    rank = dict(zip(added, (before + np.arange(len(added))).tolist(), strict=True))
    rank.update((string, int(base_ids[position])) for string, position in found.items())
    new_ids = [base_ids] * len(tables)
    for number in others:
        new_ids[number] = _ranks(tables[number], used[number], rank)
    lengths, sizes = np.diff(base.starts), [len(string) for string in added]
    starts = offsets_of(np.insert(lengths[kept], before, sizes)).astype(np.uint32)
    blob = base.blob if kept.all() else base.blob[np.repeat(kept, lengths)]
    at = np.repeat(offsets_of(lengths[kept])[before], sizes)
    return StringTable(starts, np.insert(blob, at, np.frombuffer(b"".join(added), np.uint8))), new_ids


def _ranks(table: StringTable, marks: Used | None, rank: Mapping[bytes, int]) -> NewIds:
    ids = np.zeros(len(table), np.int32)
    chosen = slice(None) if marks is None else marks
    ids[chosen] = np.fromiter(map(rank.__getitem__, _strings(table, marks)), np.int32)
    return ids
