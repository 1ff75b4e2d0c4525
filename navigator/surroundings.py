"""What chosen code needs beside it: the definitions that it uses, and those that use it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from repo_map.worktree.file_flags import FileFlag

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from repo_map.index import RepoIndex

INTERFACE = 3
FILE_COST = 20
"""Tokens of a file's header and elisions, about."""
MAX_NEIGHBOURS = 24
_CODE_KINDS = frozenset(
    {"function", "method", "class", "interface", "struct", "enum", "trait", "type", "macro"}
)
_ASIDE = int(FileFlag.TEST | FileFlag.GENERATED | FileFlag.VENDORED)

Place = tuple[int, int]
"""File id, and row of the definition within the file."""


class Neighbour(NamedTuple):
    """A definition beside the chosen code, and why it is worth its tokens."""

    path: str
    name: str
    """Qualified."""
    tokens: int
    """Estimated, at level 3."""
    why: str


def neighbours(index: RepoIndex, chosen: Sequence[Place], drawn: str, room: int) -> tuple[Neighbour, ...]:
    """Return what the chosen definitions use, then what uses them, as far as ``room`` tokens go.

    What ``drawn`` shows is left out. Only names that one definition bears are followed: a guess costs tokens.
    """
    found: dict[Place, Neighbour] = {}
    files: set[int] = set()
    for place, why in (*_used(index, chosen), *_users(index, chosen)):
        if len(found) == MAX_NEIGHBOURS:
            break
        if place in found or place in chosen or _is_aside(index, place[0]) or _is_shown(index, place, drawn):
            continue
        row = int(index.symbols.file_start[place[0]]) + place[1]
        tokens = int(index.costs.definitions[row][1]) + (0 if place[0] in files else FILE_COST)
        if tokens > room:
            continue
        room -= tokens
        files.add(place[0])
        found[place] = Neighbour(index.paths[place[0]], index.qualified_name(*place), tokens, why)
    return tuple(found.values())


def _used(index: RepoIndex, chosen: Sequence[Place]) -> Iterable[tuple[Place, str]]:
    """Yield the definitions that the chosen ones refer to, those of the first chosen first."""
    table = index.references
    for file, row in chosen:
        here = slice(int(table.file_start[file]), int(table.file_start[file + 1]))
        names = np.unique(table.name[here][table.definition[here] == row])
        user = index.qualified_name(file, row)
        for place in _unique_definitions(index, names):
            yield place, f"`{user}` uses it"


def _users(index: RepoIndex, chosen: Sequence[Place]) -> Iterable[tuple[Place, str]]:
    """Yield the definitions that refer to a chosen one by a name that is its alone."""
    table = index.references
    for file, row in chosen:
        name = int(index.symbols.name[int(index.symbols.file_start[file]) + row])
        if [(file, row)] != _unique_definitions(index, np.array([name])):
            continue
        rows = np.flatnonzero((table.name == name) & (table.definition >= 0))
        used = index.qualified_name(file, row)
        for at, user in zip(_files_of(table.file_start, rows), table.definition[rows].tolist(), strict=True):
            yield (at, user), f"it uses `{used}`"


def _unique_definitions(index: RepoIndex, names: NDArray[np.int32]) -> list[Place]:
    """Return the places of those names that exactly one definition bears, in the order of the repository."""
    table = index.symbols
    rows = np.flatnonzero(np.isin(table.name, names))
    bearers, counts = np.unique(table.name[rows], return_counts=True)
    alone = rows[np.isin(table.name[rows], bearers[counts == 1])]
    kinds = tuple(index.kinds)
    places = zip(_files_of(table.file_start, alone), alone.tolist(), strict=True)
    return [
        (file, row - int(table.file_start[file]))
        for file, row in places
        if kinds[int(table.kind[row])] in _CODE_KINDS
    ]


def _files_of(starts: NDArray[np.int64], rows: NDArray[np.int64]) -> list[int]:
    files: list[int] = (np.searchsorted(starts, rows, side="right") - 1).tolist()
    return files


def _is_aside(index: RepoIndex, file: int) -> bool:
    return bool(int(index.files.flags[file]) & _ASIDE)


def _is_shown(index: RepoIndex, place: Place, drawn: str) -> bool:
    definition = index.definitions(place[0])[place[1]]
    return index.text(place[0]).split("\n")[definition.sig_start - 1] in drawn
