"""What calling, reading, entering and iterating give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from repo_map.parsing.facts_model import RETURN_TYPE, RETURNED
from repo_map.relations.expressions import parse
from repo_map.relations.file_facts import FileView
from repo_map.relations.inference.classes import Classes
from repo_map.relations.values import (
    CLASS,
    FOREIGN,
    FOREIGN_CLASS,
    FOREIGN_METHOD,
    FUNCTION,
    INSTANCE,
    MOST_VALUES,
    STRANGER,
    SUPER,
    TUPLE,
    Value,
    Values,
    Where,
)


class Calls(Classes):
    """Follows what is done with a value."""

    mappings: frozenset[str] = frozenset()
    themselves: frozenset[str] = frozenset()
    """What a method that gives its own object returns."""
    initialisers: frozenset[str] = frozenset()
    """What makes an object of a class."""
    givers: ClassVar[Mapping[str, str]] = {}
    """What methods of containers give: ``0``, ``1`` that argument, ``[0`` several of it, ``=`` themselves."""

    # What a family may say otherwise.

    def is_property(self, function: Value) -> bool:
        """Tell whether reading a method calls it."""
        return False

    def entered(self, function: Value, returned: Values) -> Values:
        """Return what a call gives, where a function is more than its ``return``."""
        return returned

    def made(self, function: Value) -> Values:
        """Return what a function makes that returns nothing."""
        return ()

    # Reading and calling.

    def _attribute(self, value: Value, name: str, where: Where) -> Values:
        """Return what reading an attribute gives: a property's value, not the property."""
        if name == "__class__" and value.kind == INSTANCE:
            return (value._replace(kind=CLASS),)
        found = self._member(value, name, where)
        if value.kind != INSTANCE:
            return found
        read: dict[Value, None] = {}
        for each in found:
            if each.kind == FUNCTION and self.is_property(each):
                read.update(dict.fromkeys(self._returned(each)))
            else:
                read[each] = None
        return tuple(read)

    def _call(self, value: Value) -> Values:
        kind = value.kind
        if kind == CLASS:
            return (Value(INSTANCE, value.file, value.row),)
        if kind == FUNCTION:
            return self.entered(value, self._returned(value)) or self.made(value)
        if kind == INSTANCE:
            called = self._of_class(value, "__call__")
            return self._all(called, lambda each: self._returned(each) if each.kind == FUNCTION else ())
        if kind == FOREIGN_CLASS:
            return (Value(FOREIGN, name=value.name),)
        if kind == FOREIGN_METHOD:
            return self._foreign_method(value)
        if kind == SUPER:
            return (value,)
        return ()

    def _foreign_method(self, method: Value) -> Values:
        """Return what a method of a container gives."""
        if not method.parts:
            return (STRANGER,)
        container = method.parts[0][0]
        kind = "mapping" if container.name in self.mappings and len(container.parts) == 2 else "several"
        gives = self.givers.get(f"{kind}.{method.name}", "")
        if not gives or not container.parts:
            return (STRANGER,)
        if gives == "=":
            return (container,)
        if gives == "pairs":
            return (Value(FOREIGN, name="list", parts=((Value(TUPLE, parts=container.parts),),)),)
        part = container.parts[int(gives[-1])]
        return (Value(FOREIGN, name="list", parts=(part,)),) if gives[0] == "[" else part

    def _returned(self, function: Value) -> Values:
        """Return what calling a function gives, as it is written or by its ``return``."""
        return self.memo.once(("returned", function), lambda: self._read_returned(function))

    def _read_returned(self, function: Value) -> Values:
        view = self.views[function.file]
        written = view.told.get((function.row, RETURN_TYPE), ())
        receiver = function.parts[0] if function.parts else ()
        if written and receiver and self._returns_itself(view, function.row, written[0].value):
            return tuple(each._replace(kind=INSTANCE) for each in receiver)
        if written:
            where = Where(function.file, function.row, 0)
            return self._typed(where, written[0].value)
        found: dict[Value, None] = {}
        for each in view.told.get((function.row, RETURNED), ()):
            if each.value in self.themselves:
                values: Values = tuple(value._replace(kind=INSTANCE) for value in receiver)
                values = values or self._evaluate(
                    Where(view.file, function.row, each.line), parse(each.value)
                )
            else:
                values = self._evaluate(
                    Where(view.file, each.definition, each.line, each.indent), parse(each.value)
                )
            found.update(dict.fromkeys(values))
        return tuple(found)[:MOST_VALUES]

    def _returns_itself(self, view: FileView, row: int, written: str) -> bool:
        """Tell whether a method gives its own object: ``Self``, ``this``, or the variable of its type."""
        if written in ("Self", "this"):
            return True
        own = [each for name in self.own_names for each in view.bound.get((row, name), ())]
        return any(each.value in (written, f"type[{written}]", f"Type[{written}]") for each in own)

    # Containers.

    def _item(self, value: Value, index: str) -> Values:
        if value.kind in (CLASS, FOREIGN_CLASS):
            return (value,)
        if value.kind == TUPLE:
            return self._nth(value, int(index)) if index else _flat(value.parts)
        if value.kind == FOREIGN:
            if value.name in self.mappings:
                return value.parts[1] if len(value.parts) == 2 else ()
            return value.parts[0] if value.parts else (STRANGER,)
        if value.kind == INSTANCE:
            return self._through(value, "__getitem__")
        return ()

    def _through(self, value: Value, method: str) -> Values:
        """Return what a method of an object of ours gives."""
        found = self._of_class(value, method)
        return self._all(found, lambda each: self._returned(each) if each.kind == FUNCTION else ())

    def _iterate(self, value: Value) -> Values:
        if value.kind == TUPLE:
            return _flat(value.parts)
        if value.kind == FOREIGN:
            return value.parts[0] if value.parts else (STRANGER,)
        if value.kind == CLASS:
            return (value._replace(kind=INSTANCE),)
        if value.kind == INSTANCE:
            for method in ("__iter__", "__aiter__"):
                if found := self._through(value, method):
                    return self.each_of(tuple(each for each in found if each != value)) or self._through(
                        value, "__next__"
                    )
            return self._through(value, "__getitem__")
        return ()

    def each_of(self, values: Values) -> Values:
        """Return what iterating over values gives."""
        return self._all(values, self._iterate)

    def _enter(self, value: Value) -> Values:
        if value.kind == INSTANCE:
            return self._through(value, "__enter__") or self._through(value, "__aenter__")
        if value.kind == FOREIGN and value.parts:
            return value.parts[0]
        return (STRANGER,) if value.kind == FOREIGN else ()

    def _nth(self, value: Value, number: int) -> Values:
        if value.kind == TUPLE:
            return value.parts[number] if number < len(value.parts) else ()
        if value.kind == FOREIGN and value.parts:
            return value.parts[0]
        return (STRANGER,) if value.kind == FOREIGN else ()


def _flat(parts: Iterable[Values]) -> Values:
    return tuple(dict.fromkeys(value for part in parts for value in part))[:MOST_VALUES]
