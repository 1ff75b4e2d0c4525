"""The outline of an answer: numbered entries for the likeliest places, and their tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from navigator.state.reports import OutlineEntry
from repo_map.check.affected_tests import has_inline_tests, is_test_file, select_tests
from repo_map.check.model import Tier
from repo_map.check.runner_commands import build_test_command
from repo_map.messages import one_line
from repo_map.outline.costs import file_level_costs
from repo_map.parsing.values import LineRange
from repo_map.text.tokens import count

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.outline.draw import RepoMap
    from repo_map.outline.places import Place
    from repo_map.ranking.score import Relevance
    from repo_map.relations.model import Place as Definition

_LIKELY_CHANCE: Final = 0.45
"""Chance from which on an entry is marked: in 480 tasks, by weights of other repositories, 97 first places
have it, and the fix edits .70 of them."""
_MAX_SIGNATURE_CHARS: Final = 48
_WHOLE_FILE: Final = "whole file"
_SOME_LINES: Final = "lines"
_SOURCE: Final = 4
_SELF = re.compile(r"\( ?(?:self|cls|&(?:'\w+ )?(?:mut )?self|mut self)(?:, |(?= ?\)))")
_SHARED_RANK: Final = 20
"""Best files among which the goal's words and the calls of tests can agree on a test file;"""
_GOAL_RANK: Final = 10
"""of these alone the words are enough."""
_MAX_TESTED: Final = 3
"""Entries whose tests are looked up by calls."""
_MAX_COMMAND_TOKENS: Final = 40
"""A longer command gives way to the file's path."""


def build_outline(index: Index, drawn: RepoMap, places: Iterable[Place]) -> tuple[OutlineEntry, ...]:
    """Return places as entries, numbered from 1 in their order."""
    known = (place for place in places if index.file_id(place.path) is not None)
    return tuple(_entry(index, drawn, place, number) for number, place in enumerate(known, 1))


def _entry(index: Index, drawn: RepoMap, place: Place, number: int) -> OutlineEntry:
    file = index.file_id(place.path)
    assert file is not None, "only known files are listed"
    length = max(int(index.files.lines[file]), 1)
    is_whole = place.first == 1 and place.last >= length
    head = _signature(index, file, place) if place.name else _WHOLE_FILE if is_whole else _SOME_LINES
    tokens = 0
    if not drawn.shows(place.path, LineRange(place.first, min(place.last, length))):
        lines = index.sources.text(file).split("\n")[place.first - 1 : place.last]
        estimate = int(file_level_costs(index)[file, _SOURCE])
        tokens = max(estimate if is_whole else count("\n".join(lines)), 1)
    return OutlineEntry(
        number=number,
        path=place.path,
        name=one_line(place.name),
        first=place.first,
        last=place.last,
        head=head,
        why=place.reason,
        tokens=tokens,
        is_sure=place.chance >= _LIKELY_CHANCE,
        also=place.also,
    )


def _signature(index: Index, file_id: int, place: Place) -> str:
    leaf, call = place.name.rpartition(".")[2], ""
    for definition in index.definitions(file_id):
        if definition.start == place.first and definition.name == leaf:
            lines = index.sources.text(file_id).split("\n")
            lines = lines[definition.sig_start - 1 : definition.sig_end]
            _, _, rest = " ".join(" ".join(lines).split()).partition(leaf)
            if rest.startswith(("(", "<", "[", " (")):
                call = "".join(rest.rpartition(")")[:2])
            call = _SELF.sub("(", call, count=1).replace("( ", "(").replace(", )", ")")
            break
    text = one_line(place.name + call)
    return text if len(text) <= _MAX_SIGNATURE_CHARS else f"{text[: _MAX_SIGNATURE_CHARS - 1].rstrip()}…"


def find_tests(index: Index, relevance: Relevance, places: Sequence[Place]) -> str:
    """Return the test file that a fix would extend, as the command that runs it; ``""`` if none is found.

    The goal leads to a file as it leads to code; calls lead from tests to the likeliest places, and some
    files are named after the file of a place. Of 49 that both lead to 26 were edited by the fix; of 60 first
    ones of either 28.
    """
    likely = list(_definitions_of(index, sorted(places, key=lambda place: -place.chance)))[:_MAX_TESTED]
    if likely and has_inline_tests(index, likely[0][0]):
        path = index.paths[likely[0][0]]
    else:
        path = _test_file(index, relevance, likely)
    command = build_test_command(index, [(path, ())]) if path else ""
    if not command or count(command) > _MAX_COMMAND_TOKENS:
        return path
    return command if PurePosixPath(path).name.partition(".")[0] in command else f"{path}: {command}"


def _definitions_of(index: Index, places: Iterable[Place]) -> Iterator[Definition]:
    """Yield the file and the row of each place that is a definition."""
    for place in places:
        file = index.file_id(place.path)
        for row, each in enumerate(index.definitions(file)) if file is not None else ():
            if (
                file is not None
                and each.start == place.first
                and index.qualified_name(file, row) == place.name
            ):
                yield file, row


def _test_file(index: Index, relevance: Relevance, likely: Sequence[Definition]) -> str:
    paths = [file.path for file in relevance.files[:_SHARED_RANK]]
    ids = {path: index.file_id(path) for path in paths}
    ranked = [path for path, file in ids.items() if file is not None and is_test_file(index, file)]
    near = next((path for path in ranked if path in paths[:_GOAL_RANK]), "")
    if len(ranked) == 1 and near:
        return near
    found = [each for place in likely for each in select_tests(index, [place]).tests]
    reached = {each.path for each in found}
    both = next((path for path in ranked if path in reached), "")
    return both or near or next((each.path for each in found if each.tier is Tier.SAME_NAME), "")
