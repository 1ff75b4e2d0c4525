"""What is asked of relations: who calls a definition, what it calls, overrides, tests and imports."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from repo_map.cache import LRUCache
from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.registry import language_named
from repo_map.parsing import facts_model as facts
from repo_map.parsing.facts_model import Site
from repo_map.relations.core.memo import BudgetExceededError, Question
from repo_map.relations.core.resolver import Resolver
from repo_map.relations.file_facts import CLASSES, FileViews, grouped, sites_at
from repo_map.relations.model import LEFT_OPEN, UNRESOLVED, Confidence, Meaning, Place, Relation, RelationKind

if TYPE_CHECKING:
    from repo_map.index.index import Index

_MAX_NAMESAKES: Final = 12
"""Definitions of one name that are still told as possible targets."""
_MAX_DEPTH: Final = 12
_TEST_STEPS: Final = 3
_SITES_AN_IMPORT: Final = 5
"""Uses of a name that take as many steps as an import does."""
_STEPS_OF_IMPORTS: Final = 100_000
"""For those of one file."""
_DOTTED: Final = re.compile(r"(?:[^\W\d]|\$)[\w$]*(?:\.(?:[^\W\d]|\$)[\w$]*)*")
_MAX_USES: Final = 200_000
"""Uses of names that are cached by what they mean."""
_CALLS: Final = frozenset({RelationKind.CALL, RelationKind.DECORATOR})


class _Uses(NamedTuple):
    """The uses of a name in the files of a family."""

    by_target: Mapping[Place, Sequence[tuple[int, Relation]]]
    """By what they mean or may mean, each with its row in ``index.sites``."""
    left_open: tuple[tuple[int, Site], ...]
    """File and site of those that are too involved to follow."""


class Relations:
    """The relations of one index, resolved as they are asked for; get it by ``relations_of``."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._views = index.memo(FileViews)
        self._meanings: dict[tuple[int, Site], Meaning] = {}
        self._uses = LRUCache[tuple[int, str, Confidence], _Uses](
            _MAX_USES, lambda uses: 1 + len(uses.left_open) + sum(map(len, uses.by_target.values()))
        )
        self._asked = threading.local()
        self._importers: dict[int, tuple[Relation, ...]] | None = None
        self._below: dict[Place, tuple[Place, ...]] = {}
        self.left_open = 0
        """Uses of names whose meaning was given up, since the index was read."""

    @contextmanager
    def asking(self) -> Iterator[Question]:
        """Answer all that is asked within as one question, whose steps and CPU time have one limit."""
        question: Question | None = getattr(self._asked, "question", None)
        if question is not None:
            yield question
            return
        question = self._asked.question = Question(self._index.limits.relation_seconds)
        try:
            yield question
        finally:
            self._asked.question = None
            self.left_open += question.left_open

    def knows(self, file: int) -> bool:
        """Return True if names of a file's language are resolved."""
        return self._family(file) is not None

    def max_confidence(self, file: int) -> Confidence:
        """Return how sure what is written in a file can be: likely at best where its language is guessed."""
        is_guessed = self._are_guessed[int(self._index.files.language[file])]
        return Confidence.LIKELY if is_guessed else Confidence.RESOLVED

    # Asked of a definition.

    def callers_of(self, place: Place, minimum: Confidence = Confidence.RESOLVED) -> tuple[Relation, ...]:
        """Return the calls of a definition, in the order of the repository.

        A class is called where it is constructed; so is the method that initialises it.
        """
        return tuple(each for each in self._uses_by_name(place, minimum) if each.kind in _CALLS)

    def occurrence_count(self, place: Place) -> int:
        """Return the number of occurrences of the name: an upper bound for the cost of its uses."""
        family = self._family(place[0])
        if family is None:
            return 0
        return sum(len(self._rows_named(name)) for name in family.names_of(place))

    def uses_of(self, place: Place, minimum: Confidence = Confidence.RESOLVED) -> tuple[Relation, ...]:
        """Return the uses of a definition, calls among them, in the order of the repository."""
        family = self._family(place[0])
        if family is None:
            return ()
        with self.asking():
            found = list(self._uses_by_name(place, minimum))
            if self._views[place[0]].definitions[place[1]].kind in CLASSES:
                receivers = self._named_in_receivers(family, place, self._names(family, place))
                found += (each for each in receivers if each.confidence >= minimum)
                found.sort(key=lambda each: (each.source[0], each.line))
        return tuple(dict.fromkeys(found))

    def _names(self, family: Resolver, place: Place) -> frozenset[str]:
        """Return the names by which a definition is used, and what its construction calls."""
        targets = (place, *self.constructed_by(place))
        return frozenset(name for each in targets for name in family.names_of(each))

    def _uses_by_name(self, place: Place, minimum: Confidence) -> tuple[Relation, ...]:
        """Return the uses of a definition by its own name, in the order of the repository."""
        family = self._family(place[0])
        if family is None:
            return ()
        with self.asking():
            targets = (place, *self.constructed_by(place))
            used: dict[int, Relation] = {}
            for name in self._names(family, place):
                by_target = self._uses_named(family, name, minimum)
                for row, use in (each for target in targets for each in by_target.get(target, ())):
                    used.setdefault(row, use)
        # A class that is named is not constructed.
        found = (used[row] for row in sorted(used) if used[row].target == place or used[row].kind in _CALLS)
        return tuple(dict.fromkeys(use._replace(target=place) for use in found))

    def _named_in_receivers(
        self, family: Resolver, place: Place, names: frozenset[str]
    ) -> Iterator[Relation]:
        """Yield the sites where a class stands before a dot: ``Color.RED``, ``Route.of()``."""
        index = self._index
        numbers = sorted({number for name in names for number in self._before_dots.get(name, ())})
        rows = np.flatnonzero(np.isin(index.sites.receiver, numbers))
        for _, file, site in self._sites_at(rows, family):
            parts = _dotted(site.receiver)
            last = max(at for at, part in enumerate(parts) if part in names)
            inner = site._replace(name=parts[last], receiver=".".join(parts[:last]), kind=facts.VALUE)
            meaning = self.meaning(file, inner)
            if place in meaning.targets:
                source, sure = (file, site.definition), self._confidence_of(file, meaning)
                yield Relation(RelationKind.VALUE, source, place, site.line, sure)

    @cached_property
    def _before_dots(self) -> dict[str, list[int]]:
        """The expressions, by number, that begin with names and dots, by each of these names."""
        texts = enumerate(self._index.expressions)
        return grouped((part, number) for number, text in texts for part in dict.fromkeys(_dotted(text)))

    def calls_in(self, place: Place, minimum: Confidence = Confidence.RESOLVED) -> tuple[Relation, ...]:
        """Return what a definition calls, in source order; what is defined inside of it counts too."""
        return tuple(each for each in self.used_in(place, minimum) if each.kind in _CALLS)

    def used_in(self, place: Place, minimum: Confidence = Confidence.RESOLVED) -> tuple[Relation, ...]:
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
        sites = [site for site in view.sites if site.definition in inside]
        with self.asking() as question:
            question.allow(len(sites))
            found = dict.fromkeys(use for site in sites for use in self._relations_at(file, site, minimum))
        return tuple(
            use
            for use in found
            if use.target[0] != file or use.target[1] not in inside or use.target == place
        )

    def overrides_of(self, place: Place) -> tuple[Relation, ...]:
        """Return the methods that a method overrides or implements, nearest first."""
        with self.asking():
            return tuple(
                self._inherits(RelationKind.OVERRIDE, place, above)
                for owner in self.classes_above(self._owner(place))
                for above in self._members(owner, self._last_name(place))
            )

    def overridden_by(self, place: Place) -> tuple[Relation, ...]:
        """Return the methods that override or implement a method, in the order of the repository."""
        owners, name = self.classes_below(self._owner(place)), self._last_name(place)
        below = sorted(each for owner in owners for each in self._members(owner, name))
        return tuple(self._inherits(RelationKind.OVERRIDE, each, place) for each in below)

    def implementations_of(self, place: Place) -> tuple[Relation, ...]:
        """Return the classes that extend or implement a class directly, in the order of the repository."""
        return tuple(self._inherits(RelationKind.BASE, below, place) for below in self._direct_below(place))

    def _inherits(self, kind: RelationKind, below: Place, above: Place) -> Relation:
        line = self._views[below[0]].definitions[below[1]].sig_start
        return Relation(kind, below, above, line, self.max_confidence(below[0]))

    def classes_above(self, place: Place | None) -> tuple[Place, ...]:
        """Return the classes that a class extends, directly or not, nearest first."""
        family = self._family(place[0]) if place else None
        return self._reached(place, lambda each: self._bases(family, each)) if place and family else ()

    def classes_below(self, place: Place | None) -> tuple[Place, ...]:
        """Return the classes that extend a class, directly or not, nearest first."""
        return self._reached(place, self._direct_below) if place else ()

    def _reached(self, place: Place, next_to: Callable[[Place], Iterable[Place]]) -> tuple[Place, ...]:
        """Return the classes that are reached from one step by step, nearest first."""
        found: dict[Place, None] = {}
        level: Iterable[Place] = (place,)
        with self.asking():
            for _ in range(_MAX_DEPTH):
                following = dict.fromkeys(other for each in level for other in next_to(each))
                level = [each for each in following if each not in found and each != place]
                found.update(dict.fromkeys(level))
        return tuple(found)

    def tests_reaching(self, place: Place, steps: int = _TEST_STEPS) -> tuple[Relation, ...]:
        """Return the calls in test files from which a definition is reached in at most ``steps`` calls."""
        found: dict[Place, Relation] = {}
        seen = {place}
        level = [place]
        with self.asking():
            for _ in range(steps):
                further: list[Place] = []
                for target in level:
                    for each in self.callers_of(target, self.max_confidence(target[0])):
                        if self._index.files.is_test(each.source[0]):
                            found.setdefault(each.source, each._replace(kind=RelationKind.TEST, target=place))
                        elif each.source not in seen and each.source[1] >= 0:
                            seen.add(each.source)
                            further.append(each.source)
                level = further
        return tuple(found.values())

    def importers_of(self, file: int) -> tuple[Relation, ...]:
        """Return the imports of a file, in the order of the repository."""
        found = self._importers
        if found is None:
            with self.asking() as question:
                found = self._read_importers(question)
                if not question.left_open:
                    self._importers = found
        return found.get(file, ())

    def imports_of(self, file: int) -> tuple[Relation, ...]:
        """Return the imports that a file states of files of the repository."""
        family = self._family(file)
        if family is None:
            return ()
        with self.asking() as question:
            return tuple(self._read_imports(family, file, question))

    def meaning(self, file: int, site: Site) -> Meaning:
        """Return what a site means."""
        family = self._family(file)
        if family is None:
            return UNRESOLVED
        key = (file, site)
        found = self._meanings.get(key)
        if found is None or found.is_left_open:
            with self.asking() as question:
                found = found or self._read_meaning(family, file, site, question)
                if found.is_left_open:
                    question.leave_open(key)
        return found

    def _read_meaning(self, family: Resolver, file: int, site: Site, question: Question) -> Meaning:
        try:
            with family.memo.asked(question):
                found = family.meaning(file, site)
        except BudgetExceededError:
            found = LEFT_OPEN
        if not found.is_left_open or not question.is_over:
            # What a question had no more steps for another one may come to.
            self._meanings[file, site] = found
        return found

    # Underneath.

    def _rows_named(self, name: str) -> NDArray[np.int64]:
        """Return the rows of the sites of a name, in order."""
        number = self._index.strings.get(name)
        rows, names = self._by_name
        first, last = np.searchsorted(names, (number, number + 1)) if number is not None else (0, 0)
        return rows[first:last]

    @cached_property
    def _by_name(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The rows of all sites by name, those of one name in order, and their names."""
        rows = np.argsort(self._index.sites.name, kind="stable")
        return rows, self._index.sites.name[rows]

    @cached_property
    def _families(self) -> tuple[Resolver | None, ...]:
        """The family of each language of the index."""
        names = [language_named(language).family if language else "" for language in self._index.languages]
        made = {name: _resolver(name, self._index) for name in sorted(set(names) - {""})}
        return tuple(made.get(name) for name in names)

    @cached_property
    def _are_guessed(self) -> tuple[bool, ...]:
        """Whether each language of the index is one whose names are likely at best."""
        return tuple(language_named(language).is_guessed for language in self._index.languages)

    def _family(self, file: int) -> Resolver | None:
        return self._families[int(self._index.files.language[file])]

    def _uses_named(
        self, family: Resolver, name: str, minimum: Confidence
    ) -> Mapping[Place, Sequence[tuple[int, Relation]]]:
        """Return the uses of a name in a family's files, by what they mean or may mean."""
        key = (self._families.index(family), name, minimum)
        with self.asking() as question:
            uses = self._uses.get(key)
            if uses is None:
                uses = self._read_uses(family, name, minimum)
                if not question.is_over:
                    self._uses.put(key, uses)
            for use in uses.left_open:
                question.leave_open(use)
        return uses.by_target

    def _read_uses(self, family: Resolver, name: str, minimum: Confidence) -> _Uses:
        found: dict[Place, list[tuple[int, Relation]]] = {}
        left_open: list[tuple[int, Site]] = []
        for row, file, site in self._sites_at(self._rows_named(name), family):
            if self.meaning(file, site).is_left_open:
                left_open.append((file, site))
            for use in self._relations_at(file, site, minimum):
                found.setdefault(use.target, []).append((row, use))
        return _Uses(found, tuple(left_open))

    def _relations_at(self, file: int, site: Site, minimum: Confidence) -> Iterator[Relation]:
        """Yield what a site means, or what it may mean where nothing written says so."""
        targets, confidence = self._targets(file, site, minimum)
        for target in targets if confidence >= minimum else ():
            yield Relation(_KINDS[site.kind], (file, site.definition), target, site.line, confidence)

    def _sites_at(self, rows: NDArray[np.int64], family: Resolver) -> Iterator[tuple[int, int, Site]]:
        """Yield the sites at some rows that are of a family's files, each with its row and file."""
        files = np.searchsorted(self._index.sites.file_start, rows, side="right") - 1
        with self.asking() as question:
            question.allow(len(rows))
        sites = sites_at(self._index, rows)
        for row, file, site in zip(rows.tolist(), files.tolist(), sites, strict=True):
            if self._family(file) is family:
                yield row, file, site

    def _bases(self, family: Resolver, place: Place) -> tuple[Place, ...]:
        """Return the classes that a class extends directly, none where that is given up."""
        with self.asking() as question:
            try:
                with family.memo.asked(question):
                    return family.bases(place)
            except BudgetExceededError:
                question.leave_open(place)
                return ()

    def _targets(self, file: int, site: Site, minimum: Confidence) -> tuple[tuple[Place, ...], Confidence]:
        """Return what a site means, or what it may mean where nothing written says so."""
        meaning = self.meaning(file, site)
        if meaning.targets or minimum == Confidence.RESOLVED:
            return meaning.targets, self._confidence_of(file, meaning)
        family = self._family(file)
        if meaning.is_external or not site.object or site.kind != facts.CALL or family is None:
            return (), Confidence.POSSIBLE
        if site.name in family.common:
            return (), Confidence.POSSIBLE
        namesakes = family.definitions.methods_called(site.name)
        if not namesakes or len(namesakes) > _MAX_NAMESAKES:
            return (), Confidence.POSSIBLE
        return namesakes, Confidence.LIKELY if len(namesakes) == 1 else Confidence.POSSIBLE

    def _confidence_of(self, file: int, meaning: Meaning) -> Confidence:
        return Confidence.RESOLVED if meaning.is_certain else self.max_confidence(file)

    def constructed_by(self, place: Place) -> tuple[Place, ...]:
        """Return the classes whose construction calls a method: its own, and those that inherit it."""
        family, owner = self._family(place[0]), self._owner(place)
        if family is None or owner is None or self._last_name(place) not in family.initialisers:
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
        if (known := self._below.get(place)) is not None:
            return known
        strings = self._index.strings
        numbers = [n for name in sorted(family.names_of(place)) if (n := strings.get(name)) is not None]
        extending = sorted(each for number in numbers for each in self._extending.get(number, ()))
        found: dict[Place, None] = {}
        with self.asking() as question:
            question.allow(len(extending))
            for file, row in extending:
                below = (file, self._views[file].class_around(row))
                if self._family(file) is family and below[1] >= 0 and place in self._bases(family, below):
                    found[below] = None
            if not question.left_open:
                self._below[place] = tuple(found)
        return tuple(found)

    @cached_property
    def _extending(self) -> dict[int, list[Place]]:
        """The definitions that extend or implement something of a name, by the name's number."""
        table = self._index.bindings
        rows = np.flatnonzero(table.kind == facts.INHERITS)
        files = (np.searchsorted(table.file_start, rows, side="right") - 1).tolist()
        names, definitions = table.name[rows].tolist(), table.definition[rows].tolist()
        return grouped(zip(names, zip(files, definitions, strict=True), strict=True))

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

    def _read_imports(self, family: Resolver, file: int, question: Question) -> Iterator[Relation]:
        try:
            with family.memo.asked(question, _STEPS_OF_IMPORTS):
                imported = family.imported(file)
        except BudgetExceededError:
            question.leave_open(file)
            return
        for other, line in imported:
            yield Relation(RelationKind.IMPORT, (file, -1), (other, -1), line, self.max_confidence(file))

    def _read_importers(self, question: Question) -> dict[int, tuple[Relation, ...]]:
        kinds = (facts.IMPORT, facts.RENAMED, facts.STAR)
        question.allow(_SITES_AN_IMPORT * int(np.isin(self._index.bindings.kind, kinds).sum()))
        relations = (
            each
            for file in range(len(self._index))
            if (family := self._family(file)) is not None
            for each in self._read_imports(family, file, question)
        )
        by_target = grouped((each.target[0], each) for each in relations)
        return {file: tuple(found) for file, found in by_target.items()}


def _dotted(text: str) -> list[str]:
    """Return the names that an expression begins with, joined by dots; what the last one calls is none."""
    found = _DOTTED.match(text)
    if found is None:
        return []
    parts = found[0].split(".")
    return parts if text[found.end() : found.end() + 1] in ("", ".", "[", "/") else parts[:-1]


def _resolver(family: str, index: Index) -> Resolver:
    """Return the resolver of a family, loaded by name: the engine's parts know no language."""
    return cast("Resolver", import_module(f"repo_map.languages.{family}.resolver").RESOLVER(index))


_KINDS: Final = tuple(RelationKind(kind) for kind in facts.SITE_KINDS)


def relations_of(index: Index) -> Relations:
    """Return the relations of an index, which go with it."""
    return index.memo(Relations)
