"""What a file of JavaScript or TypeScript imports and exports, by statements or by ``require``."""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from repo_map.parsing import facts_model as facts
from repo_map.parsing.facts_model import Binding
from repo_map.parsing.facts_reader import ValueReader, child_of

MAX_TARGETS: Final = 12
"""Names that one pattern binds."""
_EXTERNAL_MODULES: Final = frozenset(
    {"vitest", "@jest/globals", "chai", "mocha", "assert", "fs", "path", "os", "util", "url", "crypto"}
    | {"events", "stream", "http", "https", "child_process", "process", "buffer", "zlib", "react"}
)
"""Modules that no repository calls one of its own."""


def read_import(reader: ValueReader, node: Node) -> None:
    """Read an ``import`` statement."""
    place = node.child_by_field_name("source")
    if place is None:
        return
    module = _module(reader, place)
    clause = child_of(node, "import_clause")
    if clause is None:
        reader.bind("", module, node, facts.IMPORT)
        return
    for child in clause.named_children:
        if child.type == "identifier":
            _bind_import(reader, reader.text(child), f"{module}:default", child, facts.RENAMED)
        elif child.type == "namespace_import":
            _bind_import(reader, reader.text(child.named_children[-1]), module, child, facts.RENAMED)
        elif child.type == "named_imports":
            _specifiers(reader, child, module)


def _module(reader: ValueReader, place: Node) -> str:
    return reader.text(place).strip("'\"`")


def _specifiers(reader: ValueReader, clause: Node, module: str) -> None:
    for each in clause.named_children:
        name, alias = each.child_by_field_name("name"), each.child_by_field_name("alias")
        if name is not None:
            own = reader.text(name).strip("'\"")
            as_ = reader.text(alias) if alias is not None else own
            _bind_import(reader, as_, f"{module}:{own}", each, facts.IMPORT if as_ == own else facts.RENAMED)


def _bind_import(reader: ValueReader, name: str, value: str, at: Node, kind: int) -> None:
    is_external = value.partition(":")[0] in _EXTERNAL_MODULES
    is_external = is_external or value.startswith(("node:", "bun:", "deno:"))
    (reader.external_imports if is_external else reader.imported).add(name)
    reader.bind(name, value, at, kind)


def read_export(reader: ValueReader, node: Node) -> None:
    """Read an ``export`` statement."""
    place, clause = node.child_by_field_name("source"), child_of(node, "export_clause")
    module = _module(reader, place) if place is not None else ""
    if module:
        if clause is not None:
            _specifiers(reader, clause, module)
        elif (space := child_of(node, "namespace_export")) is not None:
            _bind_import(reader, reader.text(space.named_children[-1]), module, space, facts.RENAMED)
        else:
            reader.has_star = True
            reader.bind("*", module, node, facts.STAR)
    elif clause is not None:
        for each in clause.named_children:
            name, alias = each.child_by_field_name("name"), each.child_by_field_name("alias")
            if name is not None and alias is not None:
                _bind_export(reader, reader.text(alias), reader.text(name), node)
    elif any(child.type == "default" for child in node.children[:3]):
        inner = node.child_by_field_name("value") or node.child_by_field_name("declaration")
        called_so = inner.child_by_field_name("name") if inner is not None else None
        value = reader.text(called_so) or reader.expression(inner)
        if value not in reader.placeholders:
            _bind_export(reader, "default", value, node)


def _bind_export(reader: ValueReader, name: str, value: str, node: Node) -> None:
    """Add what a module exports at its top."""
    reader.bindings.append(Binding(name, value, -1, node.start_point[0] + 1, facts.EXPORTED, 0))


def read_exports(reader: ValueReader, value: Node, node: Node) -> None:
    """Read ``module.exports = …``."""
    if value.type != "object":
        form = reader.expression(value)
        if form not in reader.placeholders:
            _bind_export(reader, "=", form, node)
        return
    for each in value.named_children:
        key = each.child_by_field_name("key")
        if each.type == "pair" and key is not None:
            form, name = reader.of_field(each, "value"), reader.text(key).strip("'\"")
            if form not in reader.placeholders and form != name:
                _bind_export(reader, name, form, node)


def required_module(reader: ValueReader, node: Node) -> str:
    """Return the module that ``require("…")`` or ``await import("…")`` names."""
    if node.type == "await_expression" and node.named_children:
        node = node.named_children[0]
    if node.type != "call_expression":
        return ""
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None or len(arguments.named_children) != 1:
        return ""
    given = arguments.named_children[0]
    is_module = reader.text(function) in ("require", "import") and given.type == "string"
    return _module(reader, given) if is_module else ""


def required_member(reader: ValueReader, node: Node) -> tuple[str, str]:
    """Return the module and the name of ``require("…").name``, both ``""`` for anything else."""
    module, name = node.child_by_field_name("object"), node.child_by_field_name("property")
    if node.type != "member_expression" or module is None or name is None:
        return "", ""
    path = required_module(reader, module)
    return (path, reader.text(name)) if path and name.type == "property_identifier" else ("", "")


def read_require(reader: ValueReader, left: Node, module: str, node: Node, member: str = "") -> None:
    """Bind what a module that is required, or a member of it, is assigned to."""
    if left.type == "identifier" and member:
        name = reader.text(left)
        kind = facts.IMPORT if name == member else facts.RENAMED
        _bind_import(reader, name, f"{module}:{member}", node, kind)
    elif left.type == "identifier":
        _bind_import(reader, reader.text(left), f"{module}:=", node, facts.RENAMED)
    elif left.type == "object_pattern":
        for key, target in properties_of(reader, left):
            if target.type in ("identifier", "shorthand_property_identifier_pattern"):
                name = reader.text(target)
                kind = facts.IMPORT if name == key else facts.RENAMED
                _bind_import(reader, name, f"{module}:{key}", target, kind)
    else:
        reader.bind("", module, node, facts.IMPORT)


def properties_of(reader: ValueReader, pattern: Node) -> list[tuple[str, Node]]:
    """Return key and target of each part of ``{ a, b: c, d = 1 }``."""
    found: list[tuple[str, Node]] = []
    for each in pattern.named_children[:MAX_TARGETS]:
        if each.type == "shorthand_property_identifier_pattern":
            found.append((reader.text(each), each))
        elif each.type == "pair_pattern":
            key, inner = each.child_by_field_name("key"), each.child_by_field_name("value")
            if key is not None and inner is not None and key.type == "property_identifier":
                found.append((reader.text(key), inner))
        elif each.type == "object_assignment_pattern":
            left = each.child_by_field_name("left")
            if left is not None:
                found.append((reader.text(left), left))
    return [(key, inner) for key, inner in found if key.isidentifier()]
