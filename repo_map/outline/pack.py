"""Scores to a plan that fits a budget."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from repo_map import globs
from repo_map.outline.beside import Neighbour, about, neighbours_of
from repo_map.outline.chances import with_read_chances
from repo_map.outline.costs import file_level_costs
from repo_map.outline.declarations import declarations_of
from repo_map.outline.draft import Base, Draft
from repo_map.outline.exclusions import with_exclusions_of, without_excluded
from repo_map.outline.pieces import CHARACTERS_PER_TOKEN, LENGTH_PRICE, Piece, PieceReader
from repo_map.outline.reaching_tests import tests_of
from repo_map.outline.render_cache import RenderCache, Style
from repo_map.outline.why import header_reason
from repo_map.outline.windows import SHARE_OF_LEFT, size_of
from repo_map.plan.model import FlightPlan, Focus, PathBoost, VerbosityRule
from repo_map.ranking.score import Relevance, ScoredUnit
from repo_map.relations.model import Place
from repo_map.text.tokens import DEFAULT_ENCODING
from repo_map.text.units import FUNCTION, GAP

if TYPE_CHECKING:
    from repo_map.index.index import Index


_REFERENCE = 8_000
_LEAST_VALUE = 0.0025
"""Of a piece that is shown unasked: its chance to be part of the goal's work, by the root of its tokens."""
_SMALL = 2_500
"""Tokens of code below which an outline tells what is likely, and only what is nearly certain is shown:"""
_LONGEST_OF_SMALL = 0.95
"""The share of it that one piece may take whole: the surest function is worth more than its neighbours;"""
_LEAST_CHANCE = 1e-6
_CERTAIN = 0.5
"""Chance from which lines between definitions are shown in a small answer."""
_NEARLY_CERTAIN = 0.03
"""the chance of such a piece; below"""
_FEW = 700
"""tokens of code,"""
_MORE_CERTAIN = 0.1
"""this: what is less likely brings no edited function, and takes the room of lines that do,"""
_SMALL_LENGTH_PRICE = 0.15
"""and what length costs there: the rest of the code is as near as its number."""
_IMPORTS = 60
"""Tokens of what shown code imports from elsewhere, in a small answer: an edit has to know what is there."""
_DECLARATIONS = 100
"""Tokens of the short declarations that shown code uses, in a small answer;"""
_MOST_DECLARATIONS = 6
"""so many at most."""
_MOST_CUT = 80
"""Of the best units, how many are cut into windows where they are too long: of others, none is shown."""
_MOST_CUT_OF_SMALL = 4
_WINDOWS_OF_SMALL = 0.4
"""Share of a small answer's code that the windows of one function take."""
_LIKELY = 0.2
"""Chance from which on a function that does not fit is shown in windows before what is less likely;"""
_LEAST_OF_WINDOWS = 120
"""so many tokens of room at least, also for more of them at the end."""
_FIRST = 12
"""Pieces among which chosen definitions are looked for."""
_MOST_CHOSEN = 4
"""Of the definitions that the first pieces show, how many are asked for what stands beside them."""
_NEIGHBOUR = 0.5
"""What a piece is worth more that calls, is called by or overrides what stands before it."""
_SHARE_OF_TESTS = 0.1
_ENOUGH_FOR_TESTS = 4_000
"""Tokens from which on tests get their share; below, the menu names them: a part of a test says little."""
_MOST_TESTS = 12
"""Tests and fixtures that are looked at."""
_LEAST_TOKENS = 1_000
"""Shown of the best pieces, whatever they are worth: a packet should hold something to go on from."""


class Shares(NamedTuple):
    """Sizes that grow with the budget, more slowly than it; measured at 2k to 32k tokens."""

    longest: int
    """Tokens up to which a function is shown whole."""
    windows: int
    """Tokens for the parts of a longer function."""
    units: int
    """Units that compete for the budget."""

    @classmethod
    def of(cls, budget: int) -> Shares:
        scale = budget / _REFERENCE
        return cls(
            longest=max(round(0.8 * budget), 300),
            windows=round(700 * scale**0.6),
            units=max(300, budget // 20),
        )


def pack(
    index: Index,
    relevance: Relevance,
    budget: int,
    *,
    base: FlightPlan | None = None,
    fill: bool = True,
    most: int | None = None,
    most_alone: int | None = None,
) -> FlightPlan:
    """Return the plan that shows the most relevant code in at most ``budget`` tokens.

    Unless it shall ``fill`` the budget, it ends where more is not worth its tokens. It shows ``most`` tokens
    of code at most, a part alone ``most_alone``; where these are few, what is nearly certain, and nothing
    where nothing is. The plan is
    an ordinary one: it names files, symbols and lines, and draws the same map without the goal. What ``base``
    asks for holds, rules that show every file aside, and what it leaves out stays out. Where nothing is
    relevant the plan is ``base``: an overview, or all of a repository that fits into the budget.
    """
    wishes = Base(index, base)
    relevance = _weighted(without_excluded(index, relevance, wishes.plan), wishes)
    if not relevance.files:
        is_free = not (wishes.rules or index.build.partial_files) and wishes.others is None
        whole = (VerbosityRule(pattern="**", level=4),) if is_free and _fits_whole(index, budget) else ()
        rules = (*wishes.plan.verbosity, *whole)
        # What the goal does not lead to is an overview at best: it takes little unless all is to be filled.
        is_overview = is_free and not whole and not fill
        room = min(budget, _LEAST_TOKENS if most is None else most) if is_overview else budget
        return wishes.plan.model_copy(update={"budget": room, "verbosity": rules})
    size = budget if most is None else min(budget, max(most, most_alone or 0))
    usual = size if most is None else min(size, most)
    shares = Shares.of(size)
    is_small = most is not None and size < _SMALL
    if is_small:
        shares = shares._replace(
            longest=round(_LONGEST_OF_SMALL * size), windows=round(_WINDOWS_OF_SMALL * size)
        )
    price = _SMALL_LENGTH_PRICE if is_small else LENGTH_PRICE
    reader = PieceReader(index, relevance, price, is_bare=is_small)
    # What the base shows anyway takes half of the budget at most: it steps down before the packing does.
    book = RenderCache(index, Style(DEFAULT_ENCODING, bool(wishes.plan.line_numbers)))
    captured = wishes.captured()
    asked = wishes.price() + sum(max(book.draw(*shown).counts) for shown in captured.items())
    room = max(size, min(asked, budget // 2)) - min(asked, budget // 2)
    draft = Draft(reader, book, wishes, room, fills=fill)
    draft.list_paths(wishes.files())
    if wishes.rules:
        draft.measure()
    if is_small:
        relevance = _by_chance(relevance)
    # The outline of a small answer says why.
    tells = not (fill or is_small)
    pieces = _ranked_pieces(
        reader, relevance, shares, _MOST_CUT_OF_SMALL if is_small else _MOST_CUT, tells=tells
    )
    chosen = _chosen(reader, pieces)
    bonus = 0.0 if is_small else _NEIGHBOUR
    ranked = _with_neighbours(reader, pieces, chosen, bonus, tells=tells)
    reserve = round(_SHARE_OF_TESTS * room) if room >= _ENOUGH_FOR_TESTS else 0
    rest: list[Piece] = []
    if fill:
        rest = draft.fill(ranked, room - reserve)
    elif is_small:
        _fill_small(draft, reader, relevance, ranked, usual)
    else:
        # What the plan asks for is counted twice until the draft settles: it must not crowd out the rest.
        rest = draft.fill([piece for piece in ranked if _is_worth_it(piece, None)], room - reserve)
        draft.fill(ranked, min(_LEAST_TOKENS, room - reserve))
        if draft.spent < _ENOUGH_FOR_TESTS:
            reserve = 0
    if reserve:
        draft.take_first(_tests(reader, chosen, tells=not fill), reserve)
    draft.settle(rest)
    plan = _plan(draft, relevance, wishes, budget, [index.paths[file_id] for file_id in captured])
    return with_exclusions_of(index, plan, wishes.plan)


def _fill_small(
    draft: Draft, reader: PieceReader, relevance: Relevance, ranked: Sequence[Piece], usual: int
) -> None:
    """Take what is nearly certain, more of the surest that did not fit, and what all these use."""
    for piece in (piece for piece in ranked if _is_worth_it(piece, usual)):
        draft.fill_exactly([piece], usual)
        if piece.unit.chance >= _LIKELY and _shown_whole(reader, piece):
            _fill_with_windows(draft, reader, piece.unit, usual)
    functions = [unit for unit in relevance.units if unit.kind == FUNCTION and unit.chance >= _MORE_CERTAIN]
    for unit in functions[:_MOST_CUT_OF_SMALL]:
        _fill_with_windows(draft, reader, unit, usual)
    draft.fill_exactly(list(_imports(draft, reader)), min(usual, draft.spent + _IMPORTS))
    shown = [place for piece in draft.taken if (place := _shown_whole(reader, piece)) is not None]
    room = min(usual, draft.spent + _DECLARATIONS)
    draft.fill_exactly(list(islice(declarations_of(reader, shown), _MOST_DECLARATIONS)), room)


def _imports(draft: Draft, reader: PieceReader) -> Iterator[Piece]:
    """Yield the imports that shown code uses and that come from outside of the repository."""
    for path in draft.paths:
        file, taken = reader.file(path), [piece for piece in draft.taken if piece.path == path]
        shown = [(piece.first, piece.last) for piece in taken]
        known = file.imports_of(shown)
        for first, last in file.imports_of([*shown, *known], from_outside=True):
            yield Piece(ScoredUnit(path, first, last, "", GAP, 0.0, ()), first, last, 0.0)


def _fill_with_windows(draft: Draft, reader: PieceReader, unit: ScoredUnit, usual: int) -> None:
    """Show more of a unit that is not shown whole, as far as the room goes."""
    taken = [piece for piece in draft.taken if piece.unit is unit]
    left = usual - draft.spent
    if left < _LEAST_OF_WINDOWS or any(_shown_whole(reader, piece) for piece in taken):
        return
    known = sum(size_of(reader.file(each.path).lines, each.first, each.last) for each in taken)
    room = known // CHARACTERS_PER_TOKEN + round(SHARE_OF_LEFT * left)
    draft.fill_exactly(list(reader.windows(unit, room)), usual)


def _shown_whole(reader: PieceReader, piece: Piece) -> Place | None:
    """Return the definition that a piece shows from its first line to its last."""
    place = reader.place(piece.unit)
    if place is None or piece.last < piece.unit.end:
        return None
    return place if piece.first <= reader.index.definitions(place[0])[place[1]].start else None


def _fits_whole(index: Index, budget: int) -> bool:
    return bool(index.paths) and int(file_level_costs(index)[:, 4].sum()) <= budget


def _weighted(relevance: Relevance, wishes: Base) -> Relevance:
    """Return the scores with the plan's boosts in them."""
    if not wishes.rules and not wishes.plan.focus:
        return relevance
    weights = {file.path: wishes.weight(file.path) for file in relevance.files}
    units = [
        _boosted(unit, wishes.weight(unit.path, unit.name))
        for unit in relevance.units
        if not wishes.settles(unit.path)
    ]
    return relevance._replace(
        files=tuple(sorted(relevance.files, key=lambda file: -file.score * weights[file.path])),
        units=tuple(sorted(units, key=lambda unit: -unit.score)),
    )


def _boosted(unit: ScoredUnit, weight: float) -> ScoredUnit:
    return unit._replace(score=unit.score + math.log(weight), chance=min(unit.chance * weight, 1.0))


def _is_worth_it(piece: Piece, size: int | None) -> bool:
    """Say whether a piece is worth its tokens unasked, in a small answer of ``size`` tokens of code."""
    if size is not None:
        # Lines between definitions are shown where a change is in them, and seldom else.
        least = _MORE_CERTAIN if size < _FEW else _NEARLY_CERTAIN
        return piece.unit.chance >= (_CERTAIN if piece.unit.kind == GAP else least)
    return piece.value >= _LEAST_VALUE


def _ranked_pieces(
    reader: PieceReader, relevance: Relevance, shares: Shares, most_cut: int, *, tells: bool
) -> list[Piece]:
    """Return the pieces of the best units, worthiest first; of the first ``most_cut`` units also windows."""
    units = relevance.units[: shares.units]
    pieces = [
        piece._replace(why=header_reason(unit.reasons)) if tells else piece
        for place, unit in enumerate(units)
        for piece in reader.pieces(unit, shares.longest, shares.windows if place < most_cut else 0)
    ]
    return sorted(pieces, key=lambda piece: (-piece.worth, piece.path, piece.first))


def _chosen(reader: PieceReader, pieces: Sequence[Piece]) -> list[Place]:
    """Return the definitions in code that the first pieces show."""
    places = (
        reader.place(piece.unit)
        for piece in pieces[:_FIRST]
        if piece.unit.kind == FUNCTION and not reader.file(piece.path).aside
    )
    return list(dict.fromkeys(filter(None, places)))[:_MOST_CHOSEN]


def _by_chance(relevance: Relevance) -> Relevance:
    """Return the scores with each unit's chance as its score: a small answer holds what is surest."""
    read = with_read_chances(relevance).units
    units = (unit._replace(score=math.log(max(unit.chance, _LEAST_CHANCE))) for unit in read)
    return relevance._replace(units=tuple(sorted(units, key=lambda unit: -unit.score)))


def _with_neighbours(
    reader: PieceReader,
    pieces: Sequence[Piece],
    chosen: Sequence[Place],
    bonus: float,
    *,
    tells: bool,
) -> list[Piece]:
    """Return the pieces, worth a ``bonus`` more where their definitions stand beside the chosen ones."""
    index, beside = reader.index, dict[Place, Neighbour]()
    for each in neighbours_of(index, chosen):
        beside.setdefault(each.place, each)
    files = {index.paths[file] for file, _ in beside}
    raised: list[Piece] = []
    for piece in pieces:
        place = reader.place(piece.unit) if piece.path in files else None
        if place is None or (neighbour := beside.get(place)) is None:
            raised.append(piece)
            continue
        why = neighbour.header(index, chosen[neighbour.seed]) if tells else ""
        raised.append(piece._replace(worth=piece.worth + bonus, why=why))
    return sorted(raised, key=lambda piece: (-piece.worth, piece.path, piece.first))


def _tests(reader: PieceReader, chosen: Sequence[Place], *, tells: bool) -> list[Piece]:
    """Return the tests of the chosen definitions, each whole."""
    found: list[Piece] = []
    for part in islice(tests_of(reader, chosen), _MOST_TESTS):
        unit = ScoredUnit(part.path, part.first, part.last, "", GAP, 0.0, ())
        is_told = tells and not part.is_fixture
        why = about(reader.index, "tests", part.tested) if is_told and part.tested else ""
        found.append(Piece(unit, part.first, part.last, 0.0, why=why))
    return found


def _plan(
    draft: Draft, relevance: Relevance, wishes: Base, budget: int, captured: Sequence[str]
) -> FlightPlan:
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
                VerbosityRule(pattern="**", level=draft.others if wishes.others is None else wishes.others),
                *wishes.captured_rules([path for path in captured if path not in paths]),
                *wishes.general_rules(paths),
                *(draft.rule(path) for path in paths),
            ),
        }
    )
