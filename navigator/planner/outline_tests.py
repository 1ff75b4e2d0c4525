"""The file of tests that a fix of a goal's likeliest places would extend, and the command that runs it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from repo_map.check.affected_tests import has_inline_tests, is_test_file, select_tests
from repo_map.check.model import Tier
from repo_map.check.runner_commands import build_test_command
from repo_map.outline.chances import with_read_chances
from repo_map.text import tokens

if TYPE_CHECKING:
    from navigator.state.reports import OutlineEntry
    from repo_map.index.repo_index import RepoIndex
    from repo_map.ranking.score import Relevance, ScoredUnit
    from repo_map.relations.model import Place

_AMONG_FIRST: Final = 20
"""Files of the order among which the goal's words and the calls of tests can agree on one;"""
_LED_TO: Final = 10
"""of these alone the words are enough."""
_MOST_TESTED: Final = 3
"""Places whose tests are looked for by calls."""
_LONGEST: Final = 40
"""Tokens of the line: a longer command gives way to the file's path."""


def tests_line(index: RepoIndex, relevance: Relevance, outline: Sequence[OutlineEntry]) -> str:
    """Return the file of tests to extend, as the command that runs it; ``""`` where none is seen."""
    likely = _likeliest(index, relevance, outline)
    path = _tests_of_source(index, likely) or _tests_of_places(index, relevance, likely)
    if not path:
        return ""
    command = build_test_command(index, [(path, ())])
    if not command or tokens.count(command) > _LONGEST:
        return path
    return command if PurePosixPath(path).name.partition(".")[0] in command else f"{path}: {command}"


def _tests_of_source(index: RepoIndex, likely: Sequence[Place]) -> str:
    """Return the likeliest place's file where it holds tests of itself."""
    file = next((file for file, _ in likely), -1)
    return index.paths[file] if file >= 0 and has_inline_tests(index, file) else ""


def _tests_of_places(index: RepoIndex, relevance: Relevance, likely: Sequence[Place]) -> str:
    """Return the file of tests that both the goal and the likeliest places lead to, else one of either.

    The goal leads to a file as it leads to code; calls lead from tests to places, and some are named after
    the file of a place. Of 49 that are told so 26 were edited by the fix; of 60 first ones of either 28.
    """
    paths = [file.path for file in relevance.files[:_AMONG_FIRST]]
    ids = {path: index.file_id(path) for path in paths}
    led_to = [path for path, file in ids.items() if file is not None and is_test_file(index, file)]
    if len(led_to) == 1 and led_to[0] in paths[:_LED_TO]:
        return led_to[0]
    found = [each for place in likely for each in select_tests(index, [place]).tests]
    both = {each.path for each in found}.intersection(led_to)
    first = next((path for path in led_to if path in both), "")
    near = next((path for path in led_to if path in paths[:_LED_TO]), "")
    namesake = next((each.path for each in found if each.tier is Tier.SAME_NAME), "")
    return first or near or namesake


def _likeliest(index: RepoIndex, relevance: Relevance, outline: Sequence[OutlineEntry]) -> list[Place]:
    """Return the definitions that the likeliest places of an outline are."""
    units = with_read_chances(relevance).units

    def chance(place: OutlineEntry) -> float:
        own = (each.chance for each in units if each.path == place.path and _holds(place, each))
        return max(own, default=0.0)

    ranked = sorted((place for place in outline if place.name), key=lambda place: -chance(place))
    places = (_definition(index, place) for place in ranked[:_MOST_TESTED])
    return [place for place in places if place is not None]


def _holds(place: OutlineEntry, unit: ScoredUnit) -> bool:
    return place.first <= unit.start and unit.end <= place.last


def _definition(index: RepoIndex, place: OutlineEntry) -> Place | None:
    """Return the definition that a place is."""
    file = index.file_id(place.path)
    if file is None:
        return None
    rows = range(len(index.definitions(file)))
    return next(((file, row) for row in rows if index.qualified_name(file, row) == place.name), None)
