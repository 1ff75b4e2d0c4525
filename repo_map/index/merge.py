"""Make tables out of row ranges of other tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.index.schema import COLUMNS, SPACES, VOCABULARIES, Column, Space, Tables, array_of
from repo_map.index.strings import merge

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


def merge_tables(runs: Sequence[FileRange]) -> Iterator[tuple[str, NDArray[np.generic]]]:
    """Yield the arrays of new tables built from row ranges of others, which must be in path order."""
    parts = list({id(run.tables): run.tables for run in runs}.values())
    numbers = {id(tables): number for number, tables in enumerate(parts)}
    rows = {"files": [_RowRange(numbers[id(run.tables)], run.first, run.last) for run in runs]}
    for space in SPACES:
        rows[space.name] = [_descend(parts[s.part], space, s) for s in rows[space.parent]]
        yield space.offsets, _merge_offsets(parts, space, rows[space.parent])
    yield from _merge_paths(parts, rows["files"])
    for vocabulary in VOCABULARIES:
        columns = [column for column in COLUMNS if column.vocabulary == vocabulary]
        used = [_used(parts, number, vocabulary, columns, rows) for number in range(len(parts))]
        merged, new_ids = merge([getattr(part, vocabulary) for part in parts], used)
        yield f"{vocabulary}.starts", merged.starts
        yield f"{vocabulary}.blob", merged.blob
        for column in columns:
            yield column.name, _merge_ids(parts, column, rows[column.space], new_ids)
    for column in COLUMNS:
        if not column.vocabulary:
            yield column.name, _merge_column(parts, column, rows[column.space])


def _descend(tables: Tables, space: Space, parent: _RowRange) -> _RowRange:
    offsets = array_of(tables, space.offsets)
    return _RowRange(parent.part, int(offsets[parent.first]), int(offsets[parent.last]))


def _merge_offsets(parts: list[Tables], space: Space, parents: list[_RowRange]) -> NDArray[np.int64]:
    merged = np.zeros(1 + sum(s.last - s.first for s in parents), np.int64)
    at, rows = 1, 0
    for part, first, last in parents:
        offsets = array_of(parts[part], space.offsets)
        np.add(offsets[first + 1 : last + 1], rows - offsets[first], out=merged[at : at + last - first])
        at += last - first
        rows = int(merged[at - 1])
    return merged


def _merge_paths(parts: list[Tables], files: list[_RowRange]) -> Iterator[tuple[str, NDArray[np.generic]]]:
    lengths = [np.diff(parts[s.part].paths.starts[s.first : s.last + 1]) for s in files]
    starts = np.zeros(1 + sum(map(len, lengths)), np.uint32)
    if lengths:
        np.cumsum(np.concatenate(lengths), out=starts[1:])
    yield "paths.starts", starts
    tables = [(parts[s.part].paths, s.first, s.last) for s in files]
    blobs = [paths.blob[paths.starts[first] : paths.starts[last]] for paths, first, last in tables]
    yield "paths.blob", np.concatenate(blobs) if blobs else np.zeros(0, np.uint8)


def _used(
    parts: list[Tables], number: int, vocabulary: str, columns: list[Column], rows: dict[str, list[_RowRange]]
) -> NDArray[np.bool_] | None:
    """Mark the strings of a part that its files use; None if all its files are used."""
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


def _merge_ids(
    parts: list[Tables], column: Column, rows: list[_RowRange], new_ids: list[NDArray[np.int32]]
) -> NDArray[np.generic]:
    merged = np.empty(sum(s.last - s.first for s in rows), column.dtype)
    at = 0
    for part, first, last in rows:
        values = array_of(parts[part], column.name)
        for block in _blocks(first, last):
            size = block.stop - block.start
            merged[at : at + size] = new_ids[part][values[block]]
            at += size
    return merged


def _merge_column(parts: list[Tables], column: Column, rows: list[_RowRange]) -> NDArray[np.generic]:
    pieces = [array_of(parts[part], column.name)[first:last] for part, first, last in rows]
    empty = (0,) if column.width == 1 else (0, column.width)
    return np.concatenate(pieces) if pieces else np.zeros(empty, column.dtype)


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
