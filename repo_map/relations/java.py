"""What names mean in Java: packages, imports, nested and inherited members, overloads."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Final

from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.language import words
from repo_map.languages.outside import JAVA_MEMBERS, JAVA_PACKAGES
from repo_map.parsing.facts_model import DECORATED, IMPORT, PACKAGE, PARAMETERS, STAR
from repo_map.relations.expressions import split
from repo_map.relations.model import Place
from repo_map.relations.typed import (
    FOREIGN,
    INSTANCE,
    SPACE,
    STRANGER,
    TYPE_VALUE,
    TypedFamily,
    Value,
    Values,
    Where,
)

_NUMBERS: Final = ("byte", "short", "char", "int", "long", "float", "double")
_BOXES: Final = {
    "Integer": "int",
    "Long": "long",
    "Character": "char",
    "Byte": "byte",
    "Short": "short",
    "Double": "double",
    "Float": "float",
    "Boolean": "boolean",
}
_PRIMITIVES: Final = frozenset({*_NUMBERS, "boolean"})
_OUTSIDE: Final = _PRIMITIVES | JAVA_PACKAGES
_OF_ALL: Final = frozenset({"Object"})
_OF_TEXT: Final = frozenset({"CharSequence", "Comparable", "Serializable"})
_OF_NUMBERS: Final = frozenset({"Number", "Comparable", "Serializable"})


class Java(TypedFamily):
    """The resolver of Java."""

    common = JAVA_MEMBERS
    has_implicit_receiver = True
    has_names_apart = True
    elements = {  # noqa: RUF012 - a table of the class
        "get": 1,
        "getOrDefault": 1,
        "orElse": 0,
        "orElseGet": 0,
        "orElseThrow": 0,
        "next": 0,
        "remove": 1,
        "poll": 0,
        "peek": 0,
        "pop": 0,
        "element": 0,
        "first": 0,
        "last": 0,
        "getFirst": 0,
        "getLast": 0,
        "getKey": 0,
        "getValue": 1,
        "put": 1,
        "computeIfAbsent": 1,
        "take": 0,
        "join": 0,
        "call": 0,
    }
    literals = {"'": "String", "0": "int"}  # noqa: RUF012
    same = frozenset(
        {"iterator", "stream", "filter", "sorted", "distinct", "limit", "skip", "findFirst", "findAny"}
    )

    several = {"keySet": 0, "values": 1, "entrySet": -1}  # noqa: RUF012 - a table of the class
    takers = words(
        "forEach map filter flatMap anyMatch allMatch noneMatch removeIf mapToInt mapToLong mapToObj peek"
        " ifPresent ifPresentOrElse sorted sort replaceAll computeIfAbsent computeIfPresent thenApply"
        " thenAccept min max takeWhile dropWhile forEachOrdered"
    )
    functions = words(
        "Function BiFunction Consumer BiConsumer Predicate BiPredicate UnaryOperator BinaryOperator"
        " Comparator ToIntFunction ToLongFunction ToDoubleFunction ToIntBiFunction ToLongBiFunction"
        " ToDoubleBiFunction ObjIntConsumer ObjLongConsumer"
    )

    def parameter_of_interface(self, value: Value, number: int) -> Values:
        """Return a parameter of the only method that an interface of ours leaves open."""
        view = self._views[value.file]
        if view.definitions[value.row].kind != "interface":
            return ()
        methods = [
            each.definition
            for each in view.bindings
            if each.kind == DECORATED
            and each.name == "announced"
            and view.definitions[each.definition].parent == value.row
        ]
        told = self.said((value.file, methods[0]), PARAMETERS) if len(methods) == 1 else []
        types = split(told[0].value, ",") if told else []
        if number >= len(types):
            return ()
        return self.instances(Where(value.file, methods[0], 0), types[number], of=value)

    def root_name(self, where: Where, name: str, *, is_called: bool) -> Values:
        """Return what the first name of an expression is, ``this`` and ``super`` among them."""
        if name in ("this", "super"):
            owner = self._views[where.file].class_around(where.row)
            if owner < 0:
                return ()
            if name == "this":
                return (Value(INSTANCE, where.file, owner),)
            return tuple(
                value._replace(kind=INSTANCE) if value.kind == TYPE_VALUE else value
                for value in self.base_values((where.file, owner))
            )
        return super().root_name(where, name, is_called=is_called)

    def member(self, value: Value, name: str, where: Where, *, is_called: bool = False) -> Values:
        """Return what a value calls ``name``; ``Outer.this`` is the object around."""
        if value.kind == TYPE_VALUE and name in ("this", "class"):
            return (value._replace(kind=INSTANCE),) if name == "this" else (STRANGER,)
        return super().member(value, name, where, is_called=is_called)

    def constructors(self, place: Place) -> Iterable[Place]:
        """Return the constructors that a class declares."""
        owned = self._owned(self.last_name(place)).get(place, ())
        return [each for each in owned if self.kind(each) in FUNCTIONS]

    def top(self, where: Where, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is: imported, of the package, or of an imported package."""
        view = self._views[where.file]
        for each in view.bound.get((-1, name), ()):
            if each.kind == IMPORT:
                owner, is_static, member = each.value.partition(":")
                if not is_static:
                    return () if is_called else self._qualified(owner, where) or (STRANGER,)
                if found := self._static(owner, member, where, is_called=is_called):
                    return found
        own = self._package(where.file)
        if not is_called and (found := self._in_package(own, name, where)):
            return found
        for star in (each.value for each in view.told.get((-1, STAR), ())):
            if found := self._starred(star, name, where, is_called=is_called):
                return found
        if is_called:
            # A constructor's name is that of its class.
            return self.top(where, name) if name[:1].isupper() else ()
        if name in self._first_parts:
            return (Value(SPACE, name=name),)
        return (STRANGER,) if name[:1].isupper() or name in _OUTSIDE else ()

    def _starred(self, star: str, name: str, where: Where, *, is_called: bool) -> Values:
        """Return what an import of all names of a package, or of a class (``:`` behind it), brings."""
        if star.endswith(":"):
            return self._static(star[:-1], name, where, is_called=is_called)
        return () if is_called else self._in_package(star, name, where)

    def of_space(self, space: Value, name: str, where: Where) -> Values:
        """Return what a package calls ``name``: a type, or a package below it."""
        if found := self._in_package(space.name, name, where):
            return found
        return (Value(SPACE, name=f"{space.name}.{name}"),) if not name[:1].isupper() else ()

    def read_imports(self, file: int) -> tuple[tuple[int, int], ...]:
        """Return the files that a file imports types of, each with the line where it does."""
        found: dict[tuple[int, int], None] = {}
        where = Where(file, -1, 0)
        for each in self._views[file].bindings:
            if each.kind == IMPORT:
                for value in self._qualified(each.value.partition(":")[0], where):
                    if value.kind == TYPE_VALUE:
                        found.setdefault((value.file, each.line), None)
        return tuple(found)

    def lookup(self, where: Where, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is; a call of a class's name constructs it."""
        if is_called and name[:1].isupper():
            types = [value for value in self.named_type(where, name) if value.kind == TYPE_VALUE]
            if types:
                return tuple(types)
        return super().lookup(where, name, is_called=is_called)

    def named_type(self, where: Where, head: str) -> Values:
        """Return the types that a written name stands for, inherited ones too."""
        found = super().named_type(where, head)
        if not any(value.kind == TYPE_VALUE for value in found) and "." not in head:
            owner = self._views[where.file].class_around(where.row)
            while owner >= 0:
                for place in self.order((where.file, owner))[0]:
                    view = self._views[place[0]]
                    if inner := self.inner_types(view, place[1], head):
                        return inner
                owner = self._views[where.file].class_around(
                    self._views[where.file].definitions[owner].parent
                )
        return found

    def fits(self, value: Value, wanted: Value) -> float | None:
        """Return how well a value fits an instance of a type: 3 exactly, None not at all."""
        if wanted.kind == FOREIGN and wanted.name in _OF_ALL:
            return 0.3 if value.kind == FOREIGN and value.name in _PRIMITIVES else 1.0
        if value.kind == FOREIGN and value.name == "null":
            return None if wanted.kind == FOREIGN and wanted.name in _PRIMITIVES else 1.0
        if value.kind == FOREIGN and wanted.kind == FOREIGN and value.name and wanted.name:
            return self._foreign_fits(value, wanted)
        if value.kind == FOREIGN and value.name and wanted.kind == INSTANCE:
            return None if value.name in _PRIMITIVES or value.name in ("String", "list") else 0.1
        if value.kind == INSTANCE and wanted.kind == FOREIGN and wanted.name:
            if wanted.name in _PRIMITIVES or wanted.name in ("String", "list"):
                return None
            return None if self.order((value.file, value.row))[1] else 0.5
        return super().fits(value, wanted)

    def _foreign_fits(self, value: Value, wanted: Value) -> float | None:
        one, other = value.name, wanted.name
        if one == other:
            if one == "list" and value.parts and wanted.parts and value.parts[0] and wanted.parts[0]:
                inner = self.fits(value.parts[0][0], wanted.parts[0][0])
                return inner if inner is None or inner >= 1 else None
            return 3.0
        if "list" in (one, other):
            return None
        if one in _PRIMITIVES:
            if other in _PRIMITIVES:
                if "boolean" in (one, other):
                    return None
                distance = _NUMBERS.index(other) - _NUMBERS.index(one)
                return 2.5 - distance / 10 if distance > 0 and other != "char" else None
            if _BOXES.get(other) == one:
                return 1.5
            return 0.8 if other in _OF_NUMBERS else None
        if one in _BOXES:
            return 1.5 if _BOXES[one] == other else 0.9 if other in _OF_NUMBERS else None
        if one == "String":
            return 2.0 if other in _OF_TEXT else None
        return None if other in _PRIMITIVES or other == "String" or other in _BOXES else 0.2

    def _static(self, owner: str, name: str, where: Where, *, is_called: bool) -> Values:
        """Return a member of a type by the type's full name."""
        found: list[Value] = []
        for value in self._qualified(owner, where):
            if value.kind == TYPE_VALUE:
                found += self._of_type(value, name, where, is_called=is_called)
        return tuple(found)

    def _qualified(self, name: str, where: Where) -> Values:
        """Return the type of a full name (``a.b.Outer.Inner``)."""
        parts = name.split(".")
        for at in range(len(parts) - 1, -1, -1):
            found = self._in_package(".".join(parts[:at]), parts[at], where)
            for inner in parts[at + 1 :]:
                found = tuple(
                    each
                    for value in found
                    for each in self.inner_types(self._views[value.file], value.row, inner)
                )
            if found:
                return found
        return ()

    def _in_package(self, package: str, name: str, where: Where) -> Values:
        found = [
            place
            for place in self.typed_places(name)
            if self._views[place[0]].definitions[place[1]].parent < 0 and self._package(place[0]) == package
        ]
        if len(found) > 1:
            # Several modules may hold a class of one name: the nearest is meant.
            paths = self._index.paths
            own = paths[where.file].split("/")
            found = [max(found, key=lambda place: _shared(own, paths[place[0]].split("/")))]
        return tuple(Value(TYPE_VALUE, *place) for place in found)

    def _package(self, file: int) -> str:
        kept = self._packages.get(file)
        if kept is None:
            told = [each.value for each in self._views[file].bindings if each.kind == PACKAGE]
            kept = self._packages[file] = told[0] if told else ""
        return kept

    @cached_property
    def _packages(self) -> dict[int, str]:
        return {}

    @cached_property
    def _first_parts(self) -> frozenset[str]:
        """The first parts of the names of our packages."""
        return frozenset(self._package(file).partition(".")[0] for file in self.files) - {""}


def _shared(one: list[str], other: list[str]) -> int:
    count = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        count += 1
    return count
