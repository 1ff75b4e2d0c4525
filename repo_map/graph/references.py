"""Who refers to whom, as a sparse graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.distinct import distinct, first_of_each
from repo_map.languages.kinds import CODE, TEXT
from repo_map.sources.file_kinds import COPIED, FileFlag

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_COUNT_BITS = 20
"""No name occurs more often in a definition than a file may have bytes."""
_KIND_TRUST = {"method": 0.2, "field": 0.1, "constant": 0.4, "module": 0.3}
_SELDOM_MEANT = 0.1
_PLAIN, _PRIVATE, _SHORT, _LONG = 0.4, 0.3, 0.3, 2.0


class ReferenceGraph(NamedTuple):
    """References from files to names, and definitions of names in files.

    A file's attention goes to the names it uses, and from each name in equal parts to its definitions. Going
    through names keeps the graph as small as the source; file-to-file edges would be many times more.
    """

    source: Ints
    """File of each reference, ascending by name."""
    weight: Floats
    """Share of the file's attention that the reference gets."""
    name_start: Ints
    """First reference of each name."""
    definer: Ints
    """File of each definition."""
    defined: Ints
    """Name of each definition."""
    share: Floats
    """Part of the name's attention that the definition gets."""
    row: Ints
    """Row of ``symbols`` of each definition."""


def build_graph(index: RepoIndex) -> ReferenceGraph:
    """Read who refers to what out of the index's columns."""
    count = len(index.paths)
    symbols, references = index.symbols, index.references
    referable = np.array([kind not in TEXT for kind in index.kinds], dtype=bool)
    row = np.flatnonzero(referable[symbols.kind]) if len(referable) else np.zeros(0, np.int64)
    name = symbols.name[row].astype(np.int64)
    definer = _owners(symbols.file_start)[row]
    pairs = distinct(name * count + definer)
    definers = np.bincount(pairs // max(count, 1), minlength=len(index.strings))

    source = _owners(references.file_start)
    used = references.name.astype(np.int64)
    keep = definers[used] > 0
    keys, counts = _summed(used[keep] * count + source[keep], references.count[keep])
    weight = np.sqrt(counts)
    # A file that defines a name means its own; nothing flows out.
    at = np.searchsorted(keys, pairs)
    own = at[np.append(keys, -1)[at] == pairs]
    keys, weight = np.delete(keys, own), np.delete(weight, own)
    used, source = keys // max(count, 1), keys % max(count, 1)
    trust = _trust(index, row, definer)
    best = np.zeros(len(index.strings))
    np.maximum.at(best, name, trust)
    weight = weight * _name_weights(index)[used] * best[used] / np.sqrt(definers[used])
    total = np.bincount(source, weight, count)
    weight /= np.where(total > 0, total, 1)[source]

    name_start = first_of_each(used)
    reached = used[name_start]
    position = np.full(len(index.strings), -1)
    position[reached] = np.arange(len(reached))
    live = position[name] >= 0
    row, name, definer, trust = row[live], name[live], definer[live], trust[live]
    whole = np.bincount(name, trust, len(index.strings))
    return ReferenceGraph(source, weight, name_start, definer, position[name], trust / whole[name], row)


def _summed(keys: Ints, counts: NDArray[np.int32]) -> tuple[Ints, Ints]:
    """Return sorted keys, each once, with the sum of its counts.

    Key and count are sorted as one number, several times faster than to sort an order. Keys stay below 2^43:
    200,000 files by 44 million names.
    """
    packed = np.sort(keys << _COUNT_BITS | counts)
    keys = packed >> _COUNT_BITS
    starts = first_of_each(keys)
    sums = np.add.reduceat(packed & (1 << _COUNT_BITS) - 1, starts) if starts.size else packed
    return keys[starts], sums


def _trust(index: RepoIndex, row: Ints, definer: Ints) -> Floats:
    """Return how likely a name that is used means each definition of it, before anything else is known.

    A type's name is hardly ever another's, a method's often is; what tests and copies define is seldom meant.
    """
    by_kind = np.array([_KIND_TRUST.get(kind, 1.0) for kind in index.kinds])
    flags = index.files.flags[definer]
    seldom = (flags & int(COPIED | FileFlag.TEST)) > 0
    trust: Floats = by_kind[index.symbols.kind[row]] * np.where(seldom, _SELDOM_MEANT, 1.0)
    return trust


def _name_weights(index: RepoIndex) -> Floats:
    """Return how much a name says, shape (strings,): ``get_user_by_id`` much, ``name`` little."""
    starts, blob = index.strings.starts.astype(np.int64), index.strings.blob
    lengths = np.diff(starts)
    joints = np.concatenate(([0], np.cumsum((blob == ord("_")) | ((blob >= ord("A")) & (blob <= ord("Z"))))))
    filled = lengths > 0
    private = np.zeros(len(lengths), dtype=bool)
    private[filled] = blob[starts[:-1][filled]] == ord("_")
    weights = np.where(joints[starts[1:]] - joints[starts[:-1]] > 0, 1.0, _PLAIN)
    weights[lengths >= 9] *= _LONG
    weights[lengths <= 3] *= _SHORT
    weights[private] *= _PRIVATE
    return weights


def _owners(file_start: NDArray[np.int64]) -> Ints:
    """Return the file of every row."""
    counts = np.diff(file_start)
    return np.repeat(np.arange(len(counts)), counts)


Place = tuple[int, int]
"""File id, and row of the definition within the file."""


def used_by(index: RepoIndex, place: Place) -> list[Place]:
    """Return the definitions that one refers to, by names that one definition alone bears."""
    file, row = place
    table = index.references
    here = slice(int(table.file_start[file]), int(table.file_start[file + 1]))
    return unique_definitions(index, distinct(table.name[here][table.definition[here] == row]))


def users_of(index: RepoIndex, name: int) -> Iterator[Place]:
    """Yield the definitions that refer to a name of ``index.strings``, in the order of the repository."""
    table = index.references
    rows = np.flatnonzero((table.name == name) & (table.definition >= 0))
    yield from dict.fromkeys(
        zip(_files_of(table.file_start, rows), table.definition[rows].tolist(), strict=True)
    )


def unique_definitions(index: RepoIndex, names: Sequence[int] | NDArray[np.int32]) -> list[Place]:
    """Return the places of those names that exactly one definition bears, in the order of the repository."""
    table = index.symbols
    rows = np.flatnonzero(np.isin(table.name, names))
    bearers, counts = np.unique(table.name[rows], return_counts=True)
    alone = rows[np.isin(table.name[rows], bearers[counts == 1])]
    kinds = tuple(index.kinds)
    return [
        (file, row - int(table.file_start[file]))
        for file, row in zip(_files_of(table.file_start, alone), alone.tolist(), strict=True)
        if kinds[int(table.kind[row])] in CODE
    ]


def _files_of(starts: NDArray[np.int64], rows: NDArray[np.int64]) -> Iterable[int]:
    files: list[int] = (np.searchsorted(starts, rows, side="right") - 1).tolist()
    return files
