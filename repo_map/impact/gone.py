"""Names that a patch takes away: what is defined on one side of a file, and no more on the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from repo_map.languages.kinds import CODE, CONTAINERS, FUNCTIONS, MEMBERS
from repo_map.parsing.facts_model import ASSIGNED, DECLARED, FIELD, FIELD_TYPE, Binding
from repo_map.parsing.values import Definition

_LONGEST = 120
_LONGEST_LINE = 400
_ASSIGNED_FIELD = re.compile(
    r"\s*(?:(?:self|this|cls)\.|\$this->|(?=@))(@{0,2}[^\W\d]\w*)(?:\[\])?\s*(?::[^=]+|\|\|)?=(?![=>~])"
)
_ENUM_MEMBER = re.compile(r"\s*([^\W\d]\w*)\s*(?:[=({].*)?[,;]?\s*(?://.*)?$")
_OWN_LINES = frozenset({FIELD, FIELD_TYPE})
_TOP_LINES = frozenset({ASSIGNED, DECLARED})


class Defined(NamedTuple):
    """A name that others can use: a definition, a field, a name bound at the top of a file or a class."""

    name: str
    """Its last part."""
    owner: str
    """What it is a member of, qualified; ``""`` for what stands at the top."""
    line: int
    """1-based."""
    text: str = ""
    """Its line, without the white space around it."""

    @property
    def qualified(self) -> str:
        """The name with its owner's."""
        return f"{self.owner}.{self.name}" if self.owner else self.name


class Difference(NamedTuple):
    """What the names of a file come to, side by side."""

    gone: tuple[Defined, ...]
    added: tuple[Defined, ...]


def defined_in(
    definitions: Sequence[Definition], bindings: Sequence[Binding], text: str
) -> tuple[Defined, ...]:
    """Return the names of a file that others can use, what is local to a function left out, each once."""
    lines = text.split("\n")
    found = {each.qualified: each for each in _written(definitions, lines)}
    found |= {each.qualified: each for each in _bound(definitions, bindings)}
    # A definition says best where its name stands.
    found |= {each.qualified: each for each in _defined(definitions)}
    ordered = sorted(found.values(), key=lambda each: (each.line, each.qualified))
    return tuple(
        each._replace(text=lines[each.line - 1].strip()) for each in ordered if 0 < each.line <= len(lines)
    )


def difference(before: Sequence[Defined], after: Sequence[Defined]) -> Difference:
    """Return what is gone and what is added; what only moves from one owner to another is neither."""
    old, new = ({each.qualified for each in side} for side in (before, after))
    old_names, new_names = ({each.name for each in side} for side in (before, after))
    coming = {each.name for each in after if each.qualified not in old}
    gone = tuple(
        each
        for each in before
        if each.qualified not in new
        # A namesake in the same file is no successor, as long as both had their own owner before.
        and (each.name not in new_names or (each.owner in new and each.name not in coming))
    )
    added = tuple(each for each in after if each.qualified not in old and each.name not in old_names)
    return Difference(gone, added)


def _defined(definitions: Sequence[Definition]) -> Iterator[Defined]:
    for each in definitions:
        if each.kind not in CODE | MEMBERS | {"table"}:
            continue
        owners = [definitions[row] for row in _above(definitions, each.parent)]
        if any(owner.kind in FUNCTIONS for owner in owners) or not _is_name(each.name):
            continue
        *own, name = each.name.split(".")
        path = [owner.name for owner in reversed(owners) if owner.kind in CODE | CONTAINERS]
        yield Defined(name, ".".join((*path, *own)), each.sig_start)


def _written(definitions: Sequence[Definition], lines: Sequence[str]) -> Iterator[Defined]:
    """Yield what neither grammar nor facts tell in every language: assigned fields, members of enums."""
    for row, each in enumerate(definitions):
        is_enum = each.kind == "enum"
        owner = _owner(definitions, row if is_enum else each.parent)
        if not owner or not (is_enum or each.kind in FUNCTIONS):
            continue
        pattern = _ENUM_MEMBER if is_enum else _ASSIGNED_FIELD
        first = each.sig_end if is_enum else each.sig_start - 1
        for line in range(first, min(each.end, len(lines))):
            found = pattern.match(lines[line][:_LONGEST_LINE])
            if found is not None and _is_name(found[1]):
                yield Defined(found[1], owner, line + 1)


def _owner(definitions: Sequence[Definition], row: int) -> str:
    """Return the qualified name of the innermost class at or around a definition, ``""`` for none."""
    at = next((each for each in _above(definitions, row) if definitions[each].kind in CONTAINERS), -1)
    return ".".join(reversed([definitions[each].name for each in _above(definitions, at)]))


def _bound(definitions: Sequence[Definition], bindings: Sequence[Binding]) -> Iterator[Defined]:
    for each in bindings:
        if each.kind not in _OWN_LINES | _TOP_LINES or not _is_name(each.name):
            continue
        rows = list(_above(definitions, each.definition))
        if each.kind in _TOP_LINES and any(definitions[row].kind in FUNCTIONS for row in rows):
            continue
        owner = _owner(definitions, each.definition)
        if each.kind in _TOP_LINES or owner:
            yield Defined(each.name, owner, each.line)


def _is_name(name: str) -> bool:
    return bool(name.strip("_")) and len(name) <= _LONGEST


def _above(definitions: Sequence[Definition], row: int) -> Iterator[int]:
    """Yield a definition and those around it, from the inside out."""
    while row >= 0:
        yield row
        row = definitions[row].parent
