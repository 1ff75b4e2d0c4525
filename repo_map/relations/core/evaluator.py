"""What an expression may be: its root, then one step after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from repo_map.parsing.expressions import (
    Argument,
    Called,
    Entered,
    Expression,
    Item,
    Iterated,
    Literal,
    Member,
    Name,
    Nth,
    OneOf,
    Parameter,
    Several,
    Typed,
)
from repo_map.relations.core.values import EXTERNAL, MOST_VALUES, Position, Value, Values

if TYPE_CHECKING:
    from repo_map.relations.core.resolver import Resolver

_Follow = Callable[[Value, Any, Position], Values]


class Evaluator:
    """Evaluates expressions by the rules of one language family."""

    def __init__(self, rules: Resolver) -> None:
        self._rules = rules
        self._follow: dict[type, _Follow] = {
            Member: lambda value, step, where: rules.read_member(
                value, step.name, where, is_called=step.is_called
            ),
            Called: lambda value, *_: rules.result(value),
            Item: lambda value, step, _: rules.item(value, step.number),
            Iterated: lambda value, *_: rules.iterated(value),
            Entered: lambda value, *_: rules.entered(value),
            Nth: lambda value, step, _: rules.nth(value, step.number),
            Argument: lambda value, step, _: rules.taken(value, step.count, step.number),
            Parameter: lambda value, step, _: rules.parameter(value, step.number),
        }

    def evaluate(self, where: Position, expression: Expression) -> Values:
        """Return what an expression may be at a position."""
        values = self._root(where, expression)
        for step in expression.steps:
            if not values:
                return ()
            follow = self._follow[type(step)]
            found: dict[Value, None] = {}
            for value in values:
                for each in follow(value, step, where):
                    found[each] = None
            values = tuple(found)[:MOST_VALUES]
        return values

    def _root(self, where: Position, expression: Expression) -> Values:
        root, rules = expression.root, self._rules
        if isinstance(root, Name):
            return rules.root_name(where, root.name, is_called=root.is_called)
        if isinstance(root, Literal):
            return (Value(EXTERNAL, name=rules.literals.get(root.mark, "")),)
        if isinstance(root, Typed):
            return rules.instances(where, root.written)
        if isinstance(root, OneOf):
            parts = (value for part in root.parts for value in self.evaluate(where, part))
            return tuple(dict.fromkeys(parts))[:MOST_VALUES]
        return rules.several(where, root) if isinstance(root, Several) else ()
