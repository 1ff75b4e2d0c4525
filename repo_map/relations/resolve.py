"""What is asked of relations: who calls a definition, what it calls, overrides, tests and imports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.registry import language_named
from repo_map.parsing.facts_model import BASE_OF, CALL, SITE_KINDS, VALUE, Site
from repo_map.relations.families import FAMILIES
from repo_map.relations.file_facts import CLASSES, FileViews, sites_at
from repo_map.relations.model import Confidence, Family, Meaning, Place, Relation, RelationKind
from repo_map.worktree.file_kinds import FileFlag

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

_MOST_NAMESAKES: Final = 12
"""Definitions of one name that are still told as possible targets."""
_DEEPEST: Final = 12
_TEST_STEPS: Final = 3
_CALLS: Final = frozenset({RelationKind.CALL, RelationKind.DECORATOR})


class Relations:
    """The relations of one index, resolved as they are asked for; get it by ``relations_of``."""

    def __init__(self, index: RepoIndex) -> None:
        self._index = index
        self._views = index.derived(FileViews)
        self._meanings: dict[tuple[int, Site], Meaning] = {}

    def knows(self, file: int) -> bool:
        """Tell whether names of a file's language are resolved."""
        return self._family(file) is not None

    def surest(self, file: int) -> Confidence:
        """Return how sure what is written in a file can be: likely at best where its language is guessed."""
        is_guessed = self._are_guessed[int(self._index.files.language[file])]
        return Confidence.LIKELY if is_guessed else Confidence.RESOLVED

    # Asked of a definition.

    def callers_of(self, place: Place, least: Confidence = Confidence.RESOLVED) -> tuple[Relation, ...]:
        """Return the calls of a definition, in the order of the repository.

        A class is called where it is constructed; so is the method that initialises it.
        """
        return tuple(each for each in self.uses_of(place, least) if each.kind in _CALLS)

    def named_at(self, place: Place) -> int:
        """Return how many places bear a definition's name: what it costs to ask for its uses."""
        family = self._family(place[0])
        if family is None:
            return 0
        numbers = [self._index.strings.get(name) for name in family.names_of(place)]
        return sum(int(self._name_counts[number]) for number in numbers if number is not None)

    def uses_of(self, place: Place, least: Confidence = Confidence.RESOLVED) -> tuple[Relation, ...]:
        """Return the uses of a definition, calls among them, in the order of the repository."""
        family = self._family(place[0])
        if family is None:
            return ()
        found: list[Relation] = []
        targets = {place, *self._constructed_by(family, place)}
        names = frozenset(name for each in targets for name in family.names_of(each))
        for file, site in self._sites(names, family):
            if relation := self._relation(file, site, (place, targets), least):
                found.append(relation)
        if self._views[place[0]].definitions[place[1]].kind in CLASSES:
            found += (
                each for each in self._named_in_receivers(family, place, names) if each.confidence >= least
            )
            found.sort(key=lambda each: (each.source[0], each.line))
        return tuple(dict.fromkeys(found))

    def _named_in_receivers(self, family: Family, place: Place, names: frozenset[str]) -> Iterator[Relation]:
        """Yield the sites where a class stands before a dot: ``Color.RED``, ``Route.of()``."""
        index = self._index
        either = "|".join(map(re.escape, sorted(names)))
        named = re.compile(rf"((?:[^\W\d]\w*\.)*)({either})(?=\Z|[.\[/])")
        numbers = [number for number, text in enumerate(index.expressions) if named.match(text)]
        rows = np.flatnonzero(np.isin(index.sites.receiver, numbers))
        files = np.searchsorted(index.sites.file_start, rows, side="right") - 1
        for file, site in zip(files.tolist(), sites_at(index, rows), strict=True):
            if self._family(file) is family and (before := named.match(site.receiver)):
                before_it = before[1].removesuffix(".")
                inner = site._replace(name=before[2], receiver=before_it, kind=VALUE)
                meaning = self.meaning(file, inner)
                if place in meaning.targets:
                    source, sure = (file, site.definition), self._sure(file, meaning)
                    yield Relation(RelationKind.VALUE, source, place, site.line, sure)

    def calls_in(self, place: Place, least: Confidence = Confidence.RESOLVED) -> tuple[Relation, ...]:
        """Return what a definition calls, in source order; what is defined inside of it counts too."""
        return tuple(each for each in self.used_in(place, least) if each.kind in _CALLS)

    def used_in(self, place: Place, least: Confidence = Confidence.RESOLVED) -> tuple[Relation, ...]:
        """Return what a definition uses, in source order; what is defined inside of it counts too."""
        file, row = place
        family = self._family(file)
        if family is None:
            return ()
        view = self._views[file]
        inside = {row}
        for each, definition in enumerate(view.definitions):
            if definition.parent in inside:
                inside.add(each)
        found: list[Relation] = []
        for site in view.sites:
            if site.definition in inside:
                targets, confidence = self._targets(file, site, least)
                if confidence >= least:
                    found += (
                        Relation(_KINDS[site.kind], (file, site.definition), target, site.line, confidence)
                        for target in targets
                        if target not in ((file, each) for each in inside) or target == place
                    )
        return tuple(dict.fromkeys(found))

    def overrides_of(self, place: Place) -> tuple[Relation, ...]:
        """Return the methods that a method overrides or implements, nearest first."""
        return tuple(
            Relation(RelationKind.OVERRIDE, place, above, self._line(place), self.surest(place[0]))
            for owner in self.classes_above(self._owner(place))
            for above in self._members(owner, self._last_name(place))
        )

    def overridden_by(self, place: Place) -> tuple[Relation, ...]:
        """Return the methods that override or implement a method, in the order of the repository."""
        found = [
            Relation(RelationKind.OVERRIDE, below, place, self._line(below), self.surest(below[0]))
            for owner in self.classes_below(self._owner(place))
            for below in self._members(owner, self._last_name(place))
        ]
        return tuple(sorted(found, key=lambda each: each.source))

    def implementations_of(self, place: Place) -> tuple[Relation, ...]:
        """Return the classes that extend or implement a class directly, in the order of the repository."""
        return tuple(
            Relation(RelationKind.BASE, below, place, self._line(below), self.surest(below[0]))
            for below in self._direct_below(place)
        )

    def classes_above(self, place: Place | None) -> tuple[Place, ...]:
        """Return the classes that a class extends, directly or not, nearest first."""
        family = self._family(place[0]) if place else None
        if place is None or family is None:
            return ()
        found: dict[Place, None] = {}
        level: Iterable[Place] = (place,)
        for _ in range(_DEEPEST):
            level = [
                base for each in level for base in family.bases(each) if base not in found and base != place
            ]
            found.update(dict.fromkeys(level))
        return tuple(found)

    def classes_below(self, place: Place | None) -> tuple[Place, ...]:
        """Return the classes that extend a class, directly or not, nearest first."""
        if place is None:
            return ()
        found: dict[Place, None] = {}
        level: Iterable[Place] = (place,)
        for _ in range(_DEEPEST):
            level = [below for each in level for below in self._direct_below(each) if below not in found]
            found.update(dict.fromkeys(level))
        found.pop(place, None)
        return tuple(found)

    def tests_reaching(self, place: Place, steps: int = _TEST_STEPS) -> tuple[Relation, ...]:
        """Return the calls in test files from which a definition is reached in at most ``steps`` calls."""
        found: dict[Place, Relation] = {}
        seen = {place}
        level = [place]
        for _ in range(steps):
            further: list[Place] = []
            for target in level:
                for each in self.callers_of(target, self.surest(target[0])):
                    if int(self._index.files.flags[each.source[0]]) & FileFlag.TEST:
                        found.setdefault(each.source, each._replace(kind=RelationKind.TEST, target=place))
                    elif each.source not in seen and each.source[1] >= 0:
                        seen.add(each.source)
                        further.append(each.source)
            level = further
        return tuple(found.values())

    def importers_of(self, file: int) -> tuple[Relation, ...]:
        """Return the imports of a file, in the order of the repository."""
        return self._importers.get(file, ())

    def meaning(self, file: int, site: Site) -> Meaning:
        """Return what a site means."""
        key = (file, site)
        found = self._meanings.get(key)
        if found is None:
            family = self._family(file)
            found = family.meaning(file, site) if family is not None else Meaning()
            self._meanings[key] = found
        return found

    # Underneath.

    @cached_property
    def _name_counts(self) -> NDArray[np.int64]:
        """Number of sites by the name that they bear, shape (strings,)."""
        return np.bincount(self._index.sites.name, minlength=len(self._index.strings))

    @cached_property
    def _families(self) -> tuple[Family | None, ...]:
        """The family of each language of the index."""
        names = [language_named(language).family if language else "" for language in self._index.languages]
        made = {name: FAMILIES[name](self._index) for name in sorted(set(names)) if name in FAMILIES}
        return tuple(made.get(name) for name in names)

    @cached_property
    def _are_guessed(self) -> tuple[bool, ...]:
        """Whether each language of the index is one whose names are likely at best."""
        return tuple(language_named(language).is_guessed for language in self._index.languages)

    def _family(self, file: int) -> Family | None:
        return self._families[int(self._index.files.language[file])]

    def _sites(self, names: frozenset[str], family: Family) -> Iterator[tuple[int, Site]]:
        """Yield the sites of a family's files that bear one of some names, each with its file."""
        index = self._index
        numbers = [number for name in sorted(names) if (number := index.strings.get(name)) is not None]
        rows = np.flatnonzero(np.isin(index.sites.name, numbers))
        files = np.searchsorted(index.sites.file_start, rows, side="right") - 1
        for file, site in zip(files.tolist(), sites_at(index, rows), strict=True):
            if self._family(file) is family:
                yield file, site

    def _relation(
        self, file: int, site: Site, wanted: tuple[Place, set[Place]], least: Confidence
    ) -> Relation | None:
        """Return what a site does with the first place wanted, where it means one of them."""
        place, targets = wanted
        meant, confidence = self._targets(file, site, least)
        if confidence < least or targets.isdisjoint(meant):
            return None
        kind = _KINDS[site.kind]
        if place not in meant and kind not in _CALLS:
            return None  # A class that is named is not constructed.
        return Relation(kind, (file, site.definition), place, site.line, confidence)

    def _targets(self, file: int, site: Site, least: Confidence) -> tuple[tuple[Place, ...], Confidence]:
        """Return what a site means, or what it may mean where nothing written says so."""
        meaning = self.meaning(file, site)
        if meaning.targets or least == Confidence.RESOLVED:
            return meaning.targets, self._sure(file, meaning)
        family = self._family(file)
        if meaning.is_outside or not site.object or site.kind != CALL or family is None:
            return (), Confidence.POSSIBLE
        if site.name in family.common:
            return (), Confidence.POSSIBLE
        namesakes = [each for each in self._named(site.name) if self._family(each[0]) is family]
        if not namesakes or len(namesakes) > _MOST_NAMESAKES:
            return (), Confidence.POSSIBLE
        return tuple(namesakes), Confidence.LIKELY if len(namesakes) == 1 else Confidence.POSSIBLE

    def _sure(self, file: int, meaning: Meaning) -> Confidence:
        return Confidence.RESOLVED if meaning.is_certain else self.surest(file)

    def _named(self, name: str) -> list[Place]:
        """Return the methods of a name, in the order of the repository."""
        index = self._index
        number = index.strings.get(name)
        if number is None:
            return []
        found: list[Place] = []
        for row in np.flatnonzero(index.symbols.name == number).tolist():
            if index.kinds[int(index.symbols.kind[row])] == "method":
                file = int(np.searchsorted(index.symbols.file_start, row, side="right")) - 1
                found.append((file, row - int(index.symbols.file_start[file])))
        return found

    def _constructed_by(self, family: Family, place: Place) -> tuple[Place, ...]:
        """Return the classes whose construction calls a method: its own, and those that inherit it."""
        owner = self._owner(place)
        if owner is None or self._last_name(place) not in family.initialisers:
            return ()
        name = self._last_name(place)
        inheriting = [
            below
            for below in self.classes_below(owner)
            if next((each for each in (below, *self.classes_above(below)) if self._members(each, name)), None)
            == owner
        ]
        return (owner, *inheriting)

    def _direct_below(self, place: Place) -> tuple[Place, ...]:
        family = self._family(place[0])
        if family is None:
            return ()
        key = self._below.get(place)
        if key is not None:
            return key
        index, table = self._index, self._index.bindings
        numbers = [n for name in sorted(family.names_of(place)) if (n := index.strings.get(name)) is not None]
        rows = np.flatnonzero((table.kind == BASE_OF) & np.isin(table.name, numbers))
        files = np.searchsorted(table.file_start, rows, side="right") - 1
        found: dict[Place, None] = {}
        for file, row in zip(files.tolist(), table.definition[rows].tolist(), strict=True):
            below = (file, self._views[file].class_around(row))
            if self._family(file) is family and below[1] >= 0 and place in family.bases(below):
                found[below] = None
        self._below[place] = tuple(found)
        return self._below[place]

    @cached_property
    def _below(self) -> dict[Place, tuple[Place, ...]]:
        return {}

    def _owner(self, place: Place) -> Place | None:
        """Return the class that a definition is a member of."""
        view = self._views[place[0]]
        if place[1] < 0:
            return None
        owner = view.outer(place[1])
        return (place[0], owner) if owner >= 0 and view.definitions[owner].kind in CLASSES else None

    def _members(self, owner: Place, name: str) -> list[Place]:
        view = self._views[owner[0]]
        return [
            (owner[0], row)
            for row in view.members.get((owner[1], name), ())
            if view.definitions[row].kind in FUNCTIONS
        ]

    def _last_name(self, place: Place) -> str:
        return self._views[place[0]].definitions[place[1]].name.rpartition(".")[2]

    def _line(self, place: Place) -> int:
        return self._views[place[0]].definitions[place[1]].sig_start

    @cached_property
    def _importers(self) -> dict[int, tuple[Relation, ...]]:
        found: dict[int, list[Relation]] = {}
        for file in range(len(self._index)):
            if (family := self._family(file)) is not None:
                for imported, line in family.imported(file):
                    found.setdefault(imported, []).append(
                        Relation(RelationKind.IMPORT, (file, -1), (imported, -1), line, self.surest(file))
                    )
        return {file: tuple(relations) for file, relations in found.items()}


_KINDS: Final = tuple(RelationKind(kind) for kind in SITE_KINDS)


def relations_of(index: RepoIndex) -> Relations:
    """Return the relations of an index, which go with it."""
    return index.derived(Relations)
