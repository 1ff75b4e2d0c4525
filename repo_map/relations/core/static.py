"""The rules of languages whose types are written: declarations, members, aliases, overloads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.registry import language_named
from repo_map.parsing import facts_model as facts
from repo_map.parsing.expressions import (
    NAME,
    Expression,
    Receiver,
    decode,
    decode_narrowed,
    head_of_type,
)
from repo_map.parsing.facts_model import Binding, Site
from repo_map.relations.core.definitions import Definitions
from repo_map.relations.core.memo import BINDINGS_A_STEP
from repo_map.relations.core.resolver import Resolver
from repo_map.relations.core.values import (
    CLASS,
    EXTERNAL,
    EXTERNAL_METHOD,
    FUNCTION,
    INSTANCE,
    TYPE_KINDS,
    UNKNOWN_EXTERNAL,
    Position,
    Value,
    Values,
)
from repo_map.relations.file_facts import CLASSES, FileView
from repo_map.relations.model import Place

if TYPE_CHECKING:
    from repo_map.index.index import Index

_MAX_DEPTH: Final = 20
"""Classes above a class that are looked into, one above the other."""
_CONTAINERS: Final = frozenset({"list", "dict", "tuple", "func", "chan"})


class StaticResolver(Resolver):
    """Resolves by written types; a language says what its names mean outside of functions."""

    has_implicit_receiver: ClassVar[bool] = False
    """Whether a bare name may be a member of the class around it."""
    has_names_apart: ClassVar[bool] = False
    """Whether a method and a field of one name are different things, told apart by the call."""
    has_local_functions: ClassVar[bool] = False
    """Whether a local may be called by its bare name even so."""
    binds_below: ClassVar[bool] = False
    """Whether ``let x = x.next()`` refers to the previous ``x``."""
    elements: ClassVar[Mapping[str, int]] = {}
    """Methods of containers that are not ours which give one of their parts, by its position."""
    same: ClassVar[frozenset[str]] = frozenset()
    """Methods of containers that are not ours which give a container alike."""
    view_methods: ClassVar[Mapping[str, int]] = {}
    """Methods of mappings that are not ours which give all parts of one position; -1: all pairs."""
    callback_methods: ClassVar[frozenset[str]] = frozenset()
    """Methods of containers that are not ours which call a function with their parts."""
    functions: ClassVar[frozenset[str]] = frozenset()
    """Types that are not ours of functions, which say what these take first."""

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        family = type(self).__module__.split(".")[-2]
        numbers = [
            number for number, name in enumerate(index.languages) if language_named(name).family == family
        ]
        self.files: list[int] = np.flatnonzero(np.isin(index.files.language, numbers)).tolist()
        self.definitions = Definitions(index, self.files, self.memo, self.owner)

    def package(self, file: int) -> str:
        """Return the package, module or namespace that a file says it belongs to."""
        return self._packages.get(file, "")

    @cached_property
    def _packages(self) -> dict[int, str]:
        """Those of all files: read at once, as one file after the other takes seconds of thousands."""
        table = self.index.bindings
        rows = np.flatnonzero(table.kind == facts.PACKAGE)[::-1]
        files = (np.searchsorted(table.file_start, rows, side="right") - 1).tolist()
        return dict(zip(files, self.index.expressions.many(table.value[rows]), strict=True))

    # What a language may say otherwise.

    def owner(self, place: Place) -> Place | None:
        """Return the type that a definition is a member of: by default the class around it."""
        view = self.views[place[0]]
        around = view.definitions[place[1]].parent
        if around >= 0 and view.definitions[around].kind in CLASSES:
            return (place[0], around)
        return None

    def constructors(self, place: Place) -> Iterable[Place]:
        """Return the definitions that constructing a type calls."""
        del place
        return ()

    def are_same_declaration(self, functions: list[Place]) -> bool:
        """Tell whether functions of one name stand for one another, such as one for each system."""
        del functions
        return False

    def fits(self, value: Value, wanted: Value) -> float | None:
        """Return how well a value fits an instance of a type: 3 exactly, None not at all."""
        if value.kind == INSTANCE and wanted.kind == INSTANCE:
            if value[1:3] == wanted[1:3]:
                return 3.0
            order, is_complete = self.order(value.place)
            if (wanted.file, wanted.row) in order:
                return 2.0
            return None if is_complete else 0.2
        return 0.5

    # Sites.

    def at_site(self, where: Position, site: Site, receiver: Receiver) -> Values:
        """Return what a site's name is: a type where a type is written."""
        if site.kind in (facts.TYPE, facts.BASE):
            return self.named_type(where, f"{receiver.text}.{site.name}" if receiver.text else site.name)
        return super().at_site(where, site, receiver)

    def one_of(self, targets: list[Place]) -> list[Place]:
        """Return a type with its constructor, or functions alike; else the types alone.

        Which constructor is called is open then; what is constructed is not.
        """
        functions = [place for place in targets if self.definitions.is_function(place)]
        if len(functions) <= 1 or self.are_same_declaration(functions):
            return targets
        return [place for place in targets if self.definitions.is_type(place)]

    # Overloads: which of several functions of one name takes the arguments of a call.

    def called(self, values: Values, arguments: tuple[Expression, ...] | None, where: Position) -> Values:
        """Return what a call with these arguments may mean, constructors of types too."""
        made: list[Value] = []
        for value in values:
            made.append(value)
            if value.kind == CLASS:
                made += (Value(FUNCTION, *each) for each in self.constructors(value.place))
        functions = [value for value in made if value.kind == FUNCTION and value.row >= 0]
        if arguments is None or len(functions) < 2:
            return tuple(made)
        others = [value for value in made if value.kind != FUNCTION or value.row < 0]
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
        """Tell whether a function can be called with so many arguments."""
        parameters = self.definitions.parameters(place)
        return parameters is None or parameters.take(count)

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

    # Bare names.

    def in_scope(
        self, view: FileView, scope: int, name: str, where: Position, *, is_inner: bool, is_called: bool
    ) -> Values | None:
        """Return the local, the inner definition or, where the language has it, the member of a name."""
        if view.definitions[scope].kind in CLASSES:
            return self._of_implicit(Value(INSTANCE, view.file, scope), name, where, is_called=is_called)
        if where.line and (not is_called or self.has_local_functions or not self.has_names_apart):
            bound = self.reaching(view, scope, name, where, is_inner=is_inner)
            if bound is not None:
                return self.of_binding(view, bound)
        if local := self.inner_definitions(view, scope, name):
            return local
        if self.has_implicit_receiver and (owner := self.owner((view.file, scope))) is not None:
            return self._of_implicit(Value(INSTANCE, *owner), name, where, is_called=is_called)
        return None

    def _of_implicit(self, value: Value, name: str, where: Position, *, is_called: bool) -> Values | None:
        """Return the member that a bare name means, None where it is none of ours."""
        if not self.has_implicit_receiver:
            return None
        found = self.of_type(value, name, where, is_called=is_called)
        return found if any(each.kind != EXTERNAL_METHOD for each in found) else None

    def reaching(
        self, view: FileView, scope: int, name: str, where: Position, *, is_inner: bool
    ) -> Binding | None:
        """Return the binding of a local that holds at a position: the last before it in a block around it.

        A test of its type that comes after it says more.
        """
        bound = view.bound.get((scope, name), ())
        self.memo.charge(len(bound) // BINDINGS_A_STEP)
        found: Binding | None = None
        for each in reversed(bound):
            if found is not None and each.line < found.line:
                break
            if each.line > where.line:
                continue
            if each.kind == facts.NARROWED:
                last, written = decode_narrowed(each.value)
                if where.line <= last:
                    return each._replace(kind=facts.DECLARED, value=written)
            elif found is None and self._holds(each, where, is_inner=is_inner):
                found = each
        return found

    def _holds(self, each: Binding, where: Position, *, is_inner: bool) -> bool:
        """Tell whether a local is bound at a position by what binds it before."""
        if each.kind not in (facts.DECLARED, facts.ASSIGNED):
            return False
        is_own_line = is_inner and each.line == where.line and each.indent <= where.indent
        if is_own_line and (root := _root_of(each)) and (self.binds_below or root == each.name):
            return False  # ``let x = x.next()`` reads what was bound before.
        return not is_inner or each.indent <= where.indent or each.line == where.line

    def inner_definitions(self, view: FileView, scope: int, name: str) -> Values:
        """Return the functions and types that a function holds."""
        return tuple(
            self.definitions.value_of((view.file, row))
            for row in view.members.get((scope, name), ())
            if view.definitions[row].kind in TYPE_KINDS | FUNCTIONS
        )

    def variable(self, place: Place, name: str) -> Values:
        """Return what a variable outside of functions is, as it is written where it is defined."""
        view = self.views[place[0]]
        for each in view.bound.get((view.scope(place[1]), name), ()):
            if found := self.of_binding(view, each):
                return found
        return ()

    def read_binding(self, view: FileView, each: Binding) -> Values:
        """Read what a name is bound to; one bound anew from itself means what it meant before."""
        where = Position(view.file, each.definition, each.line, each.indent)
        if not each.value:
            return ()
        if each.kind != facts.ASSIGNED:
            return self.instances(where, each.value)
        value = decode(each.value)
        return self.evaluate(where._replace(line=each.line - 1), value) or self.evaluate(where, value)

    # Written types.

    def instance(self, where: Position, head: str, arguments: tuple[str, ...], of: Value | None) -> Values:
        """Return what has one written type."""
        if head == "?":
            return ()
        if head in _CONTAINERS:
            parts = tuple(self.instances(where, each, of=of) for each in arguments)
            return (Value(EXTERNAL, name=head, parts=parts),)
        if "." not in head and (parameter := self.type_parameter(where, head)) is not None:
            return self._type_argument(parameter, of)
        parts = tuple(self.instances(where, each, of=of) for each in arguments)
        return tuple(
            value._replace(kind=INSTANCE, parts=parts)
            if value.kind == CLASS
            else value._replace(name=head.rpartition(".")[2], parts=parts)
            for value in self.named_type(where, head)
            if value.kind in (CLASS, EXTERNAL)
        )

    def type_parameter(self, where: Position, name: str) -> tuple[Place, int, str] | None:
        """Return which type parameter a name is: whose, which one, and what bounds it."""
        for row in self.views[where.file].around(where.row):
            for at, each in enumerate(self.definitions.stated((where.file, row), facts.TYPE_PARAMETER)):
                if each.name == name:
                    return (where.file, row), at, each.value
        return None

    def _type_argument(self, parameter: tuple[Place, int, str], of: Value | None) -> Values:
        place, number, bound = parameter
        if of is not None and (of.file, of.row) == place and number < len(of.parts) and of.parts[number]:
            return of.parts[number]
        return self.instances(Position(*place, 0), bound) if bound else ()

    def named_type(self, where: Position, head: str) -> Values:
        """Return the types that a written name without arguments stands for."""
        if "." not in head and self.type_parameter(where, head) is not None:
            return ()
        first, *rest = head.split(".")
        view = self.views[where.file]
        values: Values = ()
        scope = view.scope(where.row)
        while scope >= 0 and not values:
            values = self.inner_types(view, scope, first)
            scope = view.outer(scope)
        values = values or self.top(where, first)
        for name in rest:
            values = self.all_of(values, lambda value, name=name: self.member(value, name, where))  # type: ignore[misc]
        return tuple(
            UNKNOWN_EXTERNAL if value.kind == EXTERNAL_METHOD else value
            for value in values
            if value.kind in (CLASS, EXTERNAL, EXTERNAL_METHOD)
        )

    def inner_types(self, view: FileView, scope: int, name: str) -> Values:
        """Return the types that a scope holds, inherited ones for a class."""
        found = tuple(
            Value(CLASS, view.file, row)
            for row in view.members.get((scope, name), ())
            if view.definitions[row].kind in TYPE_KINDS
        )
        if view.definitions[scope].kind in TYPE_KINDS and view.definitions[scope].name == name:
            return found or (Value(CLASS, view.file, scope),)
        return found

    def alias_of(self, value: Value) -> Values:
        """Return what a type is another name of, as an instance of it."""
        found = self.definitions.stated(value.place, facts.ALIAS)
        if not found:
            return ()
        where = Position(value.file, value.row, 0)
        return self.memo.memoized(
            ("alias", value),
            lambda: tuple(
                each for each in self.instances(where, found[0].value, of=value) if each[:3] != value[:3]
            ),
        )

    # Members.

    def declared_member(self, place: Place, value: Value, name: str, *, is_called: bool) -> Values | None:
        """Return the methods, the field or the inner types of a name that a type itself has."""
        owned = self.definitions.owned(name, place)
        kind = self.definitions.kind
        if is_called or not self.has_names_apart:
            functions = tuple(
                Value(FUNCTION, *each, parts=((value,),)) for each in owned if kind(each) in FUNCTIONS
            )
            if functions or self.has_names_apart:
                return functions or None
        view = self.views[place[0]]
        for each in view.fields.get((place[1], name), ()):
            return self.field(view, each, value) or None
        if any(kind(each) in TYPE_KINDS for each in owned):
            return tuple(Value(CLASS, *each) for each in owned if kind(each) in TYPE_KINDS)
        return (Value(INSTANCE, *place),) if owned and kind(place) == "enum" else None

    def field(self, view: FileView, each: Binding, value: Value) -> Values:
        """Return what a field of an object is: something of a type, or an expression."""
        if each.kind == facts.FIELD:
            where = self.field_position(view, each)
            return self.memo.memoized(
                ("field", view.file, each), lambda: self.evaluate(where, decode(each.value))
            )
        where = Position(view.file, each.definition, 0)
        return self.memo.memoized(
            ("field", view.file, each, value), lambda: self.instances(where, each.value, of=value)
        )

    def field_position(self, view: FileView, each: Binding) -> Position:
        """Return where the expression of a field is read."""
        return Position(view.file, each.definition, each.line, each.indent)

    def member_not_found(
        self, value: Value, name: str, where: Position, *, is_called: bool, is_complete: bool
    ) -> Values:
        """Return what the type that a type is another name of calls ``name``."""
        if found := self.all_of(
            self.alias_of(value), lambda each: self.member(each, name, where, is_called=is_called)
        ):
            return found
        return () if is_complete else (Value(EXTERNAL_METHOD, name=name, parts=((value,),)),)

    # Inheritance.

    def read_order(self, place: Place) -> tuple[tuple[Place, ...], bool]:
        """Read a type and all that it inherits from, level by level."""
        found: dict[Place, None] = {place: None}
        is_complete, level = True, [place]
        for _ in range(_MAX_DEPTH):
            further: list[Place] = []
            for each in level:
                for base in self.base_values(each):
                    at = base.place
                    if base.kind != CLASS:
                        is_complete = False
                    elif at not in found:
                        found[at] = None
                        further.append(at)
            level = further
            if not level:
                break
        return tuple(found), is_complete

    def bases_as(self, kind: str, place: Place) -> Values:
        """Return what ``super`` is in a type: its bases, those of ours as values of a kind."""
        bases = self.base_values(place)
        return tuple(each._replace(kind=kind) if each.kind == CLASS else each for each in bases)

    def read_bases(self, place: Place) -> Values:
        """Read the direct bases of a type, in order; one that is not known to be ours is external."""
        found: list[Value] = []
        around = Position(place[0], self.views[place[0]].definitions[place[1]].parent, 0)
        for each in self.definitions.stated(place, facts.INHERITS):
            head = head_of_type(each.value)
            values = self.named_type(around, head) or self.named_type(Position(*place, 0), head)
            found += [value for value in values if value[1:3] != place] or [UNKNOWN_EXTERNAL]
        return tuple(found)

    # Calls.

    def result(self, value: Value) -> Values:
        """Return what calling a value gives."""
        if value.kind == FUNCTION:
            return self.returned(value)
        if value.kind == CLASS:
            return (value._replace(kind=INSTANCE),)
        if value.kind == INSTANCE:
            return self.all_of(self.alias_of(value), self.result)
        if value.kind == EXTERNAL and value.name == "func":
            return value.parts[-1] if value.parts else ()
        if value.kind == EXTERNAL_METHOD:
            return self._result_of_external(value)
        return (UNKNOWN_EXTERNAL,) if value.kind == EXTERNAL else ()

    def _result_of_external(self, method: Value) -> Values:
        """Return what a method of a container gives."""
        container = method.parts[0][0] if method.parts and method.parts[0] else UNKNOWN_EXTERNAL
        if container.kind == EXTERNAL and container.parts:
            if method.name in self.elements:
                return container.parts[min(self.elements[method.name], len(container.parts) - 1)]
            if method.name in self.view_methods and len(container.parts) == 2:
                at = self.view_methods[method.name]
                pair = (Value(EXTERNAL, name="tuple", parts=container.parts),)
                return (Value(EXTERNAL, name="Set", parts=(pair if at < 0 else container.parts[at],)),)
        return (container,) if method.name in self.same else (UNKNOWN_EXTERNAL,)

    def returned(self, function: Value) -> Values:
        """Return what a function gives, as it is written."""
        return self.memo.memoized(("returned", function), lambda: self._read_returned(function))

    def _read_returned(self, function: Value) -> Values:
        written = self.definitions.stated(function.place, facts.RETURN_TYPE)
        if not written or not written[0].value:
            return ()
        receiver = function.parts[0][0] if function.parts and function.parts[0] else None
        return self.instances(Position(function.file, function.row, 0), written[0].value, of=receiver)

    def taken(self, value: Value, count: int, number: int) -> Values:
        """Return what a call of ``count`` arguments takes as the one at ``number``."""
        if value.kind == EXTERNAL_METHOD:
            return (value,)
        if value.kind == CLASS:
            made = [Value(FUNCTION, *each) for each in self.constructors(value.place)]
            return self.all_of(tuple(made), lambda each: self.taken(each, count, number))
        if value.kind != FUNCTION or value.row < 0:
            return ()
        place = value.place
        parameters = self.definitions.parameters(place)
        if parameters is None or len(parameters.types) != count:
            return ()
        receiver = value.parts[0][0] if value.parts and value.parts[0] else None
        return self.instances(Position(*place, 0), parameters.types[number], of=receiver)

    def parameter(self, value: Value, number: int) -> Values:
        """Return a parameter of what is a function: of an interface, or of what a container calls."""
        if value.kind == EXTERNAL_METHOD and value.parts and value.parts[0]:
            container = value.parts[0][0]
            if container.kind == EXTERNAL and container.parts and value.name in self.callback_methods:
                return container.parts[min(number, len(container.parts) - 1)]
            return ()
        if value.kind == EXTERNAL and value.name in self.functions:
            return value.parts[min(number, len(value.parts) - 1)] if value.parts else ()
        return self.parameter_of_interface(value, number) if value.kind == INSTANCE else ()

    def parameter_of_interface(self, value: Value, number: int) -> Values:
        """Return a parameter of the only method that an interface of ours leaves open."""
        del value, number
        return ()

    # Containers.

    def item(self, value: Value, number: int | None) -> Values:
        """Return what subscripting a value gives."""
        del number
        return self.part(value, -1)

    def iterated(self, value: Value) -> Values:
        """Return what iterating over a value gives."""
        return self.part(value, -1)

    def entered(self, value: Value) -> Values:
        """Return a key of what is iterated over."""
        return self.part(value, 0)

    def part(self, value: Value, number: int) -> Values:
        """Return one of the parts of a container, by its position."""
        if value.kind == INSTANCE:
            return self.all_of(self.alias_of(value), lambda each: self.part(each, number))
        if value.kind != EXTERNAL:
            return ()
        if not value.parts or (value.name == "list" and number == 0):
            return (UNKNOWN_EXTERNAL,)
        return value.parts[number]

    def nth(self, value: Value, number: int) -> Values:
        """Return one of several results, or of the parts of a tuple."""
        if value.kind == EXTERNAL and value.name == "tuple":
            return value.parts[number] if number < len(value.parts) else ()
        if value.kind in (EXTERNAL, EXTERNAL_METHOD) and not value.parts:
            return (UNKNOWN_EXTERNAL,)
        return (value,) if number == 0 else ()


def _root_of(each: Binding) -> str:
    """Return the name that the value of an assignment begins with, ``""`` for none."""
    if each.kind != facts.ASSIGNED or not each.value:
        return ""
    root = decode(each.value).root
    return root.text if root.kind == NAME else ""
