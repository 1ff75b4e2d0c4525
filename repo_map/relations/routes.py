"""Routes: who handles a path of an address, and which clients and tests ask for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.languages.language import words
from repo_map.relations.model import Confidence, Place, Relation, RelationKind
from repo_map.relations.strings import Strings, Text
from repo_map.relations.text_search import nearest_files, row_at, units_with
from repo_map.worktree.file_kinds import FileFlag

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

_METHODS: Final = frozenset({"get", "post", "put", "patch", "delete", "head", "options"})
_DECLARES: Final = words(
    "route path re_path url all any handle handlefunc api_route websocket match getmapping postmapping"
    " putmapping patchmapping deletemapping requestmapping mapget mappost mapput mapdelete"
)
_ASKS: Final = frozenset({"fetch", "request", "visit", "goto", "open", "axios", "newrequest"})
_CLIENTS: Final = re.compile(r"(?i)client|session|requests?\b|axios|agent|browser|http\b|page\b|cy\b")
_HELD: Final = re.compile(r"[{<:\[*(]|%[sd]|\$")
"""What a part of a path begins with, or holds, that any value may take the place of."""
_ADDRESS: Final = re.compile(r"(?:https?://[^/]+|[{$][^/]*)?(/[^?#\s]*)")


class _Route(NamedTuple):
    parts: tuple[str, ...]
    method: str
    """``get``; ``""`` for any."""
    declares: bool
    line: int


class Routes:
    """The routes of an index, read from the sources as they are asked; get it by ``routes_of``.

    ``@app.get("/users/{id}")`` handles what ``client.get("/users/1")`` asks for: as many parts, alike where
    neither is filled in. It is stated as a fact where one handler alone fits and stands in the file that asks
    for it; that of another file is likely, for the application that the client talks to is not looked for.
    """

    def __init__(self, index: RepoIndex) -> None:
        self._index = index
        self._strings = index.derived(Strings)

    def asking(self, place: Place) -> tuple[Relation, ...]:
        """Return where others ask for what a definition handles, in the order of the repository."""
        found: dict[Relation, None] = {}
        for route in self._routes(place, declares=True):
            for file in self._may_hold(place[0], route):
                for other in self._read(file):
                    if other.declares or not _fits(route, other):
                        continue
                    if place in (handlers := list(self._handlers(file, other))):
                        sure = _sureness(file, handlers, place)
                        found[self._relation(file, other, place, sure)] = None
        return tuple(sorted(found, key=lambda each: (each.source[0], each.line)))

    def handling(self, place: Place) -> tuple[Relation, ...]:
        """Return the definitions that handle what a definition asks for."""
        found: dict[Relation, None] = {}
        for route in self._routes(place, declares=False):
            handlers = list(self._handlers(place[0], route))
            for handler in handlers:
                sure = _sureness(place[0], handlers, handler)
                found[self._relation(place[0], route, handler, sure)] = None
        return tuple(found)

    def _handlers(self, file: int, asked: _Route) -> Iterator[Place]:
        """Yield the definitions that handle what is asked for.

        A file that has routes of its own asks for these; a test's own are for that test alone.
        """
        seen: set[Place] = set()
        has_own = any(route.declares for route in self._read(file))
        for other in [file] if has_own else self._may_hold(file, asked):
            if other != file and int(self._index.files.flags[other]) & FileFlag.TEST:
                continue
            for route in self._read(other):
                if route.declares and _fits(route, asked):
                    place = (other, row_at(self._index, other, route.line))
                    if place not in seen:
                        seen.add(place)
                        yield place

    def _relation(self, file: int, asked: _Route, handler: Place, sure: Confidence) -> Relation:
        source = (file, row_at(self._index, file, asked.line))
        return Relation(RelationKind.ROUTE, source, handler, asked.line, sure)

    def _routes(self, place: Place, *, declares: bool) -> Iterator[_Route]:
        file, row = place
        definitions = self._index.definitions(file)
        first, last = (definitions[row].start, definitions[row].end) if row >= 0 else (1, 1 << 30)
        for route in self._read(file):
            if route.declares == declares and first <= route.line <= last:
                yield route

    def _read(self, file: int) -> Iterator[_Route]:
        for text in self._strings[file]:
            if (route := _route_in(text)) is not None:
                yield route

    def _may_hold(self, file: int, route: _Route) -> list[int]:
        said = " ".join(part for part in route.parts if not _HELD.search(part))
        return nearest_files(self._index, units_with(self._index, said), self._index.paths[file])


def _route_in(text: Text) -> _Route | None:
    """Return the route that a string is, None where it is none or what it is for can't be told."""
    address = _ADDRESS.fullmatch(text.value.partition("?")[0])
    if address is None or not text.callee:
        return None
    receiver, _, name = text.callee.replace("::", ".").rpartition(".")
    called = name.lower()
    parts = tuple(part for part in address[1].split("/") if part)
    if not any(len(part) > 1 and not _HELD.search(part) for part in parts):
        return None
    method = called if called in _METHODS else re.sub(r"mapping$|^map", "", called)
    method = method if method in _METHODS else ""
    if called in _DECLARES and not _CLIENTS.search(receiver):
        return _Route(parts, method, declares=True, line=text.line)
    if called in _ASKS:
        return _Route(parts, method, declares=False, line=text.line)
    if called in _METHODS:
        # ``request(app).get("/users")`` has no receiver that is a name.
        is_asking = not receiver or _CLIENTS.search(receiver) is not None
        return _Route(parts, method, declares=not is_asking, line=text.line)
    return None


def _fits(declared: _Route, asked: _Route) -> bool:
    """Tell whether a declared route handles what is asked for."""
    if declared.method and asked.method and declared.method != asked.method:
        return False
    if len(declared.parts) != len(asked.parts):
        return False
    pairs = list(zip(declared.parts, asked.parts, strict=True))
    alike = [one == other for one, other in pairs if not _HELD.search(one) and not _HELD.search(other)]
    return bool(alike) and all(alike)


def _sureness(file: int, handlers: Sequence[Place], handler: Place) -> Confidence:
    """Return how sure it is that what a file asks for is handled by one of some handlers that fit."""
    if len(handlers) > 1:
        return Confidence.POSSIBLE
    return Confidence.RESOLVED if handler[0] == file else Confidence.LIKELY


def routes_of(index: RepoIndex) -> Routes:
    """Return the routes of an index, which go with it."""
    return index.derived(Routes)
