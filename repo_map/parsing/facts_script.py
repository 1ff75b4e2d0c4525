"""The facts of JavaScript and TypeScript, in the normal form that ``facts_python`` describes.

``new A()`` is ``A()``; an object literal is ``{}``; ``a?.b`` and ``a!.b`` are ``a.b``. Written types have
their arguments in square brackets: ``Map<string, A>`` is ``Map[string,A]``, ``A[]`` is ``Array[A]``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from tree_sitter import Node, QueryCursor, Tree

from repo_map.languages.grammars import facts_query
from repo_map.languages.language import Found, words
from repo_map.languages.outside import SCRIPT_GLOBALS, SCRIPT_MEMBERS
from repo_map.parsing.facts_model import (
    ASSIGNED,
    BASE,
    BASE_OF,
    CALL,
    DECLARED,
    DECORATED,
    EXPORTED,
    FIELD,
    FIELD_TYPE,
    IMPORT,
    RENAMED,
    RETURN_TYPE,
    RETURNED,
    STAR,
    TYPE,
    VALUE,
    Binding,
    FileFacts,
    OwnerOf,
    Site,
    in_order,
    owner_finder,
    without_unused,
)
from repo_map.parsing.queries import DEEPEST

_CHAIN: Final = re.compile(
    rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*+(?:[?!]?\.#?[A-Za-z_$\x80-\xff][\w$\x80-\xff]*+)*"
)
_MARKS: Final = re.compile(r"[?!]\.")
_DOTTED: Final = re.compile(r"[^\W\d]\w*+(?:\.[^\W\d]\w*+)*")
_SPACES: Final = re.compile(rb"\s+")
_LONGEST: Final = 120
_DEEPEST: Final = 8
_MOST_TARGETS: Final = 12
_UNKNOWN: Final = "?"
_PLACEHOLDERS: Final = ("?", "'", "0", "[?]", "{}")
_BY_ELEMENT: Final = words("map forEach filter find findIndex findLast some every flatMap sort toSorted")
_TESTING: Final = frozenset({"expect", "describe", "it", "test", "jest", "vi", "assert", "chai", "cy"})
"""What test runners bring."""
_FOREIGN_MODULES: Final = frozenset(
    {"vitest", "@jest/globals", "chai", "mocha", "assert", "fs", "path", "os", "util", "url", "crypto"}
    | {"events", "stream", "http", "https", "child_process", "process", "buffer", "zlib", "react"}
)
"""Modules that no repository calls one of its own."""
_EITHER: Final = frozenset({"||", "??", "&&"})


_LITERALS: Final = frozenset({"'", "0", "[", "{"})
_KEPT: Final = frozenset({"this", "super", "(", "<"})
_HEAD: Final = re.compile(r"[^\W\d][\w$]*|\$[\w$]*|[(<\[{]")


def read(source: bytes, tree: Tree, language: str, found: Sequence[Found], owner: OwnerOf) -> FileFacts:
    """Read the facts of one file of JavaScript or TypeScript."""
    cursor = QueryCursor(facts_query(language))
    cursor.set_max_start_depth(DEEPEST)
    captures = cursor.captures(tree.root_node)
    return _Reader(source, found, owner).read(captures)


class _Reader:
    """One file: its bindings first, for they say which names may be its own."""

    def __init__(self, source: bytes, found: Sequence[Found], owner: OwnerOf) -> None:
        self._source = source
        self._lines = source.split(b"\n")
        self._found = found
        self._owner = owner
        self._bindings: list[Binding] = []
        self._imported: set[str] = set()
        self._foreign: set[str] = set()
        """What comes from modules that are never the repository's."""
        self._annotated: set[int] = set()
        self._taken: set[int] = set()
        """Where parameters begin whose meaning is known from the call that they are handed to."""
        self._inside: OwnerOf = owner
        self._starts: list[int] = []
        self._mine: set[str] = set()
        self._known: set[str] = set()
        self._functions: set[str] = set()
        self._has_star = False

    def read(self, captures: dict[str, list[Node]]) -> FileFacts:
        self._find_anonymous(captures.get("anonymous", ()))
        for role, take in _ROLES.items():
            for node in captures.get(role, ()):
                take(self, node)
        self._known = {item.name for item in self._found} | {e.name for e in self._bindings if e.value}
        bindings = in_order(each for each in self._bindings if each.value or each.name in self._known)
        sites = self._sites(captures)
        is_local = [item.kind in ("function", "method") for item in self._found]
        return FileFacts(sites, without_unused(bindings, sites, is_local))

    def _find_anonymous(self, nodes: Sequence[Node]) -> None:
        """Note which functions are no definitions: what they return is nobody's."""
        bodies = {item.body_byte for item in self._found}
        ranges = []
        for node in nodes:
            body = node.child_by_field_name("body")
            if body is not None and body.start_byte not in bodies:
                ranges.append((node.start_byte, node.end_byte))
        ranges.sort(key=lambda each: (each[0], -each[1]))
        self._starts = [start for start, _ in ranges]
        self._inside = owner_finder(ranges)

    def _is_own(self, byte: int, owner: int) -> bool:
        """Tell whether what stands at a byte belongs to the definition around it, to no callback."""
        inner = self._inside(byte)
        return inner < 0 or (owner >= 0 and self._starts[inner] < self._found[owner].start_byte)

    def _in_head(self, byte: int, owner: int) -> bool:
        return owner >= 0 and (self._found[owner].body_byte < 0 or byte < self._found[owner].body_byte)

    # Bindings.

    def _add(  # noqa: PLR0917 - called for every binding, where keywords cost time
        self, name: str, value: str, byte: int, row: int, kind: int, more: int = 0
    ) -> None:
        if value in _PLACEHOLDERS and not (value == "{}" and kind == ASSIGNED):
            if kind in (FIELD, RETURNED, EXPORTED):
                return
            value = ""
        indent = min(self._indent(row) + more, 255)
        self._bindings.append(Binding(name, value, self._owner(byte), row + 1, kind, indent))

    def _indent(self, row: int) -> int:
        line = self._lines[row]
        return min(len(line) - len(line.lstrip()), 255)

    def _import(self, node: Node) -> None:
        place = node.child_by_field_name("source")
        if place is None:
            return
        module = self._text(place).strip("'\"`")
        row, byte = node.start_point[0], node.start_byte
        clause = next((child for child in node.named_children if child.type == "import_clause"), None)
        if clause is None:
            self._add("", module, byte, row, IMPORT)
            return
        for child in clause.named_children:
            if child.type == "identifier":
                self._take(self._text(child), f"{module}:default", child, RENAMED)
            elif child.type == "namespace_import":
                self._take(self._text(child.named_children[-1]), module, child, RENAMED)
            elif child.type == "named_imports":
                self._specifiers(child, module)

    def _specifiers(self, clause: Node, module: str) -> None:
        for each in clause.named_children:
            name, alias = each.child_by_field_name("name"), each.child_by_field_name("alias")
            if name is None:
                continue
            own = self._text(name).strip("'\"")
            called = self._text(alias) if alias is not None else own
            self._take(called, f"{module}:{own}", each, IMPORT if called == own else RENAMED)

    def _take(self, name: str, value: str, at: Node, kind: int) -> None:
        module = value.partition(":")[0]
        is_foreign = module in _FOREIGN_MODULES or value.startswith(("node:", "bun:", "deno:"))
        (self._foreign if is_foreign else self._imported).add(name)
        self._add(name, value, at.start_byte, at.start_point[0], kind)

    def _export(self, node: Node) -> None:
        place = node.child_by_field_name("source")
        module = self._text(place).strip("'\"`") if place is not None else ""
        row, byte = node.start_point[0], node.start_byte
        clause = next((child for child in node.named_children if child.type == "export_clause"), None)
        if module:
            named = next((child for child in node.named_children if child.type == "namespace_export"), None)
            if clause is not None:
                self._specifiers(clause, module)
            elif named is not None:
                self._take(self._text(named.named_children[-1]), module, named, RENAMED)
            else:
                self._has_star = True
                self._add("*", module, byte, row, STAR)
            return
        if clause is not None:
            for each in clause.named_children:
                name, alias = each.child_by_field_name("name"), each.child_by_field_name("alias")
                if name is not None and alias is not None:
                    self._bindings.append(
                        Binding(self._text(alias), self._text(name), -1, row + 1, EXPORTED, 0)
                    )
            return
        if any(child.type == "default" for child in node.children[:3]):
            inner = node.child_by_field_name("value") or node.child_by_field_name("declaration")
            named = inner.child_by_field_name("name") if inner is not None else None
            value = self._text(named) if named is not None else ""
            if not value and inner is not None:
                value = self._expression(inner, 0)
            if value not in _PLACEHOLDERS:
                self._bindings.append(Binding("default", value, -1, row + 1, EXPORTED, 0))

    def _callback(self, node: Node) -> None:
        """Bind the parameter of ``xs.map((x) => …)`` to what ``xs`` holds."""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None or not arguments.named_children:
            return
        name, inner = function.child_by_field_name("property"), function.child_by_field_name("object")
        if name is None or inner is None:
            return
        method, first = self._text(name), arguments.named_children[0]
        place = 0 if method in _BY_ELEMENT else 1 if method in ("reduce", "reduceRight") else -1
        then = method in ("then",)
        if place < 0 and not then:
            return
        single, listed = first.child_by_field_name("parameter"), first.child_by_field_name("parameters")
        value = _then(self._expression(inner, 0), "" if then else "*")
        row = first.start_point[0]
        if single is not None and place <= 0:
            self._taken.add(single.start_byte)
            self._bind(single, value, first, row, 1)
        elif listed is not None:
            named = [child for child in listed.named_children if child.type != "comment"]
            if len(named) > max(place, 0):
                target = named[max(place, 0)]
                pattern = target.child_by_field_name("pattern") or target
                if target.child_by_field_name("type") is None:
                    self._taken.add(target.start_byte)
                    self._bind(pattern, value, first, row, 1)

    def _parameters(self, node: Node) -> None:
        byte = node.start_byte
        owner = self._owner(byte)
        is_own = self._in_head(byte, owner) and self._is_own(byte, owner)
        for child in node.named_children:
            if child.start_byte in self._taken or child.type == "comment":
                continue
            pattern = child.child_by_field_name("pattern") or child
            written, value = child.child_by_field_name("type"), child.child_by_field_name("value")
            kind = ASSIGNED
            form = _UNKNOWN
            if pattern.type == "assignment_pattern":
                value, pattern = (
                    pattern.child_by_field_name("right"),
                    pattern.child_by_field_name("left") or pattern,
                )
            if written is not None:
                form = self._annotation(written)
                if pattern.type == "identifier" and form:
                    kind = DECLARED
                else:
                    form = f"<{form}>" if form else _UNKNOWN
            elif value is not None:
                form = self._expression(value, 0)
            if pattern.type == "rest_pattern":
                pattern, form = pattern.named_children[-1], form if kind == DECLARED else f"{form}"
            row = child.start_point[0]
            self._bind(pattern, form, child, row, 0 if is_own else 1, kind)
            if any(each.type in ("accessibility_modifier", "readonly") for each in child.children):
                self._add(self._text(pattern), form if kind == DECLARED else "", byte, row, FIELD_TYPE)

    def _single(self, node: Node) -> None:
        if node.start_byte not in self._taken:
            self._bind(node, _UNKNOWN, node, node.start_point[0], 1)

    def _assign(self, node: Node) -> None:
        left = node.child_by_field_name("name") or node.child_by_field_name("left")
        right = node.child_by_field_name("value") or node.child_by_field_name("right")
        if left is None:
            return
        row = node.start_point[0]
        written = node.child_by_field_name("type")
        if written is not None and left.type == "identifier" and (form := self._annotation(written)):
            self._add(self._text(left), form, node.start_byte, row, DECLARED)
            return
        if right is None:
            return
        while (
            right.type == "assignment_expression"
            and (inner := right.child_by_field_name("right")) is not None
        ):
            right = inner
        if right.type in _DEFINING:
            return
        if module := self._required(right):
            self._require(left, module, node)
            return
        chain = self._chain(left) if left.type == "member_expression" else ""
        if chain in ("module.exports", "exports"):
            self._exports(right, row)
        elif chain.startswith(("module.exports.", "exports.")):
            self._add(chain.rpartition(".")[2], self._expression(right, 0), node.start_byte, row, EXPORTED)
        else:
            self._bind(left, self._expression(right, 0), node, row)

    def _required(self, node: Node) -> str:
        """Return the module that ``require("…")`` or ``await import("…")`` names."""
        if node.type == "await_expression" and node.named_children:
            node = node.named_children[0]
        if node.type != "call_expression":
            return ""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None or len(arguments.named_children) != 1:
            return ""
        if self._text(function) not in ("require", "import"):
            return ""
        given = arguments.named_children[0]
        return self._text(given).strip("'\"`") if given.type == "string" else ""

    def _require(self, left: Node, module: str, node: Node) -> None:
        if left.type == "identifier":
            self._take(self._text(left), f"{module}:=", node, RENAMED)
        elif left.type == "object_pattern":
            for key, target in self._properties(left):
                if target.type in ("identifier", "shorthand_property_identifier_pattern"):
                    name = self._text(target)
                    self._take(name, f"{module}:{key}", target, IMPORT if name == key else RENAMED)
        else:
            self._add("", module, node.start_byte, node.start_point[0], IMPORT)

    def _exports(self, value: Node, row: int) -> None:
        """Read ``module.exports = …``."""
        if value.type != "object":
            form = self._expression(value, 0)
            if form not in _PLACEHOLDERS:
                self._bindings.append(Binding("=", form, -1, row + 1, EXPORTED, 0))
            return
        for each in value.named_children:
            if each.type == "pair":
                key, inner = each.child_by_field_name("key"), each.child_by_field_name("value")
                if key is not None and inner is not None:
                    form = self._expression(inner, 0)
                    name = self._text(key).strip("'\"")
                    if form not in _PLACEHOLDERS and form != name:
                        self._bindings.append(Binding(name, form, -1, row + 1, EXPORTED, 0))

    def _field(self, node: Node) -> None:
        name = node.child_by_field_name("name") or node.child_by_field_name("property")
        if name is None:
            return
        written, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        row = node.start_point[0]
        if written is not None and (form := self._annotation(written)):
            self._add(self._text(name), form, node.start_byte, row, FIELD_TYPE)
        elif value is not None and value.type not in _DEFINING:
            self._add(self._text(name), self._expression(value, 0), node.start_byte, row, FIELD)

    def _bind(  # noqa: PLR0917 - as above
        self, target: Node, value: str, at: Node, row: int, more: int = 0, kind: int = ASSIGNED
    ) -> None:
        """Bind a target, or each of several, to an expression or a written type."""
        form = target.type
        if form in ("identifier", "shorthand_property_identifier_pattern"):
            self._add(self._text(target), value, at.start_byte, row, kind, more)
        elif form == "member_expression":
            owner, _, name = self._chain(target).partition(".")
            if owner == "this" and name and "." not in name:
                self._add(name, value, at.start_byte, row, FIELD)
        elif form == "object_pattern":
            for key, inner in self._properties(target):
                self._bind(inner, _then(value, f".{key}"), at, row, more)
        elif form == "array_pattern":
            for number, inner in enumerate(target.named_children[:_MOST_TARGETS]):
                self._bind(inner, _then(value, f"#{number}"), at, row, more)
        elif form == "assignment_pattern" and (left := target.child_by_field_name("left")) is not None:
            self._bind(left, value, at, row, more)

    def _properties(self, pattern: Node) -> list[tuple[str, Node]]:
        """Return key and target of each part of ``{ a, b: c, d = 1 }``."""
        found: list[tuple[str, Node]] = []
        for each in pattern.named_children[:_MOST_TARGETS]:
            if each.type == "shorthand_property_identifier_pattern":
                found.append((self._text(each), each))
            elif each.type == "pair_pattern":
                key, inner = each.child_by_field_name("key"), each.child_by_field_name("value")
                if key is not None and inner is not None and key.type == "property_identifier":
                    found.append((self._text(key), inner))
            elif each.type == "object_assignment_pattern":
                left = each.child_by_field_name("left")
                if left is not None:
                    found.append((self._text(left), left))
        return [(key, inner) for key, inner in found if key.isidentifier()]

    def _loop(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None:
            return
        value = _then(self._expression(right, 0), "*") if self._text(operator) == "of" else "'"
        self._bind(left, value, node, node.start_point[0], 1)

    def _base(self, node: Node) -> None:
        """Read what a class or an interface extends or implements."""
        heads = node.named_children if node.type.endswith("_clause") else [node]
        for child in heads:
            if child.type in ("type_arguments", "extends_clause", "implements_clause"):
                continue
            written = self._written(child, 0) or self._expression(child, 0)
            name = written.partition("[")[0].rpartition(".")[2]
            self._add(name, written, node.start_byte, child.start_point[0], BASE_OF)

    def _alias(self, node: Node) -> None:
        """A name for a type has the members of what it is made of."""
        for part in self._written(node, 0).split("|"):
            name = part.partition("[")[0].rpartition(".")[2]
            if name.isidentifier():
                self._add(name, part, node.start_byte, node.start_point[0], BASE_OF)

    def _getter(self, node: Node) -> None:
        self._add("get", "get", node.start_byte, node.start_point[0], DECORATED)

    def _returns(self, node: Node) -> None:
        byte = node.start_byte
        owner = self._owner(byte)
        if self._in_head(byte, owner) and self._is_own(byte, owner) and (form := self._annotation(node)):
            self._annotated.add(owner)
            self._add("", form, byte, node.start_point[0], RETURN_TYPE)

    def _return(self, node: Node) -> None:
        byte = node.start_byte
        owner = self._owner(byte)
        if owner not in self._annotated and self._is_own(byte, owner):
            self._add("", self._expression(node, 0), byte, node.start_point[0], RETURNED)

    def _arrow(self, node: Node) -> None:
        byte = node.start_byte
        owner = self._owner(byte)
        if node.type == "statement_block" or owner < 0 or owner in self._annotated:
            return
        if byte == self._found[owner].body_byte:
            self._add("", self._expression(node, 0), byte, node.start_point[0], RETURNED)

    # Sites.

    def _sites(self, captures: dict[str, list[Node]]) -> tuple[Site, ...]:
        self._mine = {item.name for item in self._found} | self._imported
        self._functions = {item.name for item in self._found if item.kind in ("function", "method")}
        found: list[Site] = []
        self._calls(captures.get("call", ()), found)
        for node in captures.get("value", ()):
            self._value(node, found)
        self._types(captures, found)
        return in_order(found)

    def _calls(self, nodes: Sequence[Node], found: list[Site]) -> None:
        source, known, owner, indent = self._source, self._known, self._owner, self._indent
        new, is_chain, head_of = tuple.__new__, _CHAIN.fullmatch, _HEAD.match
        foreign = (SCRIPT_GLOBALS | _TESTING) - known | self._foreign
        for node in nodes:
            start, end = node.byte_range
            text = source[start:end]
            if is_chain(text):
                chain = text.decode("utf-8", "replace")
                if "?" in chain or "!" in chain:
                    chain = _MARKS.sub(".", chain)
                receiver, _, name = chain.rpartition(".")
                root = receiver.partition(".")[0]
            elif (named := self._named(node)) is not None:
                receiver, name = named
                head = head_of(receiver)
                root = head[0] if head else receiver
            else:
                continue
            if not receiver:
                if name == "super":
                    receiver, name = "super", "constructor"
                elif name not in known or name in foreign:
                    continue
            elif root in foreign or root in _LITERALS:
                continue
            elif name in SCRIPT_MEMBERS and root not in known and root not in _KEPT:
                # Of a thing unknown, a name that every list and text bears says nothing.
                continue
            row = node.end_point[0]
            found.append(new(Site, (name, receiver, owner(start), row + 1, CALL, indent(row))))

    def _named(self, node: Node) -> tuple[str, str] | None:
        """Return receiver and name of what is called, None where it has no name."""
        if node.type in (
            "non_null_expression",
            "parenthesized_expression",
            "instantiation_expression",
            "await_expression",
        ):
            inner = node.named_children[0] if node.named_children else None
            if inner is None:
                return None
            if chain := self._chain(inner):
                receiver, _, name = chain.rpartition(".")
                return receiver, name
            return self._named(inner) if inner.type == "member_expression" else None
        if node.type != "member_expression":
            return None
        inner, last = node.child_by_field_name("object"), node.child_by_field_name("property")
        if inner is None or last is None:
            return None
        return self._expression(inner, 0), self._text(last)

    def _value(self, node: Node, found: list[Site]) -> None:
        chain = self._chain(node)
        receiver, _, name = chain.rpartition(".")
        root = receiver.partition(".")[0] or name
        if root in self._mine or (receiver == "this" and name in self._functions):
            row = node.end_point[0]
            found.append(
                Site(name, receiver, self._owner(node.start_byte), row + 1, VALUE, self._indent(row))
            )

    def _types(self, captures: dict[str, list[Node]], found: list[Site]) -> None:
        left_out = {node.start_byte for node in captures.get("declared", ())}
        mine = self._mine
        for node in captures.get("nested", ()):
            last, module = node.child_by_field_name("name"), node.child_by_field_name("module")
            if last is not None and module is not None:
                left_out.add(last.start_byte)
                before = self._squeezed(module)
                if before.partition(".")[0] in mine:
                    self._type_site((self._text(last), before), node, TYPE, found)
        for node in captures.get("base", ()):
            for child in node.named_children or [node]:
                if child.type != "type_identifier" and (chain := self._chain(child)):
                    receiver, _, name = chain.rpartition(".")
                    if (receiver.partition(".")[0] or name) in mine:
                        self._type_site((name, receiver), child, BASE, found)
        for node in captures.get("type", ()):
            if node.start_byte not in left_out and (name := self._text(node)) in mine:
                self._type_site((name, ""), node, TYPE, found)

    def _type_site(self, named: tuple[str, str], node: Node, kind: int, found: list[Site]) -> None:
        row = node.start_point[0]
        found.append(Site(*named, self._owner(node.start_byte), row + 1, kind, self._indent(row)))

    # Texts.

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _squeezed(self, node: Node) -> str:
        return _SPACES.sub(b"", self._source[node.start_byte : node.end_byte]).decode("utf-8", "replace")

    def _chain(self, node: Node) -> str:
        """Return a dotted name, ``""`` for anything else."""
        start, end = node.byte_range
        text = self._source[start:end] if end - start <= _LONGEST else b""
        return _MARKS.sub(".", text.decode("utf-8", "replace")) if _CHAIN.fullmatch(text) else ""

    def _annotation(self, node: Node) -> str:
        """Return the written type of ``: T``."""
        inner = node.named_children
        return self._written(inner[0], 0) if inner else ""

    def _written(self, node: Node, depth: int) -> str:
        """Return a written type in the normal form, ``""`` for what is none that can be followed."""
        kind = node.type
        if depth > _DEEPEST or node.end_byte - node.start_byte > _LONGEST * 3:
            return ""
        if kind in ("type_identifier", "identifier", "predefined_type"):
            text = self._text(node)
            return "" if text in _NO_TYPES else text
        if kind in ("nested_type_identifier", "member_expression", "nested_identifier"):
            return self._squeezed(node)
        if kind == "generic_type":
            name, arguments = node.child_by_field_name("name"), node.child_by_field_name("type_arguments")
            if name is None or arguments is None:
                return ""
            inner = ",".join(self._written(each, depth + 1) or "any" for each in arguments.named_children)
            return f"{self._squeezed(name)}[{inner}]"
        named = [child for child in node.named_children if child.type != "comment"]
        if kind == "array_type" and named:
            inner = self._written(named[0], depth + 1)
            return f"Array[{inner}]" if inner else ""
        if kind in ("union_type", "intersection_type"):
            return "|".join(filter(None, (self._written(each, depth + 1) for each in named)))
        if kind in ("readonly_type", "parenthesized_type", "optional_type") and named:
            return self._written(named[-1], depth + 1)
        if kind == "tuple_type":
            return "tuple[" + ",".join(self._written(each, depth + 1) or "any" for each in named) + "]"
        return "this" if kind in ("this_type", "this") else ""

    def _expression(self, node: Node, depth: int) -> str:
        """Return the normal form of an expression."""
        kind = node.type
        if kind in ("identifier", "this", "super", "shorthand_property_identifier"):
            return self._text(node)
        make = _FORMS.get(kind)
        if make is None or depth > _DEEPEST:
            return "'" if kind in _TEXTS else "0" if kind in _NUMBERS else _UNKNOWN
        form = make(self, node, depth + 1)
        return form if len(form) <= _LONGEST else _UNKNOWN

    def _member(self, node: Node, depth: int) -> str:
        if chain := self._chain(node):
            return chain
        inner, name = node.child_by_field_name("object"), node.child_by_field_name("property")
        if inner is None or name is None:
            return _UNKNOWN
        return _then(self._expression(inner, depth), "." + self._text(name))

    def _called(self, node: Node, depth: int) -> str:
        function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        return _UNKNOWN if function is None else _then(self._expression(function, depth), "()")

    def _inner(self, node: Node, depth: int) -> str:
        inner = [child for child in node.named_children if child.type != "comment"]
        return self._expression(inner[0], depth) if inner else _UNKNOWN

    def _right(self, node: Node, depth: int) -> str:
        right = node.child_by_field_name("right")
        return _UNKNOWN if right is None else self._expression(right, depth)

    def _cast(self, node: Node, depth: int) -> str:
        inner = [child for child in node.named_children if child.type != "comment"]
        if len(inner) < 2:
            return self._expression(inner[0], depth) if inner else _UNKNOWN
        written = self._written(inner[1], 0)
        return f"<{written}>" if written else _UNKNOWN

    def _either(self, node: Node, depth: int) -> str:
        operator = node.child_by_field_name("operator")
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if operator is None or left is None or right is None or self._text(operator) not in _EITHER:
            return "0"
        return self._one_of((left, right), depth)

    def _conditional(self, node: Node, depth: int) -> str:
        found = [node.child_by_field_name(field) for field in ("consequence", "alternative")]
        return self._one_of([each for each in found if each is not None], depth)

    def _one_of(self, nodes: Sequence[Node], depth: int) -> str:
        forms = dict.fromkeys(self._expression(each, depth) for each in nodes)
        for nothing in _PLACEHOLDERS:
            forms.pop(nothing, None)
        if len(forms) > 1:
            return "(|" + "|".join(forms) + ")"
        return next(iter(forms), _UNKNOWN)

    def _subscript(self, node: Node, depth: int) -> str:
        value, index = node.child_by_field_name("object"), node.child_by_field_name("index")
        form = _UNKNOWN if value is None else self._expression(value, depth)
        return _then(
            form,
            f"[{self._text(index)}]"
            if index is not None and index.type == "number" and self._text(index).isdigit()
            else "[]",
        )

    def _several(self, node: Node, depth: int) -> str:
        for child in node.named_children:
            if child.type == "spread_element":
                return _then(self._inner(child, depth), "")
            if child.type != "comment":
                return f"[{self._expression(child, depth)}]"
        return "[?]"

    def _object(self, node: Node, depth: int) -> str:
        return "{}"


def _then(value: str, suffix: str) -> str:
    return value if value == _UNKNOWN else value + suffix


_NO_TYPES: Final = frozenset({"any", "unknown", "void", "never", "null", "undefined", "object"})
_DEFINING: Final = frozenset(
    {"arrow_function", "function_expression", "generator_function", "class", "function"}
)
_TEXTS: Final = frozenset({"string", "template_string"})
_NUMBERS: Final = frozenset(
    {"number", "true", "false", "null", "undefined", "regex", "unary_expression", "binary_expression"}
)
_ROLES: Final[dict[str, Callable[[_Reader, Node], None]]] = {
    "import": _Reader._import,
    "export": _Reader._export,
    "callback": _Reader._callback,
    "parameters": _Reader._parameters,
    "single": _Reader._single,
    "assign": _Reader._assign,
    "field": _Reader._field,
    "loop": _Reader._loop,
    "base": _Reader._base,
    "alias": _Reader._alias,
    "getter": _Reader._getter,
    "returns": _Reader._returns,
    "return": _Reader._return,
    "arrow": _Reader._arrow,
}
_FORMS: Final[dict[str, Callable[[_Reader, Node, int], str]]] = {
    "member_expression": _Reader._member,
    "call_expression": _Reader._called,
    "new_expression": _Reader._called,
    "await_expression": _Reader._inner,
    "parenthesized_expression": _Reader._inner,
    "non_null_expression": _Reader._inner,
    "assignment_expression": _Reader._right,
    "as_expression": _Reader._cast,
    "satisfies_expression": _Reader._inner,
    "binary_expression": _Reader._either,
    "ternary_expression": _Reader._conditional,
    "subscript_expression": _Reader._subscript,
    "array": _Reader._several,
    "object": _Reader._object,
}
