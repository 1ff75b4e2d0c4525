"""Rust's facts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from repo_map.languages.rust import RUST_MACROS, RUST_USUAL
from repo_map.parsing import facts_model as facts
from repo_map.parsing.expressions import (
    UNKNOWN_FORM,
    Form,
    call_of,
    element_of,
    entry_of,
    item_of,
    member_of,
    name_form,
    of_type,
    part_of,
)
from repo_map.parsing.facts_model import Site
from repo_map.parsing.facts_reader import (
    LITERAL,
    QUOTED,
    Reader,
    child_of,
    constant,
    first,
    list_type,
    parts_of,
    type_within,
    typed,
)

_TRANSPARENT: Final = frozenset({"Box", "Rc", "Arc", "Ref", "RefMut", "Pin", "Cow", "MutexGuard"})
_FIRST, _LAST = frozenset({"Some", "Ok", "Ready"}), frozenset({"Err"})
_TEXT: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|//[^\n]*')
_CALLED: Final = re.compile(rb"(?<![\w.)\]:?])((?:[A-Za-z_]\w*(?:::|\.))*)([A-Za-z_]\w*)(?:::<[^<>()]*>)?\(")
_TYPE_NAME: Final = re.compile(
    rb"(?<![\w.:$'#])((?:[a-z_]\w*::)*)(?:([A-Z]\w*)(?![\w(!])|([a-z_]\w*)(?=::[A-Z]))(?!\s*:\s)"
)
"""In what a macro is given: a name written like a type's, or what stands before such a one."""
_COMMENT: Final = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_USE: Final = re.compile(rb"\buse\s+([^;]+);")
_AS: Final = re.compile(r"\s+as\s+")
_HEADS: Final = frozenset({"self", "Self", "super", "crate", facts.HERE})
_ITEMS: Final = frozenset({"source_file", "declaration_list", "expression_statement"})
_KEYWORDS: Final = frozenset(
    {b"if", b"match", b"while", b"for", b"in", b"return", b"fn", b"Some", b"Ok", b"Err"}
)


class _Reader(Reader):
    # Bindings.

    def _import(self, node: Node) -> None:
        self._use(self.source[node.start_byte : node.end_byte], node)

    def _use(self, written: bytes, node: Node) -> None:
        """Bind what a ``use`` names."""
        for path, name in _listed("", _COMMENT.sub(b" ", written).decode("utf-8", "replace")):
            is_renamed = path.rpartition(".")[2] != name
            kind = facts.STAR if name == "*" else facts.RENAMED if is_renamed else facts.IMPORT
            self.bind(name, path, node, kind)

    def _path(self, node: Node | None) -> str:
        """Return a path with dots, without type arguments; ``""`` for what is none."""
        if node is None:
            return ""
        if node.type in ("scoped_identifier", "scoped_type_identifier"):
            path, name = node.child_by_field_name("path"), self.text_of(node, "name")
            if path is None:
                return name
            return f"{outer}.{name}" if (outer := self._path(path)) else ""
        if node.type == "generic_type":
            return self._path(node.child_by_field_name("type"))
        if node.type == "self":
            return facts.HERE
        return self.text(node) if node.type in _NAMES else ""

    def _parameters_of(self, node: Node) -> None:
        """Read the type parameters of an item, with their bounds from both places."""
        given = node.child_by_field_name("type_parameters")
        if given is None:
            return
        bounds: dict[str, str] = {}
        for each in given.named_children:
            if each.type in ("type_parameter", "constrained_type_parameter", "optional_type_parameter"):
                name = each.child_by_field_name("name") or each.child_by_field_name("left")
                bounds[self.text(name)] = self._bounds(each.child_by_field_name("bounds"))
        clause = child_of(node, "where_clause")
        for each in clause.named_children if clause is not None else ():
            name_text = self.text_of(each, "left")
            if name_text in bounds:
                more = self._bounds(each.child_by_field_name("bounds"))
                bounds[name_text] = "|".join(part for part in (bounds[name_text], more) if part)
        for name_text, bound in bounds.items():
            self.bind(name_text, bound, node, facts.TYPE_PARAMETER)

    def _bounds(self, node: Node | None) -> str:
        found = [self.type_of(each) for each in node.named_children] if node is not None else []
        return "|".join(each for each in found if each and each != "?")

    def _function(self, node: Node) -> None:
        self._parameters_of(node)
        if written := self.type_in(node, "return_type"):
            self.bind("", written, node, facts.RETURN_TYPE)
        for each in parts_of(node, "parameters"):
            if each.type == "parameter":
                written = self.type_in(each, "type")
                self._bind(each.child_by_field_name("pattern"), of_type(written), node)

    def _item(self, node: Node) -> None:
        self._parameters_of(node)
        kind = node.type
        if kind == "impl_item" and (trait := node.child_by_field_name("trait")) is not None:
            self._base(trait, node)
        elif kind == "trait_item" and (bounds := node.child_by_field_name("bounds")) is not None:
            for each in bounds.named_children:
                if each.type != "lifetime":
                    self._base(each, node)
        elif kind == "type_item" and (written := self.type_in(node, "type")):
            self.bind("", written, node, facts.ALIAS)

    def _base(self, base: Node, node: Node) -> None:
        self.base(self.type_of(base), node)

    def _field(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self.bind(self.text(name), self.type_in(node, "type"), node, facts.FIELD_TYPE)

    def _constant(self, node: Node) -> None:
        written = self.type_in(node, "type")
        self.bind(self.text_of(node, "name"), written, node, facts.DECLARED)

    def _let(self, node: Node) -> None:
        written = self.type_in(node, "type")
        value = of_type(written) if written and written != "?" else self.of_field(node, "value")
        self._bind(node.child_by_field_name("pattern"), value, node, inside=node.type == "let_condition")

    def _match(self, node: Node) -> None:
        value, body = self.of_field(node, "value"), node.child_by_field_name("body")
        for arm in body.named_children if body is not None else ():
            pattern = arm.child_by_field_name("pattern") if arm.type == "match_arm" else None
            if pattern is not None and pattern.named_children:
                self._bind(pattern.named_children[0], value, arm, inside=True)

    def _loop(self, node: Node) -> None:
        value = element_of(self.of_field(node, "value"))
        self._bind(node.child_by_field_name("pattern"), value, node, inside=True)

    def _closure(self, node: Node) -> None:
        for each in parts_of(node, "parameters"):
            if each.type == "parameter":
                written = self.type_in(each, "type")
                self._bind(each.child_by_field_name("pattern"), of_type(written), node, inside=True)
            else:
                self._bind(each, UNKNOWN_FORM, node, inside=True)

    def _bind(
        self, pattern: Node | None, value: Form, at: Node, *, inside: bool = False, depth: int = 0
    ) -> None:
        """Bind the names of a pattern; what is not followed hides its name all the same."""
        if pattern is None or depth > 6:
            return
        kind, parts = pattern.type, pattern.named_children
        if kind in ("identifier", "shorthand_field_identifier"):
            name = self.text(pattern)
            if name[:1].islower() or name[:1] == "_":
                self.bind(name, value, at, facts.ASSIGNED, inside=inside)
        elif kind in ("mut_pattern", "ref_pattern", "reference_pattern"):
            self._bind(parts[-1] if parts else None, value, at, inside=inside, depth=depth + 1)
        elif kind == "tuple_pattern":
            for number, each in enumerate(parts):
                self._bind(each, part_of(value, number), at, inside=inside, depth=depth + 1)
        elif (
            kind == "tuple_struct_pattern"
            and len(parts) == 2
            and (head := self.text(parts[0])) in _FIRST | _LAST
        ):
            inner = entry_of(value) if head in _FIRST else item_of(value)
            self._bind(parts[1], inner, at, inside=inside, depth=depth + 1)
        else:
            for each in parts:
                self._bind(each, UNKNOWN_FORM, at, inside=inside, depth=depth + 1)

    # Sites.

    def _call(self, node: Node) -> None:
        called = node.child_by_field_name("function")
        if called is not None and called.type == "generic_function":
            called = called.child_by_field_name("function")
        if called is None:
            return
        if called.type == "field_expression":
            field = called.child_by_field_name("field")
            if field is not None and field.type == "field_identifier":
                self.site(self.text(field), self.of_field(called, "value"), field, facts.CALL)
        elif path := self._path(called):
            receiver, _, name = path.rpartition(".")
            last = called.child_by_field_name("name") or called
            if receiver or name not in ("Some", "Ok", "Err"):
                self.site(name, receiver, last, facts.CALL)

    def _macro(self, node: Node) -> None:
        named = node.child_by_field_name("macro")
        path = self._path(named)
        if named is not None and path and path not in RUST_MACROS:
            self.use(path, named, facts.CALL)
        given = child_of(node, "token_tree")
        if given is not None and (node.parent is None or node.parent.type != "token_tree"):
            self._tokens(given)
            if node.parent is not None and node.parent.type in _ITEMS:
                self._uses_in(given)

    def _uses_in(self, node: Node) -> None:
        """Read the ``use`` declarations among the items that a macro is given."""
        text = _TEXT.sub(b" ", self.source[node.start_byte : node.end_byte])
        for found in _USE.finditer(text):
            self._use(found[1], node)

    def _tokens(self, node: Node) -> None:
        """Read the calls in what a macro is given, which is not parsed."""
        start = node.start_byte
        text = _TEXT.sub(lambda found: b" " * len(found[0]), self.source[start : node.end_byte])
        for found in _CALLED.finditer(text):
            before, name = found[1], found[2]
            if name in _KEYWORDS or (b"::" in before and b"." in before):
                continue
            parts = [part for part in before.replace(b"::", b".").split(b".") if part]
            if b"::" in before and parts[0] == b"self":
                parts[0] = facts.HERE.encode()
            byte = start + found.start(2)
            row = node.start_point[0] + text.count(b"\n", 0, found.start(2))
            receiver = b".".join(parts).decode("utf-8", "replace")
            self.sites.append(
                Site(
                    name.decode("utf-8", "replace"),
                    receiver,
                    self.owner(byte),
                    row + 1,
                    facts.CALL,
                    self.indent(row),
                )
            )
        for found in _TYPE_NAME.finditer(text):
            path = found[0].decode("utf-8", "replace").split("::")
            if path[0] == "self":
                path[0] = facts.HERE
            row = node.start_point[0] + text.count(b"\n", 0, found.start())
            owner, indent = self.owner(start + found.start()), self.indent(row)
            # What stands before a name may be a type, too: that of a constant or a variant.
            for at in range(max(0, len(path) - 2), len(path)):
                name_text, receiver = path[at], ".".join(path[:at])
                is_usual = name_text in RUST_USUAL or name_text in _HEADS
                if len(name_text) > 1 and not name_text.isupper() and not is_usual:
                    self.sites.append(Site(name_text, receiver, owner, row + 1, facts.TYPE, indent))

    def _site_of_type(self, node: Node) -> None:
        parent = node.parent
        if parent is None or (parent.type in _NAMED and parent.child_by_field_name("name") == node):
            return
        receiver = (
            self._path(parent.child_by_field_name("path")) if parent.type == "scoped_type_identifier" else ""
        )
        name = self.text(node)
        if name not in RUST_USUAL and name != "Self":
            self.site(name, receiver, node, facts.TYPE)

    def _head(self, node: Node) -> None:
        """Read a name before ``::`` as that of a type, where it is written like one."""
        name = self.text(node)
        if name[:1].isupper() and name not in RUST_USUAL and name != "Self":
            self.site(name, "", node, facts.TYPE)

    # Types.

    def _bounded(self, node: Node, depth: int) -> str:
        found = [self.type_of(each, depth) for each in node.named_children if each.type != "lifetime"]
        return "|".join(each for each in found if each)

    def _named_type(self, node: Node, depth: int) -> str:
        del depth
        return self._path(node)

    def _generic(self, node: Node, depth: int) -> str:
        head = self._path(node.child_by_field_name("type"))
        arguments = parts_of(node, "type_arguments")
        given = [each for each in arguments if each.type not in ("lifetime", "type_binding")]
        if head.rpartition(".")[2] in _TRANSPARENT:
            return (self.type_of(given[0], depth) or "?") if given else ""
        return self.type_with(head, given if head else (), depth)

    def _tuple(self, node: Node, depth: int) -> str:
        return self.type_with("tuple", node.named_children, depth)

    # Expressions.

    def _of_path(self, node: Node, depth: int) -> Form:
        del depth
        return name_form(self._path(node) or UNKNOWN_FORM)

    def _member(self, node: Node, depth: int) -> Form:
        field = self.text_of(node, "field")
        value = self.of_field(node, "value", depth)
        return part_of(value, int(field)) if field.isdigit() else member_of(value, field)

    def _called(self, node: Node, depth: int) -> Form:
        called = node.child_by_field_name("function")
        if called is not None and called.type == "generic_function":
            called = called.child_by_field_name("function")
        return call_of(self.expression(called, depth))

    def _tried(self, node: Node, depth: int) -> Form:
        return entry_of(self.inner(node, depth))

    roles = {  # noqa: RUF012
        "import": _import,
        "function": _function,
        "item": _item,
        "field": _field,
        "constant": _constant,
        "let": _let,
        "match": _match,
        "loop": _loop,
        "closure": _closure,
        "call": _call,
        "macro": _macro,
        "type": _site_of_type,
        "head": _head,
    }
    forms = {  # noqa: RUF012
        "identifier": Reader.word,
        "self": constant(name_form("self")),
        "scoped_identifier": _of_path,
        "field_expression": _member,
        "call_expression": _called,
        "try_expression": _tried,
        "await_expression": Reader.inner,
        "reference_expression": Reader.inner,
        "unary_expression": Reader.inner,
        "parenthesized_expression": Reader.inner,
        "struct_expression": typed("name"),
        "type_cast_expression": typed("type"),
        "index_expression": first(item_of),
        "string_literal": QUOTED,
        "integer_literal": LITERAL,
        "boolean_literal": LITERAL,
    }
    types = {  # noqa: RUF012
        **dict.fromkeys(("type_identifier", "scoped_type_identifier"), _named_type),
        "primitive_type": Reader.plain_type,
        "reference_type": type_within("type"),
        **dict.fromkeys(("dynamic_type", "abstract_type"), type_within("trait")),
        "bounded_type": _bounded,
        "generic_type": _generic,
        "tuple_type": _tuple,
        "array_type": list_type("element"),
    }


def _listed(before: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield each path that the text of a ``use`` names, with what it is called."""
    text = text.strip()
    head, brace, rest = text.partition("{")
    if brace:
        path = _joined(before, _dotted(head, is_first=not before))
        depth = start = 0
        inner = rest.rpartition("}")[0] + ","
        for at, letter in enumerate(inner):
            depth += (letter == "{") - (letter == "}")
            if letter == "," and depth == 0:
                yield from _listed(path, inner[start:at])
                start = at + 1
        return
    head, _, alias = _AS.sub("\0", text).partition("\0")
    path = before if head == "self" else _joined(before, _dotted(head, is_first=not before))
    if path.endswith(".*"):
        yield path[:-2], "*"
    elif path and alias != "_" and head:
        yield path, alias or path.rpartition(".")[2]


def _dotted(path: str, *, is_first: bool) -> str:
    parts = [part for part in "".join(path.split()).split("::") if part]
    if is_first and parts[:1] == ["self"]:
        parts[0] = facts.HERE
    return ".".join(parts)


def _joined(before: str, path: str) -> str:
    return f"{before}.{path}" if before and path else before or path


_NAMES: Final = frozenset(
    {"identifier", "type_identifier", "crate", "super", "primitive_type", "field_identifier"}
)
_NAMED: Final = frozenset(
    {"struct_item", "enum_item", "trait_item", "type_item", "type_parameter", "union_item", "associated_type"}
)


READERS: Final = {"rust": _Reader}
