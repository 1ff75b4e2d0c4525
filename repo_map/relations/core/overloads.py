"""Which of several functions of one name a call means: the one that takes its arguments."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from repo_map.parsing.expressions import Expression
from repo_map.relations.core.values import CLASS, FUNCTION, Position, Value, Values
from repo_map.relations.model import Place

if TYPE_CHECKING:
    from repo_map.relations.core.static import StaticResolver


class Overloads:
    """Chooses by the number and the types of arguments."""

    def __init__(self, rules: StaticResolver) -> None:
        # Weakly: a ring would keep the index alive until the collector runs.
        self._rules: StaticResolver = weakref.proxy(rules)

    def choose(self, values: Values, arguments: tuple[Expression, ...] | None, where: Position) -> Values:
        """Return what a call with these arguments may mean, constructors of types too."""
        rules = self._rules
        made: list[Value] = []
        for value in values:
            made.append(value)
            if value.kind == CLASS:
                made += (Value(FUNCTION, *each) for each in rules.constructors(value.place))
        functions = [value for value in made if value.kind == FUNCTION and value.row >= 0]
        if arguments is None or len(functions) < 2:
            return tuple(made)
        others = [value for value in made if value.kind != FUNCTION or value.row < 0]
        given = [rules.evaluate(where, each) for each in arguments]
        fits = [(self.fit(each.place, given), each) for each in functions]
        possible = [(fit, each) for fit, each in fits if fit is not None]
        if not possible:
            return tuple(others)
        best = max(fit for fit, _ in possible)
        chosen = [each for fit, each in possible if fit == best]
        if len(chosen) == 1 and len(possible) > 1 and not all(given):
            # What is not known of an argument may be what another one takes.
            chosen = [each for _, each in possible]
        return (*others, *chosen)

    def takes(self, place: Place, count: int) -> bool:
        """Tell whether a function can be called with so many arguments."""
        parameters = self._rules.definitions.parameters(place)
        return parameters is None or parameters.take(count)

    def fit(self, place: Place, given: list[Values]) -> float | None:
        """Return how well a function takes arguments, None where it does not."""
        parameters = self._rules.definitions.parameters(place)
        if parameters is None:
            return 0.0
        if not parameters.take(len(given)):
            return None
        types, has_more = parameters.types, parameters.has_more
        if not has_more:
            types = types[: len(given)]
        sum_, where = 0.0, Position(*place, 0)
        for at, values in enumerate(given):
            if not types:
                break
            written = types[min(at, len(types) - 1)]
            if has_more and at >= len(types) - 1:
                one = self._matches(values, written.removeprefix("list[").removesuffix("]"), where)
                whole = self._matches(values, written, where) if len(given) == len(types) else None
                fit = max((each for each in (one, whole) if each is not None), default=None)
                fit = fit - 0.5 if fit is not None else None
            else:
                fit = self._matches(values, written, where)
            if fit is None:
                return None
            sum_ += fit
        return sum_ - (0.5 if has_more else 0.0)

    def _matches(self, values: Values, written: str, where: Position) -> float | None:
        """Return how well an argument fits a written type, None where it can't."""
        rules = self._rules
        wanted = rules.instances(where, written)
        if not values or not wanted:
            return 0.5
        found = [fit for value in values for each in wanted if (fit := rules.fits(value, each)) is not None]
        return max(found, default=None)
