"""Levels lowered until the final text fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from repo_map.outline.costs import file_level_costs, outer_costs, part_costs
from repo_map.outline.rendering import joint_legend
from repo_map.outline.sections import Shape

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.outline.select import Selection


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WHOLE_FILE = -1


class DetailStep(NamedTuple):
    """How far up a file has come."""

    level: int
    outer: bool = False
    """Whether only the outermost definitions are shown: much of a structure at a part of its cost."""


RUNGS = (DetailStep(0), DetailStep(1), DetailStep(2, outer=True), DetailStep(2), DetailStep(3), DetailStep(4))
_SOURCE = len(RUNGS) - 1
_RUNG_OF_LEVEL = np.array([0, 1, 3, 4, 5])
_RUNG_GAINS = (0.0, 1.0, 3.0, 1.5, 2.0, 4.0)
"""What reaching each rung is worth: a path tells less than a structure, a body more than an interface."""
_LEVEL_GAINS = (0.0, 1.0, 3.0, 2.0, 4.0)
_RANK_POWER, _RULED_RANK_POWER = 0.7, 0.1
"""How much rank counts where no rule names a file, and where one does."""


class DetailSteps(NamedTuple):
    """What can be added to an empty map, one height of one part at a time, most valuable first."""

    file: Ints
    part: Ints
    """Position among the file's sections, then its spans; ``WHOLE_FILE`` for the rest."""
    height: Ints
    """Level to reach; for ``WHOLE_FILE`` the rung."""
    tokens: Floats
    """Estimated."""


def list_steps(index: Index, selection: Selection, ranks: Floats) -> DetailSteps:
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
    return DetailSteps(file[order], part[order], height[order], tokens[order])


_Columns = tuple[Ints, Ints, Ints, Floats, Floats, Floats]
"""File, part, height, tokens, tier and value of each step."""


def _file_steps(index: Index, selection: Selection, worth: Floats, tiers: Floats) -> _Columns:
    costs = np.insert(file_level_costs(index), 2, outer_costs(index), axis=1)
    highest = _RUNG_OF_LEVEL[selection.levels]
    found: list[_Columns] = []
    reached = np.full(len(worth), np.inf)
    for step in range(1, len(RUNGS)):
        added = costs[:, step] - costs[:, step - 1]
        # A rung that shows no more than the one below it is no step. Where an outline is nearly all of a
        # short file, estimates can't tell; its source is more all the same.
        shows_more = added > 0 if step < _SOURCE else costs[:, step] > costs[:, 1]
        ids = np.flatnonzero((highest >= step) & shows_more).astype(np.int64)
        density = worth[ids] * _RUNG_GAINS[step] / np.maximum(added[ids], 1)
        # No step may come before the one that it stands on.
        reached[ids] = np.minimum(density, reached[ids])
        whole, rungs = np.full(len(ids), WHOLE_FILE), np.full(len(ids), step)
        found.append((ids, whole, rungs, added[ids], tiers[ids], reached[ids]))
    return tuple(np.concatenate(columns) for columns in zip(*found, strict=True))  # type: ignore[return-value]


def _part_steps(index: Index, selection: Selection, worth: Floats, path_density: Floats) -> _Columns:
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


Counts = tuple[int, ...]


class Measured(Protocol):
    """What fitting has to know of a file at a shape."""

    @property
    def counts(self) -> Counts:
        """Exact tokens, one count per vocabulary."""

    @property
    def legend(self) -> str:
        """The legend that the map needs for it, ``""`` for none."""


Measure = Callable[[int, Shape], Measured]

_MOST_MISSES = 40
"""Parts drawn in vain to fill the last gap."""
_MOST_TRIED = 4_000
_HOPELESS = 1.3
"""Estimates this far above what is left are not even drawn."""
_PLAUSIBLE = 1.5
"""Estimates up to this share of the budget may turn out to fit whole."""
_LEAST_PART = 6
"""Tokens below which nothing more is tried: hardly a path is shorter."""


class Fitted(NamedTuple):
    """The shape of every file that a map shows, and what they cost."""

    shapes: dict[int, Shape]
    counts: Counts
    """Exact tokens of all of them and of the legend, by vocabulary."""


class _Fit:
    """A map in the making: what each file shows so far, and exact running totals."""

    def __init__(self, selection: Selection, measure: Measure, count: Callable[[str], Counts]) -> None:
        self._selection = selection
        self._measure = measure
        self._rungs: dict[int, int] = {}
        self._parts: dict[tuple[int, int], int] = {}
        self._count = cache(count)
        self._counted: dict[int, Counts] = {}
        self._legends: dict[int, str] = {}
        self._needed: Counter[str] = Counter()
        self._sums = [0] * len(count(""))

    def set(self, file_id: int, part: int, height: int) -> None:
        """Put a part at a level, or a file at a rung, without counting it yet."""
        if part == WHOLE_FILE:
            self._rungs[file_id] = height
        else:
            self._parts[file_id, part] = height

    def stands_on(self, file_id: int, part: int, height: int) -> bool:
        """Say whether everything below a step is there."""
        if part == WHOLE_FILE:
            return height == 1 or file_id in self._rungs
        wanted = self._selection.shapes[file_id]
        at_first = height == max(wanted.level, 1) + 1
        return file_id in self._rungs and (at_first or (file_id, part) in self._parts)

    def recount(self, file_id: int) -> None:
        """Bring the totals up to date with what a file shows now."""
        shape = self.shape(file_id)
        measured = self._measure(file_id, shape) if shape else None
        new = measured.counts if measured else (0,) * len(self._sums)
        old = self._counted.get(file_id, (0,) * len(self._sums))
        self._counted[file_id] = new
        self._sums = [total + n - o for total, n, o in zip(self._sums, new, old, strict=True)]
        self._needed[self._legends.get(file_id, "")] -= 1
        self._legends[file_id] = measured.legend if measured else ""
        self._needed[self._legends[file_id]] += 1

    @property
    def totals(self) -> list[int]:
        """Exact tokens of what is there, the legend that it needs included, by vocabulary."""
        legend = self._count(joint_legend(each for each, files in self._needed.items() if files > 0))
        return [total + more for total, more in zip(self._sums, legend, strict=True)]

    def shape(self, file_id: int) -> Shape | None:
        """Return what a file shows now, None for a file that is not there."""
        level, outer = RUNGS[self._rungs.get(file_id, 0)]
        if level == 0:
            return None
        wanted, why = self._selection.shapes.get(file_id), self._selection.reasons.get(file_id, "")
        if wanted is None:
            return Shape(level, outer=outer, why=why)
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
        return Shape(level, sections, spans, outer, why)

    def _part_level(self, file_id: int, part: int, wanted: int, level: int) -> int:
        reached = self._parts.get((file_id, part))
        return min(wanted, level) if reached is None else reached

    def shapes(self) -> dict[int, Shape]:
        """Return the shape of every file that is there."""
        return {
            file_id: shape for file_id in sorted(self._rungs) if (shape := self.shape(file_id)) is not None
        }

    @property
    def shown(self) -> list[int]:
        """Files that are there, in no particular order."""
        return [file_id for file_id, step in self._rungs.items() if step]

    def height_of(self, file_id: int, part: int) -> int:
        """Return the level of a part, or the rung of a file, 0 before its first step."""
        return self._rungs.get(file_id, 0) if part == WHOLE_FILE else self._parts.get((file_id, part), 0)


def fit(
    steps: DetailSteps,
    selection: Selection,
    budget: int,
    measure: Measure,
    measure_rest: Callable[[list[int]], Counts],
    *,
    count: Callable[[str], Counts],
) -> Fitted:
    """Take steps in order while the exact text, its closing line about the rest included, fits the budget.

    The bulk is taken by estimate; then single steps are taken back, or added, by exact count.
    """
    rest = measure_rest([])
    if steps.tokens.sum() <= _PLAUSIBLE * budget:
        # A plan that was packed to the budget fits by a hair: no estimate may decide that it does not.
        whole = _Fit(selection, measure, count)
        _take_bulk(whole, _rows(steps, slice(None)))
        if max(total + r for total, r in zip(whole.totals, measure_rest(whole.shown), strict=True)) <= budget:
            return Fitted(whole.shapes(), tuple(whole.totals))
    work = _Fit(selection, measure, count)
    taken = int(np.searchsorted(np.cumsum(steps.tokens), max(budget - max(rest), 0), side="right"))
    accepted = _take_bulk(work, _rows(steps, slice(taken)))
    _give_back(work, accepted, budget - max(rest))
    tried = slice(taken, taken + _MOST_TRIED)
    _take_more(work, _rows(steps, tried), steps.tokens[tried].tolist(), budget - max(rest), accepted)
    _give_back(work, accepted, budget, measure_rest)
    return Fitted(work.shapes(), tuple(work.totals))


_Row = tuple[int, int, int]
_Accepted = list[tuple[_Row, int]]
"""Steps taken, in order, each with the height that its part had before."""


def _rows(steps: DetailSteps, some: slice) -> list[_Row]:
    """Return some steps one by one; all of a large tree's would take longer than the rest of the drawing."""
    return list(
        zip(steps.file[some].tolist(), steps.part[some].tolist(), steps.height[some].tolist(), strict=True)
    )


def _take_bulk(work: _Fit, rows: list[_Row]) -> _Accepted:
    accepted: _Accepted = []
    for row in rows:
        if work.stands_on(*row):
            accepted.append((row, work.height_of(*row[:2])))
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
        if estimate > _HOPELESS * left + _LEAST_PART or not work.stands_on(*row):
            continue
        before = work.height_of(*row[:2])
        work.set(*row)
        work.recount(row[0])
        if max(work.totals) > room:
            work.set(row[0], row[1], before)
            work.recount(row[0])
            misses += 1
        else:
            accepted.append((row, before))
