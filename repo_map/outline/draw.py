"""From index and plan to the most useful map that fits the plan's budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from repo_map.errors import BudgetError
from repo_map.graph.pagerank import rank
from repo_map.messages import plural
from repo_map.outline.blocks import Block, MapText
from repo_map.outline.costs import file_level_costs, price_index
from repo_map.outline.fitting import Cut, find_cuts, fit, list_steps
from repo_map.outline.lint import find_unmatched
from repo_map.outline.render_cache import RenderCache
from repo_map.outline.rendering import render_closing, render_path
from repo_map.outline.sections import Shape
from repo_map.outline.select import Selection, select
from repo_map.text import tokens

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.parsing.values import LineRange
    from repo_map.plan.model import FlightPlan

_HOPELESS = 1.5
"""Estimates this far above the budget are refused without drawing; they are never that far off."""
_MOST_LARGEST = 5
_MOST_SECRETS = 3
"""Files with secrets that a note names."""
_MOST_FOLDERS = 5
_LEAST_BUDGET_FOR_FOLDERS = 200
_NO_FILES = "The folder holds no file to map; check the path, and what its ignore rules leave out."


@dataclass(frozen=True)
class RepoMap:
    """A drawn map, and what its reader should know of it."""

    blocks: tuple[Block, ...]
    """What is shown of each file, in map order."""
    closing: str
    """The line about the files that are left out, with its line break; ``""`` where there are none."""
    tokens: int
    """Of ``text``; exact, by the larger count of the vocabularies; never more than ``budget``."""
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

    def shows(self, path: str, lines: LineRange) -> bool:
        """Say whether all of some lines of a file stand in the map."""
        block = self.block(path)
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
    prices = index.memo(price_index).of_file if show_costs else None
    render_cache = RenderCache(index, line_numbers=bool(plan.line_numbers), prices=prices)
    if strict:
        _require_fit(index, plan, selection, render_cache)
    omitted = _Omitted(index, selection, plan.budget)
    steps = list_steps(index, selection, ranks)
    shapes, counts = fit(steps, selection, plan.budget, render_cache.draw, omitted.counts_without)
    order = sorted(shapes, key=lambda i: (-selection.weights[i], -ranks[i], i))
    closing = omitted.line_without(order)
    total = max(map(sum, zip(counts, tokens.counts(closing), strict=True)))
    if total > plan.budget:
        raise BudgetError(
            f"A budget of {plural(plan.budget, 'token')} can't hold even the line that counts the files; "
            f"give it at least {total:,}."
        )
    rendered = [(file_id, shapes[file_id], render_cache.draw(file_id, shapes[file_id])) for file_id in order]
    cuts, cut_files = find_cuts(index, selection, ranks, steps, shapes)
    secrets = _secrets_note(index, [i for i in order if shapes[i].highest > 1])
    notes = ("" if index.paths else _NO_FILES, *find_unmatched(index, wishes or plan), secrets)
    return RepoMap(
        blocks=tuple(
            Block(index.paths[file_id], shape, max(each.counts), each.text, each.shown)
            for file_id, shape, each in rendered
        ),
        closing=closing,
        tokens=total,
        budget=plan.budget,
        cuts=cuts,
        cut_files=cut_files,
        left_out=int(omitted.without(order).sum()),
        excluded=int((selection.levels == 0).sum()),
        fingerprint=index.fingerprint,
        notes=tuple(filter(None, notes)),
    )


def _require_fit(index: Index, plan: FlightPlan, selection: Selection, cache: RenderCache) -> None:
    """Raise BudgetError when what the rules name does not fit whole; other files may still step down."""
    named = np.flatnonzero(selection.explicit & (selection.levels > 0)).tolist()
    shapes = {i: selection.shapes.get(i) or Shape(int(selection.levels[i])) for i in named}
    shapes |= selection.shapes
    costs = file_level_costs(index)
    needed = {i: float(costs[i, shape.level]) for i, shape in shapes.items() if i not in selection.shapes}
    if sum(needed.values()) <= plan.budget * _HOPELESS:
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


def _secrets_note(index: Index, file_ids: Sequence[int]) -> str:
    """Count the secrets in files that a map shows by more than their path; ``""`` where there are none."""
    found = {index.paths[file_id]: index.sources.secrets(file_id) for file_id in file_ids}
    holding = sorted(path for path, kinds in found.items() if kinds)
    if not holding:
        return ""
    kinds = Counter(kind for each in found.values() for kind in each)
    named = ", ".join(f"`{path}`" for path in holding[:_MOST_SECRETS])
    more = f" and {len(holding) - _MOST_SECRETS} more" if len(holding) > _MOST_SECRETS else ""
    what = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return (
        f"{plural(kinds.total(), 'secret')} masked in {named}{more} ({what}); "
        "REPO_NAVIGATOR_UNMASK names files to show as they are."
    )


class _Omitted:
    """The files that a map does not show of those that its plan lets in."""

    def __init__(self, index: Index, selection: Selection, budget: int) -> None:
        self._let_in = selection.levels > 0
        self._names_folders = budget >= _LEAST_BUDGET_FOR_FOLDERS
        self._names, self._folder = index.memo(_top_folders)
        self._counts = cache(tokens.counts)

    def without(self, shown: Sequence[int]) -> NDArray[np.bool_]:
        """Return which files a map that shows these leaves out, shape (files,)."""
        left = self._let_in.copy()
        left[shown] = False
        return left

    def line_without(self, shown: Sequence[int]) -> str:
        """Return the closing line of a map that shows these files; ``""`` when it shows all."""
        left = self.without(shown)
        number = int(left.sum())
        if not number or not self._names_folders:
            return render_closing(number) if number else ""
        counts = np.bincount(self._folder[left], minlength=len(self._names))
        order = np.lexsort((np.arange(len(counts)), -counts))[:_MOST_FOLDERS]
        places = [f"{counts[i]:,} {self._names[i]}" for i in order.tolist() if counts[i]]
        others = number - int(counts[order].sum())
        return render_closing(number, [*places, *([f"{others:,} elsewhere"] if others else [])])

    def counts_without(self, shown: Sequence[int]) -> tuple[int, ...]:
        """Return the tokens of that line by vocabulary."""
        return self._counts(self.line_without(shown))


def _top_folders(index: Index) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names of the folders of the first level, and each file's among them, shape (files,)."""
    folders = [path[: path.find("/") + 1] for path in index.paths]
    ids = {name: at for at, name in enumerate(dict.fromkeys(folders))}
    names = [f"under {render_path(name)}" if name else "at the top" for name in ids]
    return names, np.array([ids[name] for name in folders], dtype=np.int64)
