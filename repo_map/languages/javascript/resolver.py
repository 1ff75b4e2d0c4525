"""What names mean in JavaScript and TypeScript."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from repo_map.languages.javascript import SCRIPT_GLOBALS, SCRIPT_MEMBERS
from repo_map.languages.javascript.modules import ScriptModules
from repo_map.parsing.facts_model import DECORATED
from repo_map.relations.core.dynamic import DynamicResolver
from repo_map.relations.core.values import FUNCTION, INSTANCE, MODULE, OBJECT, Position, Value, Values
from repo_map.relations.file_facts import CLASSES, FileView

if TYPE_CHECKING:
    from repo_map.index.index import Index

_WHOLE: Final = "="
"""What ``module.exports = …`` gives is called so."""


class JavaScript(DynamicResolver):
    """The resolver of JavaScript and TypeScript."""

    common = SCRIPT_MEMBERS
    own_names = frozenset({"this"})
    themselves = frozenset({"this"})
    builtins = SCRIPT_GLOBALS
    nothing = frozenset({"any", "unknown", "void", "never", "null", "undefined", "object", "func", ""})
    wrappers = frozenset(
        {"Readonly", "Partial", "Required", "NonNullable", "DeepPartial", "Awaited", "InstanceType"}
    )
    awaited = frozenset({"Promise", "PromiseLike"})
    mappings = frozenset({"Map", "WeakMap", "ReadonlyMap", "Record"})
    initialisers = frozenset({"constructor"})
    container_methods: ClassVar[Mapping[str, str]] = {
        "mapping.get": "1",
        "mapping.values": "[1",
        "mapping.keys": "[0",
        "mapping.entries": "pairs",
        "several.pop": "0",
        "several.shift": "0",
        "several.at": "0",
        "several.find": "0",
        "several.findLast": "0",
        "several.filter": "=",
        "several.slice": "=",
        "several.splice": "=",
        "several.concat": "=",
        "several.sort": "=",
        "several.toSorted": "=",
        "several.reverse": "=",
        "several.values": "[0",
    }

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        self._modules = ScriptModules(index)

    def module(self, file: int, name: str) -> Value | None:
        """Return the module of ours that an import in a file names."""
        found = self._modules.find(file, name)
        return None if found is None else Value(MODULE, found)

    def own_object(self, view: FileView, scope: int, name: str) -> Values:
        """Return what ``this`` is: an object of the class, or what a function was assigned to."""
        at = scope
        while at >= 0:
            definition = view.definitions[at]
            owner = view.outer(at)
            if owner >= 0 and view.definitions[owner].kind in CLASSES:
                return (Value(INSTANCE, view.file, owner),)
            holder, dot, _ = definition.name.rpartition(".")
            if dot:
                return (Value(OBJECT, view.file, -1, holder),)
            parent = definition.parent
            if definition.kind == "method" and parent >= 0 and view.definitions[parent].kind == "constant":
                return (Value(OBJECT, view.file, parent, view.definitions[parent].name),)
            at = owner
        return ()

    def object_literal(self, where: Position) -> Values:
        """Return the object that a constant's literal makes, whose methods are definitions."""
        view = self.views[where.file]
        if where.row >= 0 and view.definitions[where.row].kind in ("constant", "field"):
            return (Value(OBJECT, where.file, where.row, view.definitions[where.row].name),)
        return ()

    def of_object(self, value: Value, name: str) -> Values:
        """Return a method of an object literal, or what is assigned to ``object.name``."""
        view = self.views[value.file]
        rows = [
            row
            for row in view.members.get((-1, name), ())
            if view.definitions[row].name == f"{value.name}.{name}"
            or (value.row >= 0 and view.definitions[row].parent == value.row)
        ]
        return tuple(Value(FUNCTION, value.file, row, parts=((value,),)) for row in rows)

    def constructed(self, function: Value) -> Values:
        """Return the object that ``new`` makes of a function."""
        name = self.views[function.file].definitions[function.row].name
        return (Value(OBJECT, function.file, -1, name),)

    def of_file(self, module: Value, name: str) -> Values | None:
        """Return what a module gives where it gives one thing, or what its default is called in it."""
        view = self.views[module.file]
        if name == _WHOLE:
            return self.bound_at(view, -1, _WHOLE, None) or (module,)
        if name == "default":
            found = self.bound_at(view, -1, "default", None)
            return found if found is not None else self.bound_at(view, -1, _WHOLE, None)
        found = self.bound_at(view, -1, name, None)
        if found is None and (whole := self.bound_at(view, -1, _WHOLE, None)):
            return tuple(
                dict.fromkeys(
                    v for each in whole for v in self.member(each, name, Position(module.file, -1, 0))
                )
            )
        return found

    def is_property(self, function: Value) -> bool:
        """Tell whether reading a method calls it."""
        view = self.views[function.file]
        return any(each.name == "get" for each in view.of_scope.get((function.row, DECORATED), ()))


RESOLVER: Final = JavaScript
