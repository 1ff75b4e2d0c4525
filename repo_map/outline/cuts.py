"""What a map shows at less than its plan asks for, and what it would take to show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.outline.costs import file_level_costs, part_costs

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.outline.sections import Shape
    from repo_map.outline.select import Selection

MOST_CUTS = 200
"""Cuts that a map names one by one; ``RepoMap.cut_files`` counts them all."""


class Cut(NamedTuple):
    """A file that is shown at less than its plan asks for, because the budget was spent."""

    path: str
    wanted: int
    """The highest level that the plan asks for in the file."""
    drawn: int
    """The highest level that is drawn of what was cut; 0 for a file that is left out."""
    tokens_to_add: int
    """Estimated."""


def find_cuts(
    index: Index, selection: Selection, ranks: NDArray[np.float64], shapes: dict[int, Shape]
) -> tuple[tuple[Cut, ...], int]:
    """Return the files that show less than they should, and how many there are in all.

    What rules ask for comes first, then by weight and rank.

    Args:
        index: of the tree.
        selection: what the plan asks for.
        ranks: shape (files,).
        shapes: what the map shows, by the id of the file.
    """
    costs = file_level_costs(index)
    wanted = _lowest_equal_levels(costs, selection.levels)
    for file_id, shape in selection.shapes.items():
        wanted[file_id] = max(wanted[file_id], shape.highest)
    drawn = np.zeros(len(wanted), dtype=np.int64)
    for file_id, shape in shapes.items():
        drawn[file_id] = shape.highest
        if file_id in selection.shapes and selection.shapes[file_id] != shape:
            drawn[file_id] = min(shape.highest, wanted[file_id] - 1)
    cut = np.flatnonzero(drawn < wanted)
    order = cut[np.lexsort((cut, -ranks[cut], -selection.weights[cut], ~selection.explicit[cut]))]
    named = order[:MOST_CUTS].tolist()
    more = (costs[named, wanted[named]] - costs[named, drawn[named]]).tolist()
    return tuple(
        Cut(
            index.paths[file_id],
            int(wanted[file_id]),
            int(drawn[file_id]),
            round(_parts_left(index, file_id, selection, shapes) if file_id in selection.shapes else tokens),
        )
        for file_id, tokens in zip(named, more, strict=True)
    ), len(order)


def _parts_left(index: Index, file_id: int, selection: Selection, shapes: dict[int, Shape]) -> float:
    """Return the tokens of what is missing of a file whose parts have levels of their own."""
    wanted, drawn = selection.shapes[file_id], shapes.get(file_id)
    base = drawn.level if drawn else 0
    costs = file_level_costs(index)[file_id]
    missing = float(costs[wanted.level] - costs[min(base, wanted.level)])
    reached = [section.level for section in drawn.sections] if drawn else [0] * len(wanted.sections)
    reached += [span.level if drawn and span in drawn.spans else 0 for span in wanted.spans]
    for (level, prices), have in zip(part_costs(index, file_id, wanted), reached, strict=True):
        missing += max(prices[level] - prices[min(max(have, wanted.level), level)], 0.0)
    return missing


def _lowest_equal_levels(costs: NDArray[np.float64], levels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the lowest level that shows as much as the wanted one: plain text has no structure.

    ``costs`` has shape (files, 5), ``levels`` and what is returned (files,).
    """
    lowered = levels.copy()
    rows = np.arange(len(levels))
    for _ in range(3):
        lower = np.maximum(lowered - 1, 0)
        lowered = np.where((lowered > 1) & (costs[rows, lowered] == costs[rows, lower]), lower, lowered)
    return lowered
