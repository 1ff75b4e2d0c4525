"""Who uses what: from a definition to those that refer to it, and to those that it refers to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from repo_map.index import RepoIndex

Place = tuple[int, int]
"""File id, and row of the definition within the file."""

_CODE_KINDS = frozenset(
    {"function", "method", "class", "interface", "struct", "enum", "trait", "type", "macro"}
)


def used_by(index: RepoIndex, place: Place) -> list[Place]:
    """Return the definitions that one refers to, by names that one definition alone bears."""
    file, row = place
    table = index.references
    here = slice(int(table.file_start[file]), int(table.file_start[file + 1]))
    return unique_definitions(index, np.unique(table.name[here][table.definition[here] == row]))


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
        if kinds[int(table.kind[row])] in _CODE_KINDS
    ]


def _files_of(starts: NDArray[np.int64], rows: NDArray[np.int64]) -> Iterable[int]:
    files: list[int] = (np.searchsorted(starts, rows, side="right") - 1).tolist()
    return files
