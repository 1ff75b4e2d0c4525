"""What names mean in Go: packages as folders of a module, receivers, embedded types, interfaces."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.registry import vocabulary
from repo_map.parsing.facts_model import IMPORT, RENAMED, STAR, Binding
from repo_map.relations.core.memo import cached, memoized
from repo_map.relations.core.resolver import Resolver
from repo_map.relations.core.values import TYPE_KINDS, UNKNOWN_EXTERNAL, Kind, Position, Value, Values
from repo_map.relations.file_facts import grouped
from repo_map.relations.model import Place

_BUILT_IN: Final = vocabulary("go", "types", "functions")
_GO_MOD: Final = re.compile(r"^module\s+\"?([^\s\"]+)", re.M)
_VERSION: Final = re.compile(r"v\d+\Z")


class Go(Resolver):
    """The resolver of Go."""

    common = vocabulary("go", "members")

    def owner(self, place: Place) -> Place | None:
        """Return the type of a method's receiver, or the type around a member."""
        view = self.views[place[0]]
        definition = view.definitions[place[1]]
        receiver = definition.name.rpartition(".")[0]
        if not receiver or definition.kind != "method":
            return super().owner(place)
        package = self._package(place[0])
        for each in self.definitions.types_named(receiver):
            if self.views[each[0]].definitions[each[1]].parent < 0 and self._package(each[0]) == package:
                return each
        return None

    def top(self, where: Position, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is: of the package, an import of the file, or built in."""
        if found := self._in_package(self._package(where.file), name):
            return found
        if (path := self._imports(where.file).get(name)) is not None:
            return (self._space(path),)
        for each in self.views[where.file].of_scope.get((-1, STAR), ()):
            space = self._space(each.value)
            if space.kind == Kind.MODULE and (found := self.of_module(space, name, where)):
                return found
        return (UNKNOWN_EXTERNAL,) if name in _BUILT_IN else ()

    def of_module(self, space: Value, name: str, where: Position) -> Values:
        folder, _, package = space.name.rpartition(":")
        return self._in_package((folder, package), name)

    def of_import(self, file: int, each: Binding) -> Values:
        """Return the first file of the package that an import names."""
        folder = self._folder_of(each.value)
        return (Value(Kind.MODULE, self._folders[folder][0]),) if folder is not None else ()

    def are_same_declaration(self, functions: list[Place]) -> bool:
        """Return True if functions are variants under build constraints: each in its own file."""
        owners = {
            (
                self._package(place[0]),
                self.definitions.last_name(owner) if (owner := self.owner(place)) else "",
            )
            for place in functions
        }
        return len({file for file, _ in functions}) == len(functions) and len(owners) == 1

    def space_of(self, place: Place) -> tuple[str, str] | None:
        """Return the folder and the package of a definition at the top of a file."""
        return self._package(place[0]) if self.definitions[place].parent < 0 else None

    @memoized
    def _in_package(self, package: tuple[str, str], name: str) -> Values:
        found: list[Value] = []
        for place in self.tops(package, name):
            definition = self.definitions[place]
            if definition.kind in TYPE_KINDS | FUNCTIONS and definition.name == name:
                found.append(self.definitions.value_of(place))
            elif definition.name == name:
                found += self.variable(place, name)
        return tuple(found)

    def _package(self, file: int) -> tuple[str, str]:
        """Return the folder of a file and the name of its package: tests may form one of their own."""
        return self.index.paths[file].rpartition("/")[0], self.package(file)

    @cached
    def _imports(self, file: int) -> dict[str, str]:
        """Return the packages that a file imports by what it calls them."""
        found: dict[str, str] = {}
        for each in self.views[file].bindings:
            if each.kind == RENAMED:
                found[each.name] = each.value
            elif each.kind == IMPORT:
                space = self._space(each.value)
                found[space.name.rpartition(":")[2] or _default_name(each.value)] = each.value
        return found

    def _space(self, path: str) -> Value:
        """Return the package at an import path, an external value where it is not here."""
        folder = self._folder_of(path)
        if folder is None:
            return UNKNOWN_EXTERNAL
        names = [self._package(file)[1] for file in self._folders[folder]]
        name = next((each for each in names if not each.endswith("_test")), names[0])
        return Value(Kind.MODULE, name=f"{folder}:{name}")

    def _folder_of(self, path: str) -> str | None:
        for module, root in self._modules:
            if path == module or path.startswith(module + "/"):
                folder = "/".join(part for part in (root, path[len(module) + 1 :]) if part)
                return folder if folder in self._folders else None
        return None

    @cached_property
    def _modules(self) -> tuple[tuple[str, str], ...]:
        """The path of each module and its folder, the longest path first."""
        found: dict[str, str] = {}
        for file, path in enumerate(self.index.paths):
            if path.rpartition("/")[2] != "go.mod":
                continue
            if named := _GO_MOD.search(self.index.sources.text(file)):
                found.setdefault(named[1], path.rpartition("/")[0])
        return tuple(sorted(found.items(), key=lambda each: -len(each[0])))

    @cached_property
    def _folders(self) -> dict[str, list[int]]:
        return grouped((self.index.paths[file].rpartition("/")[0], file) for file in self.files)


def _default_name(path: str) -> str:
    """Return what a package that is not here is most likely called."""
    *rest, last = path.split("/")
    if _VERSION.match(last) and rest:
        last = rest[-1]
    return last.partition(".")[0].removeprefix("go-")


RESOLVER: Final = Go
