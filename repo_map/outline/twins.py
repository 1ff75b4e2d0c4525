"""Twins: definitions that stand word for word in a second file, where a fix edits both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from repo_map.sources.file_kinds import GENERATED_OR_VENDORED, FileFlag, is_bundle

if TYPE_CHECKING:
    from repo_map.index.index import Index

_LEAST_LINES: Final = 4
"""Of a definition: shorter ones are alike by chance."""
_MOST_READ: Final = 12
"""Definitions of the same name and length that are read."""


class Twin(NamedTuple):
    """Where the same code stands as well; lines are 1-based and inclusive."""

    path: str
    first: int
    last: int
    leaf: str
    """Its name without its class."""


def twin_of(index: Index, path: str, name: str, first: int, last: int) -> Twin | None:
    """Return another file's definition that is the same as one within some lines, white space aside.

    Tests, other people's projects and what a program writes have none: nobody edits those with it.
    """
    file, leaf = index.file_id(path), name.rpartition(".")[2]
    known = index.strings.get(leaf)
    if file is None or known is None:
        return None
    own = (each for each in index.definitions(file) if each.name == leaf and first <= each.sig_start <= last)
    definition = next(own, None)
    if definition is None or definition.end - definition.start + 1 < _LEAST_LINES:
        return None
    table = index.symbols
    alike = (table.name == known) & (table.end - table.start == definition.end - definition.start)
    rows = np.flatnonzero(alike)
    files = np.searchsorted(table.file_start, rows, "right") - 1
    others = [(row, at) for row, at in zip(rows.tolist(), files.tolist(), strict=True) if at != file]
    code = _code(index, file, definition.start, definition.end) if others else ""
    for row, at in [each for each in others if _is_edited(index, each[1])][:_MOST_READ]:
        start, end = int(table.start[row]), int(table.end[row])
        if _code(index, at, start, end) == code:
            return Twin(index.paths[at], start, end, leaf)
    return None


def _is_edited(index: Index, file: int) -> bool:
    flags = int(index.files.flags[file])
    return not flags & int(GENERATED_OR_VENDORED | FileFlag.TEST) and not is_bundle(index.paths[file])


def _code(index: Index, file: int, first: int, last: int) -> str:
    """Return lines of a file without white space."""
    return "".join("".join(index.sources.text(file).split("\n")[first - 1 : last]).split())
