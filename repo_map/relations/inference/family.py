"""A resolver that follows values, as the core asks it: sites, expressions, written types."""

from __future__ import annotations

from typing import Final

from repo_map.parsing.facts_model import Site
from repo_map.relations.expressions import Expression, Name, One, Several, Text, Typed, parse, parts_of_type
from repo_map.relations.inference.calls import Calls
from repo_map.relations.model import OPEN, OUTSIDE, Meaning
from repo_map.relations.values import (
    CLASS,
    FOREIGN,
    FOREIGN_CLASS,
    FOREIGN_METHOD,
    FUNCTION,
    INSTANCE,
    MOST_VALUES,
    SUPER,
    TUPLE,
    Value,
    Values,
    Where,
)

_TYPES: Final = frozenset({CLASS, FOREIGN_CLASS, INSTANCE, TUPLE})
_FOREIGN_KINDS: Final = frozenset({FOREIGN, FOREIGN_CLASS, FOREIGN_METHOD, TUPLE})


class Inference(Calls):
    """Follows values; what it knows of a language, its family tells."""

    common: frozenset[str] = frozenset()
    nothing: frozenset[str] = frozenset()
    """Written types of which nothing is known, or that have no members."""
    wrappers: frozenset[str] = frozenset()
    """Written types that stand for their first argument."""
    awaited: frozenset[str] = frozenset()
    """Written types that stand for their last argument."""

    # What a family may say otherwise.

    def literal(self, where: Where) -> Values:
        """Return the object that a literal makes at a place."""
        return ()

    # What the core asks.

    def meaning(self, file: int, site: Site) -> Meaning:
        """Return what a site means."""
        where = Where(file, site.definition, site.line, site.indent)
        if not site.receiver:
            values = self._lookup(where, site.name)
            if not values and site.name in self.builtins:
                return OUTSIDE
        else:
            values = tuple(
                dict.fromkeys(
                    found
                    for value in self._evaluate(where, parse(site.receiver))
                    for found in self._member(value, site.name, where)
                )
            )
        targets = tuple(
            sorted({(v.file, v.row) for v in values if v.kind in (CLASS, FUNCTION) and v.row >= 0})
        )
        if targets:
            return Meaning(targets)
        return OUTSIDE if values and all(v.kind in _FOREIGN_KINDS for v in values) else OPEN

    # Expressions.

    def _evaluate(self, where: Where, expression: Expression) -> Values:
        values = self._root(where, expression)
        for suffix in expression.then:
            if not values:
                return ()
            found: dict[Value, None] = {}
            for value in values:
                for each in self._follow(value, suffix, where):
                    found[each] = None
            values = tuple(found)[:MOST_VALUES]
        return values

    def _root(self, where: Where, expression: Expression) -> Values:
        root = expression.root
        if isinstance(root, Name):
            if root.name == "super":
                owner = self.views[where.file].class_around(where.row)
                return (Value(SUPER, where.file, owner),) if owner >= 0 else ()
            return self._lookup(where, root.name)
        if isinstance(root, Text):
            return (Value(FOREIGN, name="str" if root.mark == "'" else "int"),) if root.mark != "?" else ()
        if isinstance(root, Typed):
            return self._typed(where, root.written)
        parts = tuple(self._evaluate(where, each) for each in root.parts)
        if isinstance(root, Several) and root.mark == "{" and not root.parts:
            return self.literal(where)
        if isinstance(root, One):
            return tuple(dict.fromkeys(value for part in parts for value in part))[:MOST_VALUES]
        kind = {"[": "list", "{": "dict", "(": "tuple"}[root.mark]
        return (Value(TUPLE if kind == "tuple" else FOREIGN, name=kind, parts=parts),)

    def _follow(self, value: Value, suffix: str, where: Where) -> Values:
        first = suffix[0]
        if first == ".":
            return self._attribute(value, suffix[1:], where)
        if suffix == "()":
            return self._call(value)
        if first == "[":
            return self._item(value, suffix[1:-1])
        if first == "*":
            return self._iterate(value)
        if first == "%":
            return self._enter(value)
        return self._nth(value, int(suffix[1:]))

    # Written types.

    def _typed(self, where: Where, written: str) -> Values:
        """Return the objects that a written type stands for."""
        key = ("type", where.file, where.row, written)
        return self.memo.once(key, lambda: self._read_type(where, written))

    def _read_type(self, where: Where, written: str) -> Values:
        found: dict[Value, None] = {}
        for head, arguments in parts_of_type(written):
            found.update(dict.fromkeys(self._of_type(where, head, arguments)))
        return tuple(found)[:MOST_VALUES]

    def _of_type(self, where: Where, head: str, arguments: tuple[str, ...]) -> Values:
        last = head.rpartition(".")[2]
        if last in self.nothing:
            return ()
        if last in self.wrappers:
            return self._typed(where, arguments[0]) if arguments else ()
        if last == "Union":
            return tuple(dict.fromkeys(v for each in arguments for v in self._typed(where, each)))
        if last in self.awaited and arguments:
            return self._typed(where, arguments[-1])
        if last in ("type", "Type") and arguments:
            found = self._typed(where, arguments[0])
            return tuple(each._replace(kind=CLASS) for each in found if each.kind == INSTANCE)
        if last == "Self":
            owner = self.views[where.file].class_around(where.row)
            return (Value(INSTANCE, where.file, owner),) if owner >= 0 else ()
        # What is written as a type may be defined below.
        values = self._evaluate(where._replace(line=0), parse(head))
        return tuple(self._made(where, value, arguments) for value in values if value.kind in _TYPES)

    def _made(self, where: Where, value: Value, arguments: tuple[str, ...]) -> Value:
        """Return the instance of a type with its arguments."""
        if value.kind == CLASS:
            return Value(INSTANCE, value.file, value.row)
        if value.kind != FOREIGN_CLASS:
            # A name for a type: ``Handler = Union[A, B]`` is read as what it was made of.
            return value
        parts = tuple(self._typed(where, each) for each in arguments)
        name = value.name.rpartition(".")[2]
        if name not in ("tuple", "Tuple"):
            return Value(FOREIGN, name=name, parts=parts)
        if len(arguments) == 1 or arguments[1:] == ("...",):
            return Value(FOREIGN, name="list", parts=parts[:1])
        return Value(TUPLE, name="tuple", parts=parts)
