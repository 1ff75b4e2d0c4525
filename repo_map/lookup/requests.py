"""Requests as they come over the wire: an object with one key, whose value is short or spelled out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from repo_map.lookup.locations import Answer, LookupRequestError
from repo_map.lookup.outline import outline
from repo_map.lookup.read import Read, read
from repo_map.lookup.references import KINDS, References, find_references
from repo_map.lookup.search import Search, search
from repo_map.messages import one_line

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex


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


def parse_request(operation: str, value: object) -> Request:
    """Return the request that a key and its value on the wire mean.

    Raises:
        LookupRequestError: there is no such operation or field, or a value has the wrong type.
    """
    if operation not in OPERATIONS:
        near = get_close_matches(operation, OPERATIONS, n=1, cutoff=0.6)
        hint = f" Nearest: `{near[0]}`." if near else ""
        known = ", ".join(OPERATIONS)
        raise LookupRequestError(f"`{one_line(operation)}` is no question.{hint} Use {known}.")
    given: dict[str, object] = {"kind": operation} if operation in KINDS else {}
    record, first = _FORMS["references" if operation in KINDS else operation]
    given |= dict(value) if isinstance(value, Mapping) else {first: value}
    types = {field.name: str(field.type) for field in fields(record)}
    for name in given:
        if name not in types:
            has = ", ".join(types)
            raise LookupRequestError(f"`{operation}` has no field `{one_line(name)}`; it has {has}.")
    if first not in given and operation != "outline":
        raise LookupRequestError(f"`{operation}` lacks `{first}`.")
    typed = {name: _typed(operation, name, types[name], each) for name, each in given.items()}
    return record(**typed)  # type: ignore[no-any-return]


def _typed(operation: str, name: str, annotation: str, value: object) -> object:
    """Return a value as its field has it: text, a flag as JSON or words write it, or several texts."""
    if annotation == "bool":
        flags = {"true": True, "false": False, "1": True, "0": False}
        flag = value if isinstance(value, bool) else flags.get(str(value).lower())
        if flag is None:
            written = one_line(str(value))
            raise LookupRequestError(f"`{name}` of `{operation}` is {written}; give true or false.")
        return flag
    if annotation.startswith("tuple"):
        entries = value if isinstance(value, list | tuple) else [value]
        return tuple(_text(operation, name, each) for each in entries)
    return _text(operation, name, value)


def _text(operation: str, name: str, value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise LookupRequestError(f"`{name}` of `{operation}` has the wrong type; give a text.")
    return value


def answer(
    index: RepoIndex,
    request: Request,
    near: Iterable[str] = (),
    is_excluded: Callable[[str], bool] | None = None,
) -> Answer:
    """Return the answer to a request, the same for the same index.

    Args:
        index: what is asked of.
        request: what is asked.
        near: paths shown before, which decide between definitions of one name.
        is_excluded: tells of a path that the user left it out.

    Raises:
        LookupRequestError: the request can't be answered as it is.
    """
    match request:
        case Search():
            return search(index, request, is_excluded)
        case Read():
            return read(index, request, near, is_excluded)
        case References():
            return find_references(index, request, is_excluded)
        case Outline():
            return outline(index, request.path, request.cursor)
