"""The file of tests that a fix of a goal's likeliest places would extend, and the command that runs it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from repo_map.check.runners import command_for
from repo_map.check.test_files import has_inline_tests, is_test_file
from repo_map.check.tests_to_run import tests_for
from repo_map.text import tokens

if TYPE_CHECKING:
    from navigator.records.reports import MenuPlace
    from repo_map.index import RepoIndex
    from repo_map.relations.model import Place
    from repo_map.relevance.score import Relevance

_AMONG_FIRST: Final = 20
"""Files of the order among which the goal's own file of tests stands, if there is one: .84 of those were
edited by the fix, of the first by calls .67, of the second of either a third."""
_MOST_TESTED: Final = 3
"""Places whose tests are looked for by calls, where the goal's words lead to none."""
_LONGEST: Final = 40
"""Tokens of the line: a longer command gives way to the file's path."""


def tests_line(index: RepoIndex, relevance: Relevance, menu: Sequence[MenuPlace]) -> str:
    """Return the file of tests to extend, as the command that runs it; ``""`` where none is seen."""
    path = _tests_of_source(index, menu) or _by_words(index, relevance) or _by_calls(index, menu)
    if not path:
        return ""
    command = command_for(index, [(path, ())])
    if not command or tokens.count(command) > _LONGEST:
        return path
    return command if PurePosixPath(path).name.partition(".")[0] in command else f"{path}: {command}"


def _tests_of_source(index: RepoIndex, menu: Sequence[MenuPlace]) -> str:
    """Return the surest place's file where it holds tests of itself."""
    first = next(iter(_surest_first(menu)), None)
    file = None if first is None else index.file_id(first.path)
    return first.path if first and file is not None and has_inline_tests(index, file) else ""


def _by_words(index: RepoIndex, relevance: Relevance) -> str:
    """Return the file of tests that the goal leads to, as it leads to code."""
    paths = (file.path for file in relevance.files[:_AMONG_FIRST])
    ids = ((path, index.file_id(path)) for path in paths)
    return next((path for path, file in ids if file is not None and is_test_file(index, file)), "")


def _by_calls(index: RepoIndex, menu: Sequence[MenuPlace]) -> str:
    """Return the file of tests from which calls lead to the surest places, or that is named after them."""
    first = (_definition(index, place) for place in _surest_first(menu)[:_MOST_TESTED])
    return next((each.path for place in first if place for each in tests_for(index, [place]).tests), "")


def _surest_first(menu: Sequence[MenuPlace]) -> list[MenuPlace]:
    return sorted(menu, key=lambda place: not place.is_sure)


def _definition(index: RepoIndex, place: MenuPlace) -> Place | None:
    """Return the definition that a place is; None for a whole file."""
    file = index.file_id(place.path)
    if file is None or not place.name:
        return None
    rows = range(len(index.definitions(file)))
    return next(((file, row) for row in rows if index.qualified_name(file, row) == place.name), None)
