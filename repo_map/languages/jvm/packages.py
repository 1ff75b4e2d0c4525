"""What the packages of Java and Kotlin hold: types, and functions and properties of no type."""

from __future__ import annotations

import re
import weakref
from functools import cached_property
from typing import TYPE_CHECKING

from repo_map.parsing.facts_model import EXPORTED, RECEIVER
from repo_map.relations.core.values import CLASS, FUNCTION, Value, Values
from repo_map.relations.model import Place
from repo_map.relations.text_search import shared_folders

if TYPE_CHECKING:
    from repo_map.relations.core.static import StaticResolver


class Packages:
    """The packages of the files of one resolver."""

    def __init__(self, rules: StaticResolver) -> None:
        # Weakly: a ring would keep the index alive until the collector runs.
        self._rules: StaticResolver = weakref.proxy(rules)
        self._views = rules.views
        self._index = rules.index

    def is_kotlin(self, file: int) -> bool:
        """Tell whether a file is written in Kotlin."""
        return self._index.language(file) == "kotlin"

    @cached_property
    def first_parts(self) -> frozenset[str]:
        """The first parts of the names of our packages."""
        return frozenset(self._rules.package(file).partition(".")[0] for file in self._rules.files) - {""}

    @cached_property
    def facades(self) -> frozenset[tuple[str, str]]:
        """Packages and names of the classes that hold, for Java, what Kotlin's files define of no type."""
        found = set()
        for file in filter(self.is_kotlin, self._rules.files):
            stated = self._views[file].of_scope.get((-1, EXPORTED), ())
            stem = self._index.paths[file].rpartition("/")[2].partition(".")[0]
            name = stated[0].name if stated else f"{stem[:1].upper()}{stem[1:]}Kt"
            found.add((self._rules.package(file), name))
        return frozenset(found)

    def types(self, package: str, name: str, seen_from: int) -> Values:
        """Return the type of a name in a package; of several modules' the one nearest to a file."""
        found = [
            place
            for place in self._rules.definitions.types_named(name)
            if self._views[place[0]].definitions[place[1]].parent < 0
            and self._rules.package(place[0]) == package
        ]
        if len(found) > 1:
            paths = self._index.paths
            found = [max(found, key=lambda place: shared_folders(paths[seen_from], paths[place[0]]))]
        return tuple(Value(CLASS, *place) for place in found)

    def qualified(self, name: str, seen_from: int) -> Values:
        """Return the type of a full name (``a.b.Outer.Inner``)."""
        parts = name.split(".")
        for at in range(len(parts) - 1, -1, -1):
            found = self.types(".".join(parts[:at]), parts[at], seen_from)
            for inner in parts[at + 1 :]:
                found = tuple(
                    each
                    for value in found
                    for each in self._rules.inner_types(self._views[value.file], value.row, inner)
                )
            if found:
                return found
        return ()

    def functions(self, package: str, name: str, seen_from: int) -> Values:
        """Return the functions of a package that are of no type, those of the file first."""
        definitions = self._rules.definitions

        def read() -> Values:
            return tuple(
                Value(FUNCTION, *place)
                for place in definitions.named(name)
                if definitions.is_function(place)
                and self._views[place[0]].definitions[place[1]].parent < 0
                and self._rules.package(place[0]) == package
                and not definitions.stated(place, RECEIVER)
            )

        found = self._rules.memo.memoized(("functions", package, name), read)
        own = tuple(value for value in found if value.file == seen_from)
        if own or len({value.file for value in found}) < 2:
            return own or found
        return tuple(value for value in found if not self._is_private(value.place))

    def _is_private(self, place: Place) -> bool:
        """Tell whether a function is seen in its own file alone."""
        definition = self._views[place[0]].definitions[place[1]]
        lines = self._index.sources.text(place[0]).split("\n")[definition.start - 1 : definition.sig_end]
        return re.search(r"\bprivate\b", "\n".join(lines).partition("fun ")[0]) is not None

    def variables(self, package: str, name: str) -> Values:
        """Return what the properties of a package are that are of no type."""
        found: list[Value] = []
        for place in self._rules.definitions.named(name):
            definition = self._views[place[0]].definitions[place[1]]
            is_own = definition.kind == "constant" and definition.parent < 0
            if is_own and self._rules.package(place[0]) == package:
                found += self._rules.variable(place, name)
        return tuple(dict.fromkeys(found))
