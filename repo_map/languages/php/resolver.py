"""What names mean in PHP: namespaces, ``use``, traits, ``self``, ``static`` and ``parent``."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from repo_map.languages.registry import vocabulary
from repo_map.parsing.facts_model import IMPORT, RENAMED, Binding
from repo_map.relations.core.memo import cached
from repo_map.relations.core.resolver import Resolver
from repo_map.relations.core.values import UNKNOWN_EXTERNAL, Kind, Position, Value, Values
from repo_map.relations.model import Place

_RANKS: Final = {"trait": 0, "interface": 2}
_OWN: Final = frozenset({"self", "static", "$this", "parent"})


class Php(Resolver):
    """The resolver of PHP."""

    common = vocabulary("php", "members")
    has_names_apart = True
    initialisers = frozenset({"__construct"})

    def root_name(self, where: Position, name: str, *, is_called: bool) -> Values:
        """Return what the first name of an expression is, the names of the class around among them."""
        if name in _OWN:
            return self._own_class(where, name, Kind.CLASS)
        if name == "$":
            return (Value(Kind.MODULE),)
        return super().root_name(where, name, is_called=is_called)

    def _own_class(self, where: Position, name: str, kind: str, of: Value | None = None) -> Values:
        """Return the class around a place, or what it extends, as a value of a kind."""
        if of is not None and name == "static":
            return (of._replace(kind=kind),)
        owner = self.views[where.file].class_around(where.row)
        if owner < 0:
            return ()
        if name != "parent":
            return (Value(kind if name != "$this" else Kind.INSTANCE, where.file, owner),)
        return self.bases_as(kind, (where.file, owner))

    def instance(self, where: Position, head: str, arguments: tuple[str, ...], of: Value | None) -> Values:
        """Return what has one written type, that of the class around among them."""
        if head in _OWN:
            return self._own_class(where, head, Kind.INSTANCE, of)
        return super().instance(where, head, arguments, of)

    @cached
    def order(self, place: Place) -> tuple[tuple[Place, ...], bool]:
        """Return a type and what it inherits from: traits before what it extends, interfaces last."""
        found, is_complete = super().order(place)
        depth: dict[Place, tuple[int, ...]] = {place: ()}
        for each in found:
            bases = [value.place for value in self.base_values(each) if value.kind == Kind.CLASS]
            bases.sort(key=lambda base: _RANKS.get(self.definitions.kind(base), 1))
            for at, base in enumerate(bases):
                depth.setdefault(base, (*depth[each], at))
        classes = [each for each in found if self.definitions.kind(each) != "interface"]
        interfaces = [each for each in found if self.definitions.kind(each) == "interface"]
        classes.sort(key=lambda each: depth.get(each, ()))
        return (*classes, *interfaces), is_complete

    def top(self, where: Position, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is: imported, of the namespace, or for a function of none."""
        if name == "$":
            return (Value(Kind.MODULE),)
        if name.startswith("$"):
            return ()
        for each in self.views[where.file].bound.get((-1, name), ()):
            if each.kind in (IMPORT, RENAMED):
                if found := self._in_space(*_split(each.value), is_called=is_called):
                    return found
                if not is_called:
                    has_space = any(space.startswith(each.value) for space in self._spaces)
                    return (Value(Kind.MODULE, name=each.value),) if has_space else (UNKNOWN_EXTERNAL,)
        if found := self._in_space(self.package(where.file), name, is_called=is_called):
            return found
        if is_called:
            return self._in_space("", name, is_called=True)
        below = f"{self.package(where.file)}.{name}".lstrip(".")
        return (Value(Kind.MODULE, name=below),) if below in self._spaces else (UNKNOWN_EXTERNAL,)

    def lookup(self, where: Position, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is; what is constructed may be called by the name of its class."""
        found = super().lookup(where, name, is_called=is_called)
        return found or (super().lookup(where, name) if is_called and not name.startswith("$") else ())

    def of_module(self, space: Value, name: str, where: Position) -> Values:
        found = self._at(f"{space.name}.{name}")
        below = f"{space.name}.{name}".lstrip(".")
        is_space = any(each == below or each.startswith(below + ".") for each in self._spaces)
        return found or ((Value(Kind.MODULE, name=below),) if is_space else (UNKNOWN_EXTERNAL,))

    def of_import(self, file: int, each: Binding) -> Values:
        return self._at(each.value)

    def _at(self, path: str) -> Values:
        """Return the classes and the functions of a full name."""
        space, name = _split(path)
        return self._in_space(space, name, is_called=False) + self._in_space(space, name, is_called=True)

    def _in_space(self, space: str, name: str, *, is_called: bool) -> Values:
        """Return the class, or the functions, of a name in a namespace."""
        is_wanted = self.definitions.is_function if is_called else self.definitions.is_type
        found = [self.definitions.value_of(place) for place in self.tops(space, name) if is_wanted(place)]
        # Several of one full name are never loaded together: which is loaded is not known.
        return tuple(found) if is_called or len(found) < 2 else ()

    def space_of(self, place: Place) -> str | None:
        """Return the namespace of what stands in nothing else."""
        parent = self.definitions[place].parent
        is_top = parent < 0 or self.definitions.kind((place[0], parent)) == "module"
        return self.package(place[0]) if is_top else None

    @cached_property
    def _spaces(self) -> frozenset[str]:
        """The namespaces that something of ours is in."""
        return frozenset(self.package(file) for file in self.files) - {""}


def _split(path: str) -> tuple[str, str]:
    space, _, name = path.rpartition(".")
    return space, name


RESOLVER: Final = Php
