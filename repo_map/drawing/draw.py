"""Draw_map: index and plan to RepoMap (blocks, not one string)."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.drawing.blocks import Block, MapText
from repo_map.drawing.costs import CostManifest, file_level_costs, part_costs, price_index
from repo_map.drawing.fitting import Fitted, fit, list_steps
from repo_map.drawing.render_cache import RenderCache, Style, memo_of
from repo_map.drawing.rendering import ELISION, render_header
from repo_map.errors import BudgetError
from repo_map.graph.pagerank import rank
from repo_map.selection.lint import find_unmatched
from repo_map.selection.sections import Shape
from repo_map.selection.select import Selection, select
from repo_map.text.tokens import DEFAULT_ENCODING, TokenEncoding

if TYPE_CHECKING:
    from repo_map.index import RepoIndex
    from repo_map.parsing.values import LineRange
    from repo_map.plan.model import FlightPlan


_HOPELESS = 1.5
"""Estimates this far above the budget are refused without drawing; they are never that far off."""
_MOST_TOLD = 5


def refuse_overflow(index: RepoIndex, plan: FlightPlan, selection: Selection, book: RenderCache) -> None:
    """Raise BudgetError when what the rules name does not fit whole; other files may still step down."""
    named = np.flatnonzero(selection.explicit & (selection.levels > 0)).tolist()
    named = sorted({*named, *selection.shapes})
    costs = file_level_costs(index)
    needed = {i: float(costs[i, selection.levels[i]]) for i in named if i not in selection.shapes}
    if sum(needed.values()) <= plan.budget * _HOPELESS:
        shapes = {i: selection.shapes.get(i, Shape(int(selection.levels[i]))) for i in named}
        needed = {i: max(book.draw(i, shape).counts) for i, shape in shapes.items()}
    total = round(sum(needed.values()))
    if total <= plan.budget:
        return
    largest = sorted(needed, key=lambda i: (-needed[i], i))[:_MOST_TOLD]
    message = ", ".join(f"`{index.paths[i]}` {round(needed[i]):,}" for i in largest)
    raise BudgetError(
        f"The plan's rules need {total:,} tokens and its budget is {plan.budget:,}; lower the level of what "
        f"is largest ({message}), raise the budget, or draw without strict."
    )


_MOST_FOLDERS = 5
_LEAST_BUDGET_FOR_FOLDERS = 200


class OmittedSummary:
    """Counts what a map does not show of the files that its plan lets in."""

    def __init__(
        self, index: RepoIndex, let_in: NDArray[np.bool_], budget: int, encoding: TokenEncoding
    ) -> None:
        self._let_in = let_in
        self._budget = budget
        self._memo = memo_of(index, encoding)
        self._names, self._folder = index.derived(_top_folders)

    def line_without(self, shown: list[int]) -> str:
        """Return the closing line of a map that shows these files; ``""`` when it shows all."""
        left = self._let_in.copy()
        left[shown] = False
        number = int(left.sum())
        if not number:
            return ""
        head = f"{ELISION} {number:,} more file{'s' if number > 1 else ''}"
        if self._budget < _LEAST_BUDGET_FOR_FOLDERS:
            return f"{head}\n"
        counts = np.bincount(self._folder[left], minlength=len(self._names))
        order = np.lexsort((np.arange(len(counts)), -counts))[:_MOST_FOLDERS]
        message = [f"{counts[i]:,} {self._names[i]}" for i in order.tolist() if counts[i]]
        others = number - int(counts[order].sum())
        where = ", ".join([*message, *([f"{others:,} elsewhere"] if others else [])])
        return f"{head}: {where}\n"

    def counts_without(self, shown: list[int]) -> tuple[int, ...]:
        """Return the tokens of that line by vocabulary."""
        return self._memo.counts(self.line_without(shown))

    def number_without(self, shown: list[int]) -> int:
        """Return how many files a map that shows these leaves out."""
        left = self._let_in.copy()
        left[shown] = False
        return int(left.sum())


def _top_folders(index: RepoIndex) -> tuple[list[str], NDArray[np.int64]]:
    """Return what to call the folders of the first level, and which of them each file is in."""
    paths = index.paths
    ids: dict[str, int] = {}
    folder = np.zeros(len(paths), dtype=np.int64)
    first = 0
    while first < len(paths):
        name = paths[first][: paths[first].find("/") + 1]
        # Paths are sorted, so that a folder's files stand together: before the character after the slash.
        last = bisect_left(paths, f"{name[:-1]}0", first) if name else first + 1
        folder[first:last] = ids.setdefault(name, len(ids))
        first = last
    names = [f"under {render_header(name)}" if name else "at the top" for name in ids]
    return names, folder


_MOST_NAMED = 3


def secrets_note(index: RepoIndex, file_ids: Sequence[int]) -> str:
    """Count the secrets in files that a map shows by more than their path; ``""`` where there are none."""
    found = {file_id: index.secrets(file_id) for file_id in file_ids}
    holding = sorted(index.paths[file_id] for file_id, kinds in found.items() if kinds)
    if not holding:
        return ""
    kinds = Counter(kind for each in found.values() for kind in each)
    number = kinds.total()
    named = ", ".join(f"`{path}`" for path in holding[:_MOST_NAMED])
    more = f" and {len(holding) - _MOST_NAMED} more" if len(holding) > _MOST_NAMED else ""
    what = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return (
        f"{number} secret{'s' if number > 1 else ''} masked in {named}{more} ({what}); "
        "REPO_NAVIGATOR_UNMASK names files to show as they are."
    )


MOST_CUTS = 200
"""Cuts that a map tells one by one; ``RepoMap.cut_files`` counts them all."""


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
    index: RepoIndex, selection: Selection, ranks: NDArray[np.float64], shapes: dict[int, Shape]
) -> tuple[tuple[Cut, ...], int]:
    """Return the files that show less than they should, and how many there are in all.

    What rules ask for comes first, then by weight and rank.
    """
    costs = file_level_costs(index)
    wanted = _telling_levels(costs, selection.levels)
    for file_id, shape in selection.shapes.items():
        wanted[file_id] = max(wanted[file_id], shape.highest)
    drawn = np.zeros(len(wanted), dtype=np.int64)
    for file_id, shape in shapes.items():
        drawn[file_id] = shape.highest
        if file_id in selection.shapes and selection.shapes[file_id] != shape:
            drawn[file_id] = min(shape.highest, wanted[file_id] - 1)
    cut = np.flatnonzero(drawn < wanted)
    order = cut[np.lexsort((cut, -ranks[cut], -selection.weights[cut], ~selection.explicit[cut]))]
    message = order[:MOST_CUTS].tolist()
    more = (costs[message, wanted[message]] - costs[message, drawn[message]]).tolist()
    return tuple(
        Cut(
            index.paths[file_id],
            int(wanted[file_id]),
            int(drawn[file_id]),
            round(_parts_left(index, file_id, selection, shapes) if file_id in selection.shapes else tokens),
        )
        for file_id, tokens in zip(message, more, strict=True)
    ), len(order)


def _parts_left(index: RepoIndex, file_id: int, selection: Selection, shapes: dict[int, Shape]) -> float:
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


def _telling_levels(costs: NDArray[np.float64], levels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the lowest level that shows as much as the wanted one: plain text has no structure."""
    lowered = levels.copy()
    rows = np.arange(len(levels))
    for _ in range(3):
        lower = np.maximum(lowered - 1, 0)
        lowered = np.where((lowered > 1) & (costs[rows, lowered] == costs[rows, lower]), lower, lowered)
    return lowered


_NO_FILES = "The folder holds no file to map; check the path, and what its ignore rules leave out."


@dataclass(frozen=True)
class RepoMap:
    """A drawn map, and what its reader should know of it."""

    blocks: tuple[Block, ...]
    """What is shown of each file, in map order."""
    closing: str
    """The line about the files that are left out, with its line break; ``""`` where there are none."""
    tokens: int
    """Of ``text``; exact, by the larger count of the encoding's vocabularies; never more than ``budget``."""
    budget: int
    cuts: tuple[Cut, ...]
    """What was cut, the most valuable first; what rules ask for comes before the rest."""
    cut_files: int
    left_out: int
    """Files that are not in the map for want of budget; ``closing`` says where they are."""
    excluded: int
    """Files that the plan puts at level 0."""
    fingerprint: str
    notes: tuple[str, ...] = ()
    """What of the plan had no effect, and what is masked, in sentences."""

    @cached_property
    def text(self) -> str:
        """The whole map: its blocks, then the closing line."""
        return "".join([*(block.text for block in self.blocks), self.closing])

    @property
    def map_text(self) -> MapText:
        """The text by file."""
        return MapText({block.path: block.text for block in self.blocks}, self.closing)

    def block(self, path: str) -> Block | None:
        """Return the block of a file, None for one that the map does not show."""
        return self._by_path.get(path)

    def level_of(self, path: str) -> int:
        """Return the highest level that any part of a file is shown at, 0 for a file that is not shown."""
        block = self._by_path.get(path)
        return 0 if block is None else block.level

    def shows(self, path: str, lines: LineRange) -> bool:
        """Say whether all of some lines of a file stand in the map."""
        block = self._by_path.get(path)
        return block is not None and block.shows(lines)

    @cached_property
    def _by_path(self) -> Mapping[str, Block]:
        return {block.path: block for block in self.blocks}


def draw_map(
    index: RepoIndex,
    plan: FlightPlan,
    *,
    strict: bool = False,
    show_costs: bool = False,
    line_numbers: bool = False,
    encoding: TokenEncoding = DEFAULT_ENCODING,
    wishes: FlightPlan | None = None,
) -> RepoMap:
    """Draw the most useful map that fits the plan's budget.

    Notes tell what names nothing in the tree: of ``wishes``, the part of the plan that somebody wrote, by
    default of all of it.

    Raises FlightPlanError for a bad glob or query, and BudgetError when not even one line fits or, with
    ``strict``, when what the plan's rules ask for does not fit whole.
    """
    selection = select(index, plan)
    ranks = rank(index, plan.focus)
    prices = index.derived(_prices, encoding).of_file if show_costs else None
    book = RenderCache(index, Style(encoding, line_numbers, show_costs), prices)
    leftovers = OmittedSummary(index, selection.levels > 0, plan.budget, encoding)
    if strict:
        refuse_overflow(index, plan, selection, book)
    steps = list_steps(index, selection, ranks)
    fitted = fit(
        steps, selection, plan.budget, lambda *part: book.draw(*part).counts, leftovers.counts_without
    )
    memo_of(index, encoding).save()
    notes = find_unmatched(index, wishes or plan)
    return _assemble(_DrawingTask(index, plan, selection, ranks, notes), book, leftovers, fitted)


def _prices(index: RepoIndex, encoding: TokenEncoding) -> CostManifest:
    """Return the prices that ``repo-map costs`` gives too."""
    return price_index(index, encoding=encoding)


@dataclass(frozen=True, slots=True)
class _DrawingTask:
    """What is to be drawn, before the budget."""

    index: RepoIndex
    plan: FlightPlan
    selection: Selection
    ranks: NDArray[np.float64]
    notes: tuple[str, ...]


def _assemble(wish: _DrawingTask, book: RenderCache, leftovers: OmittedSummary, fitted: Fitted) -> RepoMap:
    index, plan, selection, ranks = wish.index, wish.plan, wish.selection, wish.ranks
    order = sorted(fitted.shapes, key=lambda i: (-selection.weights[i], -ranks[i], i))
    rendered_files = [book.draw(file_id, fitted.shapes[file_id]) for file_id in order]
    rest = leftovers.line_without(order)
    rest_counts = leftovers.counts_without(order)
    total = max(a + b for a, b in zip(fitted.counts, rest_counts, strict=True))
    if total > plan.budget:
        unit = "token" if plan.budget == 1 else "tokens"
        raise BudgetError(
            f"A budget of {plan.budget:,} {unit} can't hold even the line that counts the files; "
            f"give it at least {total:,}."
        )
    paths = index.paths
    cuts, cut_files = find_cuts(index, selection, ranks, fitted.shapes)
    return RepoMap(
        blocks=tuple(
            Block(paths[file_id], fitted.shapes[file_id], max(rendered.counts), rendered.text, rendered.shown)
            for file_id, rendered in zip(order, rendered_files, strict=True)
        ),
        closing=rest,
        tokens=total,
        budget=plan.budget,
        cuts=cuts,
        cut_files=cut_files,
        left_out=leftovers.number_without(order),
        excluded=int((selection.levels == 0).sum()),
        fingerprint=index.fingerprint,
        notes=(
            *(() if paths else (_NO_FILES,)),
            *wish.notes,
            *filter(None, [secrets_note(index, [i for i in order if fitted.shapes[i].highest > 1])]),
        ),
    )
