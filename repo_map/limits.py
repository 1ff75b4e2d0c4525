"""Limits on the size of a repository, its files and its index; four of them are settings."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from repo_map.errors import LimitError

_MEGABYTE: Final = 1_000_000
_INDEX_BYTES: Final = 32_000_000
_BYTES_PER_SOURCE_BYTE: Final = 4
"""Measured: 26 MB of Go took 155 MB while it was mapped and searched, 78 MB of JavaScript 225 MB."""
_DECIDE_TABLES: Final = (
    *("file_bytes", "files", "line_bytes", "parse_seconds"),
    *("definitions", "hard_seconds"),
)
"""Limits that change the tables of an index."""


class Limits(NamedTuple):
    """Limits of an index; those without a setting are only changed by tests."""

    file_bytes: int = 1_500_000
    """Size of a file; a larger one is data or generated, and is listed by path only."""
    files: int = 200_000
    """Files of a tree, the first by path."""
    memory_mb: int = 8_000
    """Estimated memory of all live indexes; on Linux also the memory of a parsing process."""
    cache_mb: float = 2_000.0
    """Size of the snapshots on disk; the least recently used are removed first."""
    line_bytes: int = 50_000
    """Length of a line in a parsed file; a longer one is minified or embedded data."""
    parse_seconds: float = 5.0
    """CPU time for a file of 500 kB or more; a smaller one has its share, at least a twentieth."""
    definitions: int = 30_000
    """Definitions of a file, the first by line; as many imports, and ten times as many names."""
    hard_seconds: float = 20.0
    """CPU time for the files of a tree that crash their grammar or exceed ``parse_seconds``, and one second
    more for each megabyte of it."""
    indexes: int = 16
    """Indexes in memory, where many small ones count as one; the least recently used is released."""
    query_seconds: float = 5.0
    """CPU time of a custom query over all its files."""
    query_bytes: int = 20_000_000
    """Source of the files of a custom query."""
    relation_seconds: float = 10.0
    """CPU time of a question about relations; its budget of steps usually ends it long before."""

    @property
    def cache_suffix(self) -> str:
        """Suffix of the name of indexes made under these limits; ``""`` for the default ones."""
        values = [getattr(self, name) for name in _DECIDE_TABLES]
        if values == [getattr(DEFAULT, name) for name in _DECIDE_TABLES]:
            return ""
        return "-" + hashlib.sha256(repr(values).encode()).hexdigest()[:8]

    def memory_for(self, source_bytes: int) -> int:
        """Return the estimated megabytes of the index of so much source, and of what it caches."""
        return math.ceil((_INDEX_BYTES + _BYTES_PER_SOURCE_BYTE * source_bytes) / _MEGABYTE)


DEFAULT: Final = Limits()
VARIABLES: Final = {
    "REPO_NAVIGATOR_MAX_FILE_BYTES": "file_bytes",
    "REPO_NAVIGATOR_MAX_FILES": "files",
    "REPO_NAVIGATOR_MAX_MEMORY_MB": "memory_mb",
    "REPO_NAVIGATOR_MAX_CACHE_MB": "cache_mb",
}
"""Field of ``Limits`` by environment variable."""


def read_limits(environ: Mapping[str, str]) -> Limits:
    """Return the limits that the environment sets.

    Raises:
        LimitError: A variable's value can't be used.
    """
    chosen: dict[str, Any] = {
        field: _number(variable, value, getattr(DEFAULT, field))
        for variable, field in VARIABLES.items()
        if (value := environ.get(variable, "").strip())
    }
    return DEFAULT._replace(**chosen)


def _number(variable: str, text: str, default: float) -> float:
    """Return the number of a variable, an integer if its default is one."""
    kind = "whole number" if isinstance(default, int) else "number"
    try:
        number = type(default)(text)
        if 0 < number < math.inf:
            return number
    except ValueError:
        pass
    message = f"{variable} is `{text}`; set it to a {kind} above zero, such as {default:g}."
    raise LimitError(message, argument=variable)


ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1"}
"""Environment for the first import of numpy: OpenBLAS would start a thread for every core."""
