"""Which of several functions of one name takes the arguments of a call."""

from __future__ import annotations

from collections.abc import Iterable

from repo_map.parsing.expressions import Expression
from repo_map.relations.core.resolver import Resolver
from repo_map.relations.core.values import Kind, Position, Value, Values
from repo_map.relations.model import Place


class OverloadResolver(Resolver):
    """Resolves the names of languages in which one name may be several functions."""

    def constructors(self, place: Place) -> Iterable[Place]:
        """Return the definitions that constructing a type calls."""
        return ()

    def called(self, values: Values, arguments: tuple[Expression, ...] | None, where: Position) -> Values:
        """Return what a call with these arguments may mean, constructors of types too."""
        made: list[Value] = []
        for value in values:
            made.append(value)
            if value.kind == Kind.CLASS:
                made += (Value(Kind.FUNCTION, *each) for each in self.constructors(value.place))
        functions = [value for value in made if value.kind == Kind.FUNCTION and value.row >= 0]
        if arguments is None or len(functions) < 2:
            return tuple(made)
        others = [value for value in made if value.kind != Kind.FUNCTION or value.row < 0]
        given = [self.evaluate(where, each) for each in arguments]
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
        """Return True if a function can be called with this number of arguments."""
        parameters = self.definitions.parameters(place)
        return parameters is None or parameters.take(count)

    def fits(self, value: Value, wanted: Value) -> float | None:
        """Return how well a value fits an instance of a type: 3 exactly, None not at all."""
        if value.kind == Kind.INSTANCE and wanted.kind == Kind.INSTANCE:
            if value[1:3] == wanted[1:3]:
                return 3.0
            order, is_complete = self.order(value.place)
            if (wanted.file, wanted.row) in order:
                return 2.0
            return None if is_complete else 0.2
        return 0.5

    def fit(self, place: Place, given: list[Values]) -> float | None:
        """Return how well a function takes arguments, None where it does not."""
        parameters = self.definitions.parameters(place)
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
        wanted = self.instances(where, written)
        if not values or not wanted:
            return 0.5
        found = [fit for value in values for each in wanted if (fit := self.fits(value, each)) is not None]
        return max(found, default=None)
