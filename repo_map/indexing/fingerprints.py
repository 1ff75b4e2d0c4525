"""What identifies a tree: equal for equal paths and bytes, on any machine, however the index came about."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from repo_map.indexing.splicing import Run
from repo_map.indexing.tables import Tables


def fingerprint(tables: Tables) -> str:
    """Return the fingerprint of all files of ``tables``."""
    return fingerprint_of_runs([Run(tables, 0, len(tables))])


def fingerprint_of_runs(runs: Sequence[Run]) -> str:
    """Return the fingerprint of the files of ``runs``."""
    whole = hashlib.sha256(b"tree 1\0")
    for tables, first, last in runs:
        starts = tables.paths.starts[first : last + 1].astype(np.int64)
        ended = np.zeros(starts[-1] - starts[0] + last - first, np.uint8)
        places = np.ones(len(ended), np.bool_)
        # Each path ends with a NUL.
        places[starts[1:] - starts[0] + np.arange(last - first)] = False
        ended[places] = tables.paths.blob[starts[0] : starts[-1]]
        whole.update(ended.tobytes())
    for column in ("digest", "size"):
        for tables, first, last in runs:
            whole.update(getattr(tables.files, column)[first:last].tobytes())
    return whole.hexdigest()[:32]
