"""The steps from nothing to what a plan asks for, in the order in which they deserve the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.pricing.estimates import file_level_costs, outer_costs, part_costs

if TYPE_CHECKING:
    from repo_map.index import RepoIndex
    from repo_map.selection.select import Selection

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WHOLE_FILE = -1


class Rung(NamedTuple):
    """How far up a file has come."""

    level: int
    outer: bool = False
    """Whether only the outermost definitions are shown: much of a structure at a part of its cost."""


RUNGS = (Rung(0), Rung(1), Rung(2, outer=True), Rung(2), Rung(3), Rung(4))
_SOURCE = len(RUNGS) - 1
_RUNG_OF_LEVEL = np.array([0, 1, 3, 4, 5])
_RUNG_GAINS = (0.0, 1.0, 3.0, 1.5, 2.0, 4.0)
"""What reaching each rung is worth: a path tells less than a structure, a body more than an interface."""
_LEVEL_GAINS = (0.0, 1.0, 3.0, 2.0, 4.0)
_RANK_POWER, _RULED_RANK_POWER = 0.7, 0.1
"""How much rank counts where no rule names a file, and where one does."""


class Steps(NamedTuple):
    """What can be added to an empty map, one height of one part at a time, most valuable first."""

    file: Ints
    part: Ints
    """Position among the file's sections, then its spans; ``WHOLE_FILE`` for the rest."""
    height: Ints
    """Level to reach; for ``WHOLE_FILE`` the rung."""
    tokens: Floats
    """Estimated."""


def list_steps(index: RepoIndex, selection: Selection, ranks: Floats) -> Steps:
    """List the steps that a selection allows.

    What a rule asks to see at a high level comes before what it asks at a low one, and what no rule names
    comes last; among equals, attention per token decides. A step never comes before one that it stands on.
    """
    tiers = np.where(selection.explicit, np.maximum(selection.levels - 1, 0), 0).astype(np.float64)
    for file_id, shape in selection.shapes.items():
        tiers[file_id] = max(shape.highest - 1, 0)
    relative = np.maximum(ranks * len(ranks), 1e-6)
    worth = selection.weights**2 * np.where(tiers > 0, relative**_RULED_RANK_POWER, relative**_RANK_POWER)
    path_tokens = np.maximum(file_level_costs(index)[:, 1], 1)
    files = _file_steps(index, selection, worth, tiers)
    parts = _part_steps(index, selection, worth, worth * _RUNG_GAINS[1] / path_tokens)
    file, part, height, tokens, tier, value = (
        np.concatenate(pair) for pair in zip(files, parts, strict=True)
    )
    # Ties break by file and height, so equal repositories give equal maps.
    order = np.lexsort((height, part, file, -value, -tier))
    return Steps(file[order], part[order], height[order], tokens[order])


_Columns = tuple[Ints, Ints, Ints, Floats, Floats, Floats]
"""File, part, height, tokens, tier and value of each step."""


def _file_steps(index: RepoIndex, selection: Selection, worth: Floats, tiers: Floats) -> _Columns:
    costs = np.insert(file_level_costs(index), 2, outer_costs(index), axis=1)
    highest = _RUNG_OF_LEVEL[selection.levels]
    found: list[_Columns] = []
    reached = np.full(len(worth), np.inf)
    for rung in range(1, len(RUNGS)):
        added = costs[:, rung] - costs[:, rung - 1]
        # A rung that shows no more than the one below it is no step. Where an outline is nearly all of a
        # short file, estimates can't tell; its source is more all the same.
        shows_more = added > 0 if rung < _SOURCE else costs[:, rung] > costs[:, 1]
        ids = np.flatnonzero((highest >= rung) & shows_more).astype(np.int64)
        density = worth[ids] * _RUNG_GAINS[rung] / np.maximum(added[ids], 1)
        # No step may come before the one that it stands on.
        reached[ids] = np.minimum(density, reached[ids])
        whole, rungs = np.full(len(ids), WHOLE_FILE), np.full(len(ids), rung)
        found.append((ids, whole, rungs, added[ids], tiers[ids], reached[ids]))
    return tuple(np.concatenate(columns) for columns in zip(*found, strict=True))  # type: ignore[return-value]


def _part_steps(index: RepoIndex, selection: Selection, worth: Floats, path_density: Floats) -> _Columns:
    rows: list[tuple[float, ...]] = []
    for file_id, shape in selection.shapes.items():
        for part, (wanted, prices) in enumerate(part_costs(index, file_id, shape)):
            density = float(path_density[file_id])
            for level in range(max(shape.level, 1) + 1, wanted + 1):
                added = max(prices[level] - prices[max(level - 1, shape.level)], 1.0)
                density = min(density, float(worth[file_id]) * _LEVEL_GAINS[level] / added)
                rows.append((file_id, part, level, added, wanted - 1.0, density))
    table = np.array(rows, dtype=np.float64).reshape(len(rows), 6)
    ints = table[:, :3].astype(np.int64)
    return ints[:, 0], ints[:, 1], ints[:, 2], table[:, 3], table[:, 4], table[:, 5]
