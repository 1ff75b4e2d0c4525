"""What depends on definitions that change: callers, overrides and tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.check.model import BREAKING, Changes, RemovedName
from repo_map.graph.references import referrers, unique_definitions
from repo_map.languages.kinds import FUNCTIONS, TYPES
from repo_map.relations.model import Confidence, Place, Relation
from repo_map.relations.resolve import Relations, relations_of
from repo_map.relations.text_search import row_at

if TYPE_CHECKING:
    from repo_map.index.index import Index

_MAX_TEST_DEPTH: Final = 8
"""Calls up to which a test is searched if none is nearer."""


class Dependent(NamedTuple):
    """A place that depends on a change."""

    place: Place
    """The definition around it; row -1 is the file's top."""
    line: int
    """1-based, in its file."""
    target: str
    """The qualified name of what it depends on."""
    confidence: Confidence


class Impact(NamedTuple):
    """Changed definitions and what depends on them; each place once in its list, the surest first."""

    changed: tuple[Place, ...] = ()
    removed: tuple[RemovedName, ...] = ()
    broken: tuple[Dependent, ...] = ()
    """What the check found."""
    callers: tuple[Dependent, ...] = ()
    """Calls and uses from outside of the change, tests left out."""
    overrides: tuple[Dependent, ...] = ()
    """Methods that override or implement a changed one, and classes that extend a changed one."""
    base_methods: tuple[Dependent, ...] = ()
    """What changed methods override or implement."""
    tests: tuple[Dependent, ...] = ()
    """Tests outside of the change that reach a changed definition."""
    own_tests: tuple[Dependent, ...] = ()
    """Tests that are part of the change."""
    untested: tuple[Place, ...] = ()
    """Changed functions that no test was found to reach."""
    limitation: str = ""
    """How much could not be followed, in a sentence."""

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed)


def find_impact(index: Index, changes: Changes) -> Impact:
    """Return what depends on a change, by the index as it is now.

    Of a class the subclasses count, and its users if it is the only change. In a language whose names are not
    resolved, the users of a unique name are likely ones.
    """
    with relations_of(index).asking() as question:
        found = _ImpactFinder(index, changed_definitions(index, changes), changes).find()
    return found._replace(limitation=question.limitation)


def changed_definitions(index: Index, changes: Changes) -> tuple[Place, ...]:
    """Return the changed definitions that the index has, in the order of the change."""
    found: dict[Place, None] = {}
    for part in changes.parts:
        file = index.file_id(part.path)
        definitions = index.definitions(file) if file is not None and part.name else ()
        last = part.name.rpartition(".")[2]
        rows = [
            row
            for row, each in enumerate(definitions)
            if each.name.endswith(last) and index.qualified_name(file or 0, row) == part.name
        ]
        if rows:
            nearest = min(rows, key=lambda row: abs(definitions[row].start - part.first))
            found[file or 0, nearest] = None
    return tuple(found)


class _ImpactFinder:
    """Collects what depends on the targets."""

    def __init__(self, index: Index, targets: Sequence[Place], changes: Changes) -> None:
        self._index = index
        self._relations: Relations = relations_of(index)
        self._targets = targets
        self._changes = changes

    def find(self) -> Impact:
        index, relations = self._index, self._relations
        callers, overrides, base_methods = list[Dependent](), list[Dependent](), list[Dependent]()
        tests, untested = list[Dependent](), list[Place]()
        removed = {(each.path, each.name, each.owner) for each in self._changes.removed}
        is_test = index.files.is_test
        for place in self._targets:
            named, kind = index.qualified_name(*place), self._kind(place)
            owner, _, name = named.rpartition(".")
            path, is_known = index.paths[place[0]], relations.knows(place[0])
            is_removed = bool(removed & {(path, name, owner), (path, name, "")})
            can_be_tested = is_known and not is_test(place[0])
            users = list(self._sources(place, self._users(place)) if is_known else self._users_by_name(place))
            reaching = relations.tests_reaching(place) if can_be_tested else ()
            if can_be_tested and not reaching:
                reaching = relations.tests_reaching(place, _MAX_TEST_DEPTH)
            reached = [*self._sources(place, reaching), *(each for each in users if is_test(each.place[0]))]
            if not is_removed:
                callers += (each for each in users if not is_test(each.place[0]))
            # A test of the change says nothing new about another one.
            tests += (each for each in reached if not is_test(place[0]) or self._is_outside(each))
            below = relations.implementations_of if kind in TYPES else relations.overridden_by
            overrides += self._sources(place, below(place))
            for each in relations.overrides_of(place):
                base_methods.append(Dependent(each.target, self._line(each.target), named, each.confidence))
            if kind in FUNCTIONS and can_be_tested and not reached and not is_removed:
                untested.append(place)
        return Impact(
            tuple(self._targets),
            self._changes.removed,
            tuple(self._broken()),
            self._ordered(filter(self._is_outside, callers)),
            self._ordered(filter(self._is_outside, overrides)),
            self._ordered(filter(self._is_outside, base_methods)),
            self._ordered(filter(self._is_outside, tests)),
            self._ordered(each for each in tests if not self._is_outside(each)),
            tuple(untested),
        )

    def _broken(self) -> Iterator[Dependent]:
        for each in self._changes.findings:
            file = self._index.file_id(each.path)
            if file is not None and each.kind in BREAKING:
                place = file, row_at(self._index, file, each.line)
                yield Dependent(place, each.line, each.name, Confidence.RESOLVED)

    def _users(self, place: Place) -> Sequence[Relation]:
        """Return the calls and uses of a definition, also from within the change."""
        relations, kind = self._relations, self._kind(place)
        if kind in FUNCTIONS:
            return relations.callers_of(place, Confidence.LIKELY) or relations.uses_of(place)
        return relations.uses_of(place) if kind not in TYPES or len(self._targets) == 1 else ()

    def _users_by_name(self, place: Place) -> Iterator[Dependent]:
        """Yield what uses the name of a definition, if nothing else has it."""
        index = self._index
        name = int(index.symbols.name[int(index.symbols.file_start[place[0]]) + place[1]])
        for user in referrers(index, name) if unique_definitions(index, [name]) == [place] else ():
            is_same = index.files.language[user[0]] == index.files.language[place[0]]
            if is_same and user != place:
                yield Dependent(user, self._line(user), index.qualified_name(*place), Confidence.LIKELY)

    def _sources(self, place: Place, found: Iterable[Relation]) -> Iterator[Dependent]:
        named = self._index.qualified_name(*place)
        return (Dependent(each.source, each.line, named, each.confidence) for each in found)

    def _ordered(self, found: Iterable[Dependent]) -> tuple[Dependent, ...]:
        """Return each place once, the surest first, and of equals those that depend on most."""
        listed = list(found)
        counts = Counter(each.place for each in listed)
        best: dict[Place, Dependent] = {}
        for each in sorted(listed, key=lambda each: -each.confidence):
            best.setdefault(each.place, each)
        homes = {place[0] for place in self._targets}
        folders = {self._index.paths[file].rpartition("/")[0] for file in homes}

        def order(each: Dependent) -> tuple[int, bool, int, bool, bool, Place, int]:
            file, row = each.place
            is_far = self._index.paths[file].rpartition("/")[0] not in folders
            count = -counts[each.place]
            return -each.confidence, row < 0, count, is_far, file not in homes, each.place, each.line

        return tuple(sorted(best.values(), key=order))

    def _is_outside(self, each: Dependent) -> bool:
        """Return True if a place is not within the targets."""
        file, row = each.place
        while row >= 0 and (file, row) not in self._targets:
            row = self._index.definitions(file)[row].parent
        return row < 0

    def _kind(self, place: Place) -> str:
        return self._index.definitions(place[0])[place[1]].kind

    def _line(self, place: Place) -> int:
        return self._index.definitions(place[0])[place[1]].sig_start if place[1] >= 0 else 1
