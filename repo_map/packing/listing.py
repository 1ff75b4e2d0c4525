"""An outline of where to look: the likeliest files, and in each its likeliest definitions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.packing.why import short_name
from repo_map.text import tokens
from repo_map.text.units import CLASS_HEADER, FUNCTION, GAP
from repo_map.worktree.file_kinds import FileFlag, kinds_of

if TYPE_CHECKING:
    from repo_map.index import RepoIndex
    from repo_map.relevance.score import Relevance, ScoredUnit


_SHARE: Final = 0.75
"""Lines of a file by those of the file before it: steeper and flatter reach less in as many tokens."""
_MOST_FILES: Final = 8
_MOST_LINES: Final = 48
_ASIDE_ROLES: Final = frozenset({LanguageRole.PROSE, LanguageRole.MARKUP, LanguageRole.DATA})
_MOST_UNITS: Final = 800


class ListedFile(NamedTuple):
    """A file of an outline."""

    path: str
    places: tuple[ScoredUnit, ...]
    """Its likeliest definitions, in its order; none where the file is told alone."""
    more: int
    """Definitions that it has besides."""


def list_places(index: RepoIndex, relevance: Relevance, room: int) -> tuple[ListedFile, ...]:
    """Return the likeliest definitions of the likeliest files, as many as ``room`` tokens tell.

    A file gets three quarters of the lines that the one before it gets, so that none crowds out the rest.
    What the goal spells out comes first of all.
    """
    by_file = _definitions_by_file(index, relevance)
    spelt = [each for each in relevance.spelt if index.file_id(each.path) is not None]
    chosen: dict[str, dict[str, ScoredUnit]] = {}
    spent = lines = 0
    for path, unit in (*_spelt(by_file, spelt), *_in_turn(index, relevance, by_file)):
        known = chosen.get(path)
        if known is not None and (unit is None or unit.name in known):
            continue
        above = next(reversed(known.values())).name if known else ""
        price = (0 if known is not None else _path_tokens(path)) + (_line_tokens(unit, above) if unit else 0)
        if lines == _MOST_LINES or spent + price > room:
            continue
        spent, lines = spent + price, lines + 1
        chosen.setdefault(path, {})
        if unit is not None:
            chosen[path][unit.name] = unit
    rank = {file.path: place for place, file in enumerate(relevance.files)}
    return tuple(
        ListedFile(
            path,
            tuple(sorted(chosen[path].values(), key=lambda unit: unit.start)),
            len(by_file.get(path, ())) - len(chosen[path]),
        )
        for path in sorted(chosen, key=lambda path: (rank.get(path, len(rank)), path))
    )


def _spelt(
    by_file: dict[str, dict[str, ScoredUnit]], spelt: Sequence[ScoredUnit]
) -> Iterator[tuple[str, ScoredUnit | None]]:
    """Yield what the goal spells out: a definition with its file, or a file alone."""
    for each in spelt:
        known = by_file.get(each.path, {})
        yield each.path, known.get(each.name, each if each.name else None)


def _in_turn(
    index: RepoIndex, relevance: Relevance, by_file: dict[str, dict[str, ScoredUnit]]
) -> Iterator[tuple[str, ScoredUnit]]:
    """Yield the definitions of the first files, each file's turn the rarer the later it stands."""
    files = [file.path for file in relevance.files if by_file.get(file.path)]
    code = [path for path in files if _is_of_use(index, relevance, path)][:_MOST_FILES]
    turns = [
        ((nth + 1) / _SHARE**place, place, path, unit)
        for place, path in enumerate(code or files[:_MOST_FILES])
        for nth, unit in enumerate(by_file[path].values())
    ]
    yield from ((path, unit) for _, _, path, unit in sorted(turns, key=lambda turn: turn[:2]))


def _is_of_use(index: RepoIndex, relevance: Relevance, path: str) -> bool:
    """Say whether a file may hold what the goal changes: tests, prose and data seldom do."""
    file = index.file_id(path)
    assert file is not None
    flags = int(index.files.flags[file])
    if path in relevance.asked or kinds_of(path, flags) & relevance.goal.aims.kinds:
        return True
    language = index.languages[int(index.files.language[file])]
    return not flags & FileFlag.TEST and language_named(language).role not in _ASIDE_ROLES


def _definitions_by_file(index: RepoIndex, relevance: Relevance) -> dict[str, dict[str, ScoredUnit]]:
    """Return the definitions of each file by name, the likeliest first; namesakes of a file are one.

    What takes one line, such as a method of an interface, is no place to look at.
    """
    found: dict[str, dict[str, ScoredUnit]] = {}
    for unit in relevance.units[:_MOST_UNITS]:
        whole = whole_definition(index, unit)
        if whole is not None and whole.name and whole.end > whole.start:
            found.setdefault(unit.path, {}).setdefault(whole.name, whole)
    return found


def whole_definition(index: RepoIndex, unit: ScoredUnit) -> ScoredUnit | None:
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
    return tokens.count(f"20 {short_name(unit.name, above)} {unit.start}-{unit.end}\n")


def tokens_of(listed: Collection[ListedFile]) -> int:
    """Return about how many tokens an outline takes."""
    return sum(
        _path_tokens(file.path) + sum(_line_tokens(unit, "") for unit in file.places) for file in listed
    )
