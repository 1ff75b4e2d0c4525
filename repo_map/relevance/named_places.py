"""What the goal names outright, as signals of the candidate files and units."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from repo_map.relevance.candidates import Candidates
from repo_map.relevance.corpus import Floats, Ints
from repo_map.relevance.naming import Named


def file_mentions(candidates: Candidates, named: Named) -> dict[str, Floats]:
    """Return how strongly the goal names each candidate file."""
    strengths = {
        "m.path": named.paths,
        "m.folder": named.folders,
        "m.frame": named.frames,
        "m.dot": named.dotted,
        "m.crash": {named.crash.file: 1.0} if named.crash else {},
    }
    rows, row_of = len(candidates.files), candidates.row_of_file
    return {name: _spread(each, row_of, rows) for name, each in strengths.items()}


def unit_mentions(candidates: Candidates, named: Named) -> dict[str, Floats]:
    """Return how strongly the goal names each of their units."""
    strengths = {
        "m.frame": named.frame_units,
        "m.dot": named.dotted_units,
        "m.crash": {named.crash.unit: 1.0} if named.crash else {},
        "def.unit": named.definitions,
    }
    rows, row_of = len(candidates.units), candidates.row_of_unit
    return {name: _spread(each, row_of, rows) for name, each in strengths.items()}


def _spread(strengths: Mapping[int, float], row_of: Ints, rows: int) -> Floats:
    values = np.zeros(rows)
    for key, strength in strengths.items():
        if row_of[key] >= 0:
            values[row_of[key]] = strength
    return values
