"""The menu: places that a packet does not show, by number, for whoever reads it to choose from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from navigator.records.reports import MenuPlace
from navigator.settings import DEFAULT_MENU_PLACES
from navigator.steps.candidates import Prices
from navigator.steps.related_definitions import Beside, beside_of
from repo_map.languages.kinds import FUNCTIONS
from repo_map.messages import one_line
from repo_map.packing.why import brief_reason
from repo_map.parsing.values import LineRange
from repo_map.selection.exclusions import excluded_by
from repo_map.text.units import CLASS_HEADER, FUNCTION, GAP

if TYPE_CHECKING:
    from repo_map.drawing.draw import RepoMap
    from repo_map.index import RepoIndex
    from repo_map.plan.model import FlightPlan
    from repo_map.relevance.score import Relevance, ScoredUnit


_BESIDE_SHARE = 4
"""One place in so many is kept for what stands beside shown code by resolved relations."""
_FILES_SHARE = 6
"""Likewise at most, for files of text that shown code names."""
_SMALL_CLASS = 300
"""Tokens up to which a class is offered instead of its members."""
_WHOLE_FILE = "whole file"
_MOST_UNITS = 120
"""Units that are looked through for them: those beyond are seldom right."""
_MOST_LOOKED_AT = 240
"""Units among which they are."""
_LONGEST_HEAD = 48
"""Characters of a name with the telling part of its signature."""
_SELF = re.compile(r"\( ?(?:self|cls|&(?:'\w+ )?(?:mut )?self|mut self)(?:, |(?= ?\)))")


def menu_of(
    index: RepoIndex,
    relevance: Relevance,
    drawn: RepoMap,
    own: FlightPlan | None = None,
    *,
    most: int = DEFAULT_MENU_PLACES,
) -> tuple[MenuPlace, ...]:
    """Return the ``most`` likely definitions that ``drawn`` does not show whole, numbered from 1.

    The likeliest come first by file, and within a file in its order. Some of the places are kept for what
    shown code calls, and what calls or overrides it, however little its words say. Copies of what is shown
    or listed are left out. Behind them come the templates, queries and other text that shown code names,
    unless ``own``, the user's part of the plan, leaves them out.
    """
    prices = Prices(index, drawn)
    shown = _shown(index, relevance, drawn)
    texts = _named_text(index, shown, prices, drawn, own, most=most // _FILES_SHARE)
    room = most - len(texts)
    beside = beside_of(index, shown, own)
    listing = _Listing(index, prices, drawn, shown, beside)
    whole = (_whole(index, unit) for unit in relevance.units[:_MOST_LOOKED_AT])
    units = [unit for unit in whole if unit is not None and unit.name][:_MOST_UNITS]
    kept = min(len(beside), most // _BESIDE_SHARE)
    ranked = iter(units)
    listing.fill(ranked, room - kept)
    listing.fill((each.unit for each in beside.values()), min(listing.count + kept, room))
    listing.fill(ranked, room)
    numbered = enumerate((*listing.places(), *texts), 1)
    return tuple(place.model_copy(update={"number": at}) for at, place in numbered)


class _Listing:
    """The definitions of a menu, each once, under the files that hold them."""

    def __init__(
        self,
        index: RepoIndex,
        prices: Prices,
        drawn: RepoMap,
        shown: Sequence[tuple[int, int, int]],
        beside: Mapping[tuple[str, str], Beside],
    ) -> None:
        self._index = index
        self._prices = prices
        self._drawn = drawn
        self._beside = beside
        self._texts = {_dense(index, *each) for each in shown}
        self._named: set[tuple[str, str]] = set()
        self._by_path: dict[str, list[MenuPlace]] = {}

    @property
    def count(self) -> int:
        """How many places there are."""
        return sum(map(len, self._by_path.values()))

    def places(self) -> Iterator[MenuPlace]:
        """Yield them by file in the order of their coming, and within a file in its order."""
        for found in self._by_path.values():
            yield from sorted(found, key=lambda each: each.first)

    def fill(self, units: Iterator[ScoredUnit], most: int) -> None:
        """Add units that are not there yet until there are ``most`` places."""
        while self.count < most and (unit := next(units, None)) is not None:
            self._add(unit)

    def _add(self, unit: ScoredUnit) -> None:
        index, file_id, block = self._index, self._index.file_id(unit.path), self._drawn.block(unit.path)
        if file_id is None or (block is not None and block.shows(LineRange(unit.start, unit.end))):
            return
        text = _dense(index, file_id, unit.start, unit.end)
        # A number asks for a name in a file: namesakes there come, and are paid for, together.
        price = self._prices.of_part(unit.path, file_id, unit.name).get(4)
        if text in self._texts or (unit.path, unit.name) in self._named or price is None:
            return
        self._texts.add(text)
        beside = self._beside.get((unit.path, unit.name))
        self._named.add((unit.path, unit.name))
        place = MenuPlace(
            number=0,
            path=unit.path,
            name=one_line(unit.name),
            first=unit.start,
            last=_end(index, file_id, unit) if price <= _SMALL_CLASS else unit.end,
            head=_head(index, file_id, unit),
            why=brief_reason(unit.reasons) or (beside.why if beside else ""),
            tokens=price,
        )
        self._put(place)

    def _put(self, place: MenuPlace) -> None:
        """Add a place; a small class stands for its members, which are asked for with it."""
        found = self._by_path.setdefault(place.path, [])
        if any(_stands_for(other, place) for other in found):
            return
        found[:] = [*(other for other in found if not _stands_for(place, other)), place]


def _end(index: RepoIndex, file_id: int, unit: ScoredUnit) -> int:
    """Return the last line of the definition that a unit is, or is the head of."""
    rows = enumerate(index.definitions(file_id))
    ends = (
        each.end
        for row, each in rows
        if unit.start <= each.sig_start <= unit.end and index.qualified_name(file_id, row) == unit.name
    )
    return max(next(ends, unit.end), unit.end)


def _stands_for(one: MenuPlace, other: MenuPlace) -> bool:
    """Say whether a place is small and holds another."""
    is_around = one.first <= other.first and other.last <= one.last and one.name != other.name
    return is_around and one.tokens <= _SMALL_CLASS


def _named_text(
    index: RepoIndex,
    shown: Sequence[tuple[int, int, int]],
    prices: Prices,
    drawn: RepoMap,
    own: FlightPlan | None,
    *,
    most: int,
) -> list[MenuPlace]:
    """Return ``most`` files of text that shown code names, in the order of that code."""
    from repo_map.relevance.named_text import named_text  # noqa: PLC0415 - a stored navigation is read without the engine

    found: dict[str, MenuPlace] = {}
    for text in named_text(index, shown):
        path = index.paths[text.file]
        if len(found) == most or path in found or (own is not None and excluded_by(own, path)):
            continue
        level = drawn.level_of(path)
        price = prices.of_levels(path, text.file, level).get(4) if level < 4 else None
        if price is not None:
            last = max(int(index.files.lines[text.file]), 1)
            found[path] = MenuPlace(
                number=0, path=path, name="", first=1, last=last, head=_WHOLE_FILE, why=text.why, tokens=price
            )
    return list(found.values())


def _whole(index: RepoIndex, unit: ScoredUnit) -> ScoredUnit | None:
    """Return the definition that a unit is or belongs to; None for lines outside of any function or class.

    A long function that holds others is scored in parts, but asked for whole.
    """
    file_id = index.file_id(unit.path)
    if unit.kind == FUNCTION or file_id is None:
        return unit
    for row, each in enumerate(index.definitions(file_id)):
        if each.kind not in FUNCTIONS:
            continue
        is_head = unit.kind == CLASS_HEADER and unit.start <= each.sig_start <= unit.end
        if is_head or (each.start <= unit.start and unit.end <= each.end):
            name = index.qualified_name(file_id, row)
            if not is_head or name == unit.name:
                return unit._replace(name=name, start=each.start, end=each.end, kind=FUNCTION)
    return None if unit.kind == GAP else unit


def _shown(index: RepoIndex, relevance: Relevance, drawn: RepoMap) -> list[tuple[int, int, int]]:
    """Return the file, the first and the last line of each unit that the map shows whole."""
    found = []
    for unit in relevance.units[:_MOST_UNITS]:
        file_id, block = index.file_id(unit.path), drawn.block(unit.path)
        if file_id is not None and block is not None and block.shows(LineRange(unit.start, unit.end)):
            found.append((file_id, unit.start, unit.end))
    return found


def _dense(index: RepoIndex, file_id: int, first: int, last: int) -> str:
    """Return some lines of a file without white space: what is alike in copies."""
    return "".join("".join(index.text(file_id).split("\n")[first - 1 : last]).split())


def _head(index: RepoIndex, file_id: int, unit: ScoredUnit) -> str:
    """Return a unit's qualified name with its parameters, on one line."""
    leaf = unit.name.rpartition(".")[2]
    for definition in index.definitions(file_id):
        if unit.start <= definition.sig_start <= unit.end and definition.name == leaf:
            lines = index.text(file_id).split("\n")[definition.sig_start - 1 : definition.sig_end]
            _, _, rest = " ".join(" ".join(lines).split()).partition(leaf)
            call, closing, _ = (
                rest.rpartition(")") if rest.startswith(("(", "<", "[", " (")) else ("", "", "")
            )
            told = _SELF.sub("(", call + closing, count=1).replace("( ", "(").replace(", )", ")")
            return _cut(one_line(unit.name + told), _LONGEST_HEAD)
    return _cut(one_line(unit.name), _LONGEST_HEAD)


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[: characters - 1].rstrip()}…"
