"""The definitions of one family of languages, by name and by owner, and what is said of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from repo_map.languages.registry import language_named
from repo_map.parsing.facts_model import (
    ALIAS,
    BASE_OF,
    DECORATED,
    EXPORTED,
    PARAMETERS,
    RECEIVER,
    RENAMED,
    RETURN_TYPE,
    RETURNED,
    TYPE_PARAMETER,
    Binding,
)
from repo_map.relations.file_facts import CLASSES, FileViews
from repo_map.relations.memo import Memo
from repo_map.relations.model import Place
from repo_map.relations.values import FUNCTION, MOST_VALUES, TYPE_KINDS, TYPE_VALUE, Value, Values

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

_NAMESAKES_A_STEP: Final = 16
"""Definitions of one name that are looked through in the time of a step."""
_SAID: Final = frozenset(
    {ALIAS, BASE_OF, DECORATED, EXPORTED, PARAMETERS, RECEIVER, RETURNED, RETURN_TYPE, TYPE_PARAMETER}
)


class Definitions:
    """Finds the definitions of a family, and keeps what was found."""

    def __init__(self, index: RepoIndex) -> None:
        self._index = index
        self._views = index.derived(FileViews)
        family = type(self).__module__.rpartition(".")[2]
        numbers = [
            number for number, name in enumerate(index.languages) if language_named(name).family == family
        ]
        self.files: list[int] = np.flatnonzero(np.isin(index.files.language, numbers)).tolist()
        self.memo = Memo()

    def owner(self, place: Place) -> Place | None:
        """Return the type that a definition is a member of: by default the class around it."""
        view = self._views[place[0]]
        around = view.definitions[place[1]].parent
        if around >= 0 and view.definitions[around].kind in CLASSES:
            return (place[0], around)
        return None

    # By name.

    def named(self, name: str) -> tuple[Place, ...]:
        """Return the definitions of a last name, in the order of the repository."""
        found = self.memo.kept(("named", name), lambda: self._read_named(name))
        self.memo.charge(1 + len(found) // _NAMESAKES_A_STEP)
        return found

    def _read_named(self, name: str) -> tuple[Place, ...]:
        index = self._index
        numbers = list(self._rows.get(name, ()))
        if (number := index.strings.get(name)) is not None:
            numbers.append(number)
        rows = np.flatnonzero(np.isin(index.symbols.name, numbers)) if numbers else np.zeros(0, np.int64)
        starts = index.symbols.file_start
        files = (np.searchsorted(starts, rows, side="right") - 1).tolist()
        return tuple(
            (file, row - int(starts[file]))
            for file, row in zip(files, rows.tolist(), strict=True)
            if file in self._own
        )

    @cached_property
    def _rows(self) -> dict[str, tuple[int, ...]]:
        """The ids in ``index.strings`` of the definitions of each last name that is not the whole name."""
        index = self._index
        found: dict[str, list[int]] = {}
        for number in np.unique(index.symbols.name).tolist():
            whole = index.strings[number]
            last = whole.rpartition(".")[2]
            if last != whole:
                found.setdefault(last, []).append(number)
        return {name: tuple(numbers) for name, numbers in found.items()}

    @cached_property
    def _own(self) -> frozenset[int]:
        return frozenset(self.files)

    def kind(self, place: Place) -> str:
        """Return the kind of a definition."""
        return self._views[place[0]].definitions[place[1]].kind

    def last_name(self, place: Place) -> str:
        """Return a definition's name without what it is a member of."""
        return self._views[place[0]].definitions[place[1]].name.rpartition(".")[2]

    def value_of(self, place: Place) -> Value:
        """Return a definition of a function or a type as a value."""
        return Value(TYPE_VALUE if self.kind(place) in TYPE_KINDS else FUNCTION, *place)

    def typed_places(self, name: str) -> Iterator[Place]:
        """Yield the types of a last name."""
        return (place for place in self.named(name) if self.kind(place) in TYPE_KINDS)

    def said(self, place: Place, kind: int) -> list[Binding]:
        """Return what is said of a definition itself."""
        table = self.memo.kept(("said", place[0]), lambda: self._read_said(place[0]))
        return table.get((place[1], kind), [])

    def _read_said(self, file: int) -> dict[tuple[int, int], list[Binding]]:
        table: dict[tuple[int, int], list[Binding]] = {}
        for each in self._views[file].bindings:
            if each.kind in _SAID:
                table.setdefault((each.definition, each.kind), []).append(each)
        return table

    def _owned(self, name: str) -> dict[Place, tuple[Place, ...]]:
        """Return the definitions of a last name by the types that they are members of."""

        def read() -> dict[Place, tuple[Place, ...]]:
            found: dict[Place, list[Place]] = {}
            for place in self.named(name):
                if (owner := self.owner(place)) is not None:
                    found.setdefault(owner, []).append(place)
            return {owner: tuple(places) for owner, places in found.items()}

        return self.memo.once(("owned", name), read, {})

    def names_of(self, place: Place) -> frozenset[str]:
        """Return the names by which sites may use a definition."""
        name = self.last_name(place)
        return frozenset({name, *self._renamed.get(name, ())})

    @cached_property
    def _renamed(self) -> dict[str, frozenset[str]]:
        """The other names that imports give to each last name."""
        index, table = self._index, self._index.bindings
        found: dict[str, set[str]] = {}
        for row in np.flatnonzero(table.kind == RENAMED).tolist():
            last = index.expressions[int(table.value[row])].rpartition(".")[2]
            found.setdefault(last, set()).add(index.strings[int(table.name[row])])
        return {name: frozenset(others) for name, others in found.items()}

    def _all(self, values: Values, make: Callable[[Value], Iterable[Value]]) -> Values:
        return tuple(dict.fromkeys(each for value in values for each in make(value)))[:MOST_VALUES]
