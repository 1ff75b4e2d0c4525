"""What relies on definitions that change: facts where they are resolved, likely where a name says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.graph.references import referrers, unique_definitions
from repo_map.impact.findings import BROKEN, Finding
from repo_map.impact.values import NOTHING, Changes, GoneName
from repo_map.languages.kinds import FUNCTIONS, TYPES
from repo_map.relations.model import Confidence, Place, Relation
from repo_map.relations.resolve import Relations, relations_of
from repo_map.relations.text_search import row_at

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex

_FAR: Final = 8
"""Calls up to which a test is looked for where none is nearer: without one it is said that none is seen."""
_MOST_FOLLOWED: Final = 80
"""Changed definitions whose users are looked for."""


class Risk(NamedTuple):
    """A place that relies on what is changed."""

    place: Place
    """The definition that holds it; row -1 is the file's top."""
    line: int
    """1-based, in its file."""
    target: str
    """The name of what it relies on, qualified."""
    confidence: Confidence


class Impact(NamedTuple):
    """What a change touches, and what relies on that; each place once in its list, the surest first."""

    changed: tuple[Place, ...] = ()
    gone: tuple[GoneName, ...] = ()
    leftovers: tuple[Risk, ...] = ()
    """What the change was found to break or forget."""
    callers: tuple[Risk, ...] = ()
    """Calls and uses from outside of what is changed, tests aside."""
    overriders: tuple[Risk, ...] = ()
    """Methods that override or implement a changed one, and classes that extend a changed one."""
    overridden: tuple[Risk, ...] = ()
    """What changed methods override or implement."""
    tests: tuple[Risk, ...] = ()
    """Tests outside of the change from which a changed definition is reached."""
    own_tests: tuple[Risk, ...] = ()
    """Tests that are part of the change, in the same way."""
    untested: tuple[Place, ...] = ()
    """Changed functions that no test is seen to reach."""
    left_open: str = ""
    """How much could not be followed, in a sentence; ``""`` where all was."""

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone)


def impact_of(index: RepoIndex, targets: Sequence[Place], changes: Changes = NOTHING) -> Impact:
    """Return what relies on some definitions, and what a change was found to break.

    Of a class its subclasses count, and those that construct or name it where it is the only target; of what
    a language without resolved relations defines, likely users by a name that nothing else bears.
    """
    with relations_of(index).asking() as question:
        found = _Follower(index, targets, changes).impact()
    return found._replace(left_open=question.told)


def impact_of_changes(index: RepoIndex, changes: Changes) -> Impact:
    """Return what relies on what was changed, as the index knows it now."""
    return impact_of(index, places_of(index, changes), changes)


def places_of(index: RepoIndex, changes: Changes) -> tuple[Place, ...]:
    """Return the changed definitions that the index has, in the order of the change."""
    found: dict[Place, None] = {}
    for part in changes.parts:
        file = index.file_id(part.path)
        if file is None or not part.name:
            continue
        rows = [
            row for row in range(len(index.definitions(file))) if index.qualified_name(file, row) == part.name
        ]
        if rows:
            near = min(rows, key=lambda row: abs(index.definitions(file)[row].start - part.first))
            found[file, near] = None
    return tuple(found)


class _Follower:
    """Collects what relies on the targets."""

    def __init__(self, index: RepoIndex, targets: Sequence[Place], changes: Changes) -> None:
        self._index = index
        self._relations: Relations = relations_of(index)
        self._targets = tuple(dict.fromkeys(targets))
        self._changes = changes
        self._changed = set(self._targets)
        self._gone_names = {(each.path, each.name, each.owner) for each in changes.gone}

    def impact(self) -> Impact:
        """Return all of it."""
        callers, overriders, overridden = list[Risk](), list[Risk](), list[Risk]()
        tests, own_tests = list[Risk](), list[Risk]()
        untested = []
        for place in self._targets[:_MOST_FOLLOWED]:
            used = list(self._users(place))
            users = [each for each in used if not self._is_inside(each.place)]
            is_gone = self._is_gone(place)
            if not is_gone:
                callers += (each for each in users if not self._is_test(each))
            reached = [*self._tests(place), *(each for each in used if self._is_test(each))]
            for each in reached:
                if not self._is_inside(each.place):
                    tests.append(each)
                elif not self._in_tests(place[0]):
                    own_tests.append(each)
            overriders += self._below(place)
            overridden += self._risks(place, self._relations.overrides_of(place), of_target=True)
            if not reached and not is_gone and self._wants_test(place):
                untested.append(place)
        return Impact(
            self._targets,
            self._changes.gone,
            tuple(self._broken(self._changes.findings)),
            self._ordered(callers),
            self._ordered(overriders),
            self._ordered(overridden),
            self._ordered(tests),
            self._ordered(own_tests),
            tuple(untested),
        )

    def _broken(self, findings: Iterable[Finding]) -> Iterator[Risk]:
        for each in findings:
            file = self._index.file_id(each.path)
            if file is not None and each.kind in BROKEN:
                sure = Confidence.RESOLVED if each.is_sure else Confidence.LIKELY
                yield Risk((file, row_at(self._index, file, each.line)), each.line, each.name, sure)

    def _users(self, place: Place) -> Iterator[Risk]:
        """Yield the calls and uses of a definition, also from within the change."""
        index, relations = self._index, self._relations
        kind = index.definitions(place[0])[place[1]].kind
        if not relations.knows(place[0]):
            name = int(index.symbols.name[int(index.symbols.file_start[place[0]]) + place[1]])
            if unique_definitions(index, [name]) == [place]:
                named = index.qualified_name(*place)
                for user in referrers(index, name):
                    same = index.files.language[user[0]] == index.files.language[place[0]]
                    if same and user != place:
                        line = index.definitions(user[0])[user[1]].sig_start if user[1] >= 0 else 1
                        yield Risk(user, line, named, Confidence.LIKELY)
        elif kind in FUNCTIONS:
            found = relations.callers_of(place, Confidence.LIKELY)
            yield from self._risks(place, found or relations.uses_of(place), is_all=True)
        elif kind not in TYPES or len(self._targets) == 1:
            yield from self._risks(place, relations.uses_of(place), is_all=True)

    def _below(self, place: Place) -> Iterator[Risk]:
        """Yield what overrides a method, or extends a class."""
        relations = self._relations
        if self._index.definitions(place[0])[place[1]].kind in TYPES:
            yield from self._risks(place, relations.implementations_of(place))
        else:
            yield from self._risks(place, relations.overridden_by(place))

    def _tests(self, place: Place) -> Iterator[Risk]:
        if self._relations.knows(place[0]) and not self._in_tests(place[0]):
            reaching = self._relations.tests_reaching
            yield from self._risks(place, reaching(place) or reaching(place, _FAR), is_all=True)

    def _risks(
        self, place: Place, found: Iterable[Relation], *, of_target: bool = False, is_all: bool = False
    ) -> Iterator[Risk]:
        """Yield what relations say of a definition, those within the change aside unless all are wanted."""
        named = self._index.qualified_name(*place)
        for each in found:
            other = each.target if of_target else each.source
            if is_all or not self._is_inside(other):
                line = self._line(other) if of_target else each.line
                yield Risk(other, line, named, each.confidence)

    def _ordered(self, found: Iterable[Risk]) -> tuple[Risk, ...]:
        """Return each place once, the surest first, and of equals those that rely on most."""
        best: dict[Place, Risk] = {}
        times: dict[Place, int] = {}
        for each in found:
            times[each.place] = times.get(each.place, 0) + 1
            known = best.get(each.place)
            if known is None or each.confidence > known.confidence:
                best[each.place] = each
        homes = {place[0] for place in self._targets}
        folders = {self._folder(file) for file in homes}

        def order(risk: Risk) -> tuple[int, int, int, int, Place, int]:
            file = risk.place[0]
            distance = 0 if file in homes else 1 if self._folder(file) in folders else 2
            is_top = int(risk.place[1] < 0)
            return (-risk.confidence, is_top, -times[risk.place], distance, risk.place, risk.line)

        return tuple(sorted(best.values(), key=order))

    def _is_inside(self, place: Place) -> bool:
        """Tell whether a place is one of the targets, or within one."""
        file, row = place
        while row >= 0:
            if (file, row) in self._changed:
                return True
            row = self._index.definitions(file)[row].parent
        return False

    def _is_test(self, risk: Risk) -> bool:
        return self._in_tests(risk.place[0])

    def _in_tests(self, file: int) -> bool:
        return self._index.files.is_test(file)

    def _wants_test(self, place: Place) -> bool:
        kind = self._index.definitions(place[0])[place[1]].kind
        return kind in FUNCTIONS and self._relations.knows(place[0]) and not self._in_tests(place[0])

    def _is_gone(self, place: Place) -> bool:
        """Tell whether the change takes a definition away that is still here."""
        path = self._index.paths[place[0]]
        owner, _, name = self._index.qualified_name(*place).rpartition(".")
        return not self._gone_names.isdisjoint({(path, name, owner), (path, name, "")})

    def _line(self, place: Place) -> int:
        return self._index.definitions(place[0])[place[1]].sig_start if place[1] >= 0 else 1

    def _folder(self, file: int) -> str:
        return self._index.paths[file].rpartition("/")[0]
