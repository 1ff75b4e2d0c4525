"""What names mean in Ruby, where it is written: constants, ``self``, ``new``, what a class has."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from repo_map.languages.kinds import CONTAINERS, FUNCTIONS
from repo_map.languages.registry import vocabulary
from repo_map.parsing import facts_model as facts
from repo_map.parsing.facts_model import Binding
from repo_map.relations.core.memo import cached, memoized
from repo_map.relations.core.resolver import Resolver
from repo_map.relations.core.values import MAX_VALUES, UNKNOWN_EXTERNAL, Kind, Position, Value, Values
from repo_map.relations.file_facts import grouped
from repo_map.relations.model import Place


class Ruby(Resolver):
    """The resolver of Ruby."""

    common = vocabulary("ruby", "members")
    initialisers = frozenset({"initialize"})

    # Classes and modules, which several files may open.

    def _container(self, file: int, row: int) -> int:
        """Return the innermost class or module at or around a definition, -1 for none."""
        return self.views[file].innermost(row, CONTAINERS)

    def _path(self, place: Place) -> str:
        """Return the full name of a class or a module, with dots."""
        names, (file, row) = [], place
        while row >= 0:
            definition = self.views[file].definitions[row]
            names.append(definition.name.rpartition(".")[2].replace("::", "."))
            row = self._container(file, definition.parent)
        return ".".join(reversed(names))

    def _opened(self, path: str) -> tuple[Place, ...]:
        """Return the places where a class or a module of a full name is opened, in order."""
        return self._containers.get(path, ())

    def _reopened(self, place: Place) -> tuple[Place, ...]:
        """Return all places that open a class or a module."""
        return self._opened(self._path(place)) or (place,)

    @cached_property
    def _containers(self) -> dict[str, tuple[Place, ...]]:
        """The classes and modules of each full name."""
        places = ((file, row) for file in self.files for row in range(len(self.views[file].definitions)))
        opened = (place for place in places if self.definitions.kind(place) in CONTAINERS)
        return {path: tuple(at) for path, at in grouped((self._path(each), each) for each in opened).items()}

    def owner(self, place: Place) -> Place | None:
        """Return the class or module that has a definition, as the first place that opens it."""
        around = self._container(place[0], self.definitions[place].parent)
        return self._reopened((place[0], around))[0] if around >= 0 else None

    @memoized
    def base_values(self, place: Place) -> Values:
        """Return what a class extends and mixes in, wherever it is opened."""
        found: list[Value] = []
        for file, row in self._reopened(place):
            for each in self._within(file).get((row, facts.INHERITS), ()):
                values = self.named_type(Position(file, row, 0), each.value)
                found += [value for value in values if value[1:3] != place] or [UNKNOWN_EXTERNAL]
        return tuple(dict.fromkeys(found))

    def named_type(self, where: Position, head: str) -> Values:
        """Return the classes and modules that a constant stands for, from the inside out."""
        row = self._container(where.file, where.row)
        around = self._path((where.file, row)) if row >= 0 else ""
        while True:
            path = f"{around}.{head}" if around else head
            if opened := self._opened(path):
                return (Value(Kind.CLASS, *opened[0]),)
            if not around:
                return (UNKNOWN_EXTERNAL,)
            around = around.rpartition(".")[0]

    def declared_member(self, place: Place, value: Value, name: str, *, is_called: bool) -> Values | None:
        """Return the methods of a name that a class has, or its objects, or an instance variable."""
        of_object, of_class = self._methods(place, name)
        if value.kind == Kind.INSTANCE:
            chosen = of_object
        else:
            # A module's own functions may be made its singletons' by `extend self`.
            chosen = of_class or ([] if self.definitions.kind(place) == "class" else of_object)
        if chosen:
            return tuple(Value(Kind.FUNCTION, *each, parts=((value,),)) for each in chosen[:MAX_VALUES])
        return (self._fields(place, name, value) or None) if name.startswith("$") else None

    @cached
    def _methods(self, place: Place, name: str) -> tuple[list[Place], list[Place]]:
        """Return the methods of a name that objects of a class have, and those of the class itself."""
        owned = [each for each in self.definitions.owned(name, place) if self.definitions.is_function(each)]
        own = [each for each in owned if self.definitions.stated(each, facts.RECEIVER)]
        return [each for each in owned if not self.definitions.stated(each, facts.RECEIVER)], own

    def _fields(self, place: Place, name: str, value: Value) -> Values:
        """Return what an instance variable is: all that it is made to be."""
        found: list[Value] = []
        for file, row in self._reopened(place):
            view = self.views[file]
            for each in self._within(file).get((row, facts.FIELD), ()):
                if each.name.replace("@", "$") == name:
                    values = self.field(view, each, value)
                    if not values:
                        return ()
                    found += values
        return tuple(dict.fromkeys(found))

    @cached
    def _within(self, file: int) -> dict[tuple[int, int], list[Binding]]:
        """Return what a file says of each class or module, by its kind."""
        stated = (e for e in self.views[file].bindings if e.kind in (facts.INHERITS, facts.FIELD))
        return grouped(((self._container(file, each.definition), each.kind), each) for each in stated)

    # Names.

    def root_name(self, where: Position, name: str, *, is_called: bool) -> Values:
        if name not in ("self", "super"):
            return super().root_name(where, name, is_called=is_called)
        row = self.views[where.file].innermost(where.row, FUNCTIONS | CONTAINERS)
        if row < 0 or (container := self._container(where.file, row)) < 0:
            return ()
        place = self._opened(self._path((where.file, container)))[0]
        is_class = row == container or bool(self.definitions.stated((where.file, row), facts.RECEIVER))
        kind = Kind.CLASS if is_class else Kind.INSTANCE
        if name == "self":
            return (Value(kind, *place),)
        if self.definitions.kind(place) != "class":
            return ()
        return self.bases_as(kind, place)

    def member(self, value: Value, name: str, where: Position, *, is_called: bool = False) -> Values:
        """Return what a value calls ``name``; a constant in a class is one of it."""
        if name == "class" and value.kind == Kind.INSTANCE:
            return (value._replace(kind=Kind.CLASS),)
        if value.kind == Kind.CLASS and name[:1].isupper():
            opened = self._opened(f"{self._path(value.place)}.{name}")
            return (Value(Kind.CLASS, *opened[0]),) if opened else ()
        return super().member(value, name, where, is_called=is_called)

    def lookup(self, where: Position, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is: a local, a constant, or a method of ``self``."""
        if name[:1].isupper():
            return self.named_type(where, name)
        view = self.views[where.file]
        scope = view.scope(where.row)
        if where.line and (bound := self.reaching(view, scope, name, where, is_inner=True)):
            return self.of_binding(view.file, bound) if bound.kind == facts.ASSIGNED else ()
        found = self.all_of(
            self.root_name(where, "self", is_called=False),
            lambda value: self.member(value, name, where, is_called=is_called),
        )
        if any(value.kind == Kind.FUNCTION for value in found):
            return found
        return ()

    def top(self, where: Position, name: str, *, is_called: bool = False) -> Values:
        return self.named_type(where, name) if name[:1].isupper() else ()

    def names_of(self, place: Place) -> frozenset[str]:
        return frozenset({self.definitions.last_name(place).rpartition("::")[2]})


RESOLVER: Final = Ruby
