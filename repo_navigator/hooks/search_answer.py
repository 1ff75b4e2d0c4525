"""What is said of a search: nothing, unless it found nothing, or much of a name with one clear definition."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from repo_map.worktree.file_kinds import is_below_tests
from repo_navigator.hooks.names import CALLERS_UNKNOWN, NamedPlace, NameTable
from repo_navigator.hooks.searches import Search, Sought, names_sought

MANY_HITS: Final = 30
"""Lines found from which on the definition among them is hard to see; chosen on public Java runs."""
MOST_MEANT: Final = 2
"""Definitions of a name beyond which it is not clear which one is meant."""
_MOST_LISTED: Final = 3
_MOST_NAMES: Final = 4
"""Names of one search beyond which none of them is looked up."""
_NOTHING: Final = re.compile(
    r"^\s*(?:no (?:matches|files|results)(?: found)?(?: (?:for|matching) pattern .*)?\.?|found 0 .*|0)?\s*$",
    re.IGNORECASE,
)
_NAME_LIKE: Final = re.compile(r"[A-Z_\d]")
"""An everyday word is looked for as a word, not as a name."""
_SELDOM_A_WORD: Final = 12
"""Letters from which on a word is hardly an everyday one."""
_DECLARING: Final = re.compile(
    r"\b(?:def|class|function|func|fn|interface|struct|enum|trait|type|record)\s[^=]*\b{name}\b"
)


NOTHING_FOUND: Final = "nothing found"
MUCH_FOUND: Final = "much found"
NO_FILE: Final = "no file"


class SearchAnswer(NamedTuple):
    """What is said of a search."""

    kind: str
    lead: str
    """In our words."""
    lines: tuple[str, ...]
    """Text of the repository, a line each."""
    definitions: tuple[NamedPlace, ...]
    """The places that are named."""


class Rule(NamedTuple):
    """The numbers by which it is decided whether to speak."""

    many_hits: int = MANY_HITS
    most_meant: int = MOST_MEANT


USUAL: Final = Rule()


def answer_for(
    searches: Sequence[Search],
    output: str,
    names: NameTable,
    known: Collection[str] = (),
    rule: Rule = USUAL,
) -> SearchAnswer | None:
    """Return what to say of the searches of one call, None to stay silent.

    Args:
        output: what the call printed.
        known: files that the assistant has read or edited: it need not be told of them.
    """
    if len(searches) != 1 or searches[0].counts:
        return None
    answer = _answer_for(searches[0], output, names, rule)
    return None if answer is None or all(each.path in known for each in answer.definitions) else answer


def is_nothing(output: str) -> bool:
    """Tell whether what a search printed says that nothing was found."""
    return _NOTHING.match(output) is not None


def _answer_for(search: Search, output: str, names: NameTable, rule: Rule) -> SearchAnswer | None:
    if is_nothing(output):
        return _nearest_files(search, names) if search.for_files else _of_nothing(search, names, rule)
    return None if search.for_files else _of_many(search, output, names, rule)


def _of_nothing(search: Search, names: NameTable, rule: Rule) -> SearchAnswer | None:
    sought = _names(search)
    # What is not in the repository, such as what a run printed, is another matter; so are tests of a name.
    if not 0 < len(sought) <= _MOST_NAMES or not all(_is_searched(place, names) for place in search.places):
        return None
    in_file = any(map(names.has_file, search.places))
    # Who looks into one file asks about that file, unless a declaration is expected there.
    if in_file and not all(each.declared for each in sought):
        return None
    there = [each for one in sought for each in _meant(one, names, rule) if not each.is_aside]
    if there:
        return _answer(NOTHING_FOUND, "No match there. In this repository:", there[:_MOST_LISTED])
    if in_file:
        return None
    likes = [each for one in sought for each in _like(one, names, rule)]
    return (
        _answer(NOTHING_FOUND, "No match. The nearest names that are defined here:", likes[:_MOST_LISTED])
        if likes
        else None
    )


def _is_searched(place: str, names: NameTable) -> bool:
    """Tell whether a place is a file or a folder of the repository's code, not of its tests."""
    if is_below_tests(f"{place}/".lower()):
        return False
    return place in ("", ".") or names.has_file(place) or names.has_folder(place)


def _names(search: Search) -> tuple[Sought, ...]:
    """Return the names that a search looks for, none where one of them is an everyday word."""
    sought = names_sought(search)
    are_names = all(
        each.declared or len(each.name) >= _SELDOM_A_WORD or _NAME_LIKE.search(each.name) for each in sought
    )
    return sought if are_names else ()


def _like(sought: Sought, names: NameTable, rule: Rule) -> list[NamedPlace]:
    found: list[NamedPlace] = []
    for number in names.spelt_like(sought.name):
        if names.count(number) <= rule.most_meant:
            found += names.definitions(number)[:1]
    return _standing([each for each in found if not each.is_aside], names)


def _of_many(search: Search, output: str, names: NameTable, rule: Rule) -> SearchAnswer | None:
    sought = _names(search)
    if len(sought) != 1 or sought[0].declared:
        return None
    lines = output.count("\n") + 1
    meant = _meant(sought[0], names, rule)
    # Of two definitions agents open neither, or the other.
    if lines < rule.many_hits or len(meant) != 1:
        return None
    if meant[0].callers == CALLERS_UNKNOWN and _shows(output, meant[0]):
        return None
    return _answer(MUCH_FOUND, "Where it is defined, and what calls it:", meant)


def _meant(sought: Sought, names: NameTable, rule: Rule) -> list[NamedPlace]:
    """Return the definitions that a name means, none where they are too many to tell which."""
    number = names.find(sought.name)
    if number is None:
        return []
    found = [each for each in names.definitions(number) if not each.is_aside] or list(
        names.definitions(number)
    )
    types = {each.path for each in found if not each.owner}
    # A constructor stands where its class does.
    found = [each for each in found if each.owner != each.name or each.path not in types]
    if sought.owner:
        found = [each for each in found if each.owner == sought.owner] or found
    return _standing(found, names) if len(found) <= rule.most_meant else []


def _standing(definitions: Iterable[NamedPlace], names: NameTable) -> list[NamedPlace]:
    return [now for each in definitions if (now := names.stands(each)) is not None]


def _shows(output: str, definition: NamedPlace) -> bool:
    """Tell whether what was found shows the definition already."""
    return f":{definition.line}:" in output or bool(
        re.search(_DECLARING.pattern.replace("{name}", re.escape(definition.name)), output)
    )


def _nearest_files(search: Search, names: NameTable) -> SearchAnswer | None:
    found: list[str] = []
    for pattern in search.patterns:
        base = posixpath.basename(pattern.rstrip("/")).strip("*")
        if set("*?[") & set(base) or not _SHORTEST_FILE <= len(base) <= _LONGEST_FILE:
            return None
        found += names.files_named(base) or _of_stem(posixpath.splitext(base)[0], names)
    paths = list(dict.fromkeys(found))
    if len(paths) != 1:
        return None
    places = tuple(NamedPlace("", "", "file", path, 0, False, CALLERS_UNKNOWN, ()) for path in paths)
    lead = "No file found there. By that name in this repository:"
    return SearchAnswer(NO_FILE, lead, tuple(paths), places)


def _of_stem(stem: str, names: NameTable) -> Sequence[str]:
    """Return the files that are called so but for their ending: those that define the name, if any do."""
    if len(stem) < _SHORTEST_FILE:
        return ()
    paths = names.files_stemmed(stem)
    number = names.find(stem)
    defining = {each.path for each in names.definitions(number)} if number is not None else set()
    return [path for path in paths if path in defining] or paths


_SHORTEST_FILE: Final = 5
_LONGEST_FILE: Final = 200


def _answer(kind: str, lead: str, definitions: Sequence[NamedPlace]) -> SearchAnswer | None:
    if not definitions:
        return None
    return SearchAnswer(kind, lead, tuple(map(_line, definitions)), tuple(definitions))


def _line(definition: NamedPlace) -> str:
    line = f"{definition.title} ({definition.kind}) {definition.path}:{definition.line}"
    if definition.callers > 0:
        shown = ", ".join(
            f"{each.path}:{each.line}" + (f" in {each.within}" if each.within else "")
            for each in definition.shown_callers[:_MOST_LISTED]
        )
        more = f"{definition.callers} call{'s' * (definition.callers != 1)} of it"
        return f"{line}; {more}" + (f": {shown}" if shown else "")
    return line
