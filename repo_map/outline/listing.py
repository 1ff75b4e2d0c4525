"""An outline of where to look: the likeliest files, and in each its likeliest definitions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.outline.chances import with_read_chances
from repo_map.outline.twins import Twin, twin_of
from repo_map.outline.why import brief_reason, short_name
from repo_map.ranking.confidence import SURE
from repo_map.sources.file_kinds import FileFlag, kinds_of
from repo_map.text import tokens
from repo_map.text.units import CLASS_HEADER, FUNCTION, GAP

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.ranking.score import Relevance, ScoredUnit


_MOST_FILES: Final = 10
"""Files whose likeliest definitions compete for the lines."""
_MOST_LINES: Final = 40
"""However unsure the choice is: a longer list is not read."""
_LEAST_CHANCE: Final = 0.008
"""Of a definition that is worth its line: what is less likely gives less than source in its place, behind"""
_LEAST_OF_SURE: Final = 0.02
"""and of one that a sure choice lists: behind its first dozen next to nothing is right;"""
_FIRST_LINES: Final = 6
"""the first, which stand there whatever is known: there has to be something to go on from."""
_ROOM_FOR_TWINS: Final = 280
"""Tokens of an outline that tells where the same code stands as well: in a smaller one it takes places;"""
_FIRST_TWINS: Final = 2
"""of the first places, and of those whose twin would be listed."""
_ASIDE_ROLES: Final = frozenset({LanguageRole.PROSE, LanguageRole.MARKUP, LanguageRole.DATA})
_MOST_UNITS: Final = 800


_Key: TypeAlias = tuple[str, int]
"""Name and first line of a definition: overloads are several places."""


class ListedFile(NamedTuple):
    """A file of an outline."""

    path: str
    places: tuple[ScoredUnit, ...]
    """Its likeliest definitions, in its order; none where the file is told alone."""
    more: int
    """Definitions that it has besides."""
    twins: tuple[Twin | None, ...]
    """Of each place where the same code stands as well."""


def list_places(index: Index, relevance: Relevance, room: int) -> tuple[ListedFile, ...]:
    """Return the likeliest definitions of the likeliest files, as many as ``room`` tokens tell.

    What the goal spells out stands there, whatever the room. What stands word for word in a second file is
    told beside the likelier of the two.
    """
    relevance = with_read_chances(relevance)
    by_file = _definitions_by_file(index, relevance)
    spelt = [each for each in relevance.spelt if index.file_id(each.path) is not None]
    chosen: dict[str, dict[_Key, ScoredUnit]] = {}
    twins: dict[tuple[str, _Key], Twin] = {}
    spent = lines = 0
    has_twins = room >= _ROOM_FOR_TWINS
    firm = list(_spelt(by_file, spelt))
    least = _LEAST_OF_SURE if relevance.sufficiency.confidence >= SURE else _LEAST_CHANCE
    for turn, (path, unit) in enumerate((*firm, *_in_turn(index, relevance, by_file))):
        known = chosen.get(path)
        if known is not None and (unit is None or _key(unit) in known):
            continue
        is_told = unit is not None and any(_is_at(path, unit, each) for each in twins.values())
        if is_told and turn >= len(firm):
            continue
        above = next(reversed(known.values())).name if known else ""
        price = (0 if known is not None else _path_tokens(path)) + (_line_tokens(unit, above) if unit else 0)
        if turn >= len(firm) and (lines == _MOST_LINES or spent + price > room):
            continue
        if turn >= len(firm) + _FIRST_LINES and unit is not None and unit.chance < least:
            break
        spent, lines = spent + price, lines + 1
        chosen.setdefault(path, {})
        if unit is not None:
            chosen[path][_key(unit)] = unit
            twin = twin_of(index, path, unit.name, unit.start, unit.end) if has_twins else None
            if twin is not None and (lines <= _FIRST_TWINS or _is_likely(twin, by_file)):
                is_known = any(at == path and each.path == twin.path for (at, _), each in twins.items())
                price = _twin_tokens(twin, is_known=is_known)
                if spent + price <= room:
                    spent += price
                    twins[path, _key(unit)] = twin
    rank = {file.path: place for place, file in enumerate(relevance.files)}
    found = []
    for path in sorted(chosen, key=lambda path: (rank.get(path, len(rank)), path)):
        places = tuple(sorted(chosen[path].values(), key=lambda unit: unit.start))
        more = len(by_file.get(path, {}).keys() - chosen[path].keys())
        found.append(ListedFile(path, places, more, tuple(twins.get((path, _key(unit))) for unit in places)))
    return tuple(found)


def _is_likely(twin: Twin, by_file: Mapping[str, Mapping[_Key, ScoredUnit]]) -> bool:
    """Say whether a twin would be listed for itself."""
    return any(
        unit.chance >= _LEAST_CHANCE and _is_at(twin.path, unit, twin)
        for unit in by_file.get(twin.path, {}).values()
    )


def _is_at(path: str, unit: ScoredUnit, twin: Twin) -> bool:
    """Say whether a unit is a twin."""
    is_there = path == twin.path and unit.start <= twin.first <= unit.end
    return is_there and unit.name.rpartition(".")[2] == twin.leaf


def _twin_tokens(twin: Twin, *, is_known: bool) -> int:
    return tokens.count(f": same {'there' if is_known else f'in {twin.path}'}:{twin.first}-{twin.last}")


def _spelt(
    by_file: dict[str, dict[_Key, ScoredUnit]], spelt: Sequence[ScoredUnit]
) -> Iterator[tuple[str, ScoredUnit | None]]:
    """Yield what the goal spells out: a definition, or of a file the likeliest; a file without any alone."""
    for each in spelt:
        known = by_file.get(each.path, {})
        likeliest = max(known.values(), key=lambda unit: unit.chance, default=None)
        yield each.path, known.get(_key(each), each if each.name else likeliest)


def _in_turn(
    index: Index, relevance: Relevance, by_file: dict[str, dict[_Key, ScoredUnit]]
) -> Iterator[tuple[str, ScoredUnit]]:
    """Yield the definitions of the first files, the likeliest first."""
    files = [file.path for file in relevance.files if by_file.get(file.path)]
    code = [path for path in files if _is_of_use(index, relevance, path)][:_MOST_FILES]
    places = [(path, unit) for path in code or files[:_MOST_FILES] for unit in by_file[path].values()]
    yield from sorted(places, key=lambda place: -place[1].chance)


def _is_of_use(index: Index, relevance: Relevance, path: str) -> bool:
    """Say whether a file may hold what the goal changes: tests, prose and data seldom do."""
    file = index.file_id(path)
    assert file is not None
    flags = int(index.files.flags[file])
    if path in relevance.asked or kinds_of(path, flags) & relevance.goal.aims.kinds:
        return True
    language = index.language(file)
    return not flags & FileFlag.TEST and language_named(language).role not in _ASIDE_ROLES


def _key(unit: ScoredUnit) -> _Key:
    return unit.name, unit.start


def _definitions_by_file(index: Index, relevance: Relevance) -> dict[str, dict[_Key, ScoredUnit]]:
    """Return the definitions of each file by name and first line, as likely as the likeliest of their parts.

    What takes one line, such as a method of an interface, is no place to look at.
    """
    found: dict[str, dict[_Key, ScoredUnit]] = {}
    for unit in relevance.units[:_MOST_UNITS]:
        whole = whole_definition(index, unit)
        if whole is not None and whole.name and whole.end > whole.start:
            known = found.setdefault(unit.path, {})
            if (before := known.get(_key(whole))) is None or before.chance < whole.chance:
                known[_key(whole)] = whole
    return found


def whole_definition(index: Index, unit: ScoredUnit) -> ScoredUnit | None:
    """Return the definition that a unit is or belongs to; None for lines outside of any function or class.

    A long function that holds others is scored in parts, but asked for whole.
    """
    file = index.file_id(unit.path)
    if unit.kind == FUNCTION or file is None:
        return unit
    for row, each in enumerate(index.definitions(file)):
        if each.kind not in FUNCTIONS:
            continue
        is_head = unit.kind == CLASS_HEADER and unit.start <= each.sig_start <= unit.end
        if is_head or (each.start <= unit.start and unit.end <= each.end):
            name = index.qualified_name(file, row)
            if not is_head or name == unit.name:
                return unit._replace(name=name, start=each.start, end=each.end, kind=FUNCTION)
    return None if unit.kind == GAP else unit


def _path_tokens(path: str) -> int:
    return tokens.count(f"{path} (99 more)\n")


def _line_tokens(unit: ScoredUnit, above: str) -> int:
    why = f": {reason}" if (reason := brief_reason(unit.reasons)) else ""
    return tokens.count(f"20 {short_name(unit.name, above)} {unit.start}-{unit.end}{why}\n")


def tokens_of(listed: Collection[ListedFile]) -> int:
    """Return about how many tokens an outline takes."""
    return sum(_path_tokens(file.path) + sum(_places_tokens(file)) for file in listed)


def _places_tokens(file: ListedFile) -> Iterator[int]:
    above, told = "", set[str]()
    for unit, twin in zip(file.places, file.twins, strict=True):
        yield _line_tokens(unit, above)
        above = unit.name
        if twin is not None:
            yield _twin_tokens(twin, is_known=twin.path in told)
            told.add(twin.path)
