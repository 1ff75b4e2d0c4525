"""What files and parts of them cost at each level, estimated or counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.outline.render_cache import LevelTokens, RenderCache
from repo_map.outline.sections import Shape, deciding_sections, line_range
from repo_map.outline.select import files_named, select
from repo_map.sources.file_kinds import PATH_ONLY
from repo_map.text.token_estimates import estimate_paths

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.plan.model import FlightPlan

Floats = NDArray[np.float64]

EXACT_UP_TO_BYTES = 4_000_000
"""Trees up to this size are counted file by file; larger ones are estimated."""
_MARK_TOKENS = 1
"""What a header takes beside the path."""
_COUNT_TOKENS = 6
"""What the line costs that counts the definitions left out."""
_WORTH_STOPPING = 0.6
"""Share of the whole structure up to which the outermost definitions save enough."""
_LINE_SHARES = (0.0, 0.0, 0.1, 0.3, 1.0)
"""What outlines of lines usually take of their source, at levels 0 to 4."""


def file_level_costs(index: Index) -> Floats:
    """Return the estimated tokens of every file at levels 0 to 4, header line included; shape (files, 5)."""
    return index.memo(_level_costs)


def _level_costs(index: Index) -> Floats:
    costs = index.costs.levels.astype(np.float64)
    costs[:, 1] = 0
    costs[:, 2:] += _MARK_TOKENS * (costs[:, 2:] > 0)
    costs[:, 1:] += estimate_paths(index.paths)[:, None]
    costs[:, 0] = 0
    return np.maximum.accumulate(costs, axis=1)


def rung_costs(index: Index) -> Floats:
    """Return the estimated tokens of every file at its rungs: levels 0 and 1, outermost definitions, 2 to 4.

    Where the outermost definitions tell little or save little they cost what the path does, so that no map
    stops there. Shape (files, 6).
    """
    return index.memo(_rung_costs)


def _rung_costs(index: Index) -> Floats:
    symbols, costs = index.symbols, file_level_costs(index)
    lines = index.costs.definitions[:, 0].astype(np.float64)
    owner = np.repeat(np.arange(len(costs)), np.diff(symbols.file_start))
    inner = np.flatnonzero(symbols.parent >= 0)
    enclosing = symbols.file_start[owner[inner]] + symbols.parent[inner]
    own = lines - np.bincount(enclosing, lines[inner], len(lines))
    top = np.flatnonzero((symbols.parent < 0) & (lines > 0))
    tokens = np.bincount(owner[top], own[top], len(costs)) + _COUNT_TOKENS
    number = np.bincount(owner[top], minlength=len(costs))
    useful = (number > 1) & (tokens < _WORTH_STOPPING * (costs[:, 2] - costs[:, 1]))
    return np.insert(costs, 2, costs[:, 1] + tokens * useful, axis=1)


def part_costs(index: Index, file_id: int, shape: Shape) -> list[tuple[int, Floats]]:
    """Return for each section, then each span, its level and its estimated tokens at levels 0 to 4."""
    first, last = index.symbols.file_start[file_id : file_id + 2].tolist()
    lines = max(int(index.files.lines[file_id]), 1)
    per_line = int(index.costs.levels[file_id, 4]) / lines * np.array(_LINE_SHARES)
    prices = np.zeros((last - first, 5))
    prices[:, 2:] = index.costs.definitions[first:last]
    definitions = index.definitions(file_id) if shape.sections else ()
    decided = deciding_sections(definitions, shape.sections)
    sums = np.zeros((len(shape.sections), 5))
    for row, position in enumerate(decided):
        parent = definitions[row].parent
        above = decided[parent] if parent >= 0 else -1
        if position != above:
            if position >= 0:
                sums[position] += prices[row]
            if above >= 0:
                sums[above] -= prices[row]
    for position, section in enumerate(shape.sections):
        if section.lines:
            a, b = line_range(section.lines)
            sums[position] = per_line * (min(b, lines) + 1 - a)
    sections = zip((section.level for section in shape.sections), np.maximum(sums, 0.0), strict=True)
    return [*sections, *((span.level, per_line * (span.last + 1 - span.first)) for span in shape.spans)]


class CostRow(NamedTuple):
    """What some files cost at each level."""

    name: str
    files: int
    levels: LevelTokens


@dataclass(frozen=True, eq=False)
class CostManifest:
    """Tokens of every file of an index at every level, header lines included."""

    index: Index
    tokens: Floats
    """Shape (files, 5); column 0 is zero."""
    exact: bool
    """Whether every number was counted; else a file's is some 5 % off, and sums less."""

    def by_file(self) -> list[CostRow]:
        """Return a row per file, the most expensive first."""
        rows = (CostRow(path, 1, self.of_file(file_id)) for file_id, path in enumerate(self.index.paths))
        return sorted(rows, key=lambda row: (-row.levels[3], row.name))

    def by_glob(self, patterns: Sequence[str]) -> list[CostRow]:
        """Return a row per glob, in the given order; a file counts in every glob that names it."""
        named = [(pattern, files_named(self.index, pattern)) for pattern in patterns]
        return [CostRow(pattern, len(files), _rounded(self.tokens[files])) for pattern, files in named]

    def total(self) -> CostRow:
        """Return the row of the whole tree."""
        return CostRow("all files", len(self.tokens), _rounded(self.tokens))

    def of_file(self, file_id: int) -> LevelTokens:
        """Return the tokens of one file at levels 1 to 4."""
        return _rounded(self.tokens[file_id : file_id + 1])


def _rounded(rows: Floats) -> LevelTokens:
    one, two, three, four = rows[:, 1:].sum(axis=0).round().astype(int).tolist()
    return one, two, three, four


def price_index(index: Index) -> CostManifest:
    """Price every file at every level."""
    exact = int(index.files.size.sum()) <= EXACT_UP_TO_BYTES
    return CostManifest(index, _count_all(index) if exact else file_level_costs(index), exact)


def price_plan(manifest: CostManifest, plan: FlightPlan) -> int:
    """Predict the tokens of a plan drawn whole, as if its budget had no end."""
    selection = select(manifest.index, plan)
    parts = sum(
        max(float(prices[level] - prices[shape.level]), 0.0)
        for file_id, shape in selection.shapes.items()
        for level, prices in part_costs(manifest.index, file_id, shape)
    )
    levels = selection.levels
    return round(float(manifest.tokens[np.arange(len(levels)), levels].sum()) + parts)


def _count_all(index: Index) -> Floats:
    cache = RenderCache(index)
    counted = np.zeros((len(index.paths), 5))
    for file_id in range(len(index.paths)):
        counted[file_id, 1:] = [max(cache.draw(file_id, Shape(level)).counts) for level in range(1, 5)]
    path_only = (index.files.flags & int(PATH_ONLY)) > 0
    counted[path_only, 2:] = counted[path_only, 1:2]
    return counted
