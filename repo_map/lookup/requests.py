"""Requests as they come over the wire: an object with one key, whose value is short or spelled out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, Final

import msgspec

from repo_map.errors import RepoMapError
from repo_map.messages import one_line

KINDS: Final = (
    "callers",
    "callees",
    "uses",
    "readers",
    "writers",
    "overrides",
    "implementations",
    "tests",
    "definition",
    "similar",
)


class LookupRequestError(RepoMapError):
    """A request that can't be answered as it is; the message says why and what to send instead."""


@dataclass(frozen=True)
class Search:
    """What to search for.

    Args:
        pattern: a regular expression of RE2, whose time is linear; ``^`` and ``$`` match at line ends.
        literal: take the pattern as plain text.
        paths: a file, a folder or a glob; ``""`` for all files.
        include_tests: search tests too; they are searched anyway where ``paths`` names tests alone.
        ignore_case: match letters of either case.
        cursor: what an earlier answer gave to continue it.
    """

    pattern: str
    literal: bool = False
    paths: str = ""
    include_tests: bool = False
    ignore_case: bool = False
    cursor: str = ""


@dataclass(frozen=True)
class Read:
    """What to read.

    Args:
        targets: up to four of ``path:first-last``, a name, ``path:name``, or a path.
        line_numbers: begin each line with its number.
    """

    targets: tuple[str, ...]
    line_numbers: bool = True


@dataclass(frozen=True)
class References:
    """What to look for.

    Args:
        symbol: a name, ``path:name``, or ``path:line``: a function, type, field, constant, variant or macro.
        kind: one of ``KINDS``.
        include_tests: list references in tests too; ``tests`` lists nothing else.
        cursor: what an earlier answer gave to continue it.
    """

    symbol: str
    kind: str = "callers"
    include_tests: bool = False
    cursor: str = ""


@dataclass(frozen=True)
class Outline:
    """What to outline: a file or a folder, ``""`` for the root."""

    path: str = ""
    cursor: str = ""


Request = Search | Read | References | Outline
OPERATIONS: Final = ("search", "read", "references", "outline", *KINDS)
"""The keys of a request; the kinds of references are short for ``references`` with that kind."""
_FORMS: Final[Mapping[str, tuple[type[Any], str]]] = {
    "search": (Search, "pattern"),
    "read": (Read, "targets"),
    "references": (References, "symbol"),
    "outline": (Outline, "path"),
}
"""For each operation its record, and the field that a value which is no object stands for."""


def subjects(request: Request) -> tuple[str, ...]:
    """Return what a request is about: its pattern, targets, symbol or path."""
    first = next(first for record, first in _FORMS.values() if isinstance(request, record))
    value = getattr(request, first)
    return value if isinstance(value, tuple) else (value,)


def parse_request(operation: str, value: object, further: Sequence[str] = ()) -> Request:
    """Return the request that a key and its value on the wire mean; numbers may be texts, and texts numbers.

    ``further`` are operations that the caller carries out itself; they are listed if one is unknown.

    Raises:
        LookupRequestError: there is no such operation or field, or a value has the wrong type.
    """
    if operation not in OPERATIONS:
        near = get_close_matches(operation, (*OPERATIONS, *further), n=1, cutoff=0.6)
        hint = f" Nearest: `{near[0]}`." if near else ""
        known = ", ".join((*OPERATIONS, *further))
        raise LookupRequestError(f"`{one_line(operation)}` is no question.{hint} Use {known}.")
    record, first = _FORMS["references" if operation in KINDS else operation]
    given: dict[str, object] = {"kind": operation} if operation in KINDS else {}
    given |= (
        {str(name): each for name, each in value.items()} if isinstance(value, Mapping) else {first: value}
    )
    names = [field.name for field in fields(record)]
    for name in given.keys() - set(names):
        has = ", ".join(names)
        raise LookupRequestError(f"`{operation}` has no field `{one_line(name)}`; it has {has}.")
    if not isinstance(given.get("targets", ()), list | tuple):
        given["targets"] = [given["targets"]]
    try:
        return msgspec.convert({name: _text(each) for name, each in given.items()}, record, strict=False)  # type: ignore[no-any-return]
    except msgspec.ValidationError as error:
        raise LookupRequestError(f"`{operation}` can't be read: {error}.") from None


def _text(value: object) -> object:
    """Return a value with texts for whole numbers."""
    if isinstance(value, list | tuple):
        return [_text(each) for each in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value
