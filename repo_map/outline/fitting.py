"""Levels lowered until the final text fits, and what was cut for that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.arrays import distinct
from repo_map.outline.costs import Floats, file_level_costs, part_costs, rung_costs
from repo_map.outline.rendering import joint_legend
from repo_map.outline.sections import Shape
from repo_map.text import tokens

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.outline.render_cache import RenderedFile
    from repo_map.outline.select import Selection


Ints = NDArray[np.int64]

WHOLE_FILE = -1

RUNGS = (Shape(0), Shape(1), Shape(2, outer=True), Shape(2), Shape(3), Shape(4))
"""What a file can come to: the outermost definitions alone are much of a structure at a part of its cost."""
_SOURCE = len(RUNGS) - 1
_RUNG_OF_LEVEL = np.array([0, 1, 3, 4, 5])
_RUNG_GAINS = (0.0, 1.0, 3.0, 1.5, 2.0, 4.0)
"""What reaching each rung is worth: a path tells less than a structure, a body more than an interface."""
_LEVEL_GAINS = (0.0, 1.0, 3.0, 2.0, 4.0)
"""The same for parts, which have levels alone."""
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
    columns = [
        *_file_steps(rung_costs(index), _RUNG_OF_LEVEL[selection.levels], worth, tiers),
        _part_steps(index, selection, worth),
    ]
    file, part, height, added, tier, value = np.concatenate(columns, axis=1)
    # Ties break by file and height, so equal repositories give equal maps.
    order = np.lexsort((height, part, file, -value, -tier))
    file, part, height = (each[order].astype(np.int64) for each in (file, part, height))
    return DetailSteps(file, part, height, added[order])


def _file_steps(costs: Floats, highest: Ints, worth: Floats, tiers: Floats) -> Iterable[Floats]:
    """Yield each rung's steps of whole files: file, part, rung, tokens, tier, value; shape (6, steps)."""
    reached = np.full(len(worth), np.inf)
    for rung in range(1, _SOURCE + 1):
        added = costs[:, rung] - costs[:, rung - 1]
        # A rung that shows no more than the one below it is no step. Where an outline is nearly all of a
        # short file, estimates can't tell; its source is more all the same.
        shows_more = added > 0 if rung < _SOURCE else costs[:, rung] > costs[:, 1]
        ids = np.flatnonzero((highest >= rung) & shows_more)
        density = worth[ids] * _RUNG_GAINS[rung] / np.maximum(added[ids], 1)
        # No step may come before the one that it stands on.
        reached[ids] = np.minimum(density, reached[ids])
        same = np.ones(len(ids))
        yield np.stack((ids, WHOLE_FILE * same, rung * same, added[ids], tiers[ids], reached[ids]))


def _part_steps(index: Index, selection: Selection, worth: Floats) -> Floats:
    """Return the steps of sections and spans, as those of whole files."""
    path_tokens = np.maximum(file_level_costs(index)[:, 1], 1)
    rows: list[tuple[float, ...]] = []
    for file_id, shape in selection.shapes.items():
        for part, (wanted, prices) in enumerate(part_costs(index, file_id, shape)):
            density = float(worth[file_id] * _LEVEL_GAINS[1] / path_tokens[file_id])
            for level in range(max(shape.level, 1) + 1, wanted + 1):
                added = max(float(prices[level] - prices[max(level - 1, shape.level)]), 1.0)
                density = min(density, float(worth[file_id]) * _LEVEL_GAINS[level] / added)
                rows.append((file_id, part, level, added, wanted - 1.0, density))
    return np.array(rows, dtype=np.float64).reshape(len(rows), 6).T


Counts = tuple[int, ...]
Measure = Callable[[int, Shape], "RenderedFile"]

_MOST_MISSES = 40
"""Parts drawn in vain to fill the last gap."""
_MOST_TRIED = 4_000
_HOPELESS = 1.3
"""Estimates this far above what is left are not even drawn."""
_PLAUSIBLE = 1.5
"""Estimates up to this share of the budget may turn out to fit whole."""
_LEAST_PART = 6
"""Tokens below which nothing more is tried: hardly a path is shorter."""
_NOTHING: Counts = (0,) * len(tokens.VOCABULARIES)


_Row = tuple[int, int, int]


class _Fit:
    """A map in the making: what each file shows so far, and exact running totals."""

    def __init__(self, selection: Selection, measure: Measure) -> None:
        self._selection = selection
        self._measure = measure
        self._heights: dict[tuple[int, int], int] = {}
        """The rung of each file and the level of each part, those at 0 left out."""
        self.taken: list[tuple[_Row, int]] = []
        """Steps, in order, each with the height that its part had before."""
        self._measured: dict[int, tuple[Counts, str]] = {}
        """Tokens and legend of each file."""
        self._legend_counts = cache(tokens.counts)
        self._needed: Counter[str] = Counter()
        self._sums = _NOTHING

    def take(self, row: _Row) -> bool:
        """Take a step, not counted yet, if everything below it is there; return whether it was taken."""
        file_id, part, height = row
        before = self._heights.get((file_id, part), 0)
        if part == WHOLE_FILE:
            stands = height == 1 or before > 0
        else:
            at_first = height == max(self._selection.shapes[file_id].level, 1) + 1
            stands = (file_id, WHOLE_FILE) in self._heights and (at_first or before > 0)
        if stands:
            self._heights[file_id, part] = height
            self.taken.append((row, before))
        return stands

    def take_back(self) -> None:
        """Undo the latest step, and count what is left of its file."""
        (file_id, part, _), before = self.taken.pop()
        if before:
            self._heights[file_id, part] = before
        else:
            del self._heights[file_id, part]
        self.recount(file_id)

    def recount(self, file_id: int) -> None:
        """Bring the totals up to date with what a file shows now."""
        shape = self.shape(file_id)
        rendered = self._measure(file_id, shape) if shape else None
        new = (rendered.counts, rendered.legend) if rendered else (_NOTHING, "")
        old = self._measured.get(file_id, (_NOTHING, ""))
        self._measured[file_id] = new
        self._sums = tuple(total + n - o for total, n, o in zip(self._sums, new[0], old[0], strict=True))
        self._needed[old[1]] -= 1
        self._needed[new[1]] += 1

    @property
    def totals(self) -> Counts:
        """Exact tokens of what is there, the legend that it needs included, by vocabulary."""
        legend = self._legend_counts(joint_legend(each for each, files in self._needed.items() if files > 0))
        return tuple(total + more for total, more in zip(self._sums, legend, strict=True))

    def shape(self, file_id: int) -> Shape | None:
        """Return what a file shows now, None for a file that is not there."""
        shape = RUNGS[self._heights.get((file_id, WHOLE_FILE), 0)]
        wanted = self._selection.shapes.get(file_id)
        if shape.level == 0 or wanted is None:
            return shape if shape.level else None
        sections = tuple(
            section._replace(level=self._heights.get((file_id, part), min(section.level, shape.level)))
            for part, section in enumerate(wanted.sections)
        )
        spans = tuple(
            span
            for part, span in enumerate(wanted.spans, len(sections))
            if self._heights.get((file_id, part), 0) >= span.level
        )
        return shape._replace(sections=sections, spans=spans)

    @property
    def shown(self) -> list[int]:
        """The files that are there."""
        return sorted(file_id for file_id, part in self._heights if part == WHOLE_FILE)

    def shapes(self) -> dict[int, Shape]:
        """Return the shape of every file that is there."""
        return {file_id: shape for file_id in self.shown if (shape := self.shape(file_id))}


def fit(
    steps: DetailSteps,
    selection: Selection,
    budget: int,
    measure: Measure,
    measure_rest: Callable[[list[int]], Counts],
) -> tuple[dict[int, Shape], Counts]:
    """Take steps in order while the exact text, its closing line about the rest included, fits the budget.

    The bulk is taken by estimate; then single steps are taken back, or added, by exact count. Returned are
    the shape of every file that is shown, and the exact tokens of them and of the legend by vocabulary.
    """

    def fits(work: _Fit) -> bool:
        return max(map(sum, zip(work.totals, measure_rest(work.shown), strict=True))) <= budget

    if steps.tokens.sum() <= _PLAUSIBLE * budget:
        # A plan that was packed to the budget fits by a hair: no estimate may decide that it does not.
        whole = _take_bulk(_Fit(selection, measure), steps, len(steps.tokens))
        if fits(whole):
            return whole.shapes(), whole.totals
    room = budget - max(measure_rest([]))
    bulk = int(np.searchsorted(np.cumsum(steps.tokens), max(room, 0), side="right"))
    work = _take_bulk(_Fit(selection, measure), steps, bulk)
    while work.taken and max(work.totals) > room:
        work.take_back()
    _take_more(work, steps, bulk, room)
    while work.taken and not fits(work):
        work.take_back()
    return work.shapes(), work.totals


def _rows(steps: DetailSteps, first: int, end: int) -> list[tuple[int, int, int, float]]:
    """Return some steps one by one; all of a large tree's would take longer than the rest of the drawing."""
    return list(zip(*(column[first:end].tolist() for column in steps), strict=True))


def _take_bulk(work: _Fit, steps: DetailSteps, number: int) -> _Fit:
    for file_id, part, height, _ in _rows(steps, 0, number):
        work.take((file_id, part, height))
    for file_id in work.shown:
        work.recount(file_id)
    return work


def _take_more(work: _Fit, steps: DetailSteps, first: int, room: int) -> None:
    """Add what still fits, passing over a few parts that do not."""
    misses = 0
    for file_id, part, height, estimate in _rows(steps, first, first + _MOST_TRIED):
        left = room - max(work.totals)
        if misses >= _MOST_MISSES or left < _LEAST_PART:
            return
        if estimate > _HOPELESS * left + _LEAST_PART or not work.take((file_id, part, height)):
            continue
        work.recount(file_id)
        if max(work.totals) > room:
            work.take_back()
            misses += 1


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
    index: Index, selection: Selection, ranks: Floats, steps: DetailSteps, shapes: dict[int, Shape]
) -> tuple[tuple[Cut, ...], int]:
    """Return the files that show less than they should, and how many there are in all.

    What rules ask for comes first, then by weight and rank.

    Args:
        index: of the tree.
        selection: what the plan asks for.
        ranks: shape (files,).
        steps: what could be added.
        shapes: what the map shows, by the id of the file.
    """
    is_file = steps.part == WHOLE_FILE
    levels = np.where(is_file, np.array([rung.level for rung in RUNGS])[steps.height], steps.height)
    reached, wanted = np.zeros(len(ranks), np.int64), np.zeros(len(ranks), np.int64)
    reached[list(shapes)] = [shape.level for shape in shapes.values()]
    np.maximum.at(wanted, steps.file, levels)
    missing = is_file & (levels > reached[steps.file])
    for at in np.flatnonzero(~is_file).tolist():
        file_id, part = int(steps.file[at]), int(steps.part[at])
        missing[at] = levels[at] > _part_level(selection.shapes[file_id], shapes.get(file_id), part)
    tokens_left = np.bincount(steps.file[missing], steps.tokens[missing], len(ranks))
    cut = distinct(steps.file[missing])
    order = cut[np.lexsort((cut, -ranks[cut], -selection.weights[cut], ~selection.explicit[cut]))]
    found = [
        Cut(
            index.paths[file_id],
            int(wanted[file_id]),
            min(shapes[file_id].highest, int(wanted[file_id]) - 1) if file_id in shapes else 0,
            round(float(tokens_left[file_id])),
        )
        for file_id in order[:MOST_CUTS].tolist()
    ]
    return tuple(found), len(order)


def _part_level(wanted: Shape, drawn: Shape | None, part: int) -> int:
    """Return the level at which a section or a span is drawn."""
    if drawn is None:
        return 0
    if part < len(wanted.sections):
        return drawn.sections[part].level
    span = wanted.spans[part - len(wanted.sections)]
    return span.level if span in drawn.spans else 0
