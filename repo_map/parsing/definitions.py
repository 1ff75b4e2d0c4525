"""What a syntax tree defines: the matches of a language's query, put in order and nested."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from tree_sitter import Node, QueryCursor, Tree

from repo_map.languages import symbol_query
from repo_map.parsing.docs import CommentFinder, docstring_lines
from repo_map.parsing.names import NAMERS, Captures, Named, plain_name
from repo_map.parsing.values import Definition

CONTAINERS: Final = frozenset({"class", "interface", "struct", "enum", "trait", "impl"})
"""Kinds whose functions are methods, and whose constants are fields."""

_ROLES: Final = frozenset(
    {"name", "body", "head", "declarator", "owner", "wrapper", "wrapped", "attribute", "import"}
)
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


class Reading(NamedTuple):
    """What one run of the query found."""

    found: list[Found]
    imports: list[Node]


def find_definitions(source: bytes, tree: Tree, language: str) -> Reading:
    """Run a language's query over a tree and collect its definitions, sorted with the enclosing one first."""
    matches = [captures for _, captures in QueryCursor(symbol_query(language)).matches(tree.root_node)]
    placer = _Placer(source, matches)
    namer = NAMERS.get(language, plain_name)
    found: list[Found] = []
    imports: list[Node] = []
    for captures in matches:
        for role, nodes in captures.items():
            if role == "import":
                imports += nodes
            elif role not in _ROLES:
                named = namer(source, role, captures)
                if named:
                    found += placer.place(nodes[0], named, captures)
    found.sort()
    return Reading(_without_repeats(found), imports)


def nest(found: list[Found], source: bytes, language: str) -> list[Definition]:
    """Turn sorted finds into definitions: parents, methods told from functions, documentation attached."""
    comments = CommentFinder(source, language)
    definitions: list[Definition] = []
    open_: list[int] = []
    for index, item in enumerate(found):
        while open_ and -found[open_[-1]].minus_end_byte < -item.minus_end_byte:
            open_.pop()
        while open_ and (
            -found[open_[-1]].minus_end_byte <= item.start_byte or found[open_[-1]][:2] == item[:2]
        ):
            open_.pop()
        parent = open_[-1] if open_ else -1
        kind = _kind_in(item.kind, definitions[parent].kind if parent >= 0 else "")
        doc = (0, 0)
        if language == "python":
            if kind in {"function", "method", "class"}:
                doc = docstring_lines(source, item.body_byte)
        else:
            doc = comments.above(item.start, item.sig_start)
        definitions.append(
            Definition(
                item.name,
                kind,
                parent,
                item.start + 1,
                item.end + 1,
                item.sig_start + 1,
                item.sig_end + 1,
                doc[0],
                doc[1],
            )
        )
        open_.append(index)
    return definitions


def _kind_in(kind: str, owner: str) -> str:
    if owner in CONTAINERS:
        if kind == "function":
            return "method"
        if kind == "constant" and owner != "enum":
            return "field"
    return kind


class _Placer:
    """Gives each match its lines, the wrappers and attributes around it included."""

    def __init__(self, source: bytes, matches: Iterable[Captures]) -> None:
        self._source = source
        self._wrappers: dict[int, Node] = {}
        """Outer node by the id of the node it wraps."""
        self._attributes: dict[int, Node] = {}
        """Attributes that stand before their item as siblings, by end byte."""
        for captures in matches:
            if "wrapped" in captures:
                self._wrappers[captures["wrapped"][0].id] = captures["wrapper"][0]
            elif "attribute" in captures:
                self._attributes.update((node.end_byte, node) for node in captures["attribute"])

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
    last: dict[tuple[int, str], int] = {}
    for item in found:
        key = (item.sig_start, item.name)
        at = last.get(key)
        if at is None or kept[at][:2] != item[:2]:
            last[key] = len(kept)
            kept.append(item)
        elif _WEIGHT.get(item.kind, 2) > _WEIGHT.get(kept[at].kind, 2):
            kept[at] = item
    return kept


_WEIGHT: Final = {"constant": 0, "field": 0, "type": 1}
