"""What names mean in Rust: crates, modules, ``use``, ``impl`` blocks, traits, ``Self``."""

from __future__ import annotations

import tomllib
from functools import cached_property
from typing import Final

from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.registry import vocabulary
from repo_map.parsing import facts_model as facts
from repo_map.parsing.expressions import head_of_type
from repo_map.parsing.facts_model import Binding
from repo_map.relations.core.memo import memoized
from repo_map.relations.core.resolver import Resolver
from repo_map.relations.core.values import TYPE_KINDS, UNKNOWN_EXTERNAL, Kind, Position, Value, Values
from repo_map.relations.model import Place

_MAKERS: Final = frozenset({"default", "from"})
"""What the library's traits, derived or not, call what makes an object of a type."""
_LIBRARY: Final = vocabulary("rust", "builtins") | {"std", "core", "alloc", "proc_macro", "test"}
_MAX_CHARS: Final = 100_000
"""Bytes of a manifest that is read."""


class Rust(Resolver):
    """The resolver of Rust."""

    common = vocabulary("rust", "members")
    has_names_apart = True
    has_local_functions = True
    binds_below = True

    def root_name(self, where: Position, name: str, *, is_called: bool) -> Values:
        """Return what the first name of an expression is; ``self`` is an object of the type around."""
        if name in ("self", "Self"):
            return self._own_type(where, Kind.INSTANCE if name == "self" else Kind.CLASS)
        return super().root_name(where, name, is_called=is_called)

    def _own_type(self, where: Position, kind: str) -> Values:
        view = self.views[where.file]
        row = view.innermost(where.row, ("impl", "trait"))
        if row >= 0 and view.definitions[row].kind == "impl":
            return tuple(value._replace(kind=kind) for value in self._of_impl((where.file, row)))
        return (Value(kind, where.file, row),) if row >= 0 else ()

    @memoized
    def _of_impl(self, place: Place) -> Values:
        """Return the type that an ``impl`` block is of."""
        view = self.views[place[0]]
        definition = view.definitions[place[1]]
        where = Position(place[0], definition.parent, 0)
        if any(each.name == definition.name for each in self.definitions.stated(place, facts.TYPE_PARAMETER)):
            return ()
        values = self.named_type(where, definition.name)
        return tuple(value for value in values if value.kind == Kind.CLASS)

    def owner(self, place: Place) -> Place | None:
        """Return the type of the ``impl`` block, or the trait or the type, around a member."""
        view = self.views[place[0]]
        around = view.definitions[place[1]].parent
        if around < 0:
            return None
        kind = view.definitions[around].kind
        if kind == "impl":
            found = self._of_impl((place[0], around))
            return found[0].place if len(found) == 1 else None
        return (place[0], around) if kind in TYPE_KINDS else None

    def result(self, value: Value) -> Values:
        """Return what calling a value gives; what is derived makes the type that it is called on."""
        if value.kind == Kind.EXTERNAL_METHOD and value.name in _MAKERS and value.parts and value.parts[0]:
            owner = value.parts[0][0]
            if owner.kind == Kind.CLASS:
                return (owner._replace(kind=Kind.INSTANCE),)
        return super().result(value)

    @memoized
    def base_values(self, place: Place) -> Values:
        """Return the traits that a type implements, and those that a trait extends."""
        found = list(super().base_values(place))
        for each in self.definitions.named(self.definitions.last_name(place)):
            if self.definitions.kind(each) == "impl" and any(v[1:3] == place for v in self._of_impl(each)):
                for base in self.definitions.stated(each, facts.INHERITS):
                    head = head_of_type(base.value)
                    found += self.named_type(Position(*each, 0), head) or [UNKNOWN_EXTERNAL]
        return tuple(dict.fromkeys(found)) or (UNKNOWN_EXTERNAL,)

    def named_type(self, where: Position, head: str) -> Values:
        if head == "Self":
            return self._own_type(where, Kind.CLASS)
        first, _, rest = head.partition(".")
        if rest and "." not in rest and (bounds := self._bounds(where, first)):
            return self.all_of(bounds, lambda bound: self._associated(bound, rest))
        return () if first == "Self" else super().named_type(where, head)

    def _bounds(self, where: Position, name: str) -> Values:
        """Return what says which types belong to ``Self`` or to a parameter: a trait, or an ``impl``'s."""
        if name == "Self":
            return self._own_type(where, Kind.CLASS)
        parameter = self.type_parameter(where, name)
        if parameter is None or not parameter[2]:
            return ()
        return tuple(
            value._replace(kind=Kind.CLASS)
            for value in self.instances(Position(*parameter[0], 0), parameter[2])
            if value.kind == Kind.INSTANCE
        )

    def _associated(self, owner: Value, name: str) -> Values:
        """Return the type that a trait or a type calls ``name``: its own, or that of a trait above."""
        for place in self.order(owner.place)[0]:
            owned = self.definitions.owned(name, place)
            if found := tuple(Value(Kind.CLASS, *each) for each in owned if self.definitions.is_type(each)):
                return found if len(found) == 1 else ()
        return ()

    def part(self, value: Value, number: int) -> Values:
        if value.kind == Kind.EXTERNAL and value.name.endswith("Map") and len(value.parts) == 2:
            return (Value(Kind.EXTERNAL, name="tuple", parts=value.parts),)
        return super().part(value, number)

    def top(self, where: Position, name: str, *, is_called: bool = False) -> Values:
        """Return what a path begins with: in the module, a crate, or built in."""
        crate, module = self._module_at(where)
        if name == "crate":
            return (_space(crate, ""),)
        if name == facts.HERE:
            return (_space(crate, module),)
        if name == "super":
            return (_space(crate, module.rpartition(".")[0]),) if module else ()
        if found := self._in_module(crate, module, name, is_called=is_called):
            return found
        if name in self._crates:
            return (_space(self._crates[name], ""),)
        if is_called and (macros := self._macros(crate, name)):
            return macros
        return (UNKNOWN_EXTERNAL,) if name in _LIBRARY else ()

    def of_module(self, space: Value, name: str, where: Position) -> Values:
        crate, _, module = space.name.partition("|")
        if name == "super":
            return (_space(crate, module.rpartition(".")[0]),)
        return self._in_module(crate, module, name, is_called=None)

    def of_import(self, file: int, each: Binding) -> Values:
        return self._at_path(Position(file, each.definition, 0), each.value)

    def are_same_declaration(self, functions: list[Place]) -> bool:
        """Return True if functions are variants under ``cfg``: of one module, or of one type's blocks."""
        return len({(self._module_of(place), self.owner(place)) for place in functions}) == 1

    def _macros(self, crate: str, name: str) -> Values:
        """Return the only macro of a name that a crate has: its modules see it without a path."""
        found = [
            place
            for place in self.definitions.named(name)
            if self.definitions.kind(place) == "macro" and self._files[place[0]][0] == crate
        ]
        return (Value(Kind.FUNCTION, *found[0]),) if len(found) == 1 else ()

    # Modules.

    def _in_module(self, crate: str, module: str, name: str, *, is_called: bool | None) -> Values:
        found = self._own(crate, module, name)
        if is_called is False:
            found = tuple(value for value in found if value.kind == Kind.CLASS) or found
        below = f"{module}.{name}" if module else name
        spaces = (_space(crate, below),) if (crate, below) in self._modules else ()
        if found:
            return (*found, *spaces)
        # A module and what it gives may share a name: ``pub use self::read::read``.
        return (*self._used(crate, module, name), *spaces)

    def _own(self, crate: str, module: str, name: str) -> Values:
        """Return the functions and types of a name that a module itself holds."""
        kinds, tops = TYPE_KINDS | FUNCTIONS, self.tops((crate, module), name)
        return tuple(self.definitions.value_of(p) for p in tops if self.definitions.kind(p) in kinds)

    def space_of(self, place: Place) -> tuple[str, str] | None:
        """Return the crate and the module of what is inside of nothing else."""
        parent = self.definitions[place].parent
        is_top = parent < 0 or self.definitions.kind((place[0], parent)) == "module"
        return self._module_of(place) if is_top else None

    @memoized
    def _used(self, crate: str, module: str, name: str) -> Values:
        """Return what a module calls ``name`` by its ``use`` declarations."""
        stars: list[Values] = []
        for file, row in self._modules.get((crate, module), ()):
            view = self.views[file]
            where = Position(file, row, 0)
            for each in view.bound.get((row, name), ()):
                if each.kind in (facts.IMPORT, facts.RENAMED) and (
                    found := self._at_path(where, each.value, name)
                ):
                    return found
            stars += [self._at_path(where, each.value) for each in view.of_scope.get((row, facts.STAR), ())]
        for spaces in stars:
            for space in spaces:
                if space.kind == Kind.MODULE and space.name != f"{crate}|{module}":
                    other, _, inner = space.name.partition("|")
                    if found := self._in_module(other, inner, name, is_called=None):
                        return found
        return ()

    def _at_path(self, where: Position, path: str, own: str = "") -> Values:
        """Return what a path in a ``use`` leads to; ``own`` is what it gives a name to."""
        first, *rest = path.split(".")
        if first == own and first in self._crates:
            values: Values = (_space(self._crates[first], ""),)
        else:
            values = self.top(where, first) if first != own or rest else ()
        if not values:
            return (UNKNOWN_EXTERNAL,)
        for name in rest:
            values = tuple(found for value in values for found in self.member(value, name, where))
        return values

    def _module_at(self, where: Position) -> tuple[str, str]:
        return self._module_of((where.file, where.row), is_inside=True)

    def _module_of(self, place: Place, *, is_inside: bool = False) -> tuple[str, str]:
        """Return the crate and the path of the module that holds a definition, or that is around a place."""
        crate, path = self._files[place[0]]
        view = self.views[place[0]]
        row = place[1] if is_inside else (view.definitions[place[1]].parent if place[1] >= 0 else -1)
        around = [view.definitions[each] for each in view.around(row)]
        inner = [each.name for each in around if each.kind == "module"]
        return crate, ".".join(part for part in (path, *reversed(inner)) if part)

    @cached_property
    def _crates(self) -> dict[str, str]:
        """The crates of the repository: the folder of each by its name."""
        found: dict[str, str] = {}
        for file, path in enumerate(self.index.paths):
            is_manifest = (
                path.rpartition("/")[2] == "Cargo.toml" and int(self.index.files.size[file]) <= _MAX_CHARS
            )
            if is_manifest and (name := _crate_name(self.index.sources.text(file))):
                found.setdefault(name, path.rpartition("/")[0] + "/")
        return found

    @cached_property
    def _files(self) -> dict[int, tuple[str, str]]:
        """The crate of each file, and the path of its module."""
        folders = sorted(self._crates.values(), key=len, reverse=True)
        found: dict[int, tuple[str, str]] = {}
        for file in self.files:
            path = self.index.paths[file]
            folder = next((each for each in folders if f"{path}".startswith(each.lstrip("/"))), "/")
            inside = path[len(folder.lstrip("/")) :]
            if inside.startswith("src/") and not inside.startswith("src/bin/"):
                parts = inside.removesuffix(".rs").split("/")[1:]
                if parts[-1] in ("mod", "lib", "main"):
                    parts.pop()
                found[file] = (folder, ".".join(parts))
            else:
                # A test, an example or a program is a crate of its own.
                found[file] = (path, "")
        return found

    @cached_property
    def _modules(self) -> dict[tuple[str, str], list[tuple[int, int]]]:
        """Where each module is written: its files, and its blocks in others."""
        found: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for file in self.files:
            found.setdefault(self._files[file], []).append((file, -1))
        for place in self.definitions.of_kind("module"):
            if self.definitions[place].end > self.definitions[place].start:
                found.setdefault(self._module_of(place, is_inside=True), []).append(place)
        return {module: sorted(places) for module, places in found.items()}


def _crate_name(manifest: str) -> str:
    """Return what ``use`` calls the crate of a ``Cargo.toml``, ``""`` where it has none."""
    try:
        tables = tomllib.loads(manifest)
    except (ValueError, RecursionError):  # No TOML; a number that is too long, and tables in one another.
        return ""
    for table in ("lib", "package"):
        named = tables.get(table)
        if isinstance(named, dict) and isinstance(name := named.get("name"), str):
            return name.replace("-", "_")
    return ""


def _space(crate: str, module: str) -> Value:
    return Value(Kind.MODULE, name=f"{crate}|{module}")


RESOLVER: Final = Rust
