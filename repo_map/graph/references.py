"""The graph of references between files, by names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.arrays import distinct, first_of_each, group_of_rows, groups_of
from repo_map.languages.kinds import CODE, TEXT
from repo_map.sources.file_kinds import GENERATED_OR_VENDORED, FileFlag

if TYPE_CHECKING:
    from repo_map.index.index import Index


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_COUNT_BITS = 20
"""No name occurs more often in a definition than a file may have bytes."""
KIND_PRIORS = {"method": 0.2, "field": 0.1, "constant": 0.4, "module": 0.3}
TEST_OR_VENDORED_WEIGHT = 0.1
_PLAIN, _PRIVATE, _SHORT, _LONG = 0.4, 0.3, 0.3, 2.0


class ReferenceGraph(NamedTuple):
    """References from files to names, and definitions of names in files.

    Rank flows from a file to the names it uses, and from each name to its definitions. Going through names
    keeps the graph as small as the source; there would be many times more edges between files.
    """

    source: Ints
    """File of each reference, ascending by name."""
    weight: Floats
    """Share of the file's rank that the reference gets."""
    name_start: Ints
    """First reference of each name."""
    definer: Ints
    """File of each definition."""
    defined: Ints
    """Name of each definition."""
    share: Floats
    """Share of the name's rank that the definition gets."""


def build_graph(index: Index) -> ReferenceGraph:
    """Build the graph from the columns of an index."""
    count = len(index.paths)
    symbols, references = index.symbols, index.references
    referable = np.array([kind not in TEXT for kind in index.kinds], dtype=bool)
    row = np.flatnonzero(referable[symbols.kind]) if len(referable) else np.zeros(0, np.int64)
    name = symbols.name[row].astype(np.int64)
    definer = groups_of(symbols.file_start)[row]
    pairs = distinct(name * count + definer)
    definers = np.bincount(pairs // max(count, 1), minlength=len(index.strings))

    source = groups_of(references.file_start)
    used = references.name.astype(np.int64)
    is_defined = definers[used] > 0
    keys, counts = _summed(used[is_defined] * count + source[is_defined], references.count[is_defined])
    weight = np.sqrt(counts)
    # A file that defines a name refers to its own definition.
    at = np.searchsorted(keys, pairs)
    own = at[np.append(keys, -1)[at] == pairs]
    keys, weight = np.delete(keys, own), np.delete(weight, own)
    used, source = keys // max(count, 1), keys % max(count, 1)
    prior = _priors(index, row, definer)
    best = np.zeros(len(index.strings))
    np.maximum.at(best, name, prior)
    weight = weight * _name_weights(index)[used] * best[used] / np.sqrt(definers[used])
    total = np.bincount(source, weight, count)
    weight /= np.where(total > 0, total, 1)[source]

    name_start = first_of_each(used)
    reached = used[name_start]
    position = np.full(len(index.strings), -1)
    position[reached] = np.arange(len(reached))
    live = position[name] >= 0
    name, definer, prior = name[live], definer[live], prior[live]
    whole = np.bincount(name, prior, len(index.strings))
    return ReferenceGraph(source, weight, name_start, definer, position[name], prior / whole[name])


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


def _priors(index: Index, row: Ints, definer: Ints) -> Floats:
    """Return the prior of each definition among those of its name.

    The name of a type is rarely shared, that of a method often is; tests and vendored files are rarely meant.
    """
    by_kind = np.array([KIND_PRIORS.get(kind, 1.0) for kind in index.kinds])
    flags = index.files.flags[definer]
    seldom = (flags & int(GENERATED_OR_VENDORED | FileFlag.TEST)) > 0
    prior: Floats = by_kind[index.symbols.kind[row]] * np.where(seldom, TEST_OR_VENDORED_WEIGHT, 1.0)
    return prior


def _name_weights(index: Index) -> Floats:
    """Return the weight of each name, shape (strings,): high for ``get_user_by_id``, low for ``name``."""
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


SymbolRef = tuple[int, int]
"""File id, and row of the definition within the file."""


def referrers(index: Index, name: int) -> Iterator[SymbolRef]:
    """Yield the definitions that refer to a name of ``index.strings``, in the order of the repository."""
    table = index.references
    rows = np.flatnonzero((table.name == name) & (table.definition >= 0))
    yield from dict.fromkeys(
        zip(group_of_rows(table.file_start, rows).tolist(), table.definition[rows].tolist(), strict=True)
    )


def unique_definitions(index: Index, names: Sequence[int] | NDArray[np.int32]) -> list[SymbolRef]:
    """Return the definitions of names that have exactly one, in the order of the repository."""
    table = index.symbols
    rows = np.flatnonzero(np.isin(table.name, names))
    names_found, counts = np.unique(table.name[rows], return_counts=True)
    alone = rows[np.isin(table.name[rows], names_found[counts == 1])]
    kinds = tuple(index.kinds)
    return [
        (file, row - int(table.file_start[file]))
        for file, row in zip(group_of_rows(table.file_start, alone).tolist(), alone.tolist(), strict=True)
        if kinds[int(table.kind[row])] in CODE
    ]
