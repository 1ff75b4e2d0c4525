"""What a file of JavaScript or TypeScript imports and exports, by statements or by ``require``."""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from repo_map.parsing import facts_model as facts
from repo_map.parsing.facts_model import Binding
from repo_map.parsing.facts_reader import ValueReader, child_of, parts_of

MAX_TARGETS: Final = 12
"""Names that one pattern binds."""
_EXTERNAL_MODULES: Final = frozenset(
    {"vitest", "@jest/globals", "chai", "mocha", "assert", "fs", "path", "os", "util", "url", "crypto"}
    | {"events", "stream", "http", "https", "child_process", "process", "buffer", "zlib", "react", "bun"}
)
"""Modules that no repository calls one of its own."""


class ImportReader(ValueReader):
    """Reads the imports and exports of a file."""

    def on_import(self, node: Node) -> None:
        """Read an ``import`` statement."""
        if not (module := self._quoted(node.child_by_field_name("source"))):
            return
        clause = child_of(node, "import_clause")
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
        """Read an ``export`` statement."""
        module = self._quoted(node.child_by_field_name("source"))
        clause, space = child_of(node, "export_clause"), child_of(node, "namespace_export")
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

    def read_exports(self, value: Node, node: Node) -> None:
        """Read ``module.exports = …``."""
        if value.type != "object":
            self._bind_export("=", self.expression(value), node)
            return
        for each in value.named_children:
            given = each.child_by_field_name("value") or child_of(each, "call_expression")
            module, member = self.required(given) if given is not None else ("", "")
            if module and each.type == "spread_element":
                self.has_star = True
                self.bind("*", module, each, facts.STAR)
            elif module and each.type == "pair":
                self._bind_import(self._quoted(each.child_by_field_name("key")), module, member or "=", each)
                continue
            name, form = self._quoted(each.child_by_field_name("key")), self.of_field(each, "value")
            if each.type == "pair" and form != name:
                self._bind_export(name, form, node)

    def required(self, node: Node) -> tuple[str, str]:
        """Return the module and the member that ``require("…").name`` or ``await import("…")`` names."""
        name = node.child_by_field_name("property")
        if node.type == "member_expression" and name is not None and name.type == "property_identifier":
            inner = node.child_by_field_name("object")
            return (self._module(inner), self.text(name)) if inner is not None else ("", "")
        return self._module(node), ""

    def _module(self, node: Node) -> str:
        if node.type == "await_expression" and node.named_children:
            node = node.named_children[0]
        given = parts_of(node, "arguments")
        is_module = node.type == "call_expression" and self.text_of(node, "function") in ("require", "import")
        return self._quoted(given[0]) if is_module and len(given) == 1 and given[0].type == "string" else ""

    def read_require(self, left: Node, module: str, member: str, node: Node) -> None:
        """Bind what a module that is required, or a member of it, is assigned to."""
        if left.type == "identifier":
            self._bind_import(self.text(left), module, member or "=", node)
        elif left.type == "object_pattern":
            for key, target in self.properties_of(left):
                if target.type in ("identifier", "shorthand_property_identifier_pattern"):
                    self._bind_import(self.text(target), module, key, target)
        else:
            self.bind("", module, node, facts.IMPORT)

    def properties_of(self, pattern: Node) -> list[tuple[str, Node]]:
        """Return key and target of each part of ``{ a, b: c, d = 1 }``."""
        found: list[tuple[str, Node]] = []
        for each in pattern.named_children[:MAX_TARGETS]:
            key = inner = each
            if each.type == "pair_pattern":
                key = each.child_by_field_name("key") or each
                inner = each.child_by_field_name("value") or each
            elif each.type == "object_assignment_pattern":
                key = inner = each.child_by_field_name("left") or each
            if (name := self.text(key)).isidentifier():
                found.append((name, inner))
        return found
