"""Pack what a goal needs into a budget of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from repo_map import globs
from repo_map.flight_plan import FlightPlan, Focus, PathBoost, VerbosityRule
from repo_map.packing.draft import Draft
from repo_map.packing.pieces import Piece, PieceReader
from repo_map.packing.shares import Shares
from repo_map.relevance.scoring import Relevance
from repo_map.sketches import Sketchbook, Style
from repo_map.tokens import DEFAULT_ENCODING

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

_CONSIDERED = 400
"""Units that compete for the budget."""


def pack(
    index: RepoIndex, relevance: Relevance, budget: int, *, base: FlightPlan | None = None
) -> FlightPlan:
    """Return the plan that shows the most relevant code in ``budget`` tokens.

    The plan is an ordinary one: it names files, symbols and lines, and draws the same map without the goal.
    """
    shares = Shares.of(budget)
    reader = PieceReader(index, relevance)
    pieces = _ranked_pieces(reader, relevance, shares)
    book = Sketchbook(index, Style(DEFAULT_ENCODING))
    draft = Draft(reader, book, [file.path for file in relevance.files], budget)
    draft.list_paths(shares.paths)
    rest = draft.fill(pieces, budget - shares.outline)
    draft.outline(rest, budget)
    draft.settle(rest)
    return _plan(draft, budget)


def _ranked_pieces(reader: PieceReader, relevance: Relevance, shares: Shares) -> list[Piece]:
    """Return the pieces of the best units, worthiest first."""
    units = relevance.units[:_CONSIDERED]
    pieces = [piece for unit in units for piece in reader.pieces(unit, shares.longest, shares.windows)]
    return sorted(pieces, key=lambda piece: (-piece.worth, piece.path, piece.first))


def _plan(draft: Draft, budget: int) -> FlightPlan:
    paths = draft.paths
    boosts = tuple(
        PathBoost(pattern=globs.escape(path), weight=float(len(paths) - place))
        for place, path in enumerate(paths)
    )
    rules = (VerbosityRule(pattern="**", level=0), *(draft.rule(path) for path in paths))
    return FlightPlan(
        budget=budget,
        focus=Focus(paths=boosts) if boosts else None,
        verbosity=rules if paths else (),
    )
