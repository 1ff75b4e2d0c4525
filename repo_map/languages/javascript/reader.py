"""The facts of JavaScript and TypeScript.

``new A()`` is written as ``A()``, ``a?.b`` and ``a!.b`` as ``a.b``. Written types have their arguments in
square brackets: ``Map<string, A>`` is ``Map[string,A]``, ``A[]`` is ``Array[A]``.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from tree_sitter import Node

from repo_map.languages.javascript import SCRIPT_GLOBALS, SCRIPT_MEMBERS
from repo_map.languages.javascript.import_reader import (
    MAX_TARGETS,
    properties_of,
    read_export,
    read_exports,
    read_import,
    read_require,
    required_member,
    required_module,
)
from repo_map.languages.language import words
from repo_map.parsing import facts_model as facts
from repo_map.parsing.expressions import (
    CALLBACK,
    OBJECT_FORM,
    OTHER_FORM,
    TEXT_FORM,
    UNKNOWN_FORM,
    Form,
    anonymous_type,
    call_of,
    element_of,
    item_of,
    list_of,
    member_of,
    name_form,
    of_type,
    part_of,
)
from repo_map.parsing.facts_model import OwnerOf, owner_finder
from repo_map.parsing.facts_reader import (
    LITERAL,
    MAX_FORM_DEPTH,
    QUOTED,
    Reader,
    ValueReader,
    constant,
    within,
)

_MARKS: Final = re.compile(r"[?!]\.")
_BY_ELEMENT: Final = words("map forEach filter find findIndex findLast some every flatMap sort toSorted")
_TESTING: Final = frozenset({"expect", "describe", "it", "test", "jest", "vi", "assert", "chai", "cy"})
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


class _Reader(ValueReader):
    local_kinds = frozenset({"function", "method"})
    placeholders = ("?", "'", "0", "[?]", "{}")
    no_alternatives = placeholders
    valued = frozenset({facts.FIELD, facts.RETURNED, facts.EXPORTED})
    members = SCRIPT_MEMBERS
    literals = frozenset({"'", "0", "[", "{"})
    followed_roots = frozenset({"this", "super", "(", "<"})
    head = re.compile(r"[^\W\d][\w$]*|\$[\w$]*|[(<\[{]")
    chains = re.compile(
        rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*+(?:[?!]?\.#?[A-Za-z_$\x80-\xff][\w$\x80-\xff]*+)*"
    )

    def begin(self) -> None:
        """Initialize the state of one file."""
        super().begin()
        self._anonymous: list[tuple[int, int]] = []

    @cached_property
    def external(self) -> frozenset[str]:
        """What test runners and the language bring, and what comes from modules that are never ours."""
        return ((SCRIPT_GLOBALS | _TESTING) - self.known) | self.external_imports

    # Functions that are no definitions.

    @cached_property
    def _bodies(self) -> frozenset[int]:
        return frozenset(item.body_byte for item in self.found)

    def _note_anonymous(self, node: Node) -> None:
        """Note a function that is no definition: what it returns is not recorded."""
        body = node.child_by_field_name("body")
        if body is not None and body.start_byte not in self._bodies:
            self._anonymous.append((node.start_byte, node.end_byte))

    @cached_property
    def _inside(self) -> OwnerOf:
        self._anonymous.sort(key=lambda each: (each[0], -each[1]))
        return owner_finder(self._anonymous)

    def _is_own(self, byte: int, owner: int) -> bool:
        """Tell whether what stands at a byte belongs to the definition around it, to no callback."""
        inner = self._inside(byte)
        return inner < 0 or (owner >= 0 and self._anonymous[inner][0] < self.found[owner].start_byte)

    def _is_own_head(self, byte: int, owner: int) -> bool:
        """Tell whether what stands at a byte is before the body of the definition that it belongs to."""
        body = self.found[owner].body_byte if owner >= 0 else 0
        return owner >= 0 and (body < 0 or byte < body) and self._is_own(byte, owner)

    # Bindings.

    def _callback(self, node: Node) -> None:
        """Bind the parameter of ``xs.map((x) => …)`` to what ``xs`` holds."""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None or not arguments.named_children:
            return
        name, over = function.child_by_field_name("property"), function.child_by_field_name("object")
        if name is None or over is None:
            return
        method, first = self.text(name), arguments.named_children[0]
        place = 0 if method in _BY_ELEMENT else 1 if method in ("reduce", "reduceRight") else -1
        if place < 0 and method != "then":
            return
        value = self.expression(over)
        if method != "then":
            value = element_of(value)
        single, listed = first.child_by_field_name("parameter"), first.child_by_field_name("parameters")
        if single is not None and place <= 0:
            self.taken.add(single.start_byte)
            self._bind(single, value, first, inside=True)
        elif listed is not None:
            parameters = [child for child in listed.named_children if child.type != "comment"]
            if len(parameters) > max(place, 0):
                target = parameters[max(place, 0)]
                if target.child_by_field_name("type") is None:
                    self.taken.add(target.start_byte)
                    pattern = target.child_by_field_name("pattern") or target
                    self._bind(pattern, value, first, inside=True)

    def _parameters(self, node: Node) -> None:
        is_own = self._is_own_head(node.start_byte, self.owner(node.start_byte))
        for child in node.named_children:
            if child.start_byte not in self.taken and child.type != "comment":
                self._parameter(child, node, is_own=is_own)

    def _parameter(self, child: Node, listed: Node, *, is_own: bool) -> None:
        pattern = child.child_by_field_name("pattern") or child
        written, value = child.child_by_field_name("type"), child.child_by_field_name("value")
        if pattern.type == "assignment_pattern":
            value, left = pattern.child_by_field_name("right"), pattern.child_by_field_name("left")
            pattern = left or pattern
        kind = facts.ASSIGNED
        if written is None:
            form = str(self.expression(value))
        else:
            form = self._annotation(written)
            kind = facts.DECLARED if pattern.type == "identifier" and form else facts.ASSIGNED
            if kind == facts.ASSIGNED:
                form = of_type(form)
        if pattern.type == "rest_pattern":
            pattern = pattern.named_children[-1]
        self._bind(pattern, form, child, inside=not is_own, kind=kind)
        if any(each.type in ("accessibility_modifier", "readonly") for each in child.children):
            self.bind(
                self.text(pattern), form if kind == facts.DECLARED else "", listed, facts.FIELD_TYPE, at=child
            )

    def _single(self, node: Node) -> None:
        if node.start_byte not in self.taken:
            self._bind(node, UNKNOWN_FORM, node, inside=True)

    def _assign(self, node: Node) -> None:
        left = node.child_by_field_name("name") or node.child_by_field_name("left")
        right = node.child_by_field_name("value") or node.child_by_field_name("right")
        if left is None:
            return
        written = node.child_by_field_name("type")
        if written is not None and left.type == "identifier" and (form := self._annotation(written)):
            self.bind(self.text(left), form, node, facts.DECLARED)
            return
        while right is not None and right.type == "assignment_expression":
            inner = right.child_by_field_name("right")
            if inner is None:
                break
            right = inner
        if right is None or right.type in _DEFINING:
            return
        if module := required_module(self, right):
            read_require(self, left, module, node)
            return
        module, member = required_member(self, right)
        if module and left.type == "identifier":
            read_require(self, left, module, node, member)
            return
        chain = self.chain(left) if left.type == "member_expression" else ""
        if chain in ("module.exports", "exports"):
            read_exports(self, right, node)
        elif chain.startswith(("module.exports.", "exports.")):
            self.bind(chain.rpartition(".")[2], self.expression(right), node, facts.EXPORTED)
        else:
            self._bind(left, self.expression(right), node)

    def is_uninformative(self, value: str, kind: int) -> bool:
        """Tell whether nothing is known of a value; an object literal may have methods."""
        return value in self.placeholders and not (value == OBJECT_FORM and kind == facts.ASSIGNED)

    def _field(self, node: Node) -> None:
        name = node.child_by_field_name("name") or node.child_by_field_name("property")
        if name is None:
            return
        written, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if written is not None and (form := self._annotation(written) or self._callback_type(written)):
            self.bind(self.text(name), form, node, facts.FIELD_TYPE)
        elif value is not None and value.type not in _DEFINING:
            self.bind(self.text(name), self.expression(value), node, facts.FIELD)

    def _callback_type(self, annotation: Node) -> str:
        """Return the written type of a field that holds a function, ``""`` for another one."""
        kind = annotation.named_children[0].type if annotation.named_children else ""
        return CALLBACK if kind == "function_type" else ""

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
            for key, inner in properties_of(self, target):
                self._bind(inner, member_of(Form(value), key), at, inside=inside)
        elif form == "array_pattern":
            for number, inner in enumerate(target.named_children[:MAX_TARGETS]):
                self._bind(inner, part_of(Form(value), number), at, inside=inside)
        elif form == "assignment_pattern" and (left := target.child_by_field_name("left")) is not None:
            self._bind(left, value, at, inside=inside)

    def _loop(self, node: Node) -> None:
        left, operator = node.child_by_field_name("left"), node.child_by_field_name("operator")
        if left is None or operator is None or node.child_by_field_name("right") is None:
            return
        is_of = self.text(operator) == "of"
        self._bind(left, element_of(self.of_field(node, "right")) if is_of else TEXT_FORM, node, inside=True)

    def _base(self, node: Node) -> None:
        """Read what a class or an interface extends or implements."""
        for child in node.named_children if node.type.endswith("_clause") else [node]:
            if child.type not in ("type_arguments", "extends_clause", "implements_clause"):
                self.base(self._written(child, 0) or self.expression(child), node, at=child)

    def _alias(self, node: Node) -> None:
        """A name for a type has the members of what it is made of."""
        for part in self._written(node, 0).split("|"):
            name = part.partition("[")[0].rpartition(".")[2]
            if name.isidentifier():
                self.bind(name, part, node, facts.INHERITS)

    def _getter(self, node: Node) -> None:
        self.bind("get", "get", node, facts.DECORATED)

    def _returns(self, node: Node) -> None:
        owner = self.owner(node.start_byte)
        if self._is_own_head(node.start_byte, owner) and (form := self._annotation(node)):
            self.annotated.add(owner)
            self.bind("", form, node, facts.RETURN_TYPE)

    def _return(self, node: Node) -> None:
        owner = self.owner(node.start_byte)
        if owner not in self.annotated and self._is_own(node.start_byte, owner):
            self.bind("", self.expression(node), node, facts.RETURNED)

    def _arrow(self, node: Node) -> None:
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
        """Return receiver and name of a call by a bare name, None where it is never the repository's."""
        if name == "super":
            return "super", "constructor"
        return ("", name) if name in self.known and name not in self.external else None

    def of_no_chain(self, node: Node) -> tuple[str, str] | None:
        """Return receiver and name of what is called behind brackets or a call."""
        if node.type in _WRAPPED:
            inner = node.named_children[0] if node.named_children else None
            if inner is None:
                return None
            if chain := self.chain(inner):
                receiver, _, name = chain.rpartition(".")
                return receiver, name
            return self.of_no_chain(inner) if inner.type == "member_expression" else None
        before, last = node.child_by_field_name("object"), node.child_by_field_name("property")
        if node.type != "member_expression" or before is None or last is None:
            return None
        return self.expression(before), self.text(last)

    def _value(self, node: Node) -> None:
        chain = self.chain(node)
        receiver, _, name = chain.rpartition(".")
        root = receiver.partition(".")[0] or name
        if root in self.own or (receiver == "this" and name in self.functions):
            self.site(name, receiver, node, facts.VALUE, at_end=True)

    def _declared(self, node: Node) -> None:
        self._declares.add(node.start_byte)

    @cached_property
    def _declares(self) -> set[int]:
        """First bytes of names of types that are no uses of them."""
        return set()

    def _nested(self, node: Node) -> None:
        last, module = node.child_by_field_name("name"), node.child_by_field_name("module")
        if last is not None and module is not None:
            self._declares.add(last.start_byte)
            before = self.squeezed(module)
            if before.partition(".")[0] in self.own:
                self.site(self.text(last), before, node, facts.TYPE)

    def _base_site(self, node: Node) -> None:
        for child in node.named_children or [node]:
            if child.type != "type_identifier" and (chain := self.chain(child)):
                receiver, _, name = chain.rpartition(".")
                if (receiver.partition(".")[0] or name) in self.own:
                    self.site(name, receiver, child, facts.BASE)

    def _type_site(self, node: Node) -> None:
        if node.start_byte not in self._declares and (name := self.text(node)) in self.own:
            self.site(name, "", node, facts.TYPE)

    # Written types.

    def _annotation(self, node: Node) -> str:
        """Return the written type of ``: T``."""
        inner = node.named_children
        return self._written(inner[0], 0) if inner else ""

    def _written(self, node: Node, depth: int) -> str:
        """Return a written type, ``""`` for what is none that can be followed."""
        kind = node.type
        if kind == "object_type":
            return anonymous_type(node.start_point[0] + 1, node.end_point[0] + 1)
        if depth > MAX_FORM_DEPTH or node.end_byte - node.start_byte > self.max_chars * 3:
            return ""
        if kind in ("type_identifier", "identifier", "predefined_type"):
            text = self.text(node)
            return "" if text in _NO_TYPES else text
        if kind in ("nested_type_identifier", "member_expression", "nested_identifier"):
            return self.squeezed(node)
        if kind == "generic_type":
            return self._generic(node, depth)
        parts = [child for child in node.named_children if child.type != "comment"]
        if kind == "array_type" and parts:
            inner = self._written(parts[0], depth + 1)
            return f"Array[{inner}]" if inner else ""
        if kind in ("union_type", "intersection_type"):
            return "|".join(filter(None, (self._written(each, depth + 1) for each in parts)))
        if kind in ("readonly_type", "parenthesized_type", "optional_type") and parts:
            return self._written(parts[-1], depth + 1)
        if kind == "tuple_type":
            return "tuple[" + ",".join(self._written(each, depth + 1) or "any" for each in parts) + "]"
        return "this" if kind in ("this_type", "this") else ""

    def _generic(self, node: Node, depth: int) -> str:
        name, arguments = node.child_by_field_name("name"), node.child_by_field_name("type_arguments")
        if name is None or arguments is None:
            return ""
        inner = ",".join(self._written(each, depth + 1) or "any" for each in arguments.named_children)
        return f"{self.squeezed(name)}[{inner}]"

    # Expressions.

    def _member(self, node: Node, depth: int) -> Form:
        if chain := self.chain(node):
            return name_form(chain)
        name = node.child_by_field_name("property")
        return member_of(self.of_field(node, "object", depth), self.text(name)) if name else UNKNOWN_FORM

    def _called(self, node: Node, depth: int) -> Form:
        function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        return call_of(self.expression(function, depth))

    def _first(self, node: Node, depth: int) -> Form:
        parts = [child for child in node.named_children if child.type != "comment"]
        return self.expression(parts[0], depth) if parts else UNKNOWN_FORM

    def _cast(self, node: Node, depth: int) -> Form:
        parts = [child for child in node.named_children if child.type != "comment"]
        return of_type(self._written(parts[1], 0)) if len(parts) > 1 else self._first(node, depth)

    def _either(self, node: Node, depth: int) -> Form:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if depth > MAX_FORM_DEPTH + 1 or left is None or right is None:
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
        return item_of(self.of_field(node, "object", depth), number if number.isdigit() else "")

    def _several(self, node: Node, depth: int) -> Form:
        first = next((child for child in node.named_children if child.type != "comment"), None)
        if first is not None and first.type == "spread_element":
            return self._first(first, depth)
        return list_of(self.expression(first, depth))

    roles = {  # noqa: RUF012 - see the base
        "anonymous": _note_anonymous,
        "import": read_import,
        "export": read_export,
        "callback": _callback,
        "parameters": _parameters,
        "single": _single,
        "assign": _assign,
        "field": _field,
        "loop": _loop,
        "base": _base,
        "alias": _alias,
        "getter": _getter,
        "returns": _returns,
        "return": _return,
        "arrow": _arrow,
    }
    later_roles = {  # noqa: RUF012
        "call": ValueReader.call,
        "value": _value,
        "declared": _declared,
        "nested": _nested,
        "base": _base_site,
        "type": _type_site,
    }
    leaves = frozenset({*_WORDS, *_TEXTS, *_NUMBERS})
    forms = {  # noqa: RUF012
        **dict.fromkeys(_WORDS, Reader.word),
        **dict.fromkeys(_TEXTS, QUOTED),
        **dict.fromkeys(_NUMBERS, LITERAL),
        "member_expression": _member,
        **dict.fromkeys(("call_expression", "new_expression"), _called),
        **dict.fromkeys(("await_expression", "parenthesized_expression", "non_null_expression"), _first),
        "assignment_expression": within("right"),
        "as_expression": _cast,
        "satisfies_expression": _first,
        "binary_expression": _either,
        "ternary_expression": _conditional,
        "subscript_expression": _subscript,
        "array": _several,
        "object": constant(OBJECT_FORM),
    }


READERS: Final = dict.fromkeys(("javascript", "typescript", "tsx"), _Reader)
