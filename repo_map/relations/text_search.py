"""Which files hold words, by the index of words: where what a string names is looked for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from posixpath import commonpath, dirname
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from repo_map.arrays import distinct
from repo_map.text.terms import terms_of, tokenize

if TYPE_CHECKING:
    from repo_map.index.index import Index

_MAX_FILES: Final = 200
"""Files that are read to find who names something: those nearest to it by path."""


def units_with(index: Index, text: str) -> NDArray[np.bool_]:
    """Return which units hold the words of a text; all where it has none that count."""
    held = np.ones(len(index.units.start), np.bool_)
    for word in tokenize(text):
        for term in terms_of(word)[:1]:
            number = index.terms.get(term)
            here = np.zeros(len(held), np.bool_)
            if number is not None:
                rows = np.flatnonzero(index.postings.term == number)
                here[np.searchsorted(index.postings.unit_start, rows, side="right") - 1] = True
            held &= here
    return held


def nearest_files(index: Index, units: NDArray[np.bool_], path: str) -> list[int]:
    """Return the files of some units, ascending; of many the 200 nearest to a path."""
    rows = np.flatnonzero(units)
    files = distinct(np.searchsorted(index.units.file_start, rows, side="right") - 1).tolist()
    nearest = sorted(files, key=lambda each: (-shared_folders(path, index.paths[each]), each))
    return sorted(nearest[:_MAX_FILES])


def shared_folders(path: str, other: str) -> int:
    """Return how many folders two paths have in common from the root on."""
    folders = dirname(path), dirname(other)
    return commonpath(folders).count("/") + 1 if all(folders) and commonpath(folders) else 0


def row_at(index: Index, file: int, line: int) -> int:
    """Return the innermost definition around a line, -1 where there is none."""
    definitions = index.definitions(file)
    row = bisect_right(definitions, line, key=lambda each: each.start) - 1
    while row >= 0 and definitions[row].end < line:
        # Definitions that begin in one line may be side by side.
        is_beside = row > 0 and definitions[row - 1].start == definitions[row].start
        row = row - 1 if is_beside else definitions[row].parent
    return row


def files_with(index: Index, names: Sequence[str]) -> list[int]:
    """Return the files that hold the terms of a name, in order."""
    found = np.zeros(len(index.units.start), np.bool_)
    for name in names:
        found |= units_with(index, name)
    files = np.searchsorted(index.units.file_start, np.flatnonzero(found), side="right") - 1
    return sorted(set(files.tolist()))
