"""What the packages of Java and Kotlin hold, types and what is of no type, and how each language sees it."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from repo_map.languages.kinds import FUNCTIONS
from repo_map.parsing.facts_model import (
    ASSIGNED,
    DECLARED,
    EXPORTED,
    IMPORT,
    RECEIVER,
    RENAMED,
    STAR,
    Binding,
)
from repo_map.relations.java import Java
from repo_map.relations.model import Place
from repo_map.relations.values import FUNCTION, SPACE, STRANGER, Value, Values, Where

CLOSED: Final = frozenset(
    {"String", "list", "int", "long", "char", "byte", "short", "double", "float", "boolean"}
)
"""Types that nothing else is an instance of."""


class JvmPackages(Java):
    """Finds what is imported or of the package, across both languages."""

    def _is_kotlin(self, file: int) -> bool:
        return self._index.languages[int(self._index.files.language[file])] == "kotlin"

    def read_imports(self, file: int) -> tuple[tuple[int, int], ...]:
        """Return the files that a file imports something of, each with the line where it does."""
        if not self._is_kotlin(file):
            return super().read_imports(file)
        found: dict[tuple[int, int], None] = {}
        where = Where(file, -1, 0)
        for each in self._views[file].bindings:
            if each.kind in (IMPORT, RENAMED):
                for value in self._at(each.value, where):
                    if value.file >= 0 and value.file != file:
                        found.setdefault((value.file, each.line), None)
        return tuple(found)

    # Outside of all types.

    def top(self, where: Where, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is outside of all functions: imported, or of the package."""
        if not self._is_kotlin(where.file):
            return self._top_of_java(where, name, is_called=is_called)
        view = self._views[where.file]
        imported = [each for each in view.bound.get((-1, name), ()) if each.kind in (IMPORT, RENAMED)]
        if imported:
            return self._all_of(imported, where, is_called=is_called) or (STRANGER,)
        if not is_called:
            for each in view.bound.get((-1, name), ()):
                if each.kind in (ASSIGNED, DECLARED):
                    return self._of_binding(view, each)
        if (found := self._unnamed(where, name, is_called=is_called)) or is_called:
            return found
        if name in self._first_parts:
            return (Value(SPACE, name=name),)
        return (STRANGER,) if name[:1].isupper() or name in CLOSED else ()

    def _unnamed(self, where: Where, name: str, *, is_called: bool) -> Values:
        """Return what is seen without its own import: of the package, or of one imported whole."""
        own = self._package(where.file)
        if found := self._of_package(own, name, where, is_called=is_called):
            return found
        for star in (each.value for each in self._views[where.file].told.get((-1, STAR), ())):
            if found := self._of_package(star, name, where, is_called=is_called):
                return found
            for value in self._qualified(star, where):
                if found := self._of_type(value, name, where, is_called=is_called):
                    return found
        return ()

    def _top_of_java(self, where: Where, name: str, *, is_called: bool) -> Values:
        """Return what a bare name is in Java, a class that holds a Kotlin file's functions among it."""
        found = super().top(where, name, is_called=is_called)
        if found not in ((), (STRANGER,)) or is_called:
            return found
        imported = self._views[where.file].bound.get((-1, name), ())
        packages = [self._package(where.file), *(each.value.rpartition(".")[0] for each in imported)]
        facades = [package for package in packages if (package, name) in self._facades]
        return (Value(SPACE, name=facades[0]),) if facades else found

    def _all_of(self, imported: list[Binding], where: Where, *, is_called: bool) -> Values:
        return tuple(
            dict.fromkeys(
                value for each in imported for value in self._at(each.value, where, is_called=is_called)
            )
        )

    def of_space(self, space: Value, name: str, where: Where) -> Values:
        """Return what a package calls ``name``."""
        return self._functions(space.name, name, where) or super().of_space(space, name, where)

    def _of_package(self, package: str, name: str, where: Where, *, is_called: bool) -> Values:
        if is_called:
            return self._functions(package, name, where)
        return self._in_package(package, name, where) or self._variables(package, name)

    def _at(self, path: str, where: Where, *, is_called: bool | None = None) -> Values:
        """Return what a full name is: a type, a function, a property, or a member of an object."""
        package, _, name = path.rpartition(".")
        found: Values = ()
        if is_called is not True:
            found = self._qualified(path, where) or self._variables(package, name)
        if is_called is not False:
            found = (*found, *self._functions(package, name, where))
        if found or not package:
            return found
        return self._all(
            self._qualified(package, where),
            lambda value: self._of_type(value, name, where, is_called=is_called is not False),
        )

    # Functions and properties of no type.

    def _functions(self, package: str, name: str, where: Where) -> Values:
        """Return the functions of a package that are of no type, those of the file first."""

        def read() -> Values:
            return tuple(
                Value(FUNCTION, *place)
                for place in self.named(name)
                if self.kind(place) in FUNCTIONS
                and self._views[place[0]].definitions[place[1]].parent < 0
                and self._package(place[0]) == package
                and not self.said(place, RECEIVER)
            )

        found = self.memo.once(("functions", package, name), read)
        own = tuple(value for value in found if value.file == where.file)
        if own or len({value.file for value in found}) < 2:
            return own or found
        return tuple(value for value in found if not self._is_private((value.file, value.row)))

    def _is_private(self, place: Place) -> bool:
        """Tell whether a function is seen in its own file alone."""
        definition = self._views[place[0]].definitions[place[1]]
        lines = self._index.text(place[0]).split("\n")[definition.start - 1 : definition.sig_end]
        return re.search(r"\bprivate\b", "\n".join(lines).partition("fun ")[0]) is not None

    def _variables(self, package: str, name: str) -> Values:
        """Return what the properties of a package are that are of no type."""
        found: list[Value] = []
        for place in self.named(name):
            definition = self._views[place[0]].definitions[place[1]]
            if definition.kind == "constant" and definition.parent < 0 and self._package(place[0]) == package:
                found += self.variable(place, name)
        return tuple(dict.fromkeys(found))

    def _static(self, owner: str, name: str, where: Where, *, is_called: bool) -> Values:
        package, _, last = owner.rpartition(".")
        if (package, last) in self._facades:
            return self._functions(package, name, where) if is_called else self._variables(package, name)
        return super()._static(owner, name, where, is_called=is_called)

    @cached_property
    def _facades(self) -> frozenset[tuple[str, str]]:
        """Packages and names of the classes that hold, for Java, what Kotlin's files define of no type."""
        found = set()
        for file in self.files:
            if self._is_kotlin(file):
                told = self._views[file].told.get((-1, EXPORTED), ())
                stem = self._index.paths[file].rpartition("/")[2].partition(".")[0]
                name = told[0].name if told else f"{stem[:1].upper()}{stem[1:]}Kt"
                found.add((self._package(file), name))
        return frozenset(found)
