"""What an index may take (bytes, seconds, files) and its environment names."""

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


class Limits(NamedTuple):
    """How large a repository, its files and what is kept of it may be."""

    file_bytes: int = 1_500_000
    """Of a file that is read; a larger one is data or generated, and is listed by path only."""
    files: int = 200_000
    """Of a tree, the first by path."""
    line_bytes: int = 50_000
    """Of a line in a file that is parsed; what is longer is minified or embedded data."""
    parse_seconds: float = 5.0
    """CPU time for one file of 500 kB or more; a smaller one has its share, at least a twentieth."""
    definitions: int = 30_000
    """Of a file, the first by line; as many imports, and ten times as many names that it uses."""
    hard_files: int = 50
    """Of a tree, the first by path: those that crash their grammar or keep it beyond the time for them."""
    hard_seconds: float = 20.0
    """CPU time for such files of a tree together, and one more for each megabyte of it."""
    indexes: int = 4
    """Live in memory at once, many small ones for a large one; the least recently used is read again."""
    memory_mb: int = 8_000
    """Estimated, of all live indexes; on Linux also the most that one parsing process may take."""
    cache_mb: float = 2_000.0
    """Of snapshots on disk; the least recently used go first."""
    query_seconds: float = 5.0
    """CPU time for one custom query over all files that it is meant for."""
    query_bytes: int = 20_000_000
    """Of source that one custom query is meant for."""
    relation_seconds: float = 10.0
    """CPU time for one question about relations; its steps, which are counted, end it long before."""

    @property
    def mark(self) -> str:
        """What tells indexes made under these limits from others in the cache; ``""`` for the usual ones."""
        decisive = self[: Limits._fields.index("indexes")]
        if decisive == DEFAULT[: len(decisive)]:
            return ""
        return "-" + hashlib.sha256(repr(decisive).encode()).hexdigest()[:8]

    def memory_for(self, source_bytes: int) -> int:
        """Return the estimated megabytes of the index of so much source, with what is derived from it."""
        return math.ceil((_INDEX_BYTES + _BYTES_PER_SOURCE_BYTE * source_bytes) / _MEGABYTE)


DEFAULT: Final = Limits()
VARIABLES: Final = {
    f"REPO_NAVIGATOR_MAX_{name}": field
    for name, field in (
        ("FILE_BYTES", "file_bytes"),
        ("FILES", "files"),
        ("LINE_BYTES", "line_bytes"),
        ("PARSE_SECONDS", "parse_seconds"),
        ("DEFINITIONS", "definitions"),
        ("HARD_FILES", "hard_files"),
        ("HARD_SECONDS", "hard_seconds"),
        ("QUERY_SECONDS", "query_seconds"),
        ("QUERY_BYTES", "query_bytes"),
        ("RELATION_SECONDS", "relation_seconds"),
        ("INDEXES", "indexes"),
        ("MEMORY_MB", "memory_mb"),
        ("CACHE_MB", "cache_mb"),
    )
}
"""Environment variable → field of ``Limits``."""


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
    """Return the number that a variable holds, whole where its default is."""
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
"""What OpenBLAS reads when numpy is first imported: it would start a thread for every core there and then."""
