"""The facts of one file, ready to be asked."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from repo_map.cache import LRUCache
from repo_map.languages.kinds import CONTAINERS, FUNCTIONS, TYPES
from repo_map.parsing import facts_model as facts
from repo_map.parsing.facts_model import Binding, Site
from repo_map.parsing.values import Definition

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.index.schema import Bindings, Sites

SCOPES: Final = FUNCTIONS | CONTAINERS | {"type"}
"""Kinds of definition that names can be bound in."""
CLASSES: Final = TYPES | {"type"}
"""Kinds that have members, or the members of what they are another name for."""
_NAMES: Final = frozenset({facts.IMPORT, facts.RENAMED, facts.ASSIGNED, facts.DECLARED}) | {
    *(facts.EXCLUDED, facts.NARROWED, facts.EXPORTED)
}
_MAX_ROWS: Final = 150_000


_Key = TypeVar("_Key")
_Item = TypeVar("_Item")


def grouped(pairs: Iterable[tuple[_Key, _Item]]) -> dict[_Key, list[_Item]]:
    """Return items by their keys, those of one key in order."""
    found: dict[_Key, list[_Item]] = {}
    for key, item in pairs:
        found.setdefault(key, []).append(item)
    return found


class FileView:
    """Definitions, bindings and sites of one file, grouped as scopes see them."""

    def __init__(self, index: Index, file: int) -> None:
        self.file = file
        self._index = index
        self.definitions: tuple[Definition, ...] = index.definitions(file)

    def __len__(self) -> int:
        start = self._index.bindings.file_start
        return 1 + len(self.definitions) + int(start[self.file + 1] - start[self.file])

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """Every use of a name, by line."""
        table = self._index.sites
        rows = slice(int(table.file_start[self.file]), int(table.file_start[self.file + 1]))
        return tuple(sites_at(self._index, np.arange(rows.start, rows.stop)))

    @cached_property
    def sites_by_line(self) -> dict[int, list[Site]]:
        """The uses of names in each line."""
        return grouped((site.line, site) for site in self.sites)

    @cached_property
    def bindings(self) -> tuple[Binding, ...]:
        """Every binding, by line."""
        index, table = self._index, self._index.bindings
        rows = slice(int(table.file_start[self.file]), int(table.file_start[self.file + 1]))
        return tuple(map(Binding._make, _rows(index, table, table.value, rows)))

    def around(self, row: int) -> Iterator[int]:
        """Yield a definition and those around it, the innermost first."""
        while row >= 0:
            yield row
            row = self.definitions[row].parent

    def innermost(self, row: int, kinds: Container[str]) -> int:
        """Return the innermost definition of some kinds at or around one, -1 where there is none."""
        while row >= 0 and self.definitions[row].kind not in kinds:
            row = self.definitions[row].parent
        return row

    def scope(self, row: int) -> int:
        """Return the innermost scope at or around a definition, -1 for the file."""
        return self._scopes[row] if row >= 0 else -1

    def outer(self, row: int) -> int:
        """Return the scope around a scope."""
        return self.scope(self.definitions[row].parent) if row >= 0 else -1

    def class_around(self, row: int) -> int:
        """Return the innermost class at or around ``row``, -1 where there is none."""
        return self._classes[row] if row >= 0 else -1

    @cached_property
    def _scopes(self) -> list[int]:
        return self._nearest(SCOPES)

    @cached_property
    def _classes(self) -> list[int]:
        return self._nearest(CLASSES)

    def _nearest(self, kinds: Container[str]) -> list[int]:
        """Return for each definition the innermost one of some kinds at or around it."""
        found: list[int] = []
        for row, (_, kind, parent, *_) in enumerate(self.definitions):
            found.append(row if kind in kinds else found[parent] if parent >= 0 else -1)
        return found

    @cached_property
    def bound(self) -> dict[tuple[int, str], list[Binding]]:
        """The bindings of each name in each scope, by line; fields are not among them."""
        bound = (each for each in self.bindings if each.kind in _NAMES)
        return grouped(((self.scope(each.definition), each.name), each) for each in bound)

    @cached_property
    def fields(self) -> dict[tuple[int, str], list[Binding]]:
        """The bindings of each field of each class, by line."""
        fields = (each for each in self.bindings if each.kind in (facts.FIELD, facts.FIELD_TYPE))
        return grouped(((self.class_around(each.definition), each.name), each) for each in fields)

    @cached_property
    def of_scope(self) -> dict[tuple[int, int], list[Binding]]:
        """The bindings of each kind that are stated of each scope itself: bases, returns, decorators."""
        return grouped(((self.scope(each.definition), each.kind), each) for each in self.bindings)

    @cached_property
    def stated(self) -> dict[tuple[int, int], list[Binding]]:
        """The bindings of each kind that are stated of each definition."""
        return grouped(((each.definition, each.kind), each) for each in self.bindings)

    @cached_property
    def members(self) -> dict[tuple[int, str], list[int]]:
        """The rows of the definitions of each last name directly in each scope."""
        return grouped(
            ((self.scope(each.parent), each.name.rpartition(".")[2]), row)
            for row, each in enumerate(self.definitions)
        )


def sites_at(index: Index, rows: NDArray[np.int64]) -> list[Site]:
    """Return the sites at rows of ``index.sites``."""
    return list(map(Site._make, _rows(index, index.sites, index.sites.receiver, rows)))


def _rows(
    index: Index, table: Sites | Bindings, expressions: NDArray[np.int32], rows: NDArray[np.int64] | slice
) -> Iterator[tuple[Any, ...]]:
    """Yield rows of a table with their names and expressions as text."""
    numbers = (table.definition, table.line, table.kind, table.indent)
    return zip(
        index.strings.many(table.name[rows]),
        index.expressions.many(expressions[rows]),
        *(column[rows].tolist() for column in numbers),
        strict=True,
    )


class FileViews:
    """The views of the files asked for last."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._cached = LRUCache[int, FileView](_MAX_ROWS, len)

    def __getitem__(self, file: int) -> FileView:
        view = self._cached.get(file)
        if view is None:
            view = FileView(self._index, file)
            self._cached.put(file, view)
        return view
