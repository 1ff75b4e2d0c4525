"""From index and plan to the most useful map that fits the plan's budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from repo_map.errors import BudgetError
from repo_map.graph.pagerank import rank
from repo_map.messages import plural
from repo_map.outline.blocks import Block, MapText
from repo_map.outline.costs import CostManifest, file_level_costs, price_index
from repo_map.outline.cuts import Cut, find_cuts
from repo_map.outline.fitting import Fitted, fit, list_steps
from repo_map.outline.lint import find_unmatched
from repo_map.outline.omitted import OmittedSummary
from repo_map.outline.render_cache import RenderCache, Style, memo_of
from repo_map.outline.sections import Shape
from repo_map.outline.select import Selection, select
from repo_map.text.tokens import DEFAULT_ENCODING, TokenEncoding

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.parsing.values import LineRange
    from repo_map.plan.model import FlightPlan


_HOPELESS = 1.5
"""Estimates this far above the budget are refused without drawing; they are never that far off."""
_MOST_LARGEST = 5


def refuse_overflow(index: Index, plan: FlightPlan, selection: Selection, cache: RenderCache) -> None:
    """Raise BudgetError when what the rules name does not fit whole; other files may still step down."""
    named = np.flatnonzero(selection.explicit & (selection.levels > 0)).tolist()
    named = sorted({*named, *selection.shapes})
    costs = file_level_costs(index)
    needed = {i: float(costs[i, selection.levels[i]]) for i in named if i not in selection.shapes}
    if sum(needed.values()) <= plan.budget * _HOPELESS:
        shapes = {i: selection.shapes.get(i) or _whole(selection, i) for i in named}
        needed = {i: max(cache.draw(i, shape).counts) for i, shape in shapes.items()}
    total = round(sum(needed.values()))
    if total <= plan.budget:
        return
    largest = sorted(needed, key=lambda i: (-needed[i], i))[:_MOST_LARGEST]
    named_costs = ", ".join(f"`{index.paths[i]}` {round(needed[i]):,}" for i in largest)
    raise BudgetError(
        f"The plan's rules need {total:,} tokens and its budget is {plan.budget:,}; lower the level of what "
        f"is largest ({named_costs}), raise the budget, or draw without strict."
    )


def _whole(selection: Selection, file_id: int) -> Shape:
    """Return what a file without sections is to look like."""
    return Shape(int(selection.levels[file_id]), why=selection.reasons.get(file_id, ""))


_MOST_NAMED = 3


def secrets_note(index: Index, file_ids: Sequence[int]) -> str:
    """Count the secrets in files that a map shows by more than their path; ``""`` where there are none."""
    found = {file_id: index.sources.secrets(file_id) for file_id in file_ids}
    holding = sorted(index.paths[file_id] for file_id, kinds in found.items() if kinds)
    if not holding:
        return ""
    kinds = Counter(kind for each in found.values() for kind in each)
    number = kinds.total()
    named = ", ".join(f"`{path}`" for path in holding[:_MOST_NAMED])
    more = f" and {len(holding) - _MOST_NAMED} more" if len(holding) > _MOST_NAMED else ""
    what = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return (
        f"{plural(number, 'secret')} masked in {named}{more} ({what}); "
        "REPO_NAVIGATOR_UNMASK names files to show as they are."
    )


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
        """The whole map: the legend, its blocks, then the closing line."""
        return self.map_text.text

    @cached_property
    def map_text(self) -> MapText:
        """The text by file."""
        return MapText.of_blocks(self.blocks, self.closing)

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
    index: Index,
    plan: FlightPlan,
    *,
    strict: bool = False,
    show_costs: bool = False,
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
    prices = index.memo(_prices, encoding).of_file if show_costs else None
    cache = RenderCache(index, Style(encoding, bool(plan.line_numbers), show_costs), prices)
    omitted = OmittedSummary(index, selection.levels > 0, plan.budget, encoding)
    if strict:
        refuse_overflow(index, plan, selection, cache)
    steps = list_steps(index, selection, ranks)
    count = memo_of(index, encoding).counts
    fitted = fit(steps, selection, plan.budget, cache.draw, omitted.counts_without, count=count)
    memo_of(index, encoding).save()
    notes = find_unmatched(index, wishes or plan)
    return _assemble(_DrawingTask(index, plan, selection, ranks, notes), cache, omitted, fitted)


def _prices(index: Index, encoding: TokenEncoding) -> CostManifest:
    """Return the prices that ``repo-map costs`` gives too."""
    return price_index(index, encoding)


@dataclass(frozen=True, slots=True)
class _DrawingTask:
    """What is to be drawn, before the budget."""

    index: Index
    plan: FlightPlan
    selection: Selection
    ranks: NDArray[np.float64]
    """Shape (files,)."""
    notes: tuple[str, ...]


def _assemble(task: _DrawingTask, cache: RenderCache, omitted: OmittedSummary, fitted: Fitted) -> RepoMap:
    index, plan, selection, ranks = task.index, task.plan, task.selection, task.ranks
    order = sorted(fitted.shapes, key=lambda i: (-selection.weights[i], -ranks[i], i))
    rendered_files = [cache.draw(file_id, fitted.shapes[file_id]) for file_id in order]
    closing_counts = omitted.counts_without(order)
    total = max(a + b for a, b in zip(fitted.counts, closing_counts, strict=True))
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
        closing=omitted.line_without(order),
        tokens=total,
        budget=plan.budget,
        cuts=cuts,
        cut_files=cut_files,
        left_out=omitted.number_without(order),
        excluded=int((selection.levels == 0).sum()),
        fingerprint=index.fingerprint,
        notes=(
            *(() if paths else (_NO_FILES,)),
            *task.notes,
            *filter(None, [secrets_note(index, [i for i in order if fitted.shapes[i].highest > 1])]),
        ),
    )
