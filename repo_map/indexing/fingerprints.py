"""What identifies a tree: equal for equal paths and bytes, on any machine, however the index came about."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from repo_map.indexing.splicing import Run
from repo_map.indexing.tables import Tables


def fingerprint(tables: Tables) -> str:
    """Return the fingerprint of all files of ``tables``."""
    return fingerprint_of_runs([Run(tables, 0, len(tables))])


def fingerprint_of_runs(runs: Sequence[Run]) -> str:
    """Return the fingerprint of the files of ``runs``."""
    whole = hashlib.sha256(b"tree 1\0")
    for tables, first, last in runs:
        paths = tables.paths
        for start, end in zip(
            paths.starts[first:last].tolist(), paths.starts[first + 1 : last + 1].tolist(), strict=True
        ):
            whole.update(paths.blob[start:end].tobytes() + b"\0")
    for column in ("digest", "size"):
        for tables, first, last in runs:
            whole.update(getattr(tables.files, column)[first:last].tobytes())
    return whole.hexdigest()[:32]
