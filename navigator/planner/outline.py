"""The outline of an answer: numbered entries for the likeliest places, their costs, and their tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from navigator.state.reports import Candidate, OutlineEntry
from repo_map import globs
from repo_map.check.affected_tests import has_inline_tests, is_test_file, select_tests
from repo_map.check.model import Tier
from repo_map.check.runner_commands import build_test_command
from repo_map.messages import one_line
from repo_map.outline.costs import file_level_costs
from repo_map.outline.render_cache import RenderCache, Style
from repo_map.outline.sections import Section, Shape
from repo_map.parsing.values import LineRange
from repo_map.text import tokens

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.outline.draw import RepoMap
    from repo_map.outline.places import Place
    from repo_map.ranking.score import Relevance
    from repo_map.relations.model import Place as Definition

MAX_CANDIDATES: Final = 8
"""Files, and as many definitions."""
_MAX_COST_SHARE: Final = 2
"""Times the budget: a level that is estimated to cost more is not offered, as no step could show it."""
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


class AddedCosts:
    """What a map would grow by if one file were shown differently, counted on the text that is drawn then."""

    def __init__(self, index: Index, drawn: RepoMap) -> None:
        self._cache = RenderCache(index, Style(tokens.DEFAULT_ENCODING))
        self._estimates = file_level_costs(index)
        self._drawn = drawn

    def of_levels(self, path: str, file_id: int, above: int) -> dict[int, int]:
        """Return what each level of the whole file above ``above`` adds, where it adds anything."""
        costs = {level: self._of_level(path, file_id, level) for level in range(max(above + 1, 2), 5)}
        return {level: cost for level, cost in costs.items() if cost}

    def of_source(self, path: str, file_id: int) -> int:
        """Return what the whole source of a file adds, 0 if that is nothing or far too much."""
        return self._of_level(path, file_id, 4)

    def of_section(self, path: str, file_id: int, part: Section) -> int:
        """Return what a section adds; of sections with the same pattern it takes the place."""
        block = self._drawn.block(path)
        shape = Shape(1) if block is None else block.shape
        others = (each for each in shape.sections if not part.pattern or each.pattern != part.pattern)
        return self._added(path, file_id, shape._replace(sections=(*others, part)))

    def _of_level(self, path: str, file_id: int, level: int) -> int:
        if self._estimates[file_id, level] > _MAX_COST_SHARE * self._drawn.budget:
            return 0
        block = self._drawn.block(path)
        return self._added(path, file_id, Shape(level, why="" if block is None else block.shape.why))

    def _added(self, path: str, file_id: int, shape: Shape) -> int:
        block = self._drawn.block(path)
        return max(max(self._cache.draw(file_id, shape).counts) - (0 if block is None else block.tokens), 0)


def _definitions(name: str) -> Section:
    """Return the section that shows the source of all definitions of a name."""
    return Section(globs.escape(name), "", 4)


def build_candidates(
    index: Index, relevance: Relevance, drawn: RepoMap, places: Iterable[Place]
) -> tuple[Candidate, ...]:
    """Return the most relevant files, then ``places``, that the map does not show whole, best first."""
    costs = AddedCosts(index, drawn)
    files: list[Candidate] = []
    for file in relevance.files:
        file_id, level = index.file_id(file.path), drawn.level_of(file.path)
        if file_id is None or level == 4 or not (prices := costs.of_levels(file.path, file_id, level)):
            continue
        reasons = tuple(map(one_line, file.reasons))
        files.append(Candidate(path=file.path, level=level, reasons=reasons, prices=prices))
        if len(files) == MAX_CANDIDATES:
            break
    definitions: list[Candidate] = []
    for place in places:
        file_id = index.file_id(place.path)
        if file_id is None or not place.name or drawn.shows(place.path, LineRange(place.first, place.last)):
            continue
        if not (cost := costs.of_section(place.path, file_id, _definitions(place.name))):
            continue
        definitions.append(
            Candidate(
                path=place.path,
                symbol=one_line(place.name),
                lines=f"{place.first}-{place.last}",
                level=drawn.level_of(place.path),
                reasons=tuple(filter(None, [one_line(place.reason)])),
                prices={_SOURCE: cost},
            )
        )
        if len(definitions) == MAX_CANDIDATES:
            break
    return (*files, *definitions)


def build_outline(index: Index, drawn: RepoMap, places: Iterable[Place]) -> tuple[OutlineEntry, ...]:
    """Return places as entries, numbered from 1 in their order, each with what it would add to a map."""
    builder = _OutlineBuilder(index, drawn)
    known = (place for place in places if index.file_id(place.path) is not None)
    return tuple(builder.entry(place, number) for number, place in enumerate(known, 1))


class _OutlineBuilder:
    """Makes entries of places."""

    def __init__(self, index: Index, drawn: RepoMap) -> None:
        self._index = index
        self._drawn = drawn
        self._costs = AddedCosts(index, drawn)

    def entry(self, place: Place, number: int) -> OutlineEntry:
        """Return the entry of a place."""
        file = self._index.file_id(place.path)
        assert file is not None
        lines = max(int(self._index.files.lines[file]), 1)
        if place.name:
            head = self._signature(file, place)
            cost = self._costs.of_section(place.path, file, _definitions(place.name))
        elif place.first == 1 and place.last >= lines:
            head = _WHOLE_FILE
            cost = (
                self._costs.of_source(place.path, file) if self._drawn.level_of(place.path) < _SOURCE else 0
            )
        else:
            head = _SOME_LINES
            cost = self._costs.of_section(
                place.path, file, Section("", f"{place.first}-{place.last}", _SOURCE)
            )
        is_shown = self._drawn.shows(place.path, LineRange(place.first, min(place.last, lines)))
        return OutlineEntry(
            number=number,
            path=place.path,
            name=one_line(place.name),
            first=place.first,
            last=place.last,
            head=head,
            why=place.reason,
            tokens=0 if is_shown else cost,
            is_sure=place.chance >= _LIKELY_CHANCE,
            also=place.also,
        )

    def _signature(self, file_id: int, place: Place) -> str:
        """Return a definition's qualified name with its parameters, on one line."""
        leaf, call = place.name.rpartition(".")[2], ""
        for definition in self._index.definitions(file_id):
            if definition.start == place.first and definition.name == leaf:
                lines = self._index.sources.text(file_id).split("\n")
                lines = lines[definition.sig_start - 1 : definition.sig_end]
                _, _, rest = " ".join(" ".join(lines).split()).partition(leaf)
                if rest.startswith(("(", "<", "[", " (")):
                    call = "".join(rest.rpartition(")")[:2])
                call = _SELF.sub("(", call, count=1).replace("( ", "(").replace(", )", ")")
                break
        text = one_line(place.name + call)
        if len(text) <= _MAX_SIGNATURE_CHARS:
            return text
        return f"{text[: _MAX_SIGNATURE_CHARS - 1].rstrip()}…"


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
    if not command or tokens.count(command) > _MAX_COMMAND_TOKENS:
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
