"""Sites and bindings as few bytes a row, file by file, and back.

A file has a list of the names and one of the texts that its facts bear; a row is told by places in them. What
a row says besides is written as the difference from the row before it, and only where there is one: rows come
by line, and neighbours share line, indentation and definition. The numbers of a file, each in as many bytes
as it needs, seven bits a byte: how many rows, then all heads, names, texts, moves to another line each with
its indentation, and moves to another definition. A head is the kind, and which moves there are.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
_MOVES_LINE = 1
_MOVES_DEFINITION = 2
_KIND = 4
"""What a kind is multiplied by in a head."""
_BLOCK_BYTES = 1 << 20
"""Unpacked at a time: each takes some hundred bytes meanwhile."""


class FactRows(NamedTuple):
    """Rows of facts, grouped by file, by line."""

    file_start: NDArray[np.int64]
    name: NDArray[np.int32]
    """Place in the file's list of names; once unpacked, id in ``strings``."""
    text: NDArray[np.int32]
    """Place in the file's list of texts; once unpacked, id in ``expressions``."""
    definition: NDArray[np.int32]
    """Row of ``symbols`` within the file, -1 at the top."""
    line: NDArray[np.int32]
    kind: NDArray[Any]
    indent: NDArray[Any]


class Packed(NamedTuple):
    """The bytes of each file."""

    start: NDArray[np.int64]
    """Shape (files + 1,)."""
    blob: NDArray[np.uint8]


class Lists(NamedTuple):
    """The names, or the texts, of each file."""

    start: NDArray[np.int64]
    """Shape (files + 1,)."""
    ids: NDArray[np.int32]


def pack(rows: FactRows) -> Packed:
    """Write rows that bear places in the lists of their file; lines begin with 1 and never fall."""
    starts = rows.file_start
    counts = np.diff(starts)
    line, definition, indent = (_int64(each) for each in (rows.line, rows.definition, rows.indent))
    # The first row of a file is told from line 0 and no definition.
    ahead, further = _steps(line, starts, 0), _steps(definition, starts, -1)
    moves_line = (ahead != 0) | (_steps(indent, starts, 0) != 0)
    moves_definition = further != 0
    heads = _int64(rows.kind) * _KIND + moves_line * _MOVES_LINE + moves_definition * _MOVES_DEFINITION
    streams = (
        (counts, np.ones(len(counts), np.int64)),
        (heads, counts),
        (_int64(rows.name), counts),
        (_int64(rows.text), counts),
        (np.stack((ahead, indent), axis=1)[moves_line].reshape(-1), 2 * _per_file(moves_line, starts)),
        (_folded(further[moves_definition]), _per_file(moves_definition, starts)),
    )
    lengths = np.stack([each for _, each in streams], axis=1)
    begins = offsets_of(lengths.reshape(-1))[:-1].reshape(lengths.shape)
    numbers = np.empty(int(lengths.sum()), np.int64)
    for column, (values, length) in enumerate(streams):
        numbers[_spread(begins[:, column], length)] = values
    sizes, blob = _written(numbers)
    ends = offsets_of(sizes)
    return Packed(ends[offsets_of(lengths.sum(axis=1))], blob)


def unpack(packed: Packed, names: Lists, texts: Lists) -> FactRows:
    """Return the rows of all files, with ids in place of places."""
    pieces = [_unpack(packed, names, texts, first, last) for first, last in _blocks(packed.start)]
    counts, *columns = (np.concatenate(each) for each in zip(*pieces, strict=True))
    return FactRows(offsets_of(counts), *columns)


def _blocks(starts: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut the files into stretches of few bytes each, one at least."""
    cuts = [0]
    files = len(starts) - 1
    while cuts[-1] < files:
        most = int(starts[cuts[-1]]) + _BLOCK_BYTES
        cuts.append(max(int(np.searchsorted(starts, most, side="right")) - 1, cuts[-1] + 1))
    return list(pairwise(cuts)) or [(0, 0)]


def _unpack(packed: Packed, names: Lists, texts: Lists, first: int, last: int) -> tuple[NDArray[Any], ...]:
    """Return how many rows each of some files has, and the columns of all."""
    cuts = packed.start[first : last + 1]
    numbers, begins = _read(packed.blob[cuts[0] : cuts[-1]], cuts - cuts[0])
    begins = begins[:-1]
    counts = numbers[begins]
    starts = offsets_of(counts)
    heads = numbers[_spread(begins + 1, counts)]
    moves_line, moves_definition = (heads & _MOVES_LINE) != 0, (heads & _MOVES_DEFINITION) != 0
    name = numbers[_spread(begins + 1 + counts, counts)] + np.repeat(names.start[first:last], counts)
    text = numbers[_spread(begins + 1 + 2 * counts, counts)] + np.repeat(texts.start[first:last], counts)
    at = begins + 1 + 3 * counts
    lines = _per_file(moves_line, starts)
    moved = numbers[_spread(at, 2 * lines)].reshape(-1, 2)
    further = numbers[_spread(at + 2 * lines, _per_file(moves_definition, starts))]
    # A row stands on the line of the last move, and the first of a file always moves.
    indent = moved[:, 1][np.cumsum(moves_line) - 1]
    return (
        counts,
        names.ids[name],
        texts.ids[text],
        (_summed(moves_definition, _unfolded(further), starts) - 1).astype(np.int32),
        _summed(moves_line, moved[:, 0], starts).astype(np.int32),
        (heads // _KIND).astype(np.uint8),
        indent.astype(np.uint8),
    )


def _int64(values: NDArray[Any]) -> Numbers:
    return values.astype(np.int64)


def offsets_of(counts: NDArray[Any]) -> Numbers:
    """Return where the rows of each count begin, and at last where they end."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def _spread(begins: Numbers, counts: Numbers) -> Numbers:
    """Return all positions of stretches that begin at ``begins``, one after the other."""
    starts = offsets_of(counts)
    return np.repeat(begins - starts[:-1], counts) + np.arange(starts[-1])


def _per_file(marks: NDArray[np.bool_], starts: Numbers) -> Numbers:
    """Count the marks of each file's rows."""
    return np.diff(offsets_of(marks)[starts])


def _steps(values: Numbers, starts: Numbers, before: int) -> Numbers:
    """Return how far each row is from the one before it, the first of a file from ``before``."""
    steps = np.diff(values, prepend=before)
    firsts = starts[:-1][np.diff(starts) > 0]
    steps[firsts] = values[firsts] - before
    return steps


def _summed(marks: NDArray[np.bool_], steps: Numbers, starts: Numbers) -> Numbers:
    """Return the sums, from the first row of each file on, of steps that stand where there are marks."""
    every = np.zeros(len(marks), np.int64)
    every[marks] = steps
    sums = offsets_of(every)
    return sums[1:] - np.repeat(sums[starts[:-1]], np.diff(starts))


def _folded(values: Numbers) -> Numbers:
    """Return numbers without a sign, small ones for small ones: 0, -1, 1, -2, 2."""
    return np.where(values < 0, -2 * values - 1, 2 * values)


def _unfolded(values: Numbers) -> Numbers:
    return np.where(values & 1, -(values + 1) // 2, values // 2)


def _written(numbers: Numbers) -> tuple[Numbers, NDArray[np.uint8]]:
    """Return how many bytes each number takes, and the bytes: the last of a number is below 128."""
    sizes = np.ones(len(numbers), np.int64)
    most = int(numbers.max(initial=0))
    for shift in range(7, max(most.bit_length(), 1), 7):
        sizes += numbers >> shift > 0
    begins = offsets_of(sizes)
    blob = np.empty(int(begins[-1]), np.uint8)
    for place in range(int(sizes.max(initial=0))):
        has = sizes > place
        goes_on = (sizes[has] > place + 1) * 128
        blob[begins[:-1][has] + place] = (numbers[has] >> (7 * place) & 127) + goes_on
    return sizes, blob


def _read(blob: NDArray[np.uint8], cuts: Numbers) -> tuple[Numbers, Numbers]:
    """Return the numbers in bytes, and the first number at or after each of some cuts between them."""
    ends = np.flatnonzero(blob < 128)
    begins = np.concatenate((np.zeros(1, np.int64), ends[:-1] + 1)) if len(ends) else ends
    numbers = (blob[begins] & 127).astype(np.int64)
    sizes = ends - begins + 1
    for place in range(1, int(sizes.max(initial=0))):
        has = sizes > place
        numbers[has] |= (blob[begins[has] + place] & 127).astype(np.int64) << (7 * place)
    return numbers, np.searchsorted(begins, cuts)
