"""Rust's facts."""

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node

from repo_map.languages.registry import vocabulary
from repo_map.languages.rust import use_paths
from repo_map.parsing import expressions as forms
from repo_map.parsing import facts_model as facts
from repo_map.parsing import facts_reader as read
from repo_map.parsing.expressions import UNKNOWN_FORM, Form

_USUAL: Final = vocabulary("rust", "usual")
_MACROS: Final = vocabulary("rust", "macros")
_TRANSPARENT: Final = frozenset({"Box", "Rc", "Arc", "Ref", "RefMut", "Pin", "Cow", "MutexGuard"})
_FIRST, _LAST = frozenset({"Some", "Ok", "Ready"}), frozenset({"Err"})
_TEXT: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|//[^\n]*')
_CALLED: Final = re.compile(rb"(?<![\w.)\]:?])((?:[A-Za-z_]\w*(?:::|\.))*)([A-Za-z_]\w*)(?:::<[^<>()]*>)?\(")
_TYPE_NAME: Final = re.compile(
    rb"(?<![\w.:$'#])((?:[a-z_]\w*::)*)(?:([A-Z]\w*)(?![\w(!])|([a-z_]\w*)(?=::[A-Z]))(?!\s*:\s)"
)
"""In what a macro is given: a name written like a type's, or what stands before such a one."""
_USE: Final = re.compile(rb"\buse\s+([^;]+);")
_HEADS: Final = frozenset({"self", "Self", "super", "crate", facts.HERE})
_ITEMS: Final = frozenset({"source_file", "declaration_list", "expression_statement"})
_KEYWORDS: Final = frozenset({"if", "match", "while", "for", "in", "return", "fn", "Some", "Ok", "Err"})


class _Reader(read.Reader):
    # Bindings.

    def on_import(self, node: Node) -> None:
        self._use(self.source[node.start_byte : node.end_byte], node)

    def _use(self, written: bytes, node: Node) -> None:
        """Bind what a ``use`` names."""
        for path, alias in use_paths(written.decode("utf-8", "replace")):
            parts = [facts.HERE if path[0] == "self" and len(path) > 1 else path[0], *path[1:]]
            is_star = parts[-1] == "*"
            if parts[-1] in ("self", "*") and len(parts) > 1:
                parts.pop()
            name = "*" if is_star else alias or parts[-1]
            kind = facts.STAR if is_star else facts.IMPORT if name == parts[-1] else facts.RENAMED
            if name != "_":
                self.bind(name, ".".join(parts), node, kind)

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
        bounds: dict[str, str] = {}
        for each in read.parts_of(node, "type_parameters"):
            if each.type in ("type_parameter", "constrained_type_parameter", "optional_type_parameter"):
                name = self.text(each.child_by_field_name("name") or each.child_by_field_name("left"))
                bounds[name] = self._bounds(each)
        clause = read.child_of(node, "where_clause") if bounds else None
        for each in clause.named_children if clause is not None else ():
            if (name := self.text_of(each, "left")) in bounds:
                bounds[name] = "|".join(part for part in (bounds[name], self._bounds(each)) if part)
        for name, bound in bounds.items():
            self.bind(name, bound, node, facts.TYPE_PARAMETER)

    def _bounds(self, node: Node) -> str:
        found = map(self.type_of, read.parts_of(node, "bounds"))
        return "|".join(each for each in found if each and each != "?")

    def on_function(self, node: Node) -> None:
        self._parameters_of(node)
        if written := self.type_in(node, "return_type"):
            self.bind("", written, node, facts.RETURN_TYPE)
        self._parameters(node)

    def _parameters(self, node: Node, *, inside: bool = False) -> None:
        for each in read.parts_of(node, "parameters"):
            if each.type == "parameter":
                form = forms.of_type(self.type_in(each, "type"))
                self._bind(each.child_by_field_name("pattern"), form, node, inside=inside)
            elif inside:
                self._bind(each, UNKNOWN_FORM, node, inside=True)

    def on_item(self, node: Node) -> None:
        self._parameters_of(node)
        if node.type == "impl_item" and (trait := node.child_by_field_name("trait")) is not None:
            self.base(self.type_of(trait), node)
        elif node.type == "trait_item":
            for each in read.parts_of(node, "bounds"):
                if each.type != "lifetime":
                    self.base(self.type_of(each), node)
        elif node.type == "type_item" and (written := self.type_in(node, "type")):
            self.bind("", written, node, facts.ALIAS)

    def on_field(self, node: Node) -> None:
        self.bind(self.text_of(node, "name"), self.type_in(node, "type"), node, facts.FIELD_TYPE)

    def on_constant(self, node: Node) -> None:
        self.bind(self.text_of(node, "name"), self.type_in(node, "type"), node, facts.DECLARED)

    def on_let(self, node: Node) -> None:
        written = self.type_in(node, "type")
        value = forms.of_type(written) if written and written != "?" else self.of_field(node, "value")
        self._bind(node.child_by_field_name("pattern"), value, node, inside=node.type == "let_condition")

    def on_match(self, node: Node) -> None:
        value = self.of_field(node, "value")
        for arm in read.parts_of(node, "body"):
            pattern = read.parts_of(arm, "pattern") if arm.type == "match_arm" else ()
            self._bind(next(iter(pattern), None), value, arm, inside=True)

    def on_loop(self, node: Node) -> None:
        value = forms.element_of(self.of_field(node, "value"))
        self._bind(node.child_by_field_name("pattern"), value, node, inside=True)

    def on_closure(self, node: Node) -> None:
        self._parameters(node, inside=True)

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
                self._bind(each, forms.part_of(value, number), at, inside=inside, depth=depth + 1)
        elif (
            kind == "tuple_struct_pattern"
            and len(parts) == 2
            and (head := self.text(parts[0])) in _FIRST | _LAST
        ):
            inner = forms.entry_of(value) if head in _FIRST else forms.item_of(value)
            self._bind(parts[1], inner, at, inside=inside, depth=depth + 1)
        else:
            for each in parts:
                self._bind(each, UNKNOWN_FORM, at, inside=inside, depth=depth + 1)

    # Sites.

    def on_call(self, node: Node) -> None:
        called = self._function_called(node)
        if called is None:
            return
        if called.type == "field_expression":
            field = called.child_by_field_name("field")
            if field is not None and field.type == "field_identifier":
                self.site(self.text(field), self.of_field(called, "value"), field, facts.CALL)
        elif (path := self._path(called)) not in ("", "Some", "Ok", "Err"):
            self.use(path, called.child_by_field_name("name") or called, facts.CALL)

    def _function_called(self, node: Node) -> Node | None:
        called = node.child_by_field_name("function")
        is_generic = called is not None and called.type == "generic_function"
        return called.child_by_field_name("function") if called is not None and is_generic else called

    def on_macro(self, node: Node) -> None:
        named, around = node.child_by_field_name("macro"), node.parent
        path = self._path(named)
        if named is not None and path and path not in _MACROS:
            self.use(path, named, facts.CALL)
        given = read.child_of(node, "token_tree")
        if given is None or (around is not None and around.type == "token_tree"):
            return
        text = _TEXT.sub(lambda found: b" " * len(found[0]), self.source[given.start_byte : given.end_byte])
        self._tokens(text, given)
        if around is not None and around.type in _ITEMS:
            # There may be ``use`` declarations among the items that it is given.
            for found in _USE.finditer(text):
                self._use(found[1], given)

    def _tokens(self, text: bytes, node: Node) -> None:
        """Read the calls and types in what a macro is given, which is not parsed."""

        def position(at: int) -> tuple[int, int]:
            return node.start_byte + at, node.start_point[0] + text.count(b"\n", 0, at)

        for found in _CALLED.finditer(text):
            before, name = found[1], found[2].decode("utf-8", "replace")
            if name not in _KEYWORDS and not (b"::" in before and b"." in before):
                parts = [part for part in before.decode().replace("::", ".").split(".") if part]
                if b"::" in before and parts[0] == "self":
                    parts[0] = facts.HERE
                self.site_at(name, ".".join(parts), position(found.start(2)), facts.CALL)
        for found in _TYPE_NAME.finditer(text):
            path = found[0].decode("utf-8", "replace").split("::")
            if path[0] == "self":
                path[0] = facts.HERE
            # What stands before a name may be a type, too: that of a constant or a variant.
            for at in range(max(0, len(path) - 2), len(path)):
                name, is_usual = path[at], path[at] in _USUAL or path[at] in _HEADS
                if len(name) > 1 and not name.isupper() and not is_usual:
                    self.site_at(name, ".".join(path[:at]), position(found.start()), facts.TYPE)

    def on_type(self, node: Node) -> None:
        parent, name = node.parent, self.text(node)
        if parent is None or (parent.type in _NAMED and parent.child_by_field_name("name") == node):
            return
        is_scoped = parent.type == "scoped_type_identifier"
        if name not in _USUAL and name != "Self":
            receiver = self._path(parent.child_by_field_name("path")) if is_scoped else ""
            self.site(name, receiver, node, facts.TYPE)

    def on_head(self, node: Node) -> None:
        """Read a name before ``::`` as that of a type, where it is written like one."""
        name = self.text(node)
        if name[:1].isupper() and name not in _USUAL and name != "Self":
            self.site(name, "", node, facts.TYPE)

    # Types.

    def _bounded(self, node: Node, depth: int) -> str:
        found = [self.type_of(each, depth) for each in node.named_children if each.type != "lifetime"]
        return "|".join(each for each in found if each)

    def _named_type(self, node: Node, depth: int) -> str:
        return self._path(node)

    def _generic(self, node: Node, depth: int) -> str:
        head = self._path(node.child_by_field_name("type"))
        arguments = read.parts_of(node, "type_arguments")
        given = [each for each in arguments if each.type not in ("lifetime", "type_binding")]
        if head.rpartition(".")[2] in _TRANSPARENT:
            return (self.type_of(given[0], depth) or "?") if given else ""
        return self.type_with(head, given if head else (), depth)

    def _tuple(self, node: Node, depth: int) -> str:
        return self.type_with("tuple", node.named_children, depth)

    # Expressions.

    def _of_path(self, node: Node, depth: int) -> Form:
        return Form(self._path(node) or UNKNOWN_FORM)

    def _member(self, node: Node, depth: int) -> Form:
        field = self.text_of(node, "field")
        value = self.of_field(node, "value", depth)
        return forms.part_of(value, int(field)) if field.isdigit() else forms.member_of(value, field)

    def _called(self, node: Node, depth: int) -> Form:
        return forms.call_of(self.expression(self._function_called(node), depth))

    def _tried(self, node: Node, depth: int) -> Form:
        return forms.entry_of(self.inner(node, depth))

    expressions = {  # noqa: RUF012 - see the base
        "identifier": read.Reader.word,
        "self": read.constant(Form("self")),
        "scoped_identifier": _of_path,
        "field_expression": _member,
        "call_expression": _called,
        "try_expression": _tried,
        **dict.fromkeys(("await_expression", "reference_expression"), read.Reader.inner),
        **dict.fromkeys(("unary_expression", "parenthesized_expression"), read.Reader.inner),
        "struct_expression": read.typed("name"),
        "type_cast_expression": read.typed("type"),
        "index_expression": read.first(forms.item_of),
        "string_literal": read.QUOTED,
        **dict.fromkeys(("integer_literal", "boolean_literal"), read.LITERAL),
    }
    types = {  # noqa: RUF012
        **dict.fromkeys(("type_identifier", "scoped_type_identifier"), _named_type),
        "primitive_type": read.Reader.plain_type,
        "reference_type": read.type_within("type"),
        **dict.fromkeys(("dynamic_type", "abstract_type"), read.type_within("trait")),
        "bounded_type": _bounded,
        "generic_type": _generic,
        "tuple_type": _tuple,
        "array_type": read.container("list", "element"),
    }


_NAMES: Final = frozenset(
    {"identifier", "type_identifier", "crate", "super", "primitive_type", "field_identifier"}
)
_NAMED: Final = frozenset(
    {"struct_item", "enum_item", "trait_item", "type_item", "type_parameter", "union_item", "associated_type"}
)

READERS: Final = {"rust": _Reader}
