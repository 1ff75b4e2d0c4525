"""What depends on definitions that change, and what that does to the scores of a goal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.check.model import BREAKING, Changes, RemovedName
from repo_map.graph.references import referrers, unique_definitions
from repo_map.languages.kinds import FUNCTIONS, TYPES
from repo_map.messages import one_line
from repo_map.ranking.score import Relevance, ScoredFile, ScoredUnit
from repo_map.relations.file_facts import grouped
from repo_map.relations.model import Confidence, Place, Relation
from repo_map.relations.resolve import relations_of
from repo_map.relations.text_search import row_at

if TYPE_CHECKING:
    from repo_map.index.index import Index

_MAX_TEST_DEPTH: Final = 8
"""Calls up to which a test is searched if none is nearer."""
_MAX_BOOSTED: Final = 40
"""Of each role."""
_MAX_LINE_UNITS: Final = 4
_MAX_NAMES: Final = 8
_USUAL_RANK: Final = 60
"""A unit that the goal's words do not reach starts from the score at this rank."""
_MIN_FILE_SCORE: Final = 0.3
"""Of a file that depends on the change."""
_MAX_REASONS: Final = 4


class Role(Enum):
    """How a place depends on a change, with the verb of the reason."""

    BROKEN = "still uses"
    """The check found it."""
    OVERRIDE = "overrides or extends"
    """A method that overrides or implements a changed one, or a class that extends a changed one."""
    CALLER = "uses"
    """A call or use from outside of the change, tests left out."""
    BASE_METHOD = "is overridden by"
    """What a changed method overrides or implements."""
    TEST = "tests"
    """A test outside of the change that reaches a changed definition."""
    OWN_TEST = "tests in the change"
    """A test that is part of the change."""


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
    """Changed definitions and what depends on them."""

    changed: tuple[Place, ...]
    removed: tuple[RemovedName, ...]
    dependents: Mapping[Role, Sequence[Dependent]]
    """Each place once in its role, the surest first."""
    untested: tuple[Place, ...]
    """Changed functions that no test was found to reach."""
    limitation: str
    """How much could not be followed, in a sentence."""

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed)


def find_impact(index: Index, changes: Changes) -> Impact:
    """Return what depends on a change, by the index as it is now.

    Of a class the subclasses count, and its users if it is the only change. In a language whose names are not
    resolved, the users of a unique name are likely ones.
    """
    with relations_of(index).asking() as question:
        finder = _ImpactFinder(index, changed_definitions(index, changes), changes)
        dependents = finder.find()
    return Impact(finder.targets, changes.removed, dependents, tuple(finder.untested), question.limitation)


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

    def __init__(self, index: Index, targets: tuple[Place, ...], changes: Changes) -> None:
        self._index = index
        self._relations = relations_of(index)
        self.targets = targets
        self._changes = changes
        self.untested: list[Place] = []

    def find(self) -> dict[Role, Sequence[Dependent]]:
        found: list[tuple[Role, Dependent]] = []
        for place in self.targets:
            for role, each in self._dependents(place):
                if self._is_outside(each):
                    found.append((role, each))
                # A test of the change says nothing new about another one.
                elif role is Role.TEST and not self._index.files.is_test(place[0]):
                    found.append((Role.OWN_TEST, each))
        ordered = {role: self._ordered(listed) for role, listed in grouped(found).items()}
        return {Role.BROKEN: tuple(self._broken()), **ordered}

    def _dependents(self, place: Place) -> Iterator[tuple[Role, Dependent]]:
        """Yield what depends on a definition, also from within the change."""
        index, relations, is_test = self._index, self._relations, self._index.files.is_test
        named, kind, is_known = index.qualified_name(*place), self._kind(place), relations.knows(place[0])
        owner, _, name = named.rpartition(".")
        removed = {(each.path, each.name, each.owner) for each in self._changes.removed}
        is_removed = bool(removed & {(index.paths[place[0]], name, at) for at in (owner, "")})
        can_be_tested = is_known and not is_test(place[0])
        users = list(self._sources(place, self._users(place)) if is_known else self._users_by_name(place))
        reaching = relations.tests_reaching(place) if can_be_tested else ()
        if can_be_tested and not reaching:
            reaching = relations.tests_reaching(place, _MAX_TEST_DEPTH)
        reached = [*self._sources(place, reaching), *(each for each in users if is_test(each.place[0]))]
        if kind in FUNCTIONS and can_be_tested and not reached and not is_removed:
            self.untested.append(place)
        if not is_removed:
            yield from ((Role.CALLER, each) for each in users if not is_test(each.place[0]))
        below = relations.implementations_of if kind in TYPES else relations.overridden_by
        yield from ((Role.OVERRIDE, each) for each in self._sources(place, below(place)))
        for above in relations.overrides_of(place):
            line = index.definitions(above.target[0])[above.target[1]].sig_start
            yield Role.BASE_METHOD, Dependent(above.target, line, named, above.confidence)
        yield from ((Role.TEST, each) for each in reached)

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
        return relations.uses_of(place) if kind not in TYPES or len(self.targets) == 1 else ()

    def _users_by_name(self, place: Place) -> Iterator[Dependent]:
        """Yield what uses the name of a definition, if nothing else has it."""
        index = self._index
        name = int(index.symbols.name[int(index.symbols.file_start[place[0]]) + place[1]])
        for user in referrers(index, name) if unique_definitions(index, [name]) == [place] else ():
            is_same = index.files.language[user[0]] == index.files.language[place[0]]
            if is_same and user != place:
                line = index.definitions(user[0])[user[1]].sig_start if user[1] >= 0 else 1
                yield Dependent(user, line, index.qualified_name(*place), Confidence.LIKELY)

    def _sources(self, place: Place, found: Iterable[Relation]) -> Iterator[Dependent]:
        named = self._index.qualified_name(*place)
        return (Dependent(each.source, each.line, named, each.confidence) for each in found)

    def _ordered(self, listed: Sequence[Dependent]) -> tuple[Dependent, ...]:
        """Return each place once, the surest first, and of equals those that depend on most."""
        counts = Counter(each.place for each in listed)
        best: dict[Place, Dependent] = {}
        for each in sorted(listed, key=lambda each: -each.confidence):
            best.setdefault(each.place, each)
        homes = {place[0] for place in self.targets}
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
        while row >= 0 and (file, row) not in self.targets:
            row = self._index.definitions(file)[row].parent
        return row < 0

    def _kind(self, place: Place) -> str:
        return self._index.definitions(place[0])[place[1]].kind


# Scores.


class _Boost(NamedTuple):
    """What evidence of one kind does to the score of a unit."""

    score: float
    """Added to the best score if it ``leads``, else to the unit's own or a usual one."""
    chance: float
    """The minimum probability of the unit to be part of the work, 0 to 1."""
    leads: bool = False


_CHANGED: Final = _Boost(12.0, 1.0, leads=True)
_RESOLVED: Final = _Boost(3.0, 0.3)
_LIKELY: Final = _Boost(1.5, 0.15)
_LINES: Final = _Boost(3.0, 0.5)
"""Of changed lines outside of definitions: imports, mostly."""
_BOOSTS: Final = {
    Role.BROKEN: _Boost(8.0, 0.9, leads=True),
    **dict.fromkeys((Role.OVERRIDE, Role.CALLER, Role.BASE_METHOD), _RESOLVED),
    # Tests have lower scores than code to begin with.
    Role.TEST: _Boost(6.0, 0.4),
}
"""The greatest risk first."""


def boost_changed(index: Index, relevance: Relevance, impact: Impact, changes: Changes) -> Relevance:
    """Return the scores of a goal as a change alters them."""
    units = {(unit.path, unit.start, unit.end): unit for unit in relevance.units}
    best = max((unit.score for unit in relevance.units), default=0.0)
    usual = relevance.units[min(_USUAL_RANK, len(relevance.units)) - 1].score if relevance.units else 0.0
    for key, boost, reason in _boosts(index, impact, changes):
        known = units.get(key[:3]) or ScoredUnit(*key, usual, ())
        if reason not in known.reasons:
            units[key[:3]] = known._replace(
                score=max(known.score, best if boost.leads else usual) + boost.score,
                chance=max(known.chance, boost.chance),
                reasons=(reason, *known.reasons)[:_MAX_REASONS],
            )
    return relevance._replace(
        files=_boost_files(relevance.files, index, impact, changes),
        units=tuple(sorted(units.values(), key=lambda unit: -unit.score)),
    )


def goal_with_changes(goal: str, changes: Changes) -> str:
    """Return a goal with the names and words of a change."""
    names = ", ".join(f"`{name}`" for name in changes.names[:_MAX_NAMES])
    words = changes.words.replace("```", "")
    return "\n\n".join(filter(None, (goal, names, f"```\n{words}\n```" if words else "")))


_Key = tuple[str, int, int, str, int]
"""Path, first line, last line, name and kind of a unit."""


def _boosts(index: Index, impact: Impact, changes: Changes) -> Iterator[tuple[_Key, _Boost, str]]:
    """Yield units with their boost and reason, the greatest risk first, then those of other changed lines."""

    def unit_of(place: Place) -> Iterator[_Key]:
        """Yield the unit with the head of a definition; none for the top of a file."""
        if place[1] >= 0:
            line = index.definitions(place[0])[place[1]].sig_start
            yield from islice(_units_with(index, place[0], line, line), 1)

    for place in impact.changed:
        yield from ((key, _CHANGED, "changed") for key in unit_of(place))
    for role, boost in _BOOSTS.items():
        for each in impact.dependents.get(role, ())[:_MAX_BOOSTED]:
            is_weak = each.confidence is not Confidence.RESOLVED and not boost.leads
            for key in unit_of(each.place):
                yield key, _LIKELY if is_weak else boost, _reason(role, each)
    for part in changes.parts:
        file = index.file_id(part.path)
        if file is not None and not part.name:
            for key in islice(_units_with(index, file, part.first, part.last), _MAX_LINE_UNITS):
                yield key, _LINES, "has changed lines"


def _reason(role: Role, dependent: Dependent) -> str:
    likely = "" if dependent.confidence is Confidence.RESOLVED else "likely "
    return f"{likely}{role.value} changed `{one_line(dependent.target)}` (line {dependent.line})"


def _units_with(index: Index, file: int, first: int, last: int) -> Iterator[_Key]:
    """Yield the units of a file with some of its lines."""
    units = index.units
    for row in range(int(units.file_start[file]), int(units.file_start[file + 1])):
        start, end = int(units.start[row]), int(units.end[row])
        if start <= last and first <= end:
            definition = int(units.definition[row])
            name = index.qualified_name(file, definition) if definition >= 0 else ""
            yield index.paths[file], start, end, name, int(units.kind[row])


def _boost_files(
    files: tuple[ScoredFile, ...], index: Index, impact: Impact, changes: Changes
) -> tuple[ScoredFile, ...]:
    """Return the changed files first, then the others with those that depend on the change boosted."""
    known = {file.path: file for file in files}

    def boosted(path: str, minimum: float, reason: str) -> ScoredFile:
        file = known.get(path) or ScoredFile(path, minimum, ())
        reasons = (reason, *file.reasons)[:_MAX_REASONS]
        return file._replace(score=max(minimum, file.score), reasons=reasons)

    broken, callers, overrides = (
        impact.dependents.get(role, ()) for role in (Role.BROKEN, Role.CALLER, Role.OVERRIDE)
    )
    dependents = (
        *((each, _MIN_FILE_SCORE) for each in (*callers, *overrides)[:_MAX_BOOSTED]),
        *((each, 1.0) for each in broken[:_MAX_BOOSTED]),
    )
    for each, minimum in dependents:
        path = index.paths[each.place[0]]
        known[path] = boosted(path, minimum, _reason(Role.CALLER, each))
    here = (part for part in changes.parts if index.file_id(part.path) is not None)
    changed = grouped((part.path, part.name and f"`{one_line(part.name)}`") for part in here)
    first = []
    for path, parts in changed.items():
        names = ", ".join(list(filter(None, parts))[:3])
        first.append(boosted(path, 1.0, f"changed: {names}" if names else "changed"))
    others = (file for path, file in known.items() if path not in changed)
    return (*first, *sorted(others, key=lambda file: -file.score))
