"""Old tables and changed files to new tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.index.schema import COLUMNS, SPACES, VOCABULARIES, Column, Space, Tables, array_of
from repo_map.index.strings import StringTable, merge

# Blocks of this many rows keep the 64-bit copies that numpy makes of its indices small.
_BLOCK_ROWS = 1 << 18


class FileRange(NamedTuple):
    """The files ``first`` to ``last - 1`` of some tables."""

    tables: Tables
    first: int
    last: int


class _RowRange(NamedTuple):
    """Rows ``first`` to ``last - 1`` of one column or space, in the tables with number ``part``."""

    part: int
    first: int
    last: int


def splice(runs: Sequence[FileRange]) -> Iterator[tuple[str, NDArray[np.generic]]]:
    """Make, one by one, the arrays of the tables with the files of ``runs``, which must be in path order."""
    parts = list({id(run.tables): run.tables for run in runs}.values())
    numbers = {id(tables): number for number, tables in enumerate(parts)}
    rows = {"files": [_RowRange(numbers[id(run.tables)], run.first, run.last) for run in runs]}
    for space in SPACES:
        rows[space.name] = [_descend(parts[s.part], space, s) for s in rows[space.parent]]
        yield space.offsets, _splice_offsets(parts, space, rows[space.parent])
    yield from _splice_paths(parts, rows["files"])
    for vocabulary in VOCABULARIES:
        columns = [column for column in COLUMNS if column.vocabulary == vocabulary]
        used = [_used(parts, number, vocabulary, columns, rows) for number in range(len(parts))]
        merged, new_ids = merge([getattr(part, vocabulary) for part in parts], used)
        yield f"{vocabulary}.starts", merged.starts
        yield f"{vocabulary}.blob", merged.blob
        for column in columns:
            yield column.name, _splice_ids(parts, column, rows[column.space], new_ids)
    for column in COLUMNS:
        if not column.vocabulary:
            yield column.name, _splice_column(parts, column, rows[column.space])


def _descend(tables: Tables, space: Space, parent: _RowRange) -> _RowRange:
    offsets = array_of(tables, space.offsets)
    return _RowRange(parent.part, int(offsets[parent.first]), int(offsets[parent.last]))


def _splice_offsets(parts: list[Tables], space: Space, parents: list[_RowRange]) -> NDArray[np.int64]:
    spliced = np.zeros(1 + sum(s.last - s.first for s in parents), np.int64)
    at, rows = 1, 0
    for part, first, last in parents:
        offsets = array_of(parts[part], space.offsets)
        np.add(offsets[first + 1 : last + 1], rows - offsets[first], out=spliced[at : at + last - first])
        at += last - first
        rows = int(spliced[at - 1])
    return spliced


def _splice_paths(parts: list[Tables], files: list[_RowRange]) -> Iterator[tuple[str, NDArray[np.generic]]]:
    lengths = [np.diff(parts[s.part].paths.starts[s.first : s.last + 1]) for s in files]
    starts = np.zeros(1 + sum(map(len, lengths)), np.uint32)
    if lengths:
        np.cumsum(np.concatenate(lengths), out=starts[1:])
    yield "paths.starts", starts
    yield "paths.blob", _concatenate([_blob(parts[s.part].paths, s.first, s.last) for s in files], np.uint8)


def _blob(table: StringTable, first: int, last: int) -> NDArray[np.uint8]:
    return table.blob[table.starts[first] : table.starts[last]]


def _used(
    parts: list[Tables], number: int, vocabulary: str, columns: list[Column], rows: dict[str, list[_RowRange]]
) -> NDArray[np.bool_] | None:
    """Mark the strings of one part that its files in the splice use; None where the part is used whole."""
    tables = parts[number]
    if sum(s.last - s.first for s in rows["files"] if s.part == number) == len(tables):
        return None
    used = np.zeros(len(getattr(tables, vocabulary)), np.bool_)
    for column in columns:
        values = array_of(tables, column.name)
        for part, first, last in rows[column.space]:
            if part == number:
                for block in _blocks(first, last):
                    used[values[block]] = True
    return used


def _splice_ids(
    parts: list[Tables], column: Column, rows: list[_RowRange], new_ids: list[NDArray[np.int32]]
) -> NDArray[np.generic]:
    spliced = np.empty(sum(s.last - s.first for s in rows), column.dtype)
    at = 0
    for part, first, last in rows:
        values = array_of(parts[part], column.name)
        for block in _blocks(first, last):
            size = block.stop - block.start
            spliced[at : at + size] = new_ids[part][values[block]]
            at += size
    return spliced


def _splice_column(parts: list[Tables], column: Column, rows: list[_RowRange]) -> NDArray[np.generic]:
    pieces = [array_of(parts[part], column.name)[first:last] for part, first, last in rows]
    empty = (0,) if column.width == 1 else (0, column.width)
    return np.concatenate(pieces) if pieces else np.zeros(empty, column.dtype)


def _concatenate(pieces: list[NDArray[np.uint8]], dtype: type[np.uint8]) -> NDArray[np.uint8]:
    return np.concatenate(pieces) if pieces else np.zeros(0, dtype)


def _blocks(first: int, last: int) -> Iterator[slice]:
    return (slice(at, min(at + _BLOCK_ROWS, last)) for at in range(first, last, _BLOCK_ROWS))


def fingerprint(tables: Tables) -> str:
    """Return the fingerprint of all files of ``tables``."""
    return fingerprint_of_runs([FileRange(tables, 0, len(tables))])


def fingerprint_of_runs(runs: Sequence[FileRange]) -> str:
    """Return the fingerprint of the files of ``runs``."""
    whole = hashlib.sha256(b"tree 1\0")
    for tables, first, last in runs:
        starts = tables.paths.starts[first : last + 1].astype(np.int64)
        ended = np.zeros(starts[-1] - starts[0] + last - first, np.uint8)
        places = np.ones(len(ended), np.bool_)
        # Each path ends with a NUL.
        places[starts[1:] - starts[0] + np.arange(last - first)] = False
        ended[places] = tables.paths.blob[starts[0] : starts[-1]]
        whole.update(ended.tobytes())
    for column in ("digest", "size"):
        for tables, first, last in runs:
            whole.update(getattr(tables.files, column)[first:last].tobytes())
    return whole.hexdigest()[:32]
