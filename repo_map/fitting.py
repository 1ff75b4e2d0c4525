"""The levels that fit the budget: the most valuable parts of what a plan asks for, counted exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.estimates import file_level_costs, part_costs
from repo_map.sections import Shape

if TYPE_CHECKING:
    from repo_map.index import RepoIndex
    from repo_map.selection import Selection

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Counts = tuple[int, ...]
Measure = Callable[[int, Shape], Counts]
"""Exact tokens of a file at a shape, one count per vocabulary."""

WHOLE_FILE = -1
_GAINS = (0.0, 1.0, 3.0, 2.0, 4.0)
"""What reaching each level is worth: a path tells less than a structure, a body more than an interface."""
_MOST_MISSES = 40
_PLAUSIBLE = 1.5
"""Estimates up to this share of the budget may turn out to fit whole."""
_LEAST_PART = 6
"""Tokens below which nothing more is tried: hardly a path is shorter."""


class Steps(NamedTuple):
    """Everything that can be added to an empty map, one level of one part at a time, most valuable first."""

    file: Ints
    part: Ints
    """Position among the file's sections, then its spans; ``WHOLE_FILE`` for the level of the rest."""
    level: Ints
    tokens: Floats
    """Estimated."""


def list_steps(index: RepoIndex, selection: Selection, ranks: Floats) -> Steps:
    """List the steps from nothing to what the plan asks for, in the order in which they deserve the budget.

    What a rule asks to see at a high level comes before what it asks at a low one, and what no rule names
    comes last; among equals, attention per token decides. A step never comes before one that it stands on.
    """
    tiers = np.where(selection.explicit, np.maximum(selection.levels - 1, 0), 0).astype(np.float64)
    for file_id, shape in selection.shapes.items():
        tiers[file_id] = max(shape.highest - 1, 0)
    worth = _worth(selection, ranks, tiers)
    path_tokens = file_level_costs(index)[:, 1]
    files = _file_steps(index, selection, worth, tiers)
    parts = _part_steps(index, selection, worth, worth * _GAINS[1] / np.maximum(path_tokens, 1))
    file, part, level, tokens, tier, value = (np.concatenate(pair) for pair in zip(files, parts, strict=True))
    # Ties break by file and level, so equal repositories give equal maps.
    order = np.lexsort((level, part, file, -value, -tier))
    return Steps(file[order], part[order], level[order], tokens[order])


_Columns = tuple[Ints, Ints, Ints, Floats, Floats, Floats]
"""File, part, level, tokens, tier and value of each step."""


def _file_steps(index: RepoIndex, selection: Selection, worth: Floats, tiers: Floats) -> _Columns:
    costs = file_level_costs(index)
    found: list[_Columns] = []
    reached = np.full(len(worth), np.inf)
    for level in range(1, 5):
        added = costs[:, level] - costs[:, level - 1]
        # A level that shows no more than the one below it is no step.
        ids = np.flatnonzero((selection.levels >= level) & (added > 0)).astype(np.int64)
        density = worth[ids] * _GAINS[level] / np.maximum(added[ids], 1)
        # No step may come before the one that it stands on.
        reached[ids] = np.minimum(density, reached[ids])
        whole, levels = np.full(len(ids), WHOLE_FILE), np.full(len(ids), level)
        found.append((ids, whole, levels, added[ids], tiers[ids], reached[ids]))
    return tuple(np.concatenate(columns) for columns in zip(*found, strict=True))  # type: ignore[return-value]


def _part_steps(index: RepoIndex, selection: Selection, worth: Floats, path_density: Floats) -> _Columns:
    rows: list[tuple[float, ...]] = []
    for file_id, shape in selection.shapes.items():
        for part, (wanted, prices) in enumerate(part_costs(index, file_id, shape)):
            density = float(path_density[file_id])
            for level in range(max(shape.level, 1) + 1, wanted + 1):
                added = max(prices[level] - prices[max(level - 1, shape.level)], 1.0)
                density = min(density, float(worth[file_id]) * _GAINS[level] / added)
                rows.append((file_id, part, level, added, wanted - 1.0, density))
    table = np.array(rows, dtype=np.float64).reshape(len(rows), 6)
    ints = table[:, :3].astype(np.int64)
    return ints[:, 0], ints[:, 1], ints[:, 2], table[:, 3], table[:, 4], table[:, 5]


def _worth(selection: Selection, ranks: Floats, tiers: Floats) -> Floats:
    """Return what attention a file deserves; rank counts for less among files that the plan names itself."""
    relative = np.maximum(ranks * len(ranks), 1e-6)
    return selection.weights**2 * np.where(tiers > 0, relative**0.1, relative**0.5)


class Fitted(NamedTuple):
    """The shape of every file that a map shows, and what they cost."""

    shapes: dict[int, Shape]
    counts: Counts
    """Exact tokens of all of them, by vocabulary."""


class _Fit:
    """A map in the making: what each file shows so far, and exact running totals."""

    def __init__(self, selection: Selection, measure: Measure, vocabularies: int) -> None:
        self._selection = selection
        self._measure = measure
        self._levels: dict[int, int] = {}
        self._parts: dict[tuple[int, int], int] = {}
        self._counted: dict[int, Counts] = {}
        self.totals = [0] * vocabularies

    def set(self, file_id: int, part: int, level: int) -> None:
        """Put a part at a level without counting it yet."""
        if part == WHOLE_FILE:
            self._levels[file_id] = level
        else:
            self._parts[file_id, part] = level

    def stands_on(self, file_id: int, part: int, level: int) -> bool:
        """Say whether everything below a step is there."""
        if part == WHOLE_FILE:
            return level == 1 or file_id in self._levels
        wanted = self._selection.shapes[file_id]
        at_first = level == max(wanted.level, 1) + 1
        return file_id in self._levels and (at_first or (file_id, part) in self._parts)

    def recount(self, file_id: int) -> None:
        """Bring the totals up to date with what a file shows now."""
        shape = self.shape(file_id)
        new = self._measure(file_id, shape) if shape else (0,) * len(self.totals)
        old = self._counted.get(file_id, (0,) * len(self.totals))
        self._counted[file_id] = new
        self.totals = [total + n - o for total, n, o in zip(self.totals, new, old, strict=True)]

    def shape(self, file_id: int) -> Shape | None:
        """Return what a file shows now, None for a file that is not there."""
        level = self._levels.get(file_id, 0)
        if level == 0:
            return None
        wanted = self._selection.shapes.get(file_id)
        if wanted is None:
            return Shape(level)
        sections = tuple(
            section._replace(level=self._part_level(file_id, part, section.level, level))
            for part, section in enumerate(wanted.sections)
        )
        first = len(wanted.sections)
        spans = tuple(
            span
            for part, span in enumerate(wanted.spans, first)
            if self._parts.get((file_id, part), 0) >= span.level
        )
        return Shape(level, sections, spans)

    def _part_level(self, file_id: int, part: int, wanted: int, level: int) -> int:
        reached = self._parts.get((file_id, part))
        return min(wanted, level) if reached is None else reached

    def shapes(self) -> dict[int, Shape]:
        """Return the shape of every file that is there."""
        return {
            file_id: shape for file_id in sorted(self._levels) if (shape := self.shape(file_id)) is not None
        }

    @property
    def shown(self) -> list[int]:
        """Files that are there, in no particular order."""
        return [file_id for file_id, level in self._levels.items() if level]

    def level_of(self, file_id: int, part: int) -> int:
        """Return the level of a part now, 0 before its first step."""
        return self._levels.get(file_id, 0) if part == WHOLE_FILE else self._parts.get((file_id, part), 0)


def fit(
    steps: Steps,
    selection: Selection,
    budget: int,
    measure: Measure,
    measure_rest: Callable[[list[int]], Counts],
) -> Fitted:
    """Take steps in order while the exact text, its closing line about the rest included, fits the budget.

    The bulk is taken by estimate; then single steps are taken back, or added, by exact count.
    """
    rest = measure_rest([])
    rows = list(zip(steps.file.tolist(), steps.part.tolist(), steps.level.tolist(), strict=True))
    if steps.tokens.sum() <= _PLAUSIBLE * budget:
        # A plan that was packed to the budget fits by a hair: no estimate may decide that it does not.
        whole = _Fit(selection, measure, len(rest))
        _take_bulk(whole, rows)
        if max(total + r for total, r in zip(whole.totals, measure_rest(whole.shown), strict=True)) <= budget:
            return Fitted(whole.shapes(), tuple(whole.totals))
    work = _Fit(selection, measure, len(rest))
    taken = int(np.searchsorted(np.cumsum(steps.tokens), max(budget - max(rest), 0), side="right"))
    accepted = _take_bulk(work, rows[:taken])
    _give_back(work, accepted, budget - max(rest))
    _take_more(work, rows[taken:], steps.tokens[taken:].tolist(), budget - max(rest), accepted)
    _give_back(work, accepted, budget, measure_rest)
    return Fitted(work.shapes(), tuple(work.totals))


_Row = tuple[int, int, int]
_Accepted = list[tuple[_Row, int]]
"""Steps taken, in order, each with the level that its part had before."""


def _take_bulk(work: _Fit, rows: list[_Row]) -> _Accepted:
    accepted: _Accepted = []
    for row in rows:
        if work.stands_on(*row):
            accepted.append((row, work.level_of(*row[:2])))
            work.set(*row)
    for file_id in work.shown:
        work.recount(file_id)
    return accepted


def _give_back(
    work: _Fit, accepted: _Accepted, room: int, measure_rest: Callable[[list[int]], Counts] | None = None
) -> None:
    """Undo the latest steps until the totals fit."""
    while accepted:
        rest = measure_rest(work.shown) if measure_rest else (0,) * len(work.totals)
        if max(total + r for total, r in zip(work.totals, rest, strict=True)) <= room:
            return
        (file_id, part, _), before = accepted.pop()
        work.set(file_id, part, before)
        work.recount(file_id)


def _take_more(work: _Fit, rows: list[_Row], estimates: list[float], room: int, accepted: _Accepted) -> None:
    """Add what still fits, passing over a few parts that do not."""
    misses = 0
    for row, estimate in zip(rows, estimates, strict=True):
        left = room - max(work.totals)
        if misses >= _MOST_MISSES or left < _LEAST_PART:
            return
        if estimate > 1.5 * left + 20 or not work.stands_on(*row):
            misses += 1
            continue
        before = work.level_of(*row[:2])
        work.set(*row)
        work.recount(row[0])
        if max(work.totals) > room:
            work.set(row[0], row[1], before)
            work.recount(row[0])
            misses += 1
        else:
            accepted.append((row, before))
