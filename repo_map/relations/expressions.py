"""Expressions and written types in their normal form, taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

_NAME: Final = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_SUFFIX: Final = re.compile(r"\.[#$]?[^\W\d][\w$]*|\.\$[\w$]*|\(\)|\[\d*\]|\*|%|#\d+|@\d+(?:\.\d+)?")
_OPENING, _CLOSING = frozenset("([{<"), frozenset(")]}>")
_DEEPEST: Final = 12


class Name(NamedTuple):
    """A bare name."""

    name: str


class Text(NamedTuple):
    """A literal, ``'`` text or ``0`` number, or ``?`` anything."""

    mark: str


class Typed(NamedTuple):
    """Something of a written type."""

    written: str


class Several(NamedTuple):
    """A literal of parts: ``[`` a list, ``{`` a mapping, ``(`` a tuple."""

    mark: str
    parts: tuple[Expression, ...]


class One(NamedTuple):
    """Any one of several."""

    parts: tuple[Expression, ...]


class Expression(NamedTuple):
    """A root, and what is done with it in order."""

    root: Name | Text | Typed | Several | One
    then: tuple[str, ...] = ()


UNKNOWN: Final = Expression(Text("?"))


@lru_cache(maxsize=20_000)
def parse(form: str) -> Expression:
    """Read a normal form (``parsing.facts_python`` says which there are); what is none is unknown."""
    return _parse(form, 0)


def _parse(form: str, depth: int) -> Expression:
    if not form or depth > _DEEPEST:
        return UNKNOWN
    first = form[0]
    root: Name | Text | Typed | Several | One
    if first in "'0?":
        root, at = Text(first), 1
    elif first in _OPENING:
        at = _close(form)
        inner = form[1 : at - 1]
        if first == "<":
            root = Typed(inner)
        elif inner.startswith("|"):
            root = One(tuple(_parse(part, depth + 1) for part in split(inner[1:], "|")))
        else:
            root = Several(first, tuple(_parse(part, depth + 1) for part in split(inner, ",")))
    else:
        name = _NAME.match(form)
        if name is None:
            return UNKNOWN
        root, at = Name(name[0]), name.end()
    then: list[str] = []
    while at < len(form):
        suffix = _SUFFIX.match(form, at)
        if suffix is None:
            return UNKNOWN
        then.append(suffix[0])
        at = suffix.end()
    return Expression(root, tuple(then))


def _close(form: str) -> int:
    """Return the position after the mark that closes the first one."""
    depth = 0
    for at, letter in enumerate(form):
        if letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
            if depth == 0:
                return at + 1
    return len(form)


def split(text: str, mark: str) -> list[str]:
    """Split at a mark outside all brackets."""
    parts: list[str] = []
    depth = start = 0
    for at, letter in enumerate(text):
        if letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
        elif letter == mark and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part for part in parts if part]


def parts_of_type(written: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield head and arguments of each alternative of a written type (``a.B[C]|None``)."""
    for part in split(written, "|"):
        head, bracket, rest = part.partition("[")
        arguments = tuple(split(rest.removesuffix("]"), ",")) if bracket else ()
        yield head.strip("()"), arguments
