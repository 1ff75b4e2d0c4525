"""Which files a test runner takes as tests, and which tests of theirs a runner can be asked for by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from repo_map.check.bare_names import SCRIPTS
from repo_map.languages.kinds import FUNCTIONS
from repo_map.sources.file_kinds import COPIED, is_below_tests, is_named_as_helper, is_run_as_test

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex
    from repo_map.relations.model import Place

_RUNS: Final = re.compile(r"^(?:describe|it|test|suite)(?:\.\w+)?\s*\(", re.M)
"""A script that names tests to its runner."""
_TEST_NAME: Final = re.compile(r"test|Test|Fuzz|Example|Benchmark|it_|should")


def is_test_file(index: RepoIndex, file: int) -> bool:
    """Tell whether a runner takes a file as tests; helpers and fixtures beside tests are none."""
    path = index.paths[file]
    if int(index.files.flags[file]) & int(COPIED):
        return False
    if is_run_as_test(path):
        # A module of that name may hold what a program calls tests, as Jinja's does.
        return path.rpartition("/")[2] != "tests.py" or _holds_tests(index, file)
    # What is named as a helper may be the tests of a source of that name.
    is_script = index.language(file) in SCRIPTS and is_named_as_helper(path) and is_below_tests(path)
    return is_script and _RUNS.search(index.text(file)) is not None


def _holds_tests(index: RepoIndex, file: int) -> bool:
    names = [each.name for each in index.definitions(file) if each.parent < 0 or each.kind in FUNCTIONS]
    return any(name.startswith("test_") or "Test" in name for name in names)


def is_of_tests(index: RepoIndex, place: Place) -> bool:
    """Tell whether a place serves tests: a file of tests or of their helpers, or Rust's module of them."""
    file, row = place
    if index.files.is_test(file):
        return True
    return inline_tests(index, file, row) >= 0


def inline_tests(index: RepoIndex, file: int, row: int) -> int:
    """Return the row of the module of tests that a definition of a Rust source stands in, -1 for none."""
    if not index.paths[file].endswith(".rs"):
        return -1
    definitions = index.definitions(file)
    while row >= 0:
        if definitions[row].kind in ("module", "namespace") and definitions[row].name in ("tests", "test"):
            return row
        row = definitions[row].parent
    return -1


def has_inline_tests(index: RepoIndex, file: int) -> bool:
    """Tell whether a source holds a module of tests of itself."""
    return any(inline_tests(index, file, row) >= 0 for row in range(len(index.definitions(file))))


def test_name(index: RepoIndex, place: Place) -> str:
    """Return the qualified name of the test that a place stands in; ``""`` where nothing names it.

    What is defined within a test counts as the test.
    """
    file, row = place
    definitions = index.definitions(file)
    found = -1
    while row >= 0:
        each = definitions[row]
        name = each.name.rpartition(".")[2]
        if each.kind in FUNCTIONS and (
            _TEST_NAME.match(name) or index.paths[file].endswith((".java", ".kt"))
        ):
            found = row
        row = each.parent
    return index.qualified_name(file, found) if found >= 0 else ""
