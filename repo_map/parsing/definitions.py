"""What a syntax tree defines: each match of a language's query with its names and lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from tree_sitter import Node

from repo_map.parsing.names import NAMERS, Named, plain_name
from repo_map.parsing.scanning import Captures, Scan

_ANNOTATION_STARTS: Final = (b"@", b"[", b"#[")
_ANNOTATIONS: Final = frozenset(
    {"annotation", "marker_annotation", "decorator", "attribute", "attribute_list", "attribute_item"}
)


class Found(NamedTuple):
    """A definition before it is nested: byte range with its wrappers, and 0-based rows."""

    start_byte: int
    minus_end_byte: int
    """Negative, so that sorting puts the enclosing one of two that begin together first."""
    name: str
    kind: str
    start: int
    end: int
    sig_start: int
    sig_end: int
    body_byte: int
    """Where the body starts, -1 where there is none."""


def find_definitions(source: bytes, found: Scan, language: str) -> list[Found]:
    """Give every match its names and lines; sorted, with the enclosing one of two first."""
    placer = _Placer(source, found)
    namer = NAMERS.get(language, plain_name)
    definitions: list[Found] = []
    for kind, node, captures in found.matches:
        if named := namer(source, kind, captures):
            definitions += placer.place(node, named, captures)
    definitions.sort()
    return _without_repeats(definitions)


class _Placer:
    """Gives each match its lines, the wrappers and attributes around it included."""

    def __init__(self, source: bytes, found: Scan) -> None:
        self._source = source
        self._wrappers = found.wrappers
        self._attributes = found.attributes

    def place(self, node: Node, named: Named, captures: Captures) -> Iterable[Found]:
        """Yield a find for each (name, kind) that one match declares."""
        start_byte, end_byte = node.byte_range
        start = sig_start = node.start_point[0]
        end = _last_row(node)
        body_byte, sig_end = self._signature_end(start, end, captures)
        outer = self._wrappers.get(node.id) if self._wrappers else None
        while outer is not None:
            start_byte, start = outer.start_byte, outer.start_point[0]
            end_byte, end = max(end_byte, outer.end_byte), max(end, _last_row(outer))
            outer = self._wrappers.get(outer.id)
        if self._source.startswith(_ANNOTATION_STARTS, start_byte):
            sig_start = _after_annotations(node, sig_start)
        if self._attributes:
            start_byte, start = self._over_attributes(start_byte, start)
        sig_end = max(sig_end, sig_start)
        for name, kind in named:
            yield Found(start_byte, -end_byte, name, kind, start, end, sig_start, sig_end, body_byte)

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

    def _over_attributes(self, start_byte: int, row: int) -> tuple[int, int]:
        """Move a start over the attributes that stand before it (``#[derive(…)]``, ``@Input()``)."""
        while True:
            window = max(0, start_byte - 400)
            node = self._attributes.get(window + len(self._source[window:start_byte].rstrip()))
            if node is None:
                return start_byte, row
            start_byte, row = node.start_byte, node.start_point[0]


def _last_row(node: Node) -> int:
    """Return the row of a node's last byte: some grammars end a node after the line feed."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


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
    """Keep the most telling of the finds that several patterns made of one name at one place."""
    kept: list[Found] = []
    last: dict[tuple[int, int, str], int] = {}
    for item in found:
        key = (item.start_byte, item.minus_end_byte, item.name.partition("#")[0] or item.name)
        at = last.setdefault(key, len(kept))
        if at == len(kept):
            kept.append(item)
        elif _weight(item) > _weight(kept[at]):
            kept[at] = item
    return kept


def _weight(item: Found) -> int:
    """Return how much a find tells: ``main#cart`` more than ``main``, a function more than a constant."""
    return _WEIGHTS.get(item.kind, 3) + ("#" in item.name)


_WEIGHTS: Final = {"constant": 0, "field": 0, "type": 1, "class": 2}
