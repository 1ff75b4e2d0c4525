"""The facts of JavaScript and TypeScript.

``new A()`` is written as ``A()``, ``a?.b`` and ``a!.b`` as ``a.b``. Written types have their arguments in
square brackets: ``Map<string, A>`` is ``Map[string,A]``, ``A[]`` is ``Array[A]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Final

from tree_sitter import Node

from repo_map.languages.language import words
from repo_map.languages.registry import vocabulary
from repo_map.parsing import expressions as forms
from repo_map.parsing import facts_model as facts
from repo_map.parsing import facts_reader as read
from repo_map.parsing.expressions import CALLBACK, OBJECT_FORM, OTHER_FORM, TEXT_FORM, UNKNOWN_FORM, Form
from repo_map.parsing.facts_model import Binding, OwnerOf, owner_finder

_GLOBALS: Final = vocabulary("javascript", "globals")
_MARKS: Final = re.compile(r"[?!]\.")
_BY_ELEMENT: Final = vocabulary("javascript", "by_element")
_TESTING: Final = vocabulary("javascript", "testing")
"""What test runners bring."""
_EITHER: Final = frozenset({"||", "??", "&&"})
_NO_TYPES: Final = frozenset({"any", "unknown", "void", "never", "null", "undefined", "object"})
_DEFINING: Final = frozenset(
    {"arrow_function", "function_expression", "generator_function", "class", "function"}
)
_WRAPPED: Final = words(
    "non_null_expression parenthesized_expression instantiation_expression await_expression"
)
_NUMBERS: Final = (
    *("number", "true", "false", "null", "undefined", "regex", "unary_expression", "binary_expression"),
)
_WORDS: Final = ("identifier", "this", "super", "shorthand_property_identifier")
_TEXTS: Final = ("string", "template_string")

_MAX_TARGETS: Final = 12
"""Names that one pattern binds."""
_EXTERNAL_MODULES: Final = vocabulary("javascript", "external_modules")
"""Modules that no repository calls one of its own."""


class _Reader(read.ValueReader):
    max_type_chars = 360
    local_kinds = frozenset({"function", "method"})
    placeholders = ("?", "'", "0", "[?]", "{}")
    no_alternatives = placeholders
    valued = frozenset({facts.FIELD, facts.RETURNED, facts.EXPORTED})
    members = vocabulary("javascript", "members")
    literals = frozenset({"'", "0", "[", "{"})
    followed_roots = frozenset({"this", "super", "(", "<"})
    head = re.compile(r"[^\W\d][\w$]*|\$[\w$]*|[(<\[{]")
    chains = re.compile(
        rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*+(?:[?!]?\.#?[A-Za-z_$\x80-\xff][\w$\x80-\xff]*+)*"
    )

    def begin(self) -> None:
        super().begin()
        self._anonymous: list[tuple[int, int]] = []

    @cached_property
    def external(self) -> frozenset[str]:
        """What test runners and the language bring, and what comes from modules that are never ours."""
        return ((_GLOBALS | _TESTING) - self.known) | self.external_imports

    # Imports and exports.

    def on_import(self, node: Node) -> None:
        if not (module := self._quoted(node.child_by_field_name("source"))):
            return
        clause = read.child_of(node, "import_clause")
        if clause is None:
            self.bind("", module, node, facts.IMPORT)
            return
        for child in clause.named_children:
            if child.type == "identifier":
                self._bind_import(self.text(child), module, "default", child)
            elif child.type == "namespace_import":
                self._bind_import(self.text(child.named_children[-1]), module, "", child)
            elif child.type == "named_imports":
                self._specifiers(child, module)

    def on_export(self, node: Node) -> None:
        module = self._quoted(node.child_by_field_name("source"))
        clause, space = read.child_of(node, "export_clause"), read.child_of(node, "namespace_export")
        if module and clause is not None:
            self._specifiers(clause, module)
        elif module and space is not None:
            self._bind_import(self.text(space.named_children[-1]), module, "", space)
        elif module:
            self.has_star = True
            self.bind("*", module, node, facts.STAR)
        elif clause is not None:
            for each in clause.named_children:
                if alias := self.text_of(each, "alias"):
                    self._bind_export(alias, self.text_of(each, "name"), node)
        elif any(child.type == "default" for child in node.children[:3]):
            inner = node.child_by_field_name("value") or node.child_by_field_name("declaration")
            name = self.text_of(inner, "name") if inner is not None else ""
            self._bind_export("default", name or self.expression(inner), node)

    def _quoted(self, place: Node | None) -> str:
        return self.text(place).strip("'\"`")

    def _specifiers(self, clause: Node, module: str) -> None:
        for each in clause.named_children:
            if name := self._quoted(each.child_by_field_name("name")):
                self._bind_import(self.text_of(each, "alias") or name, module, name, each)

    def _bind_import(self, name: str, module: str, member: str, at: Node) -> None:
        """Bind a name to a member of a module, or to the module itself."""
        is_external = module in _EXTERNAL_MODULES or module.startswith(("node:", "bun:", "deno:"))
        (self.external_imports if is_external else self.imported).add(name)
        value = f"{module}:{member}" if member else module
        self.bind(name, value, at, facts.IMPORT if name == member != "default" else facts.RENAMED)

    def _bind_export(self, name: str, value: str, node: Node) -> None:
        """Add what a module exports at its top."""
        if value not in self.placeholders:
            self.bindings.append(Binding(name, value, -1, node.start_point[0] + 1, facts.EXPORTED, 0))

    def _exports(self, value: Node, node: Node) -> None:
        """Read ``module.exports = …``."""
        if value.type != "object":
            self._bind_export("=", self.expression(value), node)
            return
        for each in value.named_children:
            given = each.child_by_field_name("value") or read.child_of(each, "call_expression")
            module, member = self._required(given) if given is not None else ("", "")
            if module and each.type == "spread_element":
                self.has_star = True
                self.bind("*", module, each, facts.STAR)
            elif module and each.type == "pair":
                self._bind_import(self._quoted(each.child_by_field_name("key")), module, member or "=", each)
                continue
            name, form = self._quoted(each.child_by_field_name("key")), self.of_field(each, "value")
            if each.type == "pair" and form != name:
                self._bind_export(name, form, node)

    def _required(self, node: Node) -> tuple[str, str]:
        """Return the module and the member that ``require("…").name`` or ``await import("…")`` names."""
        name = node.child_by_field_name("property")
        if node.type == "member_expression" and name is not None and name.type == "property_identifier":
            inner = node.child_by_field_name("object")
            return (self._module(inner), self.text(name)) if inner is not None else ("", "")
        return self._module(node), ""

    def _module(self, node: Node) -> str:
        if node.type == "await_expression" and node.named_children:
            node = node.named_children[0]
        given = read.parts_of(node, "arguments")
        is_module = node.type == "call_expression" and self.text_of(node, "function") in ("require", "import")
        return self._quoted(given[0]) if is_module and len(given) == 1 and given[0].type == "string" else ""

    def _require(self, left: Node, module: str, member: str, node: Node) -> None:
        """Bind what a module that is _required, or a member of it, is assigned to."""
        if left.type == "identifier":
            self._bind_import(self.text(left), module, member or "=", node)
        elif left.type == "object_pattern":
            for key, target in self._properties_of(left):
                if target.type in ("identifier", "shorthand_property_identifier_pattern"):
                    self._bind_import(self.text(target), module, key, target)
        else:
            self.bind("", module, node, facts.IMPORT)

    def _properties_of(self, pattern: Node) -> list[tuple[str, Node]]:
        """Return key and target of each part of ``{ a, b: c, d = 1 }``."""
        found: list[tuple[str, Node]] = []
        for each in pattern.named_children[:_MAX_TARGETS]:
            key = inner = each
            if each.type == "pair_pattern":
                key = each.child_by_field_name("key") or each
                inner = each.child_by_field_name("value") or each
            elif each.type == "object_assignment_pattern":
                key = inner = each.child_by_field_name("left") or each
            if (name := self.text(key)).isidentifier():
                found.append((name, inner))
        return found

    # Functions that are no definitions.

    @cached_property
    def _bodies(self) -> frozenset[int]:
        return frozenset(item.body_byte for item in self.found)

    def on_anonymous(self, node: Node) -> None:
        """Note a function that is no definition: what it returns is not recorded."""
        body = node.child_by_field_name("body")
        if body is not None and body.start_byte not in self._bodies:
            self._anonymous.append((node.start_byte, node.end_byte))

    @cached_property
    def _inside(self) -> OwnerOf:
        self._anonymous.sort(key=lambda each: (each[0], -each[1]))
        return owner_finder(self._anonymous)

    def _is_own(self, byte: int, owner: int) -> bool:
        """Return True if the node at a byte belongs to the enclosing definition, not to a callback."""
        inner = self._inside(byte)
        return inner < 0 or (owner >= 0 and self._anonymous[inner][0] < self.found[owner].start_byte)

    def _is_own_head(self, byte: int, owner: int) -> bool:
        """Return True if the node at a byte precedes the body of its definition."""
        body = self.found[owner].body_byte if owner >= 0 else 0
        return owner >= 0 and (body < 0 or byte < body) and self._is_own(byte, owner)

    # Bindings.

    def on_callback(self, node: Node) -> None:
        """Bind the parameter of ``xs.map((x) => …)`` to what ``xs`` holds."""
        function, given = node.child_by_field_name("function"), read.parts_of(node, "arguments")
        if function is None or not given:
            return
        method, value = self.text_of(function, "property"), self.of_field(function, "object")
        place = 0 if method in _BY_ELEMENT | {"then"} else 1 if method in ("reduce", "reduceRight") else -1
        if method != "then":
            value = forms.element_of(value)
        first = given[0]
        single = first.child_by_field_name("parameter")
        listed = first.child_by_field_name("parameters")
        parameters = (
            [single] if single is not None else read.children_of(listed) if listed is not None else []
        )
        if not 0 <= place < len(parameters):
            return
        target = parameters[place]
        if target.child_by_field_name("type") is None:
            self.taken.add(target.start_byte)
            self._bind(target.child_by_field_name("pattern") or target, value, first, inside=True)

    def on_parameters(self, node: Node) -> None:
        is_own = self._is_own_head(node.start_byte, self.owner(node.start_byte))
        for child in read.children_of(node):
            if child.start_byte not in self.taken:
                self._parameter(child, node, is_own=is_own)

    def _parameter(self, child: Node, listed: Node, *, is_own: bool) -> None:
        pattern = child.child_by_field_name("pattern") or child
        written, value = child.child_by_field_name("type"), child.child_by_field_name("value")
        if pattern.type == "assignment_pattern":
            value, left = pattern.child_by_field_name("right"), pattern.child_by_field_name("left")
            pattern = left or pattern
        declared = self._annotation(written)
        is_declared = bool(declared) and pattern.type == "identifier"
        kind = facts.DECLARED if is_declared else facts.ASSIGNED
        form = (
            declared
            if is_declared
            else self.expression(value)
            if written is None
            else forms.of_type(declared)
        )
        if pattern.type == "rest_pattern":
            pattern = pattern.named_children[-1]
        self._bind(pattern, form, child, inside=not is_own, kind=kind)
        if any(each.type in ("accessibility_modifier", "readonly") for each in child.children):
            self.bind(self.text(pattern), declared if is_declared else "", listed, facts.FIELD_TYPE, at=child)

    def on_single(self, node: Node) -> None:
        if node.start_byte not in self.taken:
            self._bind(node, UNKNOWN_FORM, node, inside=True)

    def on_assign(self, node: Node) -> None:
        left = node.child_by_field_name("name") or node.child_by_field_name("left")
        right = node.child_by_field_name("value") or node.child_by_field_name("right")
        if left is None:
            return
        if left.type == "identifier" and (form := self._annotation(node.child_by_field_name("type"))):
            self.bind(self.text(left), form, node, facts.DECLARED)
            return
        while right is not None and right.type == "assignment_expression":
            right = right.child_by_field_name("right")
        if right is None or right.type in _DEFINING:
            return
        module, member = self._required(right)
        chain = self.chain(left) if left.type == "member_expression" else ""
        if module and (not member or left.type == "identifier"):
            self._require(left, module, member, node)
        elif chain in ("module.exports", "exports"):
            self._exports(right, node)
        elif chain.startswith(("module.exports.", "exports.")):
            self.bind(chain.rpartition(".")[2], self.expression(right), node, facts.EXPORTED)
        else:
            self._bind(left, self.expression(right), node)

    def is_uninformative(self, value: str, kind: int) -> bool:
        """Return True if the type of a value is unknown; an object literal may have methods."""
        return value in self.placeholders and not (value == OBJECT_FORM and kind == facts.ASSIGNED)

    def on_field(self, node: Node) -> None:
        name = self.text(node.child_by_field_name("name") or node.child_by_field_name("property"))
        written, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        form = self._annotation(written)
        if (
            written is not None
            and not form
            and any(c.type == "function_type" for c in written.named_children[:1])
        ):
            form = CALLBACK
        if form:
            self.bind(name, form, node, facts.FIELD_TYPE)
        elif value is not None and value.type not in _DEFINING:
            self.bind(name, self.expression(value), node, facts.FIELD)

    def _bind(
        self, target: Node, value: str, at: Node, *, inside: bool = False, kind: int = facts.ASSIGNED
    ) -> None:
        """Bind a target, or each of several, to an expression or a written type."""
        form = target.type
        if form in ("identifier", "shorthand_property_identifier_pattern"):
            self.bind(self.text(target), value, at, kind, inside=inside)
        elif form == "member_expression":
            owner, _, name = self.chain(target).partition(".")
            if owner == "this" and name and "." not in name:
                self.bind(name, value, at, facts.FIELD)
        elif form == "object_pattern":
            for key, inner in self._properties_of(target):
                self._bind(inner, forms.member_of(Form(value), key), at, inside=inside)
        elif form == "array_pattern":
            for number, inner in enumerate(target.named_children[:_MAX_TARGETS]):
                self._bind(inner, forms.part_of(Form(value), number), at, inside=inside)
        elif form == "assignment_pattern" and (left := target.child_by_field_name("left")) is not None:
            self._bind(left, value, at, inside=inside)

    def on_loop(self, node: Node) -> None:
        left = node.child_by_field_name("left")
        if left is not None:
            is_of = self.text_of(node, "operator") == "of"
            form = forms.element_of(self.of_field(node, "right")) if is_of else TEXT_FORM
            self._bind(left, form, node, inside=True)

    def on_base(self, node: Node) -> None:
        """Read what a class or an interface extends or implements."""
        for child in node.named_children if node.type.endswith("_clause") else [node]:
            if child.type not in ("type_arguments", "extends_clause", "implements_clause"):
                self.base(self.type_of(child) or self.expression(child), node, at=child)

    def on_alias(self, node: Node) -> None:
        """A name for a type has the members of what it is made of."""
        for part in self.type_of(node).split("|"):
            name = part.partition("[")[0].rpartition(".")[2]
            if name.isidentifier():
                self.bind(name, part, node, facts.INHERITS)

    def on_getter(self, node: Node) -> None:
        self.bind("get", "get", node, facts.DECORATED)

    def on_returns(self, node: Node) -> None:
        owner = self.owner(node.start_byte)
        if self._is_own_head(node.start_byte, owner) and (form := self._annotation(node)):
            self.annotated.add(owner)
            self.bind("", form, node, facts.RETURN_TYPE)

    def on_return(self, node: Node) -> None:
        owner = self.owner(node.start_byte)
        if owner not in self.annotated and self._is_own(node.start_byte, owner):
            self.bind("", self.expression(node), node, facts.RETURNED)

    def on_arrow(self, node: Node) -> None:
        owner = self.owner(node.start_byte)
        if node.type == "statement_block" or owner < 0 or owner in self.annotated:
            return
        if node.start_byte == self.found[owner].body_byte:
            self.bind("", self.expression(node), node, facts.RETURNED)

    # Sites.

    def chain_of(self, node: Node) -> str:
        """Return names with dots between them, ``?.`` and ``!.`` among these."""
        chain = super().chain_of(node)
        return _MARKS.sub(".", chain) if "?" in chain or "!" in chain else chain

    def bare(self, name: str) -> tuple[str, str] | None:
        if name == "super":
            return "super", "constructor"
        return ("", name) if name in self.known and name not in self.external else None

    def of_no_chain(self, node: Node) -> tuple[str, str] | None:
        """Return receiver and name of what is called behind brackets or a call."""
        while node.type in _WRAPPED and node.named_children:
            node = node.named_children[0]
            if chain := self.chain(node):
                receiver, _, name = chain.rpartition(".")
                return receiver, name
        if node.type != "member_expression":
            return None
        return self.of_field(node, "object"), self.text_of(node, "property")

    def after_value(self, node: Node) -> None:
        chain = self.chain(node)
        receiver, _, name = chain.rpartition(".")
        root = receiver.partition(".")[0] or name
        if root in self.own or (receiver == "this" and name in self.functions):
            self.site(name, receiver, node, facts.VALUE, at_end=True)

    def after_declared(self, node: Node) -> None:
        self.taken.add(node.start_byte)

    def after_nested(self, node: Node) -> None:
        module = node.child_by_field_name("module")
        last = node.child_by_field_name("name")
        if last is not None and module is not None:
            self.taken.add(last.start_byte)
            before = self.squeezed(module)
            if before.partition(".")[0] in self.own:
                self.site(self.text(last), before, node, facts.TYPE)

    def after_base(self, node: Node) -> None:
        for child in node.named_children or [node]:
            if child.type != "type_identifier" and (chain := self.chain(child)):
                receiver, _, name = chain.rpartition(".")
                if (receiver.partition(".")[0] or name) in self.own:
                    self.site(name, receiver, child, facts.BASE)

    def after_type(self, node: Node) -> None:
        if node.start_byte not in self.taken and (name := self.text(node)) in self.own:
            self.site(name, "", node, facts.TYPE)

    # Written types.

    def _annotation(self, node: Node | None) -> str:
        """Return the written type of ``: T``."""
        return self.type_of(next(iter(node.named_children), None)) if node is not None else ""

    def type_of(self, node: Node | None, depth: int = 0) -> str:
        if node is not None and node.type == "object_type":
            return forms.anonymous_type(node.start_point[0] + 1, node.end_point[0] + 1)
        return super().type_of(node, depth)

    def _named_type(self, node: Node, _depth: int) -> str:
        return "" if (name := self.squeezed(node)) in _NO_TYPES else name

    def _one_of_types(self, node: Node, depth: int) -> str:
        return "|".join(filter(None, (self.type_of(each, depth) for each in read.children_of(node))))

    def _array_type(self, node: Node, depth: int) -> str:
        inner = self.type_of(next(iter(read.children_of(node)), None), depth)
        return f"Array[{inner}]" if inner else ""

    def _listed(self, head: str, parts: Iterable[Node], depth: int) -> str:
        return f"{head}[{','.join(self.type_of(each, depth) or 'any' for each in parts)}]"

    def _tuple_type(self, node: Node, depth: int) -> str:
        return self._listed("tuple", read.children_of(node), depth)

    def _generic(self, node: Node, depth: int) -> str:
        name = node.child_by_field_name("name")
        return self._listed(self.squeezed(name), read.parts_of(node, "type_arguments"), depth) if name else ""

    # Expressions.

    def _called(self, node: Node, depth: int) -> Form:
        function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        return forms.call_of(self.expression(function, depth))

    def _first(self, node: Node, depth: int) -> Form:
        return self.expression(next(iter(read.children_of(node)), None), depth)

    def _cast(self, node: Node, depth: int) -> Form:
        parts = read.children_of(node)
        return forms.of_type(self.type_of(parts[1])) if len(parts) > 1 else self._first(node, depth)

    def _either(self, node: Node, depth: int) -> Form:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if depth > read.MAX_FORM_DEPTH + 1 or left is None or right is None:
            return OTHER_FORM
        if self.text_of(node, "operator") not in _EITHER:
            return OTHER_FORM
        return self.one_of((left, right), depth)

    def _conditional(self, node: Node, depth: int) -> Form:
        sides = (node.child_by_field_name("consequence"), node.child_by_field_name("alternative"))
        return self.one_of([each for each in sides if each is not None], depth)

    def _subscript(self, node: Node, depth: int) -> Form:
        index = node.child_by_field_name("index")
        number = self.text(index) if index is not None and index.type == "number" else ""
        return forms.item_of(self.of_field(node, "object", depth), number if number.isdigit() else "")

    def _several(self, node: Node, depth: int) -> Form:
        first = next(iter(read.children_of(node)), None)
        if first is not None and first.type == "spread_element":
            return self._first(first, depth)
        return forms.list_of(self.expression(first, depth))

    leaves = frozenset({*_WORDS, *_TEXTS, *_NUMBERS})
    expressions = {  # noqa: RUF012 - see the base
        **dict.fromkeys(_WORDS, read.Reader.word),
        **dict.fromkeys(_TEXTS, read.QUOTED),
        **dict.fromkeys(_NUMBERS, read.LITERAL),
        "member_expression": read.access("object", "property"),
        **dict.fromkeys(("call_expression", "new_expression"), _called),
        **dict.fromkeys(("await_expression", "parenthesized_expression", "non_null_expression"), _first),
        "assignment_expression": read.within("right"),
        "as_expression": _cast,
        "satisfies_expression": _first,
        "binary_expression": _either,
        "ternary_expression": _conditional,
        "subscript_expression": _subscript,
        "array": _several,
        "object": read.constant(OBJECT_FORM),
    }
    types = {  # noqa: RUF012
        **dict.fromkeys(("type_identifier", "identifier", "predefined_type"), _named_type),
        **dict.fromkeys(("nested_type_identifier", "member_expression", "nested_identifier"), _named_type),
        **dict.fromkeys(("union_type", "intersection_type"), _one_of_types),
        **dict.fromkeys(("readonly_type", "parenthesized_type", "optional_type"), read.last_type),
        **dict.fromkeys(("this_type", "this"), lambda *_: "this"),
        "generic_type": _generic,
        "array_type": _array_type,
        "tuple_type": _tuple_type,
    }


READERS: Final = dict.fromkeys(("javascript", "typescript", "tsx", "vue", "svelte"), _Reader)
