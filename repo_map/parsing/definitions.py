"""Definitions with nesting and doc comments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from tree_sitter import Node

from repo_map.languages.kinds import FUNCTIONS, TYPES
from repo_map.languages.language import Found, Language
from repo_map.languages.registry import language_named
from repo_map.languages.syntax import Captures, Named
from repo_map.parsing.queries import Match, Scan
from repo_map.parsing.values import Definition

_ANNOTATION_STARTS: Final = (b"@", b"[", b"#[")
_ANNOTATIONS: Final = frozenset(
    {"annotation", "marker_annotation", "decorator", "attribute", "attribute_list", "attribute_item"}
)


class DefinitionReader:
    """Gives matches their names and lines as they are found, and keeps the first of the source.

    Of more than ``max_definitions`` it keeps one more, so that the excess can be reported.
    """

    def __init__(self, source: bytes, language: str, max_definitions: int) -> None:
        self._source = source
        known = language_named(language)
        self._namer = known.namer
        self._merges_clauses = known.merges_clauses
        self._max_definitions = max_definitions
        self._found: list[Found] = []
        self.end = len(source)
        """Where the first definition begins that is not unique."""

    def take(self, matches: list[Match], scan: Scan) -> int | None:
        """Take more matches; return from which byte on none is wanted, None while all are."""
        for kind, node, captures in matches:
            if named := self._namer(self._source, kind, captures):
                self._found += self._place(node, named, captures, scan)
        if len(self._found) <= self._max_definitions:
            return None
        self._found = _without_repeats(sorted(self._found))
        if len(self._found) <= self._max_definitions:
            return None
        del self._found[self._max_definitions + 1 :]
        # The last one only tells that there are more: what begins with it or later changes nothing.
        self.end = self._found[-1].start_byte + 1
        return self.end

    def definitions(self) -> list[Found]:
        """Return what was found, sorted, with the enclosing one of two first."""
        found = _without_repeats(sorted(self._found))
        if any(item.is_global for item in found):
            found = list(_without_locals(found))
        return _with_merged_clauses(found) if self._merges_clauses else found

    def _place(self, node: Node, named: Named, captures: Captures, scan: Scan) -> Iterable[Found]:
        """Yield a find for each (name, kind) of one match, with the wrappers and attributes around it."""
        start_byte, end_byte = node.byte_range
        start = sig_start = node.start_point[0]
        end = self._last_row(node)
        body_byte, sig_end = self._signature_end(start, end, captures)
        if (body := captures.get("body")) and body[0].end_byte > end_byte:
            # A sibling that follows, as in Dart.
            end_byte, end = body[0].end_byte, self._last_row(body[0])
        outer = scan.wrappers.get(node.id) if scan.wrappers else None
        while outer is not None:
            start_byte, start = outer.start_byte, outer.start_point[0]
            end_byte, end = max(end_byte, outer.end_byte), max(end, self._last_row(outer))
            outer = scan.wrappers.get(outer.id)
        if self._source.startswith(_ANNOTATION_STARTS, start_byte):
            sig_start = _after_annotations(node, sig_start)
        if scan.attributes:
            start_byte, start = self._over_attributes(start_byte, start, scan)
        sig_end = max(sig_end, sig_start)
        for name, kind in named:
            rows = (start, end, sig_start, sig_end)
            yield Found(start_byte, -end_byte, name, kind, *rows, body_byte, "global" in captures)

    def _last_row(self, node: Node) -> int:
        """Return the row of a node's last character: some grammars end a node after line feeds."""
        row, at = node.end_point[0], node.end_byte
        while at > node.start_byte and self._source[at - 1 : at] == b"\n":
            row, at = row - 1, at - 1
        return row

    def _signature_end(self, start: int, end: int, captures: Captures) -> tuple[int, int]:
        """Return the body's first byte, -1 without one, and the signature's last row."""
        body = captures.get("body")
        body_byte = body[0].start_byte if body else -1
        if head := captures.get("head"):
            return body_byte, head[0].end_point[0]
        if not body:
            return body_byte, end
        row = body[0].start_point[0]
        # A brace on a line of its own is not part of the signature.
        if row > start and not self._source[self._source.rfind(b"\n", 0, body_byte) + 1 : body_byte].strip():
            row -= 1
        return body_byte, row

    def _over_attributes(self, start_byte: int, row: int, scan: Scan) -> tuple[int, int]:
        """Move a start over the attributes that stand before it (``#[derive(…)]``, ``@Input()``)."""
        while True:
            window = max(0, start_byte - 400)
            node = scan.attributes.get(window + len(self._source[window:start_byte].rstrip()))
            if node is None:
                return start_byte, row
            start_byte, row = node.start_byte, node.start_point[0]


def _after_annotations(node: Node, row: int) -> int:
    """Return the row of the first child that is no annotation, looking into a list of modifiers."""
    for child in node.children:
        if child.type == "modifiers":
            for modifier in child.children:
                if modifier.type not in _ANNOTATIONS:
                    return modifier.start_point[0]
        elif child.type not in _ANNOTATIONS and not child.is_extra:
            return child.start_point[0]
    return row


def _without_repeats(found: list[Found]) -> list[Found]:
    """Keep the most specific of the finds that several patterns made of one name at one place."""
    unique: list[Found] = []
    last: dict[tuple[int, int, str], int] = {}
    for item in found:
        key = (item.start_byte, item.minus_end_byte, item.name.partition("#")[0] or item.name)
        at = last.setdefault(key, len(unique))
        if at == len(unique):
            unique.append(item)
        elif _weight(item) > _weight(unique[at]):
            unique[at] = item
    return unique


def _with_merged_clauses(found: list[Found]) -> list[Found]:
    """Make one find of those of one name that follow each other: a signature and the equations below it."""
    merged: list[Found] = []
    for item in found:
        last = merged[-1] if merged else None
        if last is None or (last.name, last.kind) != (item.name, item.kind):
            merged.append(item)
        elif item.minus_end_byte < last.minus_end_byte:
            body_byte = last.body_byte if last.body_byte >= 0 else item.body_byte
            merged[-1] = last._replace(minus_end_byte=item.minus_end_byte, end=item.end, body_byte=body_byte)
    return merged


def _without_locals(found: list[Found]) -> Iterator[Found]:
    """Yield sorted finds without those in a function that are definitions only outside of any."""
    end = 0
    for item in found:
        if not item.is_global or item.start_byte >= end:
            yield item
            if item.kind in FUNCTIONS:
                end = max(end, -item.minus_end_byte)


def _weight(item: Found) -> int:
    """Return how much a find tells: ``main#cart`` more than ``main``, a function more than a constant."""
    return _WEIGHTS.get(item.kind, 3) + ("#" in item.name)


_WEIGHTS: Final = {"constant": 0, "field": 0, "type": 1, "class": 2}

_MAX_COMMENT_LINES: Final = 400


def doc_finder(source: bytes, language: str) -> Callable[[Found], tuple[int, int]]:
    """Return what tells a find's documentation, as first and last line, (0, 0) where there is none."""
    known = language_named(language)
    own = known.docs(source) if known.docs is not None else None
    comments = CommentFinder(source, known)
    if own is None:
        return lambda item: comments.above(item.start, item.sig_start)
    return lambda item: found if (found := own(item))[0] else comments.above(item.start, item.sig_start)


class CommentFinder:
    """Finds the comment block that stands right above a row of one file."""

    def __init__(self, source: bytes, language: Language) -> None:
        self._lines = source.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        self._marks = language.doc_comments
        self._has_blocks = language.has_block_comments
        self._known: dict[tuple[int, int], tuple[int, int]] = {}

    def above(self, start: int, sig_start: int) -> tuple[int, int]:
        """Return first and last line (1-based) of the comment above row ``start``, (0, 0) without one.

        Between attributes and signature (Rust allows it) a comment counts as well.
        """
        found = self._block_at(start - 1, 0) if start > 0 else (0, 0)
        if found == (0, 0) and sig_start > start + 1:
            found = self._block_at(sig_start - 1, start)
        return found

    def _block_at(self, row: int, floor: int) -> tuple[int, int]:
        """Return the block that ends at ``row``, looked for once: many definitions may begin on one line."""
        if (row, floor) not in self._known:
            self._known[row, floor] = self._block(row, floor)
        return self._known[row, floor]

    def _block(self, row: int, floor: int) -> tuple[int, int]:
        line = self._lines[row].strip()
        if not line.startswith(self._marks) and not line.endswith(b"*/"):
            return 0, 0
        last = row
        while row >= floor and last - row < _MAX_COMMENT_LINES:
            line = self._lines[row].strip()
            if line.startswith(self._marks):
                row -= 1
            elif line.endswith(b"*/") and self._has_blocks:
                opening = self._opening(row, floor)
                if opening < 0:
                    break
                row = opening - 1
            else:
                break
        return (row + 2, last + 1) if row < last else (0, 0)

    def _opening(self, row: int, floor: int) -> int:
        """Return the row where the block comment that ends at ``row`` opens, -1 where it follows code."""
        for above in range(row, max(floor, row - _MAX_COMMENT_LINES) - 1, -1):
            line = self._lines[above].strip()
            if b"/*" in line:
                return above if line.startswith(b"/*") else -1
        return -1


def nest(found: list[Found], source: bytes, language: str) -> list[Definition]:
    """Turn sorted finds into definitions: parents, methods told from functions, documentation attached."""
    doc_of = doc_finder(source, language)
    definitions: list[Definition] = []
    open_: list[int] = []
    new = tuple.__new__
    for index, item in enumerate(found):
        while open_ and not _encloses(found[open_[-1]], item):
            open_.pop()
        parent = open_[-1] if open_ else -1
        kind = _kind_in(item.kind, definitions[parent].kind) if parent >= 0 else item.kind
        doc_start, doc_end = doc_of(item)
        lines = (item.start + 1, item.end + 1, item.sig_start + 1, item.sig_end + 1)
        definitions.append(new(Definition, (item.name, kind, parent, *lines, doc_start, doc_end)))
        open_.append(index)
    return definitions


def _encloses(outer: Found, inner: Found) -> bool:
    """Return True if one definition contains another; two of equal range (``int x, y;``) are siblings."""
    return outer.minus_end_byte <= inner.minus_end_byte and outer[:2] != inner[:2]


def _kind_in(kind: str, owner: str) -> str:
    if owner in TYPES:
        if kind == "function":
            return "method"
        if kind == "constant" and owner != "enum":
            return "field"
    return kind
