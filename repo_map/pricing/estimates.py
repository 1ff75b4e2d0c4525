"""Estimated tokens of files and sections at every level, as the fitting weighs them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from repo_map.pricing.costs import price_paths
from repo_map.selection.sections import deciding_sections, line_range

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from repo_map.index import RepoIndex
    from repo_map.selection.sections import Shape


def file_level_costs(index: RepoIndex) -> NDArray[np.float64]:
    """Return the estimated tokens of every file at levels 0 to 4, header line included; shape (files, 5)."""
    if index not in _level_costs:
        costs = index.costs.levels.astype(np.float64)
        costs[:, 1] = 0
        costs[:, 1:] += price_paths(index.paths)[:, None]
        costs[:, 0] = 0
        _level_costs[index] = np.maximum.accumulate(costs, axis=1)
    return _level_costs[index]


_level_costs: WeakKeyDictionary[RepoIndex, NDArray[np.float64]] = WeakKeyDictionary()


def outer_costs(index: RepoIndex) -> NDArray[np.float64]:
    """Return the estimated tokens of every file with only its outermost definitions, shape (files,).

    Where that tells little or saves little it is the path's cost, so that nobody stops there.
    """
    if index in _outer_costs:
        return _outer_costs[index]
    symbols, costs = index.symbols, file_level_costs(index)
    lines = index.costs.definitions[:, 0].astype(np.float64)
    owner = np.repeat(np.arange(len(costs)), np.diff(symbols.file_start))
    inner = np.flatnonzero(symbols.parent >= 0)
    enclosing = symbols.file_start[owner[inner]] + symbols.parent[inner]
    own = lines - np.bincount(enclosing, lines[inner], len(lines))
    top = np.flatnonzero((symbols.parent < 0) & (lines > 0))
    tokens = np.bincount(owner[top], own[top], len(costs)) + _TOLD_TOKENS
    number = np.bincount(owner[top], minlength=len(costs))
    useful = (number > 1) & (tokens < _WORTH_STOPPING * (costs[:, 2] - costs[:, 1]))
    _outer_costs[index] = np.where(useful, costs[:, 1] + tokens, costs[:, 1])
    return _outer_costs[index]


_outer_costs: WeakKeyDictionary[RepoIndex, NDArray[np.float64]] = WeakKeyDictionary()
_TOLD_TOKENS = 6
"""What the line costs that counts the definitions left out."""
_WORTH_STOPPING = 0.6


def part_costs(index: RepoIndex, file_id: int, shape: Shape) -> list[tuple[int, tuple[float, ...]]]:
    """Return for each section, then each span, its level and its estimated tokens at levels 0 to 4."""
    first, last = index.symbols.file_start[file_id], index.symbols.file_start[file_id + 1]
    prices = index.costs.definitions[first:last].tolist()
    definitions = index.definitions(file_id) if shape.sections else ()
    decided = deciding_sections(definitions, shape.sections)
    sums = [[0.0] * 5 for _ in shape.sections]
    for row, position in enumerate(decided):
        parent = definitions[row].parent
        above = decided[parent] if parent >= 0 else -1
        if position != above:
            for at, sign in ((position, 1), (above, -1)):
                if at >= 0:
                    sums[at] = [
                        have + sign * more for have, more in zip(sums[at], (0, 0, *prices[row]), strict=True)
                    ]
    per_line = int(index.costs.levels[file_id, 4]) / max(int(index.files.lines[file_id]), 1)
    found: list[tuple[int, tuple[float, ...]]] = []
    for section, total in zip(shape.sections, sums, strict=True):
        if section.lines:
            a, b = line_range(section.lines)
            total = _line_costs(per_line * (min(b, int(index.files.lines[file_id])) + 1 - a))  # noqa: PLW2901
        found.append((section.level, tuple(max(tokens, 0.0) for tokens in total)))
    spans = ((span.level, _line_costs(per_line * (span.last + 1 - span.first))) for span in shape.spans)
    return [*found, *((level, tuple(costs)) for level, costs in spans)]


def _line_costs(whole: float) -> list[float]:
    """Return what lines cost at levels 0 to 4, by what outlines of code usually save."""
    return [0.0, 0.0, _STRUCTURE_SHARE * whole, _INTERFACE_SHARE * whole, whole]


_STRUCTURE_SHARE, _INTERFACE_SHARE = 0.1, 0.3
