"""String tables and their merge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from sys import intern
from typing import Any, NamedTuple, overload

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
    new_ids = []
    for table, marks in zip(tables, used, strict=True):
        ids = np.zeros(len(table), np.int32)
        chosen = slice(None) if marks is None else marks
        ids[chosen] = np.fromiter(map(rank.__getitem__, _strings(table, marks)), np.int32)
        new_ids.append(ids)
    return StringTable.of_sorted_bytes(ordered), new_ids


def _strings(table: StringTable, marks: Used | None) -> list[bytes]:
    if marks is None:
        return list(table.iter_bytes())
    return [table.bytes_at(i) for i in np.flatnonzero(marks).tolist()]


class _Insertions(NamedTuple):
    """Strings that a table lacks, in order, and the number of its strings that come before each."""

    strings: list[bytes]
    positions: NDArray[np.int64]


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
    strings = sorted(missing)
    inserted = _Insertions(strings, np.fromiter(map(missing.__getitem__, strings), np.int64, len(strings)))
    base_ids, inserted_ids = _new_ids(kept, inserted.positions)
    rank = dict(zip(strings, inserted_ids.tolist(), strict=True))
    rank.update((string, int(base_ids[position])) for string, position in found.items())
    new_ids = [base_ids] * len(tables)
    for number in others:
        ids = np.zeros(len(tables[number]), np.int32)
        other_marks = used[number]
        chosen = slice(None) if other_marks is None else other_marks
        ids[chosen] = np.fromiter(map(rank.__getitem__, _strings(tables[number], other_marks)), np.int32)
        new_ids[number] = ids
    return _edit(base, kept, inserted, base_ids, inserted_ids), new_ids


def _new_ids(kept: Used, positions: NDArray[np.int64]) -> tuple[NewIds, NewIds]:
    kept_before = np.zeros(len(kept) + 1, np.int64)
    np.cumsum(kept, out=kept_before[1:])
    inserted_up_to = np.cumsum(np.bincount(positions, minlength=len(kept) + 1))
    base_ids = (kept_before[:-1] + inserted_up_to[:-1]).astype(np.int32)
    inserted_ids = (kept_before[positions] + np.arange(len(positions))).astype(np.int32)
    return base_ids, inserted_ids


def _edit(
    base: StringTable, kept: Used, inserted: _Insertions, base_ids: NewIds, inserted_ids: NewIds
) -> StringTable:
    lengths = np.zeros(int(kept.sum()) + len(inserted.strings), np.int64)
    lengths[base_ids[kept]] = np.diff(base.starts)[kept]
    lengths[inserted_ids] = [len(string) for string in inserted.strings]
    starts = np.zeros(len(lengths) + 1, np.uint32)
    np.cumsum(lengths, out=starts[1:])
    cuts = base.starts.tolist()
    whole = memoryview(base.blob)  # type: ignore[arg-type]
    pieces: list[bytes | memoryview] = []
    at = 0
    edits = [
        (position, False, string)
        for position, string in zip(inserted.positions.tolist(), inserted.strings, strict=True)
    ]
    edits += [(position, True, b"") for position in np.flatnonzero(~kept).tolist()]
    for position, is_drop, string in sorted(edits):
        pieces += (whole[at : cuts[position]], string)
        at = cuts[position + is_drop]
    pieces.append(whole[at:])
    return StringTable(starts, np.frombuffer(b"".join(pieces), np.uint8))
