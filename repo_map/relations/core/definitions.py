"""The definitions of one family of languages, by name and by owner, and what is stated of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final
from weakref import WeakMethod

import numpy as np

from repo_map.arrays import distinct
from repo_map.languages.kinds import FUNCTIONS
from repo_map.parsing import facts_model as facts
from repo_map.parsing.expressions import Parameters, decode_parameters
from repo_map.parsing.facts_model import Binding
from repo_map.parsing.values import Definition
from repo_map.relations.core.memo import Memo, cached, memoized
from repo_map.relations.core.values import TYPE_KINDS, Kind, Value
from repo_map.relations.file_facts import FileViews, grouped
from repo_map.relations.model import Place

if TYPE_CHECKING:
    from repo_map.index.index import Index

_NAMESAKES_A_STEP: Final = 16
"""Definitions of one name that are looked through in the time of a step."""


class Definitions:
    """Finds the definitions in some files of an index."""

    def __init__(
        self, index: Index, files: Sequence[int], memo: Memo, owner: Callable[[Place], Place | None]
    ) -> None:
        """``owner`` tells the type that a definition is a member of."""
        self.memo = memo
        self._index = index
        self._views = index.memo(FileViews)
        self.files = files
        self._among = frozenset(files)
        # The resolver has this object: a reference back would keep a closed index until a collection.
        self._owner = WeakMethod(owner)

    def named(self, name: str) -> tuple[Place, ...]:
        """Return the definitions of a last name, in the order of the repository."""
        found = self._named(name)
        self.memo.charge(1 + len(found) // _NAMESAKES_A_STEP)
        return found

    @cached
    def _named(self, name: str) -> tuple[Place, ...]:
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
            if file in self._among
        )

    @cached_property
    def _rows(self) -> dict[str, tuple[int, ...]]:
        """The ids in ``index.strings`` of the definitions of each last name that is not the whole name."""
        index = self._index
        found: dict[str, list[int]] = {}
        for number in distinct(index.symbols.name).tolist():
            whole = index.strings[number]
            last = whole.rpartition(".")[2]
            if last != whole:
                found.setdefault(last, []).append(number)
        return {name: tuple(numbers) for name, numbers in found.items()}

    @cached
    def methods_called(self, name: str) -> tuple[Place, ...]:
        """Return the methods of exactly this name, in the order of the repository."""
        return tuple(
            place for place in self._named(name) if self[place].name == name and self.kind(place) == "method"
        )

    def types_named(self, name: str) -> Iterator[Place]:
        """Yield the types of a last name."""
        return filter(self.is_type, self.named(name))

    def of_kind(self, kind: str) -> Iterator[Place]:
        """Yield the definitions of a kind, in the order of the repository."""
        number, table = self._index.kinds.get(kind), self._index.symbols
        for file in self.files if number is not None else ():
            first, last = int(table.file_start[file]), int(table.file_start[file + 1])
            for row in (table.kind[first:last] == number).nonzero()[0].tolist():
                yield file, row

    def owned(self, name: str, owner: Place) -> Sequence[Place]:
        """Return the members of a type that bear a last name."""
        by_owner = self._by_owner(name)
        return by_owner.get(owner, ()) if by_owner else ()

    @memoized
    def _by_owner(self, name: str) -> dict[Place | None, list[Place]]:
        """Return the definitions of a last name by the types that they are members of."""
        owner = self._owner()
        assert owner is not None, "the resolver that asks is there"
        return grouped((owner(place), place) for place in self.named(name))

    # Of one definition.

    def __getitem__(self, place: Place) -> Definition:
        return self._views[place[0]].definitions[place[1]]

    def is_type(self, place: Place) -> bool:
        """Return True if a definition is a type."""
        return self._views[place[0]].definitions[place[1]].kind in TYPE_KINDS

    def is_function(self, place: Place) -> bool:
        """Return True if a definition is a function or method."""
        return self._views[place[0]].definitions[place[1]].kind in FUNCTIONS

    def kind(self, place: Place) -> str:
        """Return the kind of a definition."""
        return self._views[place[0]].definitions[place[1]].kind

    def last_name(self, place: Place) -> str:
        """Return a definition's name without what it is a member of."""
        return self[place].name.rpartition(".")[2]

    def value_of(self, place: Place) -> Value:
        """Return a definition of a function or a type as a value."""
        return Value(Kind.CLASS if self.is_type(place) else Kind.FUNCTION, *place)

    def stated(self, place: Place, kind: int) -> list[Binding]:
        """Return what is stated of a definition itself."""
        return self._views[place[0]].stated.get((place[1], kind), [])

    def parameters(self, place: Place) -> Parameters | None:
        """Return what a function takes, None where that is not written."""
        found = self.stated(place, facts.PARAMETERS)
        return decode_parameters(found[0].name, found[0].value) if found else None
