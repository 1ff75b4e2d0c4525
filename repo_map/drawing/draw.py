"""Draws the most useful map of a repository that fits a plan's budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from repo_map.drawing.cuts import Cut, find_cuts
from repo_map.drawing.fitting import Fitted, fit
from repo_map.drawing.leftovers import Leftovers
from repo_map.drawing.secrets import secrets_note
from repo_map.drawing.sketches import Sketchbook, Style
from repo_map.drawing.steps import list_steps
from repo_map.drawing.strictness import refuse_overflow
from repo_map.errors import BudgetError
from repo_map.pricing.token_memo import memo_of
from repo_map.ranking import rank
from repo_map.selection.misses import misses
from repo_map.selection.select import Selection, select
from repo_map.tokens import DEFAULT_ENCODING, TokenEncoding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from repo_map.flight_plan import FlightPlan
    from repo_map.index import RepoIndex


_NO_FILES = "The folder holds no file to map; check the path, and what its ignore rules leave out."


class MapFile(NamedTuple):
    """A file of a map."""

    path: str
    level: int
    """The highest level that any part of it is shown at."""
    tokens: int


@dataclass(frozen=True, slots=True)
class RepoMap:
    """A drawn map, and what its reader should know of it."""

    text: str
    tokens: int
    """Exact, by the larger count of the encoding's vocabularies; never more than ``budget``."""
    budget: int
    files: tuple[MapFile, ...]
    """In map order."""
    cuts: tuple[Cut, ...]
    """What was cut, the most valuable first; what rules ask for comes before the rest."""
    cut_files: int
    left_out: int
    """Files that are not in the map for want of budget; the map's last line says where they are."""
    excluded: int
    """Files that the plan puts at level 0."""
    fingerprint: str
    notes: tuple[str, ...] = ()
    """What of the plan had no effect, and what is masked, in sentences."""


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
    book = Sketchbook(index, Style(encoding, line_numbers, show_costs))
    leftovers = Leftovers(index, selection.levels > 0, plan.budget, encoding)
    if strict:
        refuse_overflow(index, plan, selection, book)
    steps = list_steps(index, selection, ranks)
    fitted = fit(
        steps, selection, plan.budget, lambda *part: book.draw(*part).counts, leftovers.counts_without
    )
    memo_of(index, encoding).save()
    notes = misses(index, wishes or plan)
    return _assemble(_Wish(index, plan, selection, ranks, notes), book, leftovers, fitted)


@dataclass(frozen=True, slots=True)
class _Wish:
    """What is to be drawn, before the budget."""

    index: RepoIndex
    plan: FlightPlan
    selection: Selection
    ranks: NDArray[np.float64]
    notes: tuple[str, ...]


def _assemble(wish: _Wish, book: Sketchbook, leftovers: Leftovers, fitted: Fitted) -> RepoMap:
    index, plan, selection, ranks = wish.index, wish.plan, wish.selection, wish.ranks
    order = sorted(fitted.shapes, key=lambda i: (-selection.weights[i], -ranks[i], i))
    sketches = [book.draw(file_id, fitted.shapes[file_id]) for file_id in order]
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
        text="".join([*(sketch.text for sketch in sketches), rest]),
        tokens=total,
        budget=plan.budget,
        files=tuple(
            MapFile(paths[file_id], fitted.shapes[file_id].highest, max(sketch.counts))
            for file_id, sketch in zip(order, sketches, strict=True)
        ),
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
