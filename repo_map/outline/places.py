"""Places: the definitions and statements that a goal's work most likely touches, best first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import groupby
from operator import itemgetter
from textwrap import shorten
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map import globs
from repo_map.languages.kinds import FUNCTIONS, TEXT, TYPES
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.lookup.locations import FileLocations
from repo_map.messages import one_line
from repo_map.outline.exclusions import without_excluded
from repo_map.outline.sections import qualified_names
from repo_map.outline.select import files_named
from repo_map.relations.model import Confidence
from repo_map.relations.resolve import relations_of
from repo_map.sources.file_kinds import FileFlag, kinds_of
from repo_map.text.terms import terms_in
from repo_map.text.units import FUNCTION, GAP

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.parsing.values import Definition as DefinitionLines
    from repo_map.plan.model import FlightPlan
    from repo_map.ranking.score import Relevance, ScoredUnit
    from repo_map.relations.model import Place as Definition

LISTED: Final = 15
"""Places of an outline. On 58 development tasks 10, 15 and 30 list .69, .75 and .78 of the edited functions;
a longer list leaves less room for source."""
_MIN_LISTED: Final = 6
"""Places that are listed however unlikely they are: there has to be something to go on from."""
_MIN_CHANCE: Final = 0.0005
"""Chance from which on a further place is listed: from .01 on lists of 10 places lose a tenth of the edited
functions of the development tasks with guessed names."""
_MAX_OF_FILE: Final = 8
"""Places of one file: more of them take the lines of other files, and find no more on those tasks."""
_MIN_COPIED_LINES: Final = 4
"""Lines from which on equal definitions are listed as one: shorter ones are alike by chance."""
_MIN_SIBLINGS: Final = 3
_WORD: Final = re.compile(r"\w+")
_MAX_RELATED: Final = 8
"""Places beside one definition: who relies on it is what is left to ask."""
_MAX_TYPE_LINES: Final = 60
"""Lines up to which a class is related: of a longer one a member is meant."""
_MAX_SITES: Final = 60
"""Uses of one name in the whole repository up to which they are looked at."""
_MAX_REASON: Final = 48
"""Characters: a header has little room beside its path."""
_WHOLE_KINDS: Final = FUNCTIONS | TEXT
"""Kinds of definitions that lines within them stand for."""
_ASIDE_ROLES: Final = frozenset({LanguageRole.PROSE, LanguageRole.MARKUP, LanguageRole.DATA})


class Place(NamedTuple):
    """Lines of a file that are listed or shown, 1-based and inclusive."""

    path: str
    first: int
    """Of a definition its first decorator or keyword; a comment above it is not counted."""
    last: int
    name: str = ""
    """Qualified; ``""`` for a whole file, and for lines that have none."""
    reason: str = ""
    chance: float = 0.0
    """Calibrated, 0 to 1, that the goal's work touches it."""
    also: str = ""
    """Where it is defined too: ``same in lib/types.ts:12-40`` for the same code."""


def rank_places(index: Index, relevance: Relevance) -> list[Place]:
    """Return the places of a goal, the likeliest first.

    Tests, prose and data are left out, unless the goal asks for them. Of equal definitions in two files the
    likelier one stands for both.
    """
    files: dict[str, _FilePlaces] = {}
    best: dict[tuple[str, int, str], Place] = {}
    terms = {term for counts in relevance.goal.terms.values() for term in counts}
    for unit in relevance.units:
        if unit.path not in files:
            files[unit.path] = _FilePlaces(index, unit.path, terms)
        place = files[unit.path].of(unit) if is_of_use(index, relevance, unit.path) else None
        if place is not None and (place.name or place.last > place.first):
            key = (place.path, place.first, place.name)
            if key not in best or best[key].chance < place.chance:
                best[key] = place
    ranked = sorted(best.values(), key=lambda place: -place.chance)
    return _without_copies(ranked, files)


def list_places(
    index: Index, relevance: Relevance, ranked: Sequence[Place], limit: int = LISTED
) -> list[Place]:
    """Return the first places of an outline, file by file, the file of the likeliest place first.

    What the goal names literally is listed before what is only likely.
    """
    chosen = list(dict.fromkeys(_named_places(index, relevance, ranked)))[:limit]
    in_file = Counter(place.path for place in chosen)
    for place in ranked:
        if len(chosen) == limit or (len(chosen) >= _MIN_LISTED and place.chance < _MIN_CHANCE):
            break
        if place not in chosen and in_file[place.path] < _MAX_OF_FILE:
            chosen.append(place)
            in_file[place.path] += 1
    chosen.sort(key=lambda place: -place.chance)
    chosen = _without_siblings(index, chosen, {unit.name for unit in relevance.spelt})
    order = {path: at for at, path in enumerate(dict.fromkeys(place.path for place in chosen))}
    found: list[Place] = []
    told: set[str] = set()
    for place in sorted(chosen, key=lambda place: order[place.path]):
        # A reason that many share tells none from another.
        found.append(place._replace(reason="") if place.reason in told else place)
        told.add(place.reason)
    return found


def _without_siblings(index: Index, places: Sequence[Place], named: Set[str]) -> list[Place]:
    """Return places, of neighbours of one shape the likeliest alone, which names the others with their lines.

    Such neighbours have one parent, nothing between them, and bodies of the same lines but for their words,
    as ``get``, ``post`` and ``put``. What the goal ``named`` is listed by itself.
    """
    single = {(each.path, each.first): each for each in places if each.name not in named and not each.also}
    listed = dict(zip(places, places, strict=True))
    for path, number in Counter(path for path, _ in single).items():
        file = index.file_id(path)
        if file is None or number < _MIN_SIBLINGS:
            continue
        lines = index.sources.text(file).split("\n")
        bodies = [
            (each.parent, _shape_of(each, lines) if (path, each.start) in single else None, each.start)
            for each in index.definitions(file)
        ]
        for (_, shape), run in groupby(sorted(bodies, key=itemgetter(0)), key=itemgetter(0, 1)):
            group = [single[path, start] for *_, start in run] if shape else []
            if len(group) >= _MIN_SIBLINGS:
                best = max(group, key=lambda place: place.chance)
                others = ", ".join(each.name.rpartition(".")[2] for each in group if each != best)
                lines_of_all = f"{group[0].first}-{group[-1].last}"
                also = f"like {shorten(others, _MAX_REASON, placeholder=' …')} {lines_of_all}"
                listed = {key: each for key, each in listed.items() if key not in group or key == best}
                listed[best] = best._replace(also=also)
    return list(listed.values())


def _shape_of(definition: DefinitionLines, lines: Sequence[str]) -> frozenset[str] | None:
    """Return the lines of a function's body without their words; None for what is no function."""
    code = lines[max(definition.sig_end, definition.doc_end) : definition.end]
    is_function = definition.kind in FUNCTIONS
    return frozenset(_WORD.sub("w", line.strip()) for line in code) if is_function else None


def related_places(index: Index, place: Place) -> list[Place]:
    """Return what a definition calls, and what calls or overrides it, each with that as its reason.

    Tests and long classes are left out. Ways in which few are related come first.
    """
    file = index.file_id(place.path)
    rows = enumerate(index.definitions(file)) if file is not None else ()
    row = next((row for row, each in rows if (each.start, each.end) == (place.first, place.last)), -1)
    if file is None or row < 0:
        return []
    name = ".".join(index.qualified_name(file, row).split(".")[-2:])
    with relations_of(index).asking():
        ways = [(reason, ends) for reason, ends in _related(index, (file, row)) if ends]
    related = [(len(ends), end, reason, line) for reason, ends in ways for end, line in ends.items()]
    found: dict[tuple[str, int], Place] = {}
    for _, (other, at), reason, line in sorted(related, key=lambda each: each[:2]):
        each = index.definitions(other)[at]
        is_short_type = each.kind in TYPES and each.end - each.start < _MAX_TYPE_LINES
        if not index.files.is_test(other) and (each.kind in FUNCTIONS or is_short_type):
            why = one_line(f"{reason} {name}, line {line}" if line else f"{reason} {name}")
            path = index.paths[other]
            found[path, each.start] = Place(path, each.start, each.end, index.qualified_name(other, at), why)
    return list(found.values())[:_MAX_RELATED]


def _related(index: Index, place: Definition) -> Iterator[tuple[str, dict[Definition, int]]]:
    """Yield by reason the definitions that are related to one, with the line of the call of what it calls."""
    relations = relations_of(index)
    if not relations.knows(place[0]) or relations.max_confidence(place[0]) is not Confidence.RESOLVED:
        return
    callers = relations.callers_of(place) if relations.occurrence_count(place) <= _MAX_SITES else ()
    for reason, ends in (
        ("called by", [(each.target, each.line) for each in relations.calls_in(place)]),
        ("overridden by", [(each.target, 0) for each in relations.overrides_of(place)]),
        ("overrides", [(each.source, 0) for each in relations.overridden_by(place)]),
        ("calls", [(each.source, 0) for each in callers]),
    ):
        # Of several calls of one definition the first line is told.
        yield reason, {end: line for end, line in reversed(ends) if end != place and end[1] >= 0}


def with_boosts(index: Index, relevance: Relevance, own: FlightPlan) -> Relevance:
    """Return the scores with the boosts of a plan in them, and without what it leaves out."""
    relevance = without_excluded(index, relevance, own)
    focus = own.focus
    if focus is None:
        return relevance
    weights: dict[str, float] = {}
    for boost in focus.paths:
        for file in files_named(index, boost.pattern).tolist():
            path = index.paths[file]
            weights[path] = max(weights.get(path, 0.0), boost.weight)
    symbols = [(globs.compile_name(boost.name).fullmatch, boost.weight) for boost in focus.symbols]

    def weight(unit: ScoredUnit) -> float:
        leaf = unit.name.rpartition(".")[2]
        named = (each for match, each in symbols if match(unit.name) or match(leaf))
        return weights.get(unit.path, 1.0) * max(named, default=1.0)

    return relevance._replace(
        files=tuple(sorted(relevance.files, key=lambda file: -file.score * weights.get(file.path, 1.0))),
        units=tuple(each._replace(chance=min(each.chance * weight(each), 1.0)) for each in relevance.units),
    )


def is_of_use(index: Index, relevance: Relevance, path: str) -> bool:
    """Return whether a file may hold what the goal changes: tests, prose and data seldom do."""
    file = index.file_id(path)
    assert file is not None
    flags = int(index.files.flags[file])
    if path in relevance.asked or kinds_of(path, flags) & relevance.goal.aims.kinds:
        return True
    return not flags & FileFlag.TEST and language_named(index.language(file)).role not in _ASIDE_ROLES


def _named_places(index: Index, relevance: Relevance, ranked: Sequence[Place]) -> Iterator[Place]:
    """Yield what the goal names literally: definitions, and of files their likeliest place."""
    for unit in relevance.spelt:
        inside = [each for each in ranked if each.path == unit.path]
        if unit.name:
            inside = [each for each in inside if each.first <= unit.end and unit.start <= each.last]
            inside = [each for each in inside if each.name == unit.name]
        if inside:
            yield inside[0]
        elif index.file_id(unit.path) is not None:
            yield Place(unit.path, unit.start, unit.end, unit.name)


class _FilePlaces:
    """Finds the places of one file's units."""

    def __init__(self, index: Index, path: str, terms: Iterable[str]) -> None:
        file = index.file_id(path)
        assert file is not None
        self._terms = frozenset(terms)
        self._definitions = index.definitions(file)
        self._names = qualified_names(self._definitions)
        self._locations = FileLocations(index, file)

    def of(self, unit: ScoredUnit) -> Place | None:
        """Return the definition that a unit is or belongs to, or the statement of likely lines."""
        row = self._row(unit)
        reason = shorten(
            one_line(next(iter(unit.reasons), "")).replace("`", ""), _MAX_REASON, placeholder=" …"
        )
        if row >= 0:
            found = self._definitions[row]
            return Place(unit.path, found.start, found.end, self._names[row], reason, unit.chance)
        if unit.kind == GAP and not self._definitions:
            return Place(unit.path, unit.start, unit.end, "", reason, unit.chance)
        if unit.kind != GAP:
            return None
        lines = self._locations.lines[unit.start - 1 : unit.end]
        matches = [len(terms_in(line) & self._terms) for line in lines]
        at = self._locations.at(
            unit.start + matches.index(max(matches, default=0)) if matches else unit.start
        )
        return Place(unit.path, at.first, at.last, at.name, reason, unit.chance)

    def _row(self, unit: ScoredUnit) -> int:
        """Return the row of a unit's definition, or of the function around it; -1 for none.

        A long function that holds others is scored in parts, and asked for whole.
        """
        if unit.name:
            for row, each in enumerate(self._definitions):
                if unit.start <= each.sig_start <= unit.end and self._names[row] == unit.name:
                    return row
        if unit.kind == FUNCTION:
            return -1
        row = self._locations.row_at(unit.start)
        while row >= 0 and self._definitions[row].kind not in _WHOLE_KINDS:
            row = self._definitions[row].parent
        return row

    def code(self, place: Place) -> str:
        """Return the lines of a place without white space."""
        return "".join("".join(self._locations.lines[place.first - 1 : place.last]).split())


def _without_copies(ranked: Sequence[Place], files: Mapping[str, _FilePlaces]) -> list[Place]:
    """Return the places but for those whose code another file before them has, which names the first."""
    first: dict[str, int] = {}
    found: list[Place] = []
    sizes = Counter((place.name, place.last - place.first) for place in ranked)
    for place in ranked:
        key = (place.name, place.last - place.first)
        if place.name and key[1] + 1 >= _MIN_COPIED_LINES and sizes[key] > 1:
            code = files[place.path].code(place)
            before = first.get(code, -1)
            if before >= 0 and found[before].path != place.path:
                if not found[before].also:
                    also = f"same in {place.path}:{place.first}-{place.last}"
                    found[before] = found[before]._replace(also=also)
                continue
            first.setdefault(code, len(found))
        found.append(place)
    return found
