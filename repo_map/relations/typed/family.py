"""A resolver by written types, as the core asks it: sites, imports, expressions."""

from __future__ import annotations

from typing import ClassVar

from repo_map.parsing.facts_model import BASE, CALL, TYPE, VALUE, Site
from repo_map.relations.expressions import Expression, Name, One, Text, Typed, parse, split
from repo_map.relations.model import OPEN, OUTSIDE, Meaning, Place
from repo_map.relations.typed.calls import Calls
from repo_map.relations.values import (
    FOREIGN,
    FOREIGN_METHOD,
    FUNCTION,
    INSTANCE,
    MOST_VALUES,
    STRANGER,
    TYPE_KINDS,
    TYPE_VALUE,
    Value,
    Values,
    Where,
)


class TypedFamily(Calls):
    """Resolves by written types; a family says what its names mean outside of functions."""

    common: frozenset[str] = frozenset()
    initialisers: frozenset[str] = frozenset()
    """Methods that constructing an object of their class calls, and that bear another name than it."""
    literals: ClassVar[dict[str, str]] = {}
    """The types of texts (``'``) and whole numbers (``0``)."""

    def read_imports(self, file: int) -> tuple[tuple[int, int], ...]:
        """Return the files that a file imports, each with the line where it does."""
        raise NotImplementedError

    # What the core asks.

    def meaning(self, file: int, site: Site) -> Meaning:
        """Return what a site means."""
        where = Where(file, site.definition, site.line, site.indent)
        receiver, is_told, given = site.receiver.partition("/")
        arguments = tuple(split(given, ",")) if is_told else None
        values = found = self._at_site(where, site, receiver)
        if site.kind == CALL:
            values = self._called(found, arguments, where)
        targets = sorted({(v.file, v.row) for v in values if v.kind in (TYPE_VALUE, FUNCTION) and v.row >= 0})
        if targets and not self._is_one(targets):
            # Which constructor is called is open; what is constructed is not.
            targets = [place for place in targets if self.kind(place) in TYPE_KINDS]
        if targets:
            return Meaning(tuple(targets), is_certain=self.is_certain(where, site, found, targets))
        if any(v.kind in (TYPE_VALUE, FUNCTION) and v.row >= 0 for v in values):
            return OPEN
        is_outside = bool(values) and all(v.kind in (FOREIGN, FOREIGN_METHOD) for v in values)
        return OUTSIDE if is_outside else OPEN

    def is_certain(self, where: Where, site: Site, found: Values, targets: list[Place]) -> bool:
        """Tell whether what was found at a site is all that its name can mean there, and one of it."""
        del where, site, found, targets
        return True

    def _at_site(self, where: Where, site: Site, receiver: str) -> Values:
        """Return what a site's name is, whatever it is called with."""
        if site.kind in (TYPE, BASE):
            return self.named_type(where, f"{receiver}.{site.name}" if receiver else site.name)
        is_called = site.kind in (CALL, VALUE)
        if not receiver:
            return self.lookup(where, site.name, is_called=is_called)
        return self._all(
            self.evaluate(where, parse(receiver)),
            lambda value: self.member(value, site.name, where, is_called=is_called),
        )

    def imported(self, file: int) -> tuple[tuple[int, int], ...]:
        """Return the files that a file imports, each with the line where it does."""
        return self.read_imports(file)

    # Expressions.

    def evaluate(self, where: Where, expression: Expression) -> Values:
        """Return what an expression may be."""
        steps = expression.then
        values = self._root(where, expression, is_called=_is_called(steps[:1]))
        for at, suffix in enumerate(steps):
            if not values:
                return ()
            is_called = _is_called(steps[at + 1 : at + 2])
            values = self._all(
                values,
                lambda value, suffix=suffix, is_called=is_called: self._follow(  # type: ignore[misc]
                    value, suffix, where, is_called=is_called
                ),
            )
        return values

    def _root(self, where: Where, expression: Expression, *, is_called: bool) -> Values:
        root = expression.root
        if isinstance(root, Name):
            return self.root_name(where, root.name, is_called=is_called)
        if isinstance(root, Text):
            return () if root.mark == "?" else (Value(FOREIGN, name=self.literals.get(root.mark, "")),)
        if isinstance(root, Typed):
            return self.instances(where, root.written)
        if isinstance(root, One):
            return tuple(dict.fromkeys(value for part in root.parts for value in self.evaluate(where, part)))[
                :MOST_VALUES
            ]
        return ()

    def root_name(self, where: Where, name: str, *, is_called: bool) -> Values:
        """Return what the first name of an expression is."""
        return self.lookup(where, name, is_called=is_called)

    def _follow(self, value: Value, suffix: str, where: Where, *, is_called: bool) -> Values:
        first = suffix[0]
        if first == ".":
            return self.member(value, suffix[1:], where, is_called=is_called)
        if suffix == "()":
            return self.result(value, where)
        if first == "[":
            return self._part(value, -1, where)
        if first == "*":
            return self._part(value, -1, where)
        if first == "%":
            return self._part(value, 0, where)
        if first == "@":
            count, dot, number_text = suffix[1:].partition(".")
            if dot:
                return self._wanted(value, int(count), int(number_text), where)
            return self.parameter_of(value, int(count))
        number = int(suffix[1:])
        if value.kind == FOREIGN and value.name == "tuple":
            return value.parts[number] if number < len(value.parts) else ()
        if value.kind in (FOREIGN, FOREIGN_METHOD) and not value.parts:
            return (STRANGER,)
        return (value,) if number == 0 else ()

    def _part(self, value: Value, number: int, where: Where) -> Values:
        """Return one of the parts of a container."""
        if value.kind == INSTANCE:
            return self._all(self.made_of(value), lambda each: self._part(each, number, where))
        if value.kind == FOREIGN:
            if value.name == "list" and number == 0:
                return (STRANGER,)
            return value.parts[number] if value.parts else (STRANGER,)
        return ()


def _is_called(step: tuple[str, ...]) -> bool:
    """Tell whether the next step, if there is one, is a call or asks what one takes."""
    return step == ("()",) or (bool(step) and step[0][0] == "@" and "." in step[0])
