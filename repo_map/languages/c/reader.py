"""The facts of C and C++."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from tree_sitter import Node

from repo_map.languages.c import declared_by
from repo_map.languages.language import words
from repo_map.languages.registry import language_named
from repo_map.parsing import expressions as forms
from repo_map.parsing import facts_model as facts
from repo_map.parsing import facts_reader as read
from repo_map.parsing.expressions import UNKNOWN_FORM, Form

_PLAIN: Final = words(
    "identifier qualified_identifier namespace_identifier template_function template_type type_identifier"
    " nested_namespace_specifier dependent_name parenthesized_expression"
)
_CASTS: Final = frozenset({"static_cast", "dynamic_cast", "reinterpret_cast", "const_cast"})
_MAKERS: Final = {"make_unique": "std.unique_ptr", "make_shared": "std.shared_ptr"}
_SPECIFIERS: Final = frozenset({"struct_specifier", "union_specifier", "enum_specifier", "class_specifier"})
_ARGUMENTS: Final = re.compile(r"<[^<>]*>")
_HEAD: Final = re.compile(rb"((?:[A-Za-z_]\w*+\s+)*[A-Za-z_]\w*+)[\s*&]*")
"""Words before the name of a function, and that it returns a pointer to what they say."""
_MAX_HEAD_CHARS: Final = 200
"""Bytes before a function's name that are read for macros."""
_PRIMITIVE: Final = frozenset({"void", "char", "int", "float", "double", "bool", "size_t"})
_SIZES: Final = frozenset({"unsigned", "signed", "long", "short"})
_KEYWORDS: Final = (
    _PRIMITIVE
    | _SIZES
    | words(
        "static inline extern const volatile restrict register struct union enum class typename template auto"
        " constexpr consteval virtual explicit friend operator noexcept"
    )
)


class _Reader(read.Reader):
    # Bindings.

    def on_import(self, node: Node) -> None:
        path = self.text(node).strip('"')
        # By angles a project includes its own headers too, as those see them who install it.
        if node.type == "string_literal" or (node.type == "system_lib_string" and "/" in path):
            self.bind("", path, node, facts.IMPORT)

    def on_function(self, node: Node) -> None:
        if (declarator := declared_by(node.child_by_field_name("declarator"))[1]) is not None:
            self._signature(node, declarator)

    def _signature(self, node: Node, declarator: Node) -> None:
        """Read what a function takes and gives, and whether it is its file's own."""
        result = self.type_in(node, "type")
        before = self._words_before(node, declarator)
        # A word that is none of the language's may be a macro that expands to one of them, `static` too.
        macros = [word for word in before[:-1] if word not in _KEYWORDS]
        for word in macros:
            self.bind(word, word, node, facts.DECORATED)
        if macros[:1] == before[:1] == [result] and (result.isupper() or not before[-1].isupper()):
            result = self._returned(before[-1], node)
        if (trailing := read.child_of(declarator, "trailing_return_type")) is not None:
            result = read.last_type(self, trailing, 0)
        if result and result != "auto":
            self.bind("", result, node, facts.RETURN_TYPE)
        if any(c.type == "storage_class_specifier" and self.text(c) == "static" for c in node.children):
            self.bind("static", "static", node, facts.DECORATED)
        self._parameters(declarator.child_by_field_name("parameters"), node)

    def _words_before(self, node: Node, declarator: Node) -> list[str]:
        """Return the words before the name of a function: macros and specifiers, then what it returns."""
        if node.type != "function_definition":
            return []
        earlier = node.prev_sibling
        is_cut = earlier is not None and earlier.type == "declaration" and earlier.has_error
        start = earlier.start_byte if earlier is not None and is_cut else node.start_byte
        head = _HEAD.fullmatch(self.source, start, min(declarator.start_byte, start + _MAX_HEAD_CHARS))
        return self.source[start : head.end(1)].decode("utf-8", "replace").split() if head is not None else []

    def _returned(self, word: str, node: Node) -> str:
        """Return the written type that the last word before a function's name is."""
        if word in _KEYWORDS:
            return word if word in _PRIMITIVE else "int" if word in _SIZES else ""
        self.site(word, "", node, facts.TYPE)
        return word

    def _parameters(self, given: Node | None, node: Node, *, is_inner: bool = False) -> None:
        types: list[str] = []
        required, has_more = 0, False
        for each in given.children if given is not None else ():
            if each.type in ("variadic_parameter", "variadic_parameter_declaration", "..."):
                has_more = True
            if each.type not in ("parameter_declaration", "optional_parameter_declaration"):
                continue
            written, declarator = self.type_in(each, "type"), each.child_by_field_name("declarator")
            if written == "void" and declarator is None:
                continue
            types.append(written)
            required += each.type == "parameter_declaration"
            if (leaf := _leaf(declarator)) is not None:
                self.bind(self.text(leaf), written, node, facts.DECLARED, inside=is_inner)
        if not is_inner:
            self.takes(types, required, node, has_more=has_more)

    def on_declaration(self, node: Node) -> None:
        written = self.type_in(node, "type")
        for each in node.children_by_field_name("declarator"):
            if self._is_announced(each, node) or (leaf := _leaf(each)) is None:
                continue
            value = self.of_field(each, "value") if written == "auto" else UNKNOWN_FORM
            self.variable(self.text(leaf), "" if written == "auto" else written, value, node)

    def _is_announced(self, declarator: Node, node: Node) -> bool:
        """Return True if a declarator is that of a function, and read its signature."""
        _, function, is_function = declared_by(declarator)
        if function is None or not is_function or declarator.type == "init_declarator":
            return False
        self._signature(node, function)
        self.bind("announced", "", node, facts.DECORATED)
        return True

    def on_field(self, node: Node) -> None:
        written = self.type_in(node, "type")
        for each in node.children_by_field_name("declarator"):
            if not self._is_announced(each, node) and (leaf := _leaf(each)) is not None:
                self.bind(self.text(leaf), written, leaf, facts.FIELD_TYPE)

    def on_definition(self, node: Node) -> None:
        written = self.type_in(node, "type")
        for each in node.children_by_field_name("declarator"):
            made_of = f"func[{written or '?'}]" if declared_by(each)[1] is not None else written
            if made_of and (leaf := _leaf(each)) is not None and made_of != self.text(leaf):
                self.bind("", made_of, leaf, facts.ALIAS)

    def on_using(self, node: Node) -> None:
        name = self._plain(node.named_children[-1]) if node.named_children else ""
        if any(child.type == "namespace" for child in node.children):
            self.bind("*", name, node, facts.STAR)
        elif "." in name:
            self.bind(name.rpartition(".")[2], name, node, facts.RENAMED)

    def on_alias(self, node: Node) -> None:
        if written := self.type_in(node, "type"):
            self.bind("", written, node, facts.ALIAS)

    def on_class(self, node: Node) -> None:
        clause = read.child_of(node, "base_class_clause")
        for base in clause.named_children if clause is not None else ():
            if base.type not in ("access_specifier", "virtual", "comment"):
                self.base(self.type_of(base), node)

    def on_template(self, node: Node) -> None:
        for each in read.parts_of(node, "parameters"):
            if "type_parameter" in each.type and each.named_children:
                name = self.text(read.child_of(each, "type_identifier"))
                self.bind(name, "", node.named_children[-1], facts.TYPE_PARAMETER)

    def on_loop(self, node: Node) -> None:
        written, leaf = self.type_in(node, "type"), _leaf(node.child_by_field_name("declarator"))
        if leaf is not None:
            value = forms.element_of(self.of_field(node, "right"))
            self.variable(self.text(leaf), "" if written == "auto" else written, value, node, inside=True)

    def on_caught(self, node: Node) -> None:
        self._parameters(node.child_by_field_name("parameters"), node, is_inner=True)

    def on_lambda(self, node: Node) -> None:
        declarator = node.child_by_field_name("declarator")
        if declarator is not None:
            self._parameters(declarator.child_by_field_name("parameters"), node, is_inner=True)

    # Sites.

    def on_call(self, node: Node) -> None:
        called = node.child_by_field_name("function")
        if called is None or self._is_elsewhere(node, called):
            return
        given = self._arguments(node)
        if called.type == "field_expression":
            field = called.child_by_field_name("field")
            while field is not None and field.type in ("template_method", "dependent_name"):
                field = field.child_by_field_name("name")
            if field is not None and field.type == "field_identifier":
                self.site(self.text(field), self.of_field(called, "argument") + given, field, facts.CALL)
        elif (name := self._plain(called)) and name not in _CASTS:
            self.use(name, _last(called), facts.CALL, given)

    def _is_elsewhere(self, node: Node, called: Node) -> bool:
        """Return True if a call does not use a name of the enclosing scopes: ``::getenv()``, ``~Shape()``."""
        text = self.source[called.start_byte : called.end_byte]
        is_global = text.startswith(b"::") and text.count(b"::") == 1
        return is_global or self.source[max(0, node.start_byte - 1) : node.start_byte] == b"~"

    def _arguments(self, node: Node) -> str:
        return self.given(read.parts_of(node, "arguments")) if self._has_overloads else ""

    @cached_property
    def _has_overloads(self) -> bool:
        return language_named(self.language).has_overloads

    def on_new(self, node: Node) -> None:
        written = node.child_by_field_name("type")
        if written is not None and (name := forms.head_of_type(self.type_of(written))):
            self.use(name, _last(written), facts.CALL, self._arguments(node))

    def on_type(self, node: Node) -> None:
        parent = node.parent
        if parent is None:
            return
        is_name = parent.type in ("alias_declaration", "type_definition", "type_parameter_declaration")
        if is_name and parent.child_by_field_name("type") != node:
            return
        if parent.type in _SPECIFIERS and (parent.child_by_field_name("body") or _is_alone(parent)):
            return
        at: Node = node
        scopes: list[str] = []
        while (around := at.parent) is not None and (
            around.type == "qualified_identifier"
            or (around.type == "template_type" and around.named_children[0] == at)
        ):
            scope = around.child_by_field_name("scope") if around.type == "qualified_identifier" else None
            if scope is not None:
                scopes.insert(0, self._plain(scope))
            at = around
        if scopes[:1] != ["std"]:
            self.site(self.text(node), ".".join(scopes), node, facts.TYPE)

    def on_scope(self, node: Node) -> None:
        if (name := self.text(node)) not in ("std", "fmt", "boost"):
            self.site(name, "", node, facts.TYPE)

    def on_value(self, node: Node) -> None:
        if (name := self.text(node)) in self.functions:
            self.site(name, "", node, facts.VALUE)

    # Types and names.

    def _plain(self, node: Node) -> str:
        """Return a qualified name with dots, without template arguments; ``""`` for what is no name."""
        if node.type not in _PLAIN or node.end_byte - node.start_byte > read.MAX_CHARS:
            return ""
        text = "".join(self.text(node).split())
        while (bare := _ARGUMENTS.sub("", text)) != text:
            text = bare
        name = text.replace("::", ".").lstrip(".")
        return name if read.CHAIN.fullmatch(name.encode()) else ""

    def _qualified_type(self, node: Node, depth: int) -> str:
        scope, inner = node.child_by_field_name("scope"), self.type_in(node, "name", depth)
        outer = self._plain(scope) if scope is not None else ""
        return f"{outer}.{inner}" if outer and inner else inner

    def _template_type(self, node: Node, depth: int) -> str:
        return self.type_with(self.type_in(node, "name", depth), read.parts_of(node, "arguments"), depth)

    # Expressions.

    def _member(self, node: Node, depth: int) -> Form:
        field = node.child_by_field_name("field")
        if field is None or field.type != "field_identifier":
            return UNKNOWN_FORM
        return forms.member_of(self.of_field(node, "argument", depth), self.text(field))

    def _called(self, node: Node, depth: int) -> Form:
        called = node.child_by_field_name("function")
        if called is None or called.type == "field_expression":
            return forms.call_of(self.expression(called, depth))
        at = called
        while at.type == "qualified_identifier" and (inner := at.child_by_field_name("name")) is not None:
            at = inner
        if at.type == "template_function":
            name, given = self.text_of(at, "name"), read.parts_of(at, "arguments")
            made = self.type_of(given[0]) if given else ""
            if name in _CASTS:
                return forms.of_type(made)
            if name in _MAKERS:
                return forms.of_type(f"{_MAKERS[name]}[{made or '?'}]")
        name = self._plain(called)
        if name == "std.move" and (moved := read.parts_of(node, "arguments")):
            return self.expression(moved[0], depth)
        return forms.call_of(Form(name)) if name else UNKNOWN_FORM

    def _qualified(self, node: Node, depth: int) -> Form:
        return Form(self._plain(node) or UNKNOWN_FORM)

    def _either(self, node: Node, depth: int) -> Form:
        one = self.of_field(node, "consequence", depth)
        return one if one != UNKNOWN_FORM else self.of_field(node, "alternative", depth)

    expressions = {  # noqa: RUF012 - see the base
        **dict.fromkeys(("identifier", "this"), read.Reader.word),
        "qualified_identifier": _qualified,
        "field_expression": _member,
        "call_expression": _called,
        **dict.fromkeys(
            ("new_expression", "cast_expression", "compound_literal_expression"), read.typed("type")
        ),
        "pointer_expression": read.within("argument"),
        "subscript_expression": read.within("argument", forms.item_of),
        "parenthesized_expression": read.Reader.inner,
        "conditional_expression": _either,
        "string_literal": read.QUOTED,
        "number_literal": read.LITERAL,
    }
    types = {  # noqa: RUF012
        **dict.fromkeys(
            ("type_identifier", "primitive_type", "namespace_identifier", "identifier"),
            read.Reader.plain_type,
        ),
        **dict.fromkeys(_SPECIFIERS, read.type_within("name")),
        "placeholder_type_specifier": lambda *_: "auto",
        "sized_type_specifier": lambda *_: "int",
        "qualified_identifier": _qualified_type,
        "template_type": _template_type,
        "type_descriptor": read.type_within("type"),
        "dependent_type": read.last_type,
    }
    long_types = _SPECIFIERS


def _is_alone(node: Node) -> bool:
    """Return True for a forward declaration such as ``class Shape;``."""
    around = node.parent
    if around is None or around.type in _BLOCKS:
        return True
    has_name = around.child_by_field_name("declarator") is not None
    return not has_name and around.type in ("declaration", "field_declaration", "friend_declaration")


_BLOCKS: Final = frozenset(
    {"translation_unit", "declaration_list", "template_declaration", "linkage_specification"}
)


def _leaf(node: Node | None) -> Node | None:
    """Return the name that a declarator declares."""
    return declared_by(node)[0]


def _last(node: Node) -> Node:
    """Return the last name in a node."""
    while node.named_children and node.type not in ("template_function", "template_type"):
        node = node.named_children[-1]
    return node.named_children[0] if node.named_children else node


READERS: Final = dict.fromkeys(("c", "cpp"), _Reader)
