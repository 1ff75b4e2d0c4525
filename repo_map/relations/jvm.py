"""What names mean in Java and Kotlin, which see each other: Kotlin's own rules over those of Java."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar, Final

from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.language import words
from repo_map.languages.outside import JAVA_MEMBERS, KOTLIN_MEMBERS
from repo_map.parsing.facts_model import (
    CALL,
    EXPORTED,
    FIELD,
    IMPORT,
    PARAMETERS,
    RECEIVER,
    RENAMED,
    RETURNED,
    STAR,
    TYPE_PARAMETER,
    Binding,
    Site,
)
from repo_map.relations.expressions import parse
from repo_map.relations.file_facts import CLASSES, FileView
from repo_map.relations.java import Java
from repo_map.relations.jvm_packages import CLOSED, JvmPackages
from repo_map.relations.model import Place
from repo_map.relations.narrowing import narrowed
from repo_map.relations.typed.family import TypedFamily
from repo_map.relations.values import (
    FOREIGN,
    FOREIGN_METHOD,
    FUNCTION,
    INSTANCE,
    SPACE,
    STRANGER,
    TYPE_KINDS,
    TYPE_VALUE,
    Value,
    Values,
    Where,
)

_GETTER: Final = re.compile(r"(?:get|set)([A-Z]\w*)\Z")
_OF_ANY: Final = frozenset({"Object", "T"})
_LAST_LINE: Final = 1 << 30


class Jvm(JvmPackages):
    """The resolver of Java and Kotlin."""

    common = JAVA_MEMBERS | KOTLIN_MEMBERS
    elements: ClassVar[dict[str, int]] = Java.elements | dict.fromkeys(
        words(
            "elementAt find firstOrNull getOrNull getValue last lastOrNull maxByOrNull minByOrNull random"
            " removeFirst removeLast single singleOrNull"
        ),
        1,
    )
    same = Java.same | frozenset(
        {"filterNot", "filterNotNull", "toList", "toMutableList", "reversed", "drop", "take", "asSequence"}
        | {"asIterable", "orEmpty", "plus", "minus", "onEach", "sortedBy", "dropLast", "takeLast", "subList"}
    )

    def _at_site(self, where: Where, site: Site, receiver: str) -> Values:
        if not receiver.endswith("&"):
            values = super()._at_site(where, site, receiver)
            if not values and receiver and site.kind == CALL and self._is_kotlin(where.file):
                return self._extensions(STRANGER, site.name, where)
            return values
        for each in receiver.split("&")[:-1]:
            found = self.evaluate(where, parse(each))
            values = self._all(found, lambda value: self.member(value, site.name, where, is_called=True))
            if any(value.kind == FUNCTION for value in values):
                return values
            if values or not found:
                return ()  # It may be a member of what is not known, or not ours.
        return self.lookup(where, site.name, is_called=True)

    def names_of(self, place: Place) -> frozenset[str]:
        """Return the names by which sites may use a definition; a constructor has that of its class."""
        if self.last_name(place) == "constructor" and (owner := self.owner(place)) is not None:
            return super().names_of(owner)
        return super().names_of(place)

    # Bare names.

    def root_name(self, where: Where, name: str, *, is_called: bool) -> Values:
        """Return what the first name of an expression is; ``this`` of an extension is what it extends."""
        if name == "this" and self._is_kotlin(where.file):
            view, row = self._views[where.file], where.row
            while row >= 0 and view.definitions[row].kind not in CLASSES:
                if told := self.said((where.file, row), RECEIVER):
                    return self.instances(Where(where.file, row, 0), told[0].value)
                row = view.definitions[row].parent
        return super().root_name(where, name, is_called=is_called)

    def lookup(self, where: Where, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is; a call of a class's name constructs it, or is a function's."""
        if not self._is_kotlin(where.file):
            return super().lookup(where, name, is_called=is_called)
        if is_called and (bound := self._bound_around(where, name)) is not None:
            return self._of_binding(*bound) or (STRANGER,)
        found = TypedFamily.lookup(self, where, name, is_called=is_called)
        if not is_called or not name[:1].isupper():
            return found
        types = [value for value in self.named_type(where, name) if value.kind == TYPE_VALUE]
        functions = [value for value in found if value.kind == FUNCTION]
        if functions:
            types = [value for value in types if self.kind((value.file, value.row)) != "interface"]
        return (*types, *functions) if types or functions else found

    def _bound_around(self, where: Where, name: str) -> tuple[FileView, Binding] | None:
        """Return the local of a name that holds at a place."""
        view = self._views[where.file]
        scope, is_inner = view.scope(where.row), True
        while scope >= 0 and where.line and view.definitions[scope].kind not in CLASSES:
            if bound := self._reaching(view, scope, name, where, is_inner=is_inner):
                return view, bound
            scope, is_inner = view.outer(scope), False
        return None

    def _reaching(
        self, view: FileView, scope: int, name: str, where: Where, *, is_inner: bool
    ) -> Binding | None:
        found = super()._reaching(view, scope, name, where, is_inner=is_inner)
        return narrowed(view, scope, name, where.line, found)

    def _inner_definitions(self, view: FileView, scope: int, name: str) -> Values:
        return tuple(
            value
            for value in super()._inner_definitions(view, scope, name)
            if not self.said((value.file, value.row), RECEIVER)
        )

    # Members.

    def owner(self, place: Place) -> Place | None:
        """Return the type that a definition is a member of; an extension is one of what it extends."""
        if told := self.said(place, RECEIVER):
            head = told[0].value.partition("[")[0]
            where = Where(place[0], place[1], 0)
            for value in self.named_type(where, head) if head != "?" else ():
                if value.kind == TYPE_VALUE:
                    return (value.file, value.row)
            return None
        return super().owner(place)

    def constructors(self, place: Place) -> Iterable[Place]:
        """Return the constructors that a class declares beside the one in its head."""
        if not self._is_kotlin(place[0]):
            return super().constructors(place)
        owned = self._owned("constructor").get(place, ())
        return [each for each in owned if self.kind(each) in FUNCTIONS]

    def _called(self, values: Values, arguments: tuple[str, ...] | None, where: Where) -> Values:
        types = [value for value in values if value.kind == TYPE_VALUE and self._is_kotlin(value.file)]
        functions = tuple(value for value in values if value.kind == FUNCTION)
        if not types:
            if functions and len(functions) < len(values) and arguments is not None:
                # A function, and a property that Java reads by a call without arguments.
                given = [self.evaluate(where, parse(each)) for each in arguments]
                values = tuple(
                    value
                    for value in values
                    if value.kind != FUNCTION or self._fit((value.file, value.row), given) is not None
                )
            return super()._called(values, arguments, where)
        made: list[Value] = []
        for value in types:
            place = (value.file, value.row)
            others = tuple(Value(FUNCTION, *each) for each in self.constructors(place)) + functions
            head = (Value(FUNCTION, *place),) if self.said(place, PARAMETERS) or not others else ()
            chosen = super()._called(head + others, arguments, where) if others else head
            if all(each not in functions for each in chosen):
                made.append(value)
            if len(chosen) == 1 and chosen != head:
                made += chosen
        return tuple(made)

    def member(self, value: Value, name: str, where: Where, *, is_called: bool = False) -> Values:
        """Return what a value calls ``name``, extensions that are seen from a place among it."""
        found = super().member(value, name, where, is_called=is_called)
        is_open = not found or all(each.kind == FOREIGN_METHOD for each in found)
        if is_called and is_open and value.kind != SPACE and self._is_kotlin(where.file):
            return self._extensions(value, name, where) or found
        return found

    def _of_type(self, value: Value, name: str, where: Where, *, is_called: bool = False) -> Values:
        found = super()._of_type(value, name, where, is_called=is_called)
        if not self._is_kotlin(where.file):
            return self._seen_by_java(found, value, name, where, is_called=is_called)
        if any(each.kind != FOREIGN_METHOD for each in found):
            return found
        return self._of_companion(value, name, where, is_called=is_called) or found

    def _of_companion(self, value: Value, name: str, where: Where, *, is_called: bool) -> Values:
        """Return what the companion of a type, or of one that it extends, calls ``name``."""
        for place in self.order((value.file, value.row))[0]:
            for row in self._views[place[0]].members.get((place[1], "Companion"), ()):
                inner = Value(TYPE_VALUE, place[0], row)
                is_type = self.kind((place[0], row)) in TYPE_KINDS and inner[1:3] != value[1:3]
                if is_type and (found := super()._of_type(inner, name, where, is_called=is_called)):
                    return found
        return ()

    def _seen_by_java(
        self, found: Values, value: Value, name: str, where: Where, *, is_called: bool
    ) -> Values:
        """Return members as Java sees them: a property may be read by a call of its name."""
        seen = tuple(each for each in found if not self._is_hidden(each))
        if is_called and any(each.kind == FUNCTION and self._is_kotlin(each.file) for each in found):
            property_ = super()._of_type(value, name, where)
            if property_ and property_[0].kind != FOREIGN_METHOD:
                return (*seen, Value(FOREIGN, name="func", parts=(property_,)))
        return seen

    def _is_hidden(self, value: Value) -> bool:
        """Tell whether a function has another name in Java."""
        return (
            value.kind == FUNCTION and value.row >= 0 and bool(self.said((value.file, value.row), EXPORTED))
        )

    def _direct(self, place: Place, value: Value, name: str, *, is_called: bool) -> Values:
        found = super()._direct(place, value, name, is_called=is_called)
        if len(found) > 1:
            # A member is meant before an extension of its name.
            members = tuple(each for each in found if not self.said((each.file, each.row), RECEIVER))
            return members or found
        if found:
            return found
        accessed = _GETTER.match(name)
        if is_called and self._is_kotlin(place[0]):
            names = [name, accessed[1][:1].lower() + accessed[1][1:]] if accessed else [name]
            for each in names:
                if values := super()._direct(place, value, each, is_called=False):
                    is_function = values[0].kind == FOREIGN and values[0].name == "func"
                    is_type = values[0].kind == TYPE_VALUE
                    return (
                        ()
                        if is_type
                        else values
                        if is_function
                        else (Value(FOREIGN, name="func", parts=(values,)),)
                    )
        elif not is_called and not self._is_kotlin(place[0]):
            getter = super()._direct(place, value, f"get{name[:1].upper()}{name[1:]}", is_called=True)
            return self._all(getter, self.returned)
        return ()

    def _field(self, view: FileView, each: Binding, value: Value) -> Values:
        if each.kind != FIELD:
            return super()._field(view, each, value)
        where = Where(view.file, each.definition, 0)
        return self.memo.once(("field", view.file, each), lambda: self.evaluate(where, parse(each.value)))

    def returned(self, function: Value) -> Values:
        """Return what a function gives, as it is written, or as the expression that it is."""
        if found := super().returned(function):
            return found
        told = self.said((function.file, function.row), RETURNED)
        if not told:
            return ()
        where = Where(function.file, function.row, _LAST_LINE)
        return self.memo.once(
            ("returned expression", function.file, function.row),
            lambda: self.evaluate(where, parse(told[0].value)),
        )

    # Extensions of what is not ours.

    def _extensions(self, value: Value, name: str, where: Where) -> Values:
        """Return the extensions seen from a place that take a value which has no member of the name."""
        found: list[tuple[float, Place]] = []
        candidates = self.named(name)
        self.memo.charge(len(candidates) // 2)
        for place in candidates:
            told = self.said(place, RECEIVER) if self.kind(place) in FUNCTIONS else ()
            if not told or told[0].value == "?" or self.owner(place) is not None:
                continue
            is_seen = self._is_imported(place, where)
            fit = self._extends(place, told[0].value.partition("[")[0], value)
            if fit is not None and (is_seen or (fit > 1 and self._is_near(place, where))):
                found.append((fit, place))
        best = max((fit for fit, _ in found), default=0)
        return tuple(Value(FUNCTION, *place) for fit, place in found if fit == best)

    def _extends(self, place: Place, head: str, value: Value) -> float | None:
        """Return how well an extension takes a value."""
        if head in _OF_ANY or any(each.name == head for each in self.said(place, TYPE_PARAMETER)):
            return 1.0
        last = head.rpartition(".")[2].partition("[")[0]
        if value.kind == FOREIGN and value.name:
            if value.name == last:
                return 2.0
            return None if value.name in CLOSED and last in CLOSED else 0.5
        if value.kind in (INSTANCE, TYPE_VALUE):
            return None if self.order((value.file, value.row))[1] else 0.5
        return 0.5

    def _is_imported(self, place: Place, where: Where) -> bool:
        """Tell whether a file imports an extension by its name."""
        full = f"{self._package(place[0])}.{self._index.qualified_name(*place)}"
        return any(
            each.kind in (IMPORT, RENAMED) and each.value == full
            for each in self._views[where.file].bound.get((-1, self.last_name(place)), ())
        )

    def _is_near(self, place: Place, where: Where) -> bool:
        """Tell whether an extension is seen without an import: of the package, or of a class around."""
        view = self._views[where.file]
        around = self._views[place[0]].definitions[place[1]].parent
        if around < 0:
            package = self._package(place[0])
            stars = (each.value for each in view.told.get((-1, STAR), ()))
            return package == self._package(where.file) or package in stars
        return place[0] == where.file
