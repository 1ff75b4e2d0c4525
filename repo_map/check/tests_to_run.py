"""The tests to run after a change: at most five files, each with its reason, and the command for them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.check.runners import command_for
from repo_map.check.test_files import has_inline_tests, is_of_tests, is_test_file, test_name
from repo_map.languages.kinds import FUNCTIONS
from repo_map.messages import one_line
from repo_map.relations.model import Confidence, Place, RelationKind
from repo_map.relations.resolve import Relations, relations_of
from repo_map.relations.text_search import files_with
from repo_map.sources.file_kinds import is_entry, subject_of

if TYPE_CHECKING:
    from repo_map.history.together import ChangedTogether
    from repo_map.index.repo_index import RepoIndex

MOST_TESTS: Final = 5
_ENOUGH: Final = 2
"""Files of tests beside which those that are far, or only import what changed, are left out."""
_DEEPEST: Final = 8
"""Calls between a test and what changed."""
_NEAR: Final = 2
"""Calls up to which a test says more than one that is only named after the file."""
_MOST_ASKED: Final = 150
"""Definitions whose callers are asked for on the way to tests."""
_MOST_DIRECT: Final = 40
"""Changed definitions that tests are looked for."""
_MOST_READ: Final = 400
"""Files that may import a changed one."""
_MOST_NAMED: Final = 3
"""Tests of a file that are named; of more the whole file is run."""


class Tier(IntEnum):
    """Why a test is chosen."""

    CHANGED = 0
    CALLS = 1
    """Resolved calls lead from it to what changed."""
    SAME_NAME = 2
    IMPORTS = 3
    """It imports the changed file."""
    TOGETHER = 4
    """It often changed together with the changed file."""


class ChosenTest(NamedTuple):
    """A file of tests that a change should be tried with."""

    path: str
    names: tuple[str, ...]
    """The tests of the file that reach what changed, qualified; none where the whole file is meant."""
    line: int
    """Where the first of them stands, 1-based."""
    tier: Tier
    reason: str
    """A few words."""


class ChosenTests(NamedTuple):
    """What to run after a change."""

    tests: tuple[ChosenTest, ...]
    """At most ``MOST_TESTS``, those that say most first."""
    command: str
    """What runs them and no others, from the root; ``""`` where the repository's set-up does not say how."""


def tests_for(
    index: RepoIndex,
    places: Sequence[Place],
    *,
    earlier: Sequence[ChosenTest] = (),  # noqa: PT028 - it is no test
    together: Callable[[], ChangedTogether | None] = lambda: None,  # noqa: PT028 - it is no test
) -> ChosenTests:
    """Return the tests that say most about some definitions, and the command that runs just them.

    Args:
        index: the tree.
        places: definitions that changed or will; row -1 is a file as a whole.
        earlier: those that called what is gone, in the tree that had it.
        together: gives what changed together in the tree's history, where that is known; it is asked where
            calls and names lead to too few tests.
    """
    with relations_of(index).asking():
        found = _Chooser(index, places, together).chosen(earlier)
    return ChosenTests(found, command_for(index, [(each.path, each.names) for each in found]))


def tests_calling(index: RepoIndex, places: Sequence[Place]) -> tuple[ChosenTest, ...]:
    """Return the tests from which few calls lead to some definitions."""
    with relations_of(index).asking():
        return _Chooser(index, places, lambda: None).calling()


class _Reach(NamedTuple):
    """How a file of tests reaches what changed."""

    depth: int
    """Calls on the way."""
    target: Place
    places: list[Place]
    """Of the tests in it."""
    is_resolved: bool
    """Whether no call on the way is taken by its name alone."""


class _Chooser:
    """Collects the tests of some places."""

    def __init__(
        self, index: RepoIndex, places: Sequence[Place], together: Callable[[], ChangedTogether | None]
    ) -> None:
        self._index = index
        self._relations: Relations = relations_of(index)
        self._places = tuple(dict.fromkeys(places))
        self._files = tuple(dict.fromkeys(file for file, _ in self._places))
        self._together = together
        self._found: dict[str, ChosenTest] = {}

    def chosen(self, earlier: Sequence[ChosenTest]) -> tuple[ChosenTest, ...]:
        """Return them."""
        index = self._index
        for place in self._places:
            if is_test_file(index, place[0]):
                self._add(place[0], (place,), Tier.CHANGED, "is part of the change", is_whole=True)
        subjects = {subject_of(index.paths[file]): file for file in reversed(self._sources())}
        named = self._named(subjects)
        far = self._add_near(named)
        self._add_earlier(earlier)
        for file in named:
            source = named[file]
            why = "holds its own tests" if source == file else f"is named after {index.paths[source]}"
            self._add(file, (), Tier.SAME_NAME, why)
        for file, reason in self._changed_together():
            self._add(file, (), Tier.TOGETHER, reason)
        # Beside two that are nearer, these are hardly ever among those that a commit edits.
        for file, each in far.items():
            if len(self._found) < _ENOUGH:
                self._add_reached(file, each)
        for file, source in self._importing():
            self._add(file, (), Tier.IMPORTS, f"imports {index.paths[source]}")
        return tuple(list(self._found.values())[:MOST_TESTS])

    def calling(self) -> tuple[ChosenTest, ...]:
        """Return those from which few calls lead to the places."""
        self._add_near({})
        return tuple(self._found.values())

    def _add_near(self, named: Container[int]) -> dict[int, _Reach]:
        """Add the tests from which few calls lead to the places, and return the others, nearest first."""
        reached = self._reached()

        def order(file: int) -> tuple[int, int, int, str]:
            each = reached[file]
            distance = self._distance(file)
            return (each.depth - (file in named), -len(each.places), distance, self._index.paths[file])

        far = {file: reached[file] for file in sorted(reached, key=order) if reached[file].depth > _NEAR}
        for file in sorted(reached.keys() - far.keys(), key=order):
            self._add_reached(file, reached[file])
        return far

    def _add_earlier(self, earlier: Sequence[ChosenTest]) -> None:
        for each in earlier:
            if self._index.file_id(each.path) is not None:
                self._found.setdefault(each.path, each._replace(names=()))

    def _add_reached(self, file: int, each: _Reach) -> None:
        index = self._index
        name = one_line(index.qualified_name(*each.target)) or index.paths[each.target[0]]
        how = f"calls `{name}`" if each.depth <= 1 else f"reaches `{name}` by {each.depth} calls"
        self._add(file, each.places, Tier.CALLS, how, is_whole=not each.is_resolved)

    def _sources(self) -> tuple[int, ...]:
        return tuple(file for file in self._files if not is_test_file(self._index, file))

    def _add(
        self, file: int, places: Iterable[Place], tier: Tier, reason: str, *, is_whole: bool = False
    ) -> None:
        path = self._index.paths[file]
        if path in self._found:
            return
        names = list(dict.fromkeys(test_name(self._index, each) for each in places))
        lines = [
            self._index.definitions(file)[row].sig_start for at, row in places if at == file and row >= 0
        ]
        is_whole = is_whole or not names or "" in names or len(names) > _MOST_NAMED
        self._found[path] = ChosenTest(
            path, () if is_whole else tuple(names), min(lines, default=1), tier, reason
        )

    def _reached(self) -> dict[int, _Reach]:
        """Return the files of tests from which calls lead to the places, nearest first."""
        found: dict[int, _Reach] = {}
        level = {
            place: (place, True)
            for place in self._places[:_MOST_DIRECT]
            if place[1] >= 0 and self._relations.knows(place[0])
        }
        seen, asked = set(level), 0
        for depth in range(1, _DEEPEST + 1):
            further: dict[Place, tuple[Place, bool]] = {}
            for place, (target, is_sure) in level.items():
                asked += 1
                if asked > _MOST_ASKED:
                    break
                for source, confidence in self._callers(place, is_first=depth == 1).items():
                    is_resolved = is_sure and confidence is Confidence.RESOLVED
                    if self._is_test(source):
                        reach = found.setdefault(source[0], _Reach(depth, target, [], is_resolved))
                        if source not in reach.places and reach.depth == depth:
                            reach.places.append(source)
                            found[source[0]] = reach._replace(is_resolved=reach.is_resolved and is_resolved)
                    elif source not in seen and source[1] >= 0:
                        seen.add(source)
                        further[source] = (target, is_resolved)
            if len(found) >= MOST_TESTS or asked > _MOST_ASKED or (len(found) >= _ENOUGH and depth >= _NEAR):
                break
            level = further
        return found

    def _callers(self, place: Place, *, is_first: bool) -> dict[Place, Confidence]:
        """Return what calls or uses a definition, each with how sure that is."""
        relations, kind = self._relations, self._index.definitions(place[0])[place[1]].kind
        sure = relations.max_confidence(place[0])
        if kind in FUNCTIONS:
            calls = relations.callers_of(place, sure)
            if not calls and is_first:
                calls = relations.callers_of(place, Confidence.LIKELY) or relations.uses_of(place, sure)
        else:
            calls = relations.uses_of(place, sure)
        found = {each.source: each.confidence for each in calls if each.kind is not RelationKind.IMPORT}
        if is_first:
            # Who calls the method of the interface may mean this one.
            for above in relations.overrides_of(place):
                for each in relations.callers_of(above.target, sure):
                    found.setdefault(each.source, each.confidence)
        return found

    def _is_test(self, place: Place) -> bool:
        """Tell whether a place is a test itself, and no helper of tests."""
        if is_test_file(self._index, place[0]):
            return place[1] < 0 or bool(test_name(self._index, place)) or self._is_script(place[0])
        return is_of_tests(self._index, place) and self._index.paths[place[0]].endswith(".rs")

    def _is_script(self, file: int) -> bool:
        """Tell whether tests are no functions of their own in a file's language."""
        return self._index.language(file) not in (
            "python",
            "go",
            "java",
            "kotlin",
        )

    def _named(self, subjects: dict[str, int]) -> dict[int, int]:
        """Return the files of tests that are named after a changed file, nearest first, each with it."""
        index = self._index
        found = {file: file for file in self._sources() if has_inline_tests(index, file)}
        wanted = {name: file for name, file in subjects.items() if name}
        near = [
            (self._distance_of(file, wanted[name]), file, wanted[name])
            for file, path in enumerate(index.paths)
            if (name := subject_of(path)) in wanted and is_test_file(index, file) and file not in self._files
        ]
        found.update((file, source) for _, file, source in sorted(near))
        return found

    def _importing(self) -> Iterator[tuple[int, int]]:
        """Yield tests that import a changed file, each with it; only those are read that bear its name."""
        index = self._index
        for source in self._sources() if len(self._found) < _ENOUGH else ():
            path = index.paths[source]
            parts = path.rpartition(".")[0].split("/")
            name = parts[-1] if not is_entry(path) or len(parts) < 2 else parts[-2]
            for file in files_with(index, (name,))[:_MOST_READ] if self._relations.knows(source) else ():
                if len(self._found) >= _ENOUGH:
                    return
                imports = self._relations.imports_of(file) if is_test_file(index, file) else ()
                if any(each.target[0] == source for each in imports):
                    yield file, source

    def _changed_together(self) -> Iterator[tuple[int, str]]:
        together = self._together() if len(self._found) < MOST_TESTS else None
        if together is None:
            return
        tests = {path: file for file, path in enumerate(self._index.paths) if is_test_file(self._index, file)}
        for source in self._sources():
            path = self._index.paths[source]
            for each in together.with_(path, list(tests)):
                if each.other in tests:
                    yield tests[each.other], f"changed in {each.together} of {each.changes} changes of {path}"

    def _distance(self, file: int) -> int:
        return min((self._distance_of(file, source) for source in self._files), default=0)

    def _distance_of(self, file: int, source: int) -> int:
        """Return how far two files are apart: folders that only one of them stands in."""
        one, other = ({*self._index.paths[each].split("/")[:-1]} for each in (file, source))
        return len(one ^ other)
