"""Tables of some files widened to a whole listing, in which all other files are listed by path only."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from repo_map.index.schema import COLUMNS, SPACES, Tables, from_arrays, to_arrays
from repo_map.index.strings import StringTable, encode
from repo_map.sources.file_kinds import FileFlag, flags_of_path
from repo_map.sources.files import Listing

_PACKED: Final = {"fact_sites": "facts.site", "fact_bindings": "facts.binding"}
"""Spaces whose rows are the bytes of packed facts, and the column that holds them."""


def widen(tables: Tables, rows: NDArray[np.int64], listing: Listing) -> Tables:
    """Return the tables of a whole listing, of which ``tables`` hold the files of ``rows``, ascending.

    The other files have their path, their size and what the path says of them. Their digest is zeros, so
    that nothing of them is shown.
    """
    arrays: dict[str, NDArray[Any]] = to_arrays(tables)
    number = len(listing.paths)
    paths = StringTable.of_sorted_bytes([encode(path) for path in listing.paths])
    arrays["paths.starts"], arrays["paths.blob"] = paths.starts, paths.blob
    languages, unknown = _with_unknown(tables.languages)
    arrays["languages.starts"], arrays["languages.blob"] = languages.starts, languages.blob
    arrays["files.language"] = tables.files.language + np.uint8(unknown)
    unread = np.ones(number, np.bool_)
    unread[rows] = False
    for space in SPACES:
        if space.parent == "files":
            counts = np.zeros(number, np.int64)
            counts[rows] = np.diff(arrays[space.offsets])
            if (packed := _PACKED.get(space.name)) is not None:
                # Each file begins with the number of its facts.
                counts[unread] = 1
                blob = np.zeros(int(counts.sum()), np.uint8)
                blob[np.repeat(~unread, counts)] = arrays[packed]
                arrays[packed] = blob
            arrays[space.offsets] = np.concatenate(([0], np.cumsum(counts)))
    for column in COLUMNS:
        if column.space == "files":
            values = arrays[column.name]
            arrays[column.name] = np.zeros((number, *values.shape[1:]), values.dtype)
            arrays[column.name][rows] = values
    arrays["files.size"][unread] = listing.states[unread, 0]
    arrays["files.flags"][unread] = [
        int(flags_of_path(path) | FileFlag.TRUNCATED)
        for path, is_unread in zip(listing.paths, unread.tolist(), strict=True)
        if is_unread
    ]
    return from_arrays(arrays)


def _with_unknown(languages: StringTable) -> tuple[StringTable, int]:
    """Return the names of languages with that of no language, first of all, and by how much ids move."""
    if languages.get("") is not None:
        return languages, 0
    return StringTable.of(["", *languages]), 1
