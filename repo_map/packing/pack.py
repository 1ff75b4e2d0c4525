"""Pack what a goal needs into a budget of tokens."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from repo_map import globs
from repo_map.drawing.sketches import Sketchbook, Style
from repo_map.flight_plan import FlightPlan, Focus, PathBoost, VerbosityRule
from repo_map.packing.base import Base
from repo_map.packing.draft import Draft
from repo_map.packing.pieces import Piece, PieceReader
from repo_map.packing.shares import Shares
from repo_map.pricing.estimates import file_level_costs
from repo_map.relevance.scoring import Relevance
from repo_map.tokens import DEFAULT_ENCODING

if TYPE_CHECKING:
    from repo_map.index import RepoIndex


def pack(
    index: RepoIndex, relevance: Relevance, budget: int, *, base: FlightPlan | None = None
) -> FlightPlan:
    """Return the plan that shows the most relevant code in ``budget`` tokens.

    The plan is an ordinary one: it names files, symbols and lines, and draws the same map without the goal.
    What ``base`` asks for holds, rules for every file aside, and its exclusions are kept. Where nothing is
    relevant the plan is ``base`` with the budget, and shows all of a repository that fits into it.
    """
    wishes = Base(base)
    relevance = _weighted(relevance, wishes)
    if not relevance.files:
        whole = (
            () if wishes.rules or not _fits_whole(index, budget) else (VerbosityRule(pattern="**", level=4),)
        )
        rules = (*wishes.plan.verbosity, *whole)
        return wishes.plan.model_copy(update={"budget": budget, "verbosity": rules})
    shares = Shares.of(budget)
    reader = PieceReader(index, relevance)
    # What the base shows anyway takes half of the budget at most: it steps down before the packing does.
    room = budget - min(wishes.price(index), budget // 2)
    draft = Draft(reader, Sketchbook(index, Style(DEFAULT_ENCODING)), wishes, room)
    draft.list_paths([*wishes.files(index), *(file.path for file in relevance.files[: shares.paths])])
    if wishes.rules:
        draft.measure()
    rest = draft.fill(_ranked_pieces(reader, relevance, shares), room - shares.outline)
    draft.outline(rest, room)
    draft.settle(rest)
    return _plan(draft, relevance, wishes, budget)


def _fits_whole(index: RepoIndex, budget: int) -> bool:
    return bool(index.paths) and int(file_level_costs(index)[:, 4].sum()) <= budget


def _weighted(relevance: Relevance, wishes: Base) -> Relevance:
    """Return the scores with the plan's boosts in them, and without what the plan excludes."""
    if not wishes.rules and not wishes.plan.focus:
        return relevance
    weights = {file.path: wishes.weight(file.path) for file in relevance.files}
    files = [file for file in relevance.files if not wishes.excludes(file.path)]
    units = [
        unit._replace(score=unit.score + math.log(wishes.weight(unit.path, unit.name)))
        for unit in relevance.units
        if not wishes.excludes(unit.path) and not wishes.settles(unit.path)
    ]
    return relevance._replace(
        files=tuple(sorted(files, key=lambda file: -file.score * weights[file.path])),
        units=tuple(sorted(units, key=lambda unit: -unit.score)),
    )


def _ranked_pieces(reader: PieceReader, relevance: Relevance, shares: Shares) -> list[Piece]:
    """Return the pieces of the best units, worthiest first."""
    units = relevance.units[: shares.units]
    pieces = [piece for unit in units for piece in reader.pieces(unit, shares.longest, shares.windows)]
    return sorted(pieces, key=lambda piece: (-piece.worth, piece.path, piece.first))


def _plan(draft: Draft, relevance: Relevance, wishes: Base, budget: int) -> FlightPlan:
    rank = {file.path: place for place, file in enumerate(relevance.files)}
    paths = sorted(draft.paths, key=lambda path: (rank.get(path, len(rank)), path))
    boosts = tuple(
        PathBoost(pattern=globs.escape(path), weight=float(len(paths) - place + 1))
        for place, path in enumerate(paths)
    )
    own = {boost.pattern for boost in boosts}
    focus = wishes.plan.focus or Focus()
    others = tuple(boost for boost in focus.paths if boost.pattern not in own)
    return wishes.plan.model_copy(
        update={
            "budget": budget,
            "focus": Focus(paths=(*boosts, *others), symbols=focus.symbols),
            "verbosity": (
                VerbosityRule(pattern="**", level=draft.others),
                *wishes.general_rules(paths),
                *(draft.rule(path) for path in paths),
            ),
        }
    )
