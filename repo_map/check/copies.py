"""Copies of a definition of which the change edits one and leaves the other as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from repo_map.check.test_files import is_of_tests
from repo_map.impact.findings import Finding, FindingKind
from repo_map.impact.sides import Side, Sides
from repo_map.languages.kinds import FUNCTIONS
from repo_map.messages import one_line
from repo_map.parsing.forms import ParameterForm
from repo_map.relations.model import Place
from repo_map.sources.file_kinds import COPIED

_LEAST_LINES: Final = 4
"""Lines of a body with a word, without which copies say nothing."""
_MOST_NAMESAKES: Final = 40


def edited_in_one_of_two(sides: Sides) -> Iterator[Finding]:
    """Yield the functions that were the same as an edited one before, of the same name, and still are so."""
    edited: dict[Place, tuple[tuple[str, ...], Place]] = {}
    for pair in sides.pairs:
        definition = sides.before.index.definitions(pair.before[0])[pair.before[1]]
        if definition.kind in FUNCTIONS and not _is_aside(sides.before, pair.before):
            old, new = _body(sides.before, pair.before), _body(sides.after, pair.after)
            # What takes other values now is of use to those alone that give them.
            if (
                old != new
                and len(old) >= _LEAST_LINES
                and _takes(sides.before, pair.before) == _takes(sides.after, pair.after)
            ):
                edited[pair.before] = (old, pair.after)
    for place, (body, after) in edited.items():
        for twin in _namesakes(sides.before, place):
            if twin in edited or _body(sides.before, twin) != body:
                continue
            file = sides.file_after(twin[0])
            definition = sides.before.index.definitions(twin[0])[twin[1]]
            line = sides.line_after(twin[0], definition.sig_start)
            if file is None or not line or not sides.line_after(twin[0], definition.end):
                continue
            index = sides.after.index
            where = f"{index.paths[after[0]]}:{index.definitions(after[0])[after[1]].sig_start}"
            name = index.qualified_name(*after)
            yield Finding(
                FindingKind.COPY,
                index.paths[file],
                line,
                sides.before.index.qualified_name(*twin),
                name,
                f"it was the same as `{one_line(name)}`, which was edited",
                f"see whether the edit of {where} belongs here too",
                is_sure=True,
                cause=where,
            )


def _takes(side: Side, place: Place) -> list[tuple[ParameterForm, ...]]:
    return [each.parameters for each in side.forms_of(place)]


def _is_aside(side: Side, place: Place) -> bool:
    """Tell whether a place is a test, or a copy of somebody else's."""
    return bool(int(side.index.files.flags[place[0]]) & int(COPIED)) or is_of_tests(side.index, place)


def _namesakes(side: Side, place: Place) -> list[Place]:
    definitions = side.index.definitions
    return [
        each
        for each in side.namesakes(definitions(place[0])[place[1]].name)[:_MOST_NAMESAKES]
        if each != place
        and side.language(each[0]) == side.language(place[0])
        and definitions(each[0])[each[1]].kind in FUNCTIONS
        and not _is_aside(side, each)
    ]


def _body(side: Side, place: Place) -> tuple[str, ...]:
    """Return the lines of a function without white space around them, blank ones and brackets aside."""
    definition = side.index.definitions(place[0])[place[1]]
    lines = side.lines_of(place, whole=True)[definition.sig_start - definition.start :]
    return tuple(line.strip() for line in lines if re.search(r"\w", line))
