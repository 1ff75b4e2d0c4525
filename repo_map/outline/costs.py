"""Cost manifest and estimates: what each level would take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.arrays import distinct
from repo_map.outline.render_cache import RenderCache, Style
from repo_map.outline.rendering import render_path
from repo_map.outline.sections import Shape, deciding_sections, line_range, qualified_names
from repo_map.outline.select import files_named
from repo_map.sources.file_kinds import PATH_ONLY
from repo_map.text import tokens
from repo_map.text.token_estimates import estimate_paths
from repo_map.text.tokens import DEFAULT_ENCODING, TokenEncoding

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.outline.sections import Shape
    from repo_map.plan.model import FlightPlan


def file_level_costs(index: Index) -> NDArray[np.float64]:
    """Return the estimated tokens of every file at levels 0 to 4, header line included; shape (files, 5)."""
    return index.memo(_level_costs)


_MARK_TOKENS = 1
"""What a header takes beside the path."""


def _level_costs(index: Index) -> NDArray[np.float64]:
    costs = index.costs.levels.astype(np.float64)
    costs[:, 1] = 0
    costs[:, 2:] += _MARK_TOKENS * (costs[:, 2:] > 0)
    costs[:, 1:] += estimate_paths(index.paths)[:, None]
    costs[:, 0] = 0
    return np.maximum.accumulate(costs, axis=1)


def outer_costs(index: Index) -> NDArray[np.float64]:
    """Return the estimated tokens of every file with only its outermost definitions, shape (files,).

    Where that tells little or saves little it is the path's cost, so that nobody stops there.
    """
    return index.memo(_outer_costs)


def _outer_costs(index: Index) -> NDArray[np.float64]:
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
    return np.where(useful, costs[:, 1] + tokens, costs[:, 1])


_TOLD_TOKENS = 6
"""What the line costs that counts the definitions left out."""
_WORTH_STOPPING = 0.6


def part_costs(index: Index, file_id: int, shape: Shape) -> list[tuple[int, tuple[float, ...]]]:
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


Floats = NDArray[np.float64]

EXACT_UP_TO_BYTES = 4_000_000
"""Trees up to this size are counted file by file; larger ones are estimated, and corrected by a sample."""
_SAMPLE = 192
_FEWEST_OF_A_LEVEL = 32


class CostRow(NamedTuple):
    """What some files, or a section of one, cost at each level."""

    name: str
    files: int
    levels: tuple[int, int, int, int]
    """Tokens at levels 1 to 4."""


@dataclass(frozen=True, eq=False)
class CostManifest:
    """Tokens of every file of an index at every level, header lines included."""

    index: Index
    tokens: Floats
    """Shape (files, 5); column 0 is zero."""
    exact: bool
    """Whether every number was counted; else sums of many files are within about 2 %."""
    cache: RenderCache
    """What draws a file to count it."""

    def file(self, path: str) -> CostRow | None:
        """Return the row of one file, None for a path that is not in the index."""
        file_id = self.index.file_id(path)
        return None if file_id is None else self._row(path, np.array([file_id]))

    def by_file(self) -> list[CostRow]:
        """Return a row per file, the most expensive first."""
        rows = (self._row(path, np.array([file_id])) for file_id, path in enumerate(self.index.paths))
        return sorted(rows, key=lambda row: (-row.levels[3], row.name))

    def by_glob(self, patterns: Sequence[str]) -> list[CostRow]:
        """Return a row per glob, in the given order; a file counts in every glob that names it."""
        return [self._row(pattern, files_named(self.index, pattern)) for pattern in patterns]

    def total(self) -> CostRow:
        """Return the row of the whole tree."""
        return self._row("all files", np.arange(len(self.tokens)))

    def sections(self, path: str) -> list[CostRow]:
        """Return a row per definition or heading of a file, in source order; estimates, never counted."""
        file_id = self.index.file_id(path)
        if file_id is None:
            return []
        definitions = self.index.definitions(file_id)
        first = int(self.index.symbols.file_start[file_id])
        prices = self.index.costs.definitions[first : first + len(definitions)].tolist()
        return [
            CostRow(name, 1, (0, *(int(tokens) for tokens in price)))  # type: ignore[arg-type]
            for name, price in zip(qualified_names(definitions), prices, strict=True)
        ]

    def of_levels(self, levels: NDArray[np.int64]) -> int:
        """Return the tokens of a map that shows every file at its level, shape (files,)."""
        return round(float(self.tokens[np.arange(len(levels)), levels].sum()))

    def _row(self, name: str, file_ids: NDArray[np.int64]) -> CostRow:
        one, two, three, four = self.tokens[file_ids, 1:].sum(axis=0).round().astype(int).tolist()
        return CostRow(name, len(file_ids), (one, two, three, four))

    def of_file(self, file_id: int) -> tuple[int, int, int, int]:
        """Return the tokens of one file at levels 1 to 4."""
        one, two, three, four = self.tokens[file_id, 1:].round().astype(int).tolist()
        return one, two, three, four


def price_index(
    index: Index, *, exact: bool | None = None, encoding: TokenEncoding = DEFAULT_ENCODING
) -> CostManifest:
    """Price every file at every level; ``exact`` counts each by the tokenizer, as small trees are anyway."""
    if exact is None:
        exact = int(index.files.size.sum()) <= EXACT_UP_TO_BYTES
    cache = RenderCache(index, Style(encoding))
    if exact:
        return CostManifest(index, _count_all(index, cache), exact=True, cache=cache)
    counted = _corrected(index, cache, _count_headers(index, encoding))
    return CostManifest(index, counted, exact=False, cache=cache)


def price_plan(manifest: CostManifest, plan: FlightPlan) -> int:
    """Predict the tokens of a plan drawn whole, as if its budget had no end."""
    from repo_map.outline.select import select  # noqa: PLC0415 - only a plan's price selects

    selection = select(manifest.index, plan)
    parts = sum(
        max(prices[level] - prices[shape.level], 0.0)
        for file_id, shape in selection.shapes.items()
        for level, prices in part_costs(manifest.index, file_id, shape)
    )
    return manifest.of_levels(selection.levels) + round(parts + _still_off(manifest, selection.levels))


def _still_off(manifest: CostManifest, levels: NDArray[np.int64]) -> float:
    """Return what a sample of the very files that a plan shows says is missing from their estimates.

    The manifest is right for the whole tree; a plan may show folders that are unlike the rest.
    """
    if manifest.exact:
        return 0.0
    below = manifest.tokens[np.arange(len(levels)), levels] - manifest.tokens[:, 1]
    off = 0.0
    for level in (2, 3, 4):
        ids = np.flatnonzero((levels == level) & (below > 0))
        if len(ids):
            points = max(round(_SAMPLE * below[ids].sum() / below.clip(0).sum()), _FEWEST_OF_A_LEVEL)
            picked = _sample(ids, below[ids], points)
            counted = np.array([_count_at(manifest, file_id, level) for file_id in picked.tolist()])
            off += (float((counted / below[picked]).mean()) - 1) * below[ids].sum()
    return off


def _count_at(manifest: CostManifest, file_id: int, level: int) -> float:
    """Return the exact tokens that a file's content at a level adds to its path."""
    counts = (max(manifest.cache.draw(file_id, Shape(at)).counts) for at in (level, 1))
    return float(next(counts) - next(counts))


def _sample(ids: NDArray[np.int64], sizes: Floats, points: int) -> NDArray[np.int64]:
    """Return a systematic sample with a probability proportional to size (Madow, 1949)."""
    cuts = np.cumsum(sizes)
    picked: NDArray[np.int64] = ids[np.searchsorted(cuts, (np.arange(points) + 0.5) / points * cuts[-1])]
    return picked


def _count(cache: RenderCache, file_id: int) -> list[float]:
    """Return the exact tokens of one file at levels 0 to 4."""
    return [0.0, *(float(max(cache.draw(file_id, Shape(level)).counts)) for level in range(1, 5))]


def _count_all(index: Index, cache: RenderCache) -> Floats:
    counted = np.array([_count(cache, file_id) for file_id in range(len(index.paths))]).reshape(-1, 5)
    path_only = (index.files.flags & int(PATH_ONLY)) > 0
    counted[path_only, 2:] = counted[path_only, 1:2]
    return counted


def _count_headers(index: Index, encoding: TokenEncoding) -> Floats:
    """Return the exact tokens of every file's path: what a map of paths is made of."""
    lines = (f"{render_path(path)}\n" for path in index.paths)
    return np.fromiter((tokens.count(line, encoding) for line in lines), np.float64, len(index.paths))


def _corrected(index: Index, cache: RenderCache, headers: Floats) -> Floats:
    """Return exact headers, and what is below them estimated, scaled by language as a counted sample asks.

    The sample's probability is proportional to size, so that its mean ratio is that of the sums. It is a
    function of the tree alone.
    """
    costs = file_level_costs(index)
    below = costs - costs[:, 1:2]
    languages = index.files.language
    whole = costs[:, 4].sum()
    for language in distinct(languages).tolist():
        ids = np.flatnonzero(languages == language)
        sizes = costs[ids, 4]
        points = max(round(_SAMPLE * sizes.sum() / whole), 2)
        picked = _sample(ids, sizes, points)
        counted = np.array([_count(cache, file_id) for file_id in picked.tolist()])
        inverse = 1 / costs[picked, 4:]
        estimated = (below[picked] * inverse).sum(axis=0)[2:]
        found = ((counted - counted[:, 1:2]) * inverse).sum(axis=0)[2:]
        below[ids, 2:] *= np.where(estimated > 0, found / np.maximum(estimated, 1e-12), 1.0)
    below += headers[:, None]
    below[:, 0] = 0
    return below
