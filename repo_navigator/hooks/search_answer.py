"""What is said of a search: nothing, unless it found nothing, or much of a name with one clear definition."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from repo_map.worktree.file_kinds import is_below_tests
from repo_navigator.hooks.names import CALLERS_UNKNOWN, NamedPlace, NameTable
from repo_navigator.hooks.searches import Search, Sought, names_sought
from repo_navigator.hooks.sessions import Session

_MANY_HITS: Final = 30
"""Lines found from which on the definition among them is hard to see; chosen on public Java runs, as is:"""
_MOST_HITS: Final = 200
"""Lines beyond which a name is everybody's, and its definition is seldom what is looked for."""
_MOST_MEANT: Final = 2
"""Definitions of a name beyond which it is not clear which one is meant."""
_VALUES: Final = ("constant", "field")
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


def answer_in(
    session: Session, searches: Sequence[Search], output: str, names: NameTable
) -> SearchAnswer | None:
    """Return what to say of the searches of one call in a session, None to stay silent.

    No place is told twice. A name that a search found before is not missed where another finds none.
    """
    sought = sorted(
        {each.name for search in searches if not search.for_files for each in names_sought(search)}
    )
    if not is_nothing(output):
        for name in sought:
            session.says(f"{name}\0found")
    elif any(session.was_said(f"{name}\0found") for name in sought):
        return None
    answer = answer_for(searches, output, names, session.reads)
    if answer is None:
        return None
    new = [session.says(f"{each.path}\0{each.title}") for each in answer.definitions]
    return answer if any(new) else None


def answer_for(
    searches: Sequence[Search],
    output: str,
    names: NameTable,
    known: Collection[str] = (),
) -> SearchAnswer | None:
    """Return what to say of the searches of one call, None to stay silent.

    Args:
        output: what the call printed.
        known: files that the assistant has read or edited: it need not be told of them.
    """
    if len(searches) != 1 or searches[0].counts:
        return None
    answer = _answer_for(searches[0], output, names)
    if answer is None or all(each.path in known for each in answer.definitions):
        return None
    # Who has opened a file looks for what that one uses, seldom for where it is defined.
    is_at_work = answer.kind != NOTHING_FOUND and any(map(names.has_file, known))
    return None if is_at_work else answer


def is_nothing(output: str) -> bool:
    """Tell whether what a search printed says that nothing was found."""
    return _NOTHING.match(output) is not None


def _answer_for(search: Search, output: str, names: NameTable) -> SearchAnswer | None:
    if is_nothing(output):
        return _nearest_files(search, names) if search.for_files else _of_nothing(search, names)
    return None if search.for_files else _of_many(search, output, names)


def _of_nothing(search: Search, names: NameTable) -> SearchAnswer | None:
    sought = _names(search)
    # What is not in the repository, such as what a run printed, is another matter; so are tests of a name.
    if not 0 < len(sought) <= _MOST_NAMES or not all(_is_searched(place, names) for place in search.places):
        return None
    in_file = any(map(names.has_file, search.places))
    # Who looks into one file asks about that file, unless a declaration is expected there.
    if in_file and not all(each.declared for each in sought):
        return None
    there = [each for one in sought for each in _meant(one, names) if not each.is_aside]
    if there:
        return _answer(NOTHING_FOUND, "No match there. In this repository:", there[:_MOST_LISTED])
    if in_file:
        return None
    likes = [each for one in sought for each in _like(one, names)]
    return (
        _answer(NOTHING_FOUND, "No match. The nearest names that are defined here:", likes[:_MOST_LISTED])
        if likes
        else None
    )


_OWN_OBJECTS: Final = ("self", "this", "cls", "super")


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


def _like(sought: Sought, names: NameTable) -> list[NamedPlace]:
    if sought.owner and sought.owner not in _OWN_OBJECTS and names.find(sought.owner) is None:
        return []  # A member of something that is defined elsewhere is defined there, too.
    found: list[NamedPlace] = []
    for number in names.spelt_like(sought.name):
        if names.count(number) <= _MOST_MEANT:
            found += names.definitions(number)[:1]
    return _standing([each for each in found if not each.is_aside], names)


def _of_many(search: Search, output: str, names: NameTable) -> SearchAnswer | None:
    sought = _names(search)
    # Who looks into one file, or into tests, asks how the name is used there.
    is_of_uses = any(names.has_file(place) or is_below_tests(f"{place}/".lower()) for place in search.places)
    if len(sought) != 1 or sought[0].declared or is_of_uses:
        return None
    lines = output.count("\n") + 1
    meant = _meant(sought[0], names)
    # Of two definitions agents open neither, or the other.
    if not _MANY_HITS <= lines <= _MOST_HITS or len(meant) != 1:
        return None
    # Of a value one looks for what reads it.
    if meant[0].kind in _VALUES:
        return None
    if meant[0].callers == CALLERS_UNKNOWN and _shows(output, meant[0]):
        return None
    return _answer(MUCH_FOUND, "Where it is defined, and what calls it:", meant)


def _meant(sought: Sought, names: NameTable) -> list[NamedPlace]:
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
    return _standing(found, names) if len(found) <= _MOST_MEANT else []


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
        # Of a name without an ending agents open another file, or none.
        if set("*?[") & set(base) or not posixpath.splitext(base)[1] or len(base) > _LONGEST_FILE:
            return None
        found += names.files_named(base)
    paths = list(dict.fromkeys(found))
    if len(paths) != 1:
        return None
    places = tuple(NamedPlace("", "", "file", path, 0, False, CALLERS_UNKNOWN, ()) for path in paths)
    lead = "No file found there. By that name in this repository:"
    return SearchAnswer(NO_FILE, lead, tuple(paths), places)


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
