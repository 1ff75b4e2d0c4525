"""Select the tests to run after a change: at most five files, each with a reason, and their command."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.check.model import SelectedTest, Tier
from repo_map.check.runner_commands import build_test_command
from repo_map.languages.kinds import FUNCTIONS
from repo_map.messages import one_line
from repo_map.relations.file_facts import FileViews
from repo_map.relations.model import Confidence, Place, RelationKind
from repo_map.relations.resolve import relations_of
from repo_map.relations.text_search import files_with, shared_folders
from repo_map.sources.file_kinds import (
    GENERATED_OR_VENDORED,
    is_entry,
    is_run_as_test,
    subject_stem,
)

if TYPE_CHECKING:
    from repo_map.index.index import Index

MAX_TESTS: Final = 5
_ENOUGH: Final = 2
"""Test files beside which distant ones, and those that only import the change, are left out."""
_MAX_DEPTH: Final = 8
"""Calls between a test and the change."""
_NEAR: Final = 2
"""Calls up to which a test precedes one of the same name."""
_MAX_EXPANDED: Final = 150
"""Definitions whose callers are looked up at each step."""
_MAX_IMPORTERS: Final = 400
_MAX_NAMED: Final = 3
"""Tests of a file that are named; with more of them the whole file is run."""
_TEST_NAME: Final = re.compile(r"test|Test|Fuzz|Example|Benchmark|it_|should")
_FUNCTION_TESTS: Final = frozenset({"python", "go", "java", "kotlin"})
"""Languages in which a test is a function."""


class AffectedTests(NamedTuple):
    """What to run after a change."""

    tests: tuple[SelectedTest, ...]
    """At most ``MAX_TESTS``, the strongest reason first."""
    command: str
    """Runs just these from the root; ``""`` if the repository's configuration doesn't tell how."""


def select_tests(
    index: Index,
    places: Sequence[Place],
    *,
    earlier: Sequence[SelectedTest] = (),
) -> AffectedTests:
    """Return the tests that say most about some definitions.

    Args:
        index: The tree.
        places: Definitions that change; row -1 is a file as a whole.
        earlier: Tests that called removed definitions in the tree before.
    """
    with relations_of(index).asking():
        found = _Selector(index, places).select(earlier)
    return AffectedTests(found, build_test_command(index, [(each.path, each.names) for each in found]))


def select_calling_tests(index: Index, places: Sequence[Place]) -> tuple[SelectedTest, ...]:
    """Return the tests from which few calls lead to some definitions."""
    with relations_of(index).asking():
        selector = _Selector(index, places)
        selector.add_near(())
        return tuple(selector.found.values())


class _Reach(NamedTuple):
    """How a test file reaches the change."""

    depth: int
    """Calls on the way."""
    target: Place
    tests: dict[Place, Confidence]
    """The tests in it, each with the least confidence of a call on its way."""


class _Selector:
    """Collects the tests of some definitions."""

    def __init__(self, index: Index, places: Sequence[Place]) -> None:
        self._index = index
        self._relations = relations_of(index)
        self._places = tuple(dict.fromkeys(places))
        self._files = tuple(dict.fromkeys(file for file, _ in self._places))
        self._sources = [file for file in self._files if not is_test_file(index, file)]
        self.found: dict[str, SelectedTest] = {}

    def select(self, earlier: Sequence[SelectedTest]) -> tuple[SelectedTest, ...]:
        """Return the tests, tier by tier."""
        paths = self._index.paths
        for place in self._places:
            if place[0] not in self._sources:
                self._add(place[0], Tier.CHANGED, "is part of the change", line=self._line(place))
        same_name = self._same_name()
        far = self.add_near(same_name)
        for each in earlier:
            if self._index.file_id(each.path) is not None:
                self.found.setdefault(each.path, each._replace(names=()))
        for file, source in same_name.items():
            reason = "holds its own tests" if source == file else f"is named after {paths[source]}"
            self._add(file, Tier.SAME_NAME, reason)
        for file, reach in islice(far.items(), max(0, _ENOUGH - len(self.found))):
            self._add_reached(file, reach)
        for file, source in self._importing():
            self._add(file, Tier.IMPORTS, f"imports {paths[source]}")
        return tuple(self.found.values())[:MAX_TESTS]

    def add_near(self, same_name: Collection[int]) -> dict[int, _Reach]:
        """Add the tests from which few calls lead to the change, and return the others, nearest first."""
        reached = self._reached()

        def order(file: int) -> tuple[int, int, int, str]:
            each = reached[file]
            distance = min((self._distance(file, source) for source in self._files), default=0)
            return each.depth - (file in same_name), -len(each.tests), distance, self._index.paths[file]

        ordered = sorted(reached, key=order)
        for file in ordered:
            if reached[file].depth <= _NEAR:
                self._add_reached(file, reached[file])
        return {file: reached[file] for file in ordered if reached[file].depth > _NEAR}

    def _add_reached(self, file: int, reach: _Reach) -> None:
        name = one_line(self._index.qualified_name(*reach.target)) or self._index.paths[reach.target[0]]
        reason = f"calls `{name}`" if reach.depth <= 1 else f"reaches `{name}` by {reach.depth} calls"
        names = tuple(dict.fromkeys(_test_name(self._index, each) for each in reach.tests))
        is_whole = min(reach.tests.values()) < Confidence.RESOLVED or "" in names or len(names) > _MAX_NAMED
        line = min(map(self._line, reach.tests))
        self._add(file, Tier.CALLS, reason, names=() if is_whole else names, line=line)

    def _add(self, file: int, tier: Tier, reason: str, *, names: tuple[str, ...] = (), line: int = 1) -> None:
        path = self._index.paths[file]
        self.found.setdefault(path, SelectedTest(path, names, line, tier, reason))

    def _line(self, place: Place) -> int:
        return self._index.definitions(place[0])[place[1]].sig_start if place[1] >= 0 else 1

    def _reached(self) -> dict[int, _Reach]:
        """Return the test files from which calls lead to the change, nearest first."""
        found: dict[int, _Reach] = {}
        level = {
            place: (place, Confidence.RESOLVED)
            for place in self._places
            if place[1] >= 0 and self._relations.knows(place[0])
        }
        seen = set(level)
        for depth in range(1, _MAX_DEPTH + 1):
            following: dict[Place, tuple[Place, Confidence]] = {}
            for place, (target, sure) in list(level.items())[:_MAX_EXPANDED]:
                for source, confidence in self._callers(place, is_first=depth == 1).items():
                    least = min(sure, confidence)
                    if self._is_test(source):
                        reach = found.setdefault(source[0], _Reach(depth, target, {}))
                        if reach.depth == depth:
                            reach.tests.setdefault(source, least)
                    elif source not in seen and source[1] >= 0:
                        seen.add(source)
                        following[source] = (target, least)
            if len(found) >= MAX_TESTS or (len(found) >= _ENOUGH and depth >= _NEAR):
                break
            level = following
        return found

    def _callers(self, place: Place, *, is_first: bool) -> dict[Place, Confidence]:
        """Return what calls or uses a definition, each with its confidence."""
        relations, sure = self._relations, self._relations.max_confidence(place[0])
        if self._index.definitions(place[0])[place[1]].kind in FUNCTIONS:
            calls = relations.callers_of(place, sure)
            if not calls and is_first:
                calls = relations.callers_of(place, Confidence.LIKELY) or relations.uses_of(place, sure)
        else:
            calls = relations.uses_of(place, sure)
        found = {each.source: each.confidence for each in calls if each.kind is not RelationKind.IMPORT}
        # A call of the interface's method may reach this one.
        for base in relations.overrides_of(place) if is_first else ():
            for each in relations.callers_of(base.target, sure):
                found.setdefault(each.source, each.confidence)
        return found

    def _is_test(self, place: Place) -> bool:
        """Return True for a test itself, not for a helper of tests."""
        if is_test_file(self._index, place[0]):
            is_script = self._index.language(place[0]) not in _FUNCTION_TESTS
            return place[1] < 0 or is_script or bool(_test_name(self._index, place))
        is_rust = self._index.paths[place[0]].endswith(".rs")
        return is_rust and (self._index.files.is_test(place[0]) or _is_inline(self._index, place))

    def _same_name(self) -> dict[int, int]:
        """Return the test files named after a changed file, nearest first, each with that file."""
        index = self._index
        subjects = {subject_stem(index.paths[file]): file for file in reversed(self._sources)}
        subjects.pop("", None)
        near: list[tuple[int, int, int]] = []
        for file, path in enumerate(index.paths):
            source = subjects.get(subject_stem(path))
            if source is not None and file not in self._files and is_test_file(index, file):
                near.append((self._distance(file, source), file, source))
        found = {file: file for file in self._sources if has_inline_tests(index, file)}
        return found | {file: source for _, file, source in sorted(near)}

    def _importing(self) -> Iterator[tuple[int, int]]:
        """Yield test files that import a changed file, each with it; only files with its name are read."""
        for source in self._sources:
            path = self._index.paths[source]
            steps = path.rpartition(".")[0].split("/")
            name = steps[-1] if not is_entry(path) or len(steps) < 2 else steps[-2]
            candidates = files_with(self._index, (name,)) if self._relations.knows(source) else ()
            for file in candidates[:_MAX_IMPORTERS]:
                if len(self.found) >= _ENOUGH:
                    return
                imports = self._relations.imports_of(file) if is_test_file(self._index, file) else ()
                if any(each.target[0] == source for each in imports):
                    yield file, source

    def _distance(self, file: int, other: int) -> int:
        """Return how many folders only one of two paths has below their common ones."""
        one, two = self._index.paths[file], self._index.paths[other]
        return one.count("/") + two.count("/") - 2 * shared_folders(one, two)


def is_test_file(index: Index, file: int) -> bool:
    """Return True if a test runner runs a file; helpers and fixtures of tests are not run."""
    path, is_copied = index.paths[file], int(index.files.flags[file]) & int(GENERATED_OR_VENDORED)
    if is_copied or not is_run_as_test(path):
        return False
    # A module of this name may define what a program calls tests, as Jinja's does.
    return path.rpartition("/")[2] != "tests.py" or any(
        each.name.startswith("test_") or "Test" in each.name
        for each in index.definitions(file)
        if each.parent < 0 or each.kind in FUNCTIONS
    )


def has_inline_tests(index: Index, file: int) -> bool:
    """Return True for a Rust source with a module of its own tests."""
    return any(_is_inline(index, (file, row)) for row in range(len(index.definitions(file))))


def _is_inline(index: Index, place: Place) -> bool:
    """Return True for a definition in a module of tests of a Rust source."""
    around = index.memo(FileViews)[place[0]].around(place[1])
    definitions = (index.definitions(place[0])[row] for row in around)
    return index.paths[place[0]].endswith(".rs") and any(
        each.kind in ("module", "namespace") and each.name in ("tests", "test") for each in definitions
    )


def _test_name(index: Index, place: Place) -> str:
    """Return the qualified name of the outermost test around a place, ``""`` without one."""
    file, definitions, found = place[0], index.definitions(place[0]), ""
    is_java = index.paths[file].endswith((".java", ".kt"))
    for row in index.memo(FileViews)[file].around(place[1]):
        name = definitions[row].name.rpartition(".")[2]
        if definitions[row].kind in FUNCTIONS and (is_java or _TEST_NAME.match(name)):
            found = index.qualified_name(file, row)
    return found
