"""What a call means and gives: results, parameters, and the overload that takes its arguments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from repo_map.languages.kinds import FUNCTIONS
from repo_map.parsing.facts_model import PARAMETERS, RETURN_TYPE
from repo_map.relations.expressions import parse, split
from repo_map.relations.model import Place
from repo_map.relations.typed.members import Members
from repo_map.relations.values import (
    FOREIGN,
    FOREIGN_METHOD,
    FUNCTION,
    INSTANCE,
    STRANGER,
    TYPE_VALUE,
    Value,
    Values,
    Where,
)


class Calls(Members):
    """Follows calls, and chooses among overloads."""

    elements: ClassVar[dict[str, int]] = {}
    """Methods of containers that are not ours which give one of their parts, by its position."""
    same: ClassVar[frozenset[str]] = frozenset()
    """Methods of containers that are not ours which give a container alike."""
    several: ClassVar[dict[str, int]] = {}
    """Methods of mappings that are not ours which give all parts of one position; -1: all pairs."""
    takers: ClassVar[frozenset[str]] = frozenset()
    """Methods of containers that are not ours which call a function with their parts."""
    functions: ClassVar[frozenset[str]] = frozenset()
    """Types that are not ours of functions, which say what these take first."""

    def constructors(self, place: Place) -> Iterable[Place]:
        """Return the definitions that constructing a type calls."""
        del place
        return ()

    # What a call gives.

    def result(self, value: Value, where: Where) -> Values:
        """Return what calling a value gives."""
        if value.kind == FUNCTION:
            return self.returned(value)
        if value.kind == TYPE_VALUE:
            return (value._replace(kind=INSTANCE),)
        if value.kind == INSTANCE:
            return self._all(self.made_of(value), lambda each: self.result(each, where))
        if value.kind == FOREIGN and value.name == "func":
            return value.parts[-1] if value.parts else ()
        if value.kind == FOREIGN_METHOD:
            container = value.parts[0][0] if value.parts and value.parts[0] else STRANGER
            if value.name in self.elements and container.parts and container.kind == FOREIGN:
                return container.parts[min(self.elements[value.name], len(container.parts) - 1)]
            if value.name in self.several and container.kind == FOREIGN and len(container.parts) == 2:
                at = self.several[value.name]
                pair = (Value(FOREIGN, name="tuple", parts=container.parts),)
                return (Value(FOREIGN, name="Set", parts=(pair if at < 0 else container.parts[at],)),)
            return (container,) if value.name in self.same else (STRANGER,)
        return (STRANGER,) if value.kind == FOREIGN else ()

    def returned(self, function: Value) -> Values:
        """Return what a function gives, as it is written."""

        def read() -> Values:
            written = self.said((function.file, function.row), RETURN_TYPE)
            if not written or not written[0].value:
                return ()
            receiver = function.parts[0][0] if function.parts and function.parts[0] else None
            return self.instances(Where(function.file, function.row, 0), written[0].value, of=receiver)

        return self.memo.once(("returned", function), read)

    # What a call takes.

    def _wanted(self, value: Value, count: int, number: int, where: Where) -> Values:
        """Return what a call of ``count`` arguments takes as the one at ``number``."""
        if value.kind == FOREIGN_METHOD:
            return (value,)
        if value.kind == TYPE_VALUE:
            made = [Value(FUNCTION, *each) for each in self.constructors((value.file, value.row))]
            return self._all(tuple(made), lambda each: self._wanted(each, count, number, where))
        if value.kind != FUNCTION or value.row < 0:
            return ()
        place = (value.file, value.row)
        told = self.said(place, PARAMETERS)
        types = split(told[0].value, ",") if told else []
        if len(types) != count:
            return ()
        receiver = value.parts[0][0] if value.parts and value.parts[0] else None
        return self.instances(Where(*place, 0), types[number], of=receiver)

    def parameter_of(self, value: Value, number: int) -> Values:
        """Return a parameter of what is a function: of an interface, or of what a container calls."""
        if value.kind == FOREIGN_METHOD and value.parts and value.parts[0]:
            container = value.parts[0][0]
            if container.kind == FOREIGN and container.parts and value.name in self.takers:
                return container.parts[min(number, len(container.parts) - 1)]
            return ()
        if value.kind == FOREIGN and value.name in self.functions:
            return value.parts[min(number, len(value.parts) - 1)] if value.parts else ()
        if value.kind == INSTANCE:
            return self.parameter_of_interface(value, number)
        return ()

    def parameter_of_interface(self, value: Value, number: int) -> Values:
        """Return a parameter of the only method that an interface of ours leaves open."""
        del value, number
        return ()

    # Overloads.

    def _called(self, values: Values, arguments: tuple[str, ...] | None, where: Where) -> Values:
        """Return what a call with these arguments may mean, constructors of types too."""
        made: list[Value] = []
        for value in values:
            made.append(value)
            if value.kind == TYPE_VALUE:
                made += (Value(FUNCTION, *each) for each in self.constructors((value.file, value.row)))
        functions = [value for value in made if value.kind == FUNCTION and value.row >= 0]
        if arguments is None or len(functions) < 2:
            return tuple(made)
        others = [value for value in made if value.kind != FUNCTION or value.row < 0]
        given = [self.evaluate(where, parse(each)) for each in arguments]
        fits = [(self._fit((each.file, each.row), given), each) for each in functions]
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
        told = self.said(place, PARAMETERS)
        if not told:
            return True
        most = len(split(told[0].value, ","))
        if told[0].name.endswith("+"):
            return count >= most - 1
        return int(told[0].name.rstrip("-")) <= count <= most if told[0].name.endswith("-") else count == most

    def _fit(self, place: Place, given: list[Values]) -> float | None:
        """Return how well a function takes arguments, None where it does not."""
        told = self.said(place, PARAMETERS)
        if not told:
            return 0.0
        types = split(told[0].value, ",")
        has_more = told[0].name.endswith("+")
        if not self.takes(place, len(given)):
            return None
        if not has_more:
            types = types[: len(given)]
        sum_, where = 0.0, Where(*place, 0)
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

    def _matches(self, values: Values, written: str, where: Where) -> float | None:
        """Return how well an argument fits a written type, None where it can't."""
        wanted = self.instances(where, written)
        if not values or not wanted:
            return 0.5
        found = [fit for value in values for each in wanted if (fit := self.fits(value, each)) is not None]
        return max(found, default=None)

    def fits(self, value: Value, wanted: Value) -> float | None:
        """Return how well a value fits an instance of a type: 3 exactly, None not at all."""
        if value.kind == INSTANCE and wanted.kind == INSTANCE:
            if value[1:3] == wanted[1:3]:
                return 3.0
            order, is_whole = self.order((value.file, value.row))
            if (wanted.file, wanted.row) in order:
                return 2.0
            return None if is_whole else 0.2
        return 0.5

    def _is_one(self, targets: list[Place]) -> bool:
        """Tell whether several targets are one thing: a type with its constructor, or functions alike."""
        functions = [place for place in targets if self.kind(place) in FUNCTIONS]
        return len(functions) <= 1 or self.are_alike(functions)

    def are_alike(self, functions: list[Place]) -> bool:
        """Tell whether functions of one name stand for one another, such as one for each system."""
        del functions
        return False
