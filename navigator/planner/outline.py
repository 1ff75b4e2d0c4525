"""The outline of an answer: numbered entries for the likeliest places, their costs, and their tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from navigator.planner.answer_size import MAX_OUTLINE_TOKENS, MAX_RELATED
from navigator.state.reports import Candidate, OutlineEntry
from repo_map import globs
from repo_map.check.affected_tests import has_inline_tests, is_test_file, select_tests
from repo_map.check.model import Tier
from repo_map.check.runner_commands import build_test_command
from repo_map.languages.kinds import FUNCTIONS, TYPES
from repo_map.messages import one_line
from repo_map.outline.beside import neighbours_of
from repo_map.outline.chances import with_read_chances
from repo_map.outline.costs import file_level_costs
from repo_map.outline.exclusions import excluded_by, hides
from repo_map.outline.listing import list_places
from repo_map.outline.render_cache import RenderCache, Style
from repo_map.outline.sections import Section, Shape
from repo_map.outline.source import own_lines
from repo_map.outline.why import brief_reason
from repo_map.parsing.values import LineRange
from repo_map.ranking.named_text import named_text
from repo_map.ranking.score import ScoredUnit
from repo_map.text import tokens
from repo_map.text.units import FUNCTION

if TYPE_CHECKING:
    from navigator.state.run_state import SelectedPlace
    from repo_map.index.index import Index
    from repo_map.outline.beside import Neighbour
    from repo_map.outline.draw import RepoMap
    from repo_map.outline.listing import ListedFile
    from repo_map.plan.model import FlightPlan
    from repo_map.ranking.score import Relevance
    from repo_map.relations.model import Place

MAX_CANDIDATES: Final = 8
"""Files, and as many definitions."""
_MAX_COST_SHARE: Final = 2
"""Times the budget: a level that is estimated to cost more is not offered, as no step could show it."""
_MAX_TEXT_FILES: Final = 1
"""Files of text that shown code names."""
_LIKELY_CHANCE: Final = 0.45
"""Chance from which on an entry is marked: in 480 tasks, by weights of other repositories, 97 first places
have it, and the fix edits .70 of them."""
_MAX_SHOWN_UNITS: Final = 120
_MAX_SEEDS: Final = 12
"""Shown definitions whose related ones are looked up, the likeliest first."""
_MAX_TYPE_LINES: Final = 60
"""Lines up to which a class is offered as related: of a longer one a member is meant."""
_MAX_SIGNATURE_CHARS: Final = 48
_WHOLE_FILE: Final = "whole file"
_SOME_LINES: Final = "lines"
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


def build_candidates(index: Index, relevance: Relevance, drawn: RepoMap) -> tuple[Candidate, ...]:
    """Return the most relevant files, then definitions, that the map does not show whole, best first."""
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
    units: list[Candidate] = []
    for unit in relevance.units:
        file_id = index.file_id(unit.path)
        if file_id is None or not unit.name or drawn.shows(unit.path, own_lines(index, unit)):
            continue
        if not (cost := costs.of_section(unit.path, file_id, _definitions(unit.name))):
            continue
        units.append(
            Candidate(
                path=unit.path,
                symbol=one_line(unit.name),
                lines=f"{unit.start}-{unit.end}",
                level=drawn.level_of(unit.path),
                reasons=tuple(map(one_line, unit.reasons)),
                prices={4: cost},
            )
        )
        if len(units) == MAX_CANDIDATES:
            break
    return (*files, *units)


def build_outline(
    index: Index,
    relevance: Relevance,
    drawn: RepoMap,
    own: FlightPlan | None = None,
    *,
    room: int = MAX_OUTLINE_TOKENS,
    related: int = MAX_RELATED,
) -> tuple[OutlineEntry, ...]:
    """Return the likeliest places of a goal, numbered from 1, grouped by file.

    Args:
        index: of the repository.
        relevance: scores of the goal.
        drawn: the map beside the outline.
        own: the user's part of the plan; what it excludes is not listed.
        room: tokens of the entries, about.
        related: most entries that are listed only because ``drawn`` shows code which calls them, is called
            or overridden by them.
    """
    builder = _OutlineBuilder(index, drawn)
    entries = [entry for file in list_places(index, relevance, room) for entry in builder.list_file(file)]
    shown = []
    for unit in relevance.units[:_MAX_SHOWN_UNITS]:
        file_id, block = index.file_id(unit.path), drawn.block(unit.path)
        if file_id is not None and block is not None and block.shows(own_lines(index, unit)):
            shown.append((file_id, unit.start, unit.end))
    entries += builder.list_related(shown, entries, own, related)
    order = {path: at for at, path in enumerate(dict.fromkeys(entry.path for entry in entries))}
    more = {path: max(entry.more for entry in entries if entry.path == path) for path in order}
    entries.sort(key=lambda entry: (order[entry.path], entry.first))
    # The count of further definitions goes with the last entry of the file.
    ends = [each.path != after.path for each, after in pairwise(entries)] + [True]
    return tuple(
        entry.model_copy(update={"number": at, "more": more[entry.path] if is_last else 0})
        for at, (entry, is_last) in enumerate(zip(entries, ends, strict=False), 1)
    )


def outline_of_selection(
    index: Index, drawn: RepoMap, selection: Sequence[SelectedPlace]
) -> tuple[OutlineEntry, ...]:
    """Return the places that a model has selected as entries, numbered from 1 in their order."""
    builder = _OutlineBuilder(index, drawn)
    places = [place for place in selection if index.file_id(place.path) is not None]
    return tuple(
        builder.selected(place).model_copy(update={"number": number})
        for number, place in enumerate(places, 1)
    )


def _entry(path: str, lines: LineRange, head: str, why: str, cost: int) -> OutlineEntry:
    """Return an entry without a number."""
    return OutlineEntry(
        number=0, path=path, name="", first=lines.first, last=lines.last, head=head, why=why, tokens=cost
    )


class _OutlineBuilder:
    """Makes entries of units and files, with what each would add to a map."""

    def __init__(self, index: Index, drawn: RepoMap) -> None:
        self._index = index
        self._drawn = drawn
        self._costs = AddedCosts(index, drawn)

    def list_file(self, file: ListedFile) -> Iterator[OutlineEntry]:
        """Yield the entries of a file's definitions; one for the whole file if none is listed."""
        for position, (unit, other) in enumerate(zip(file.places, file.twins, strict=True), 1):
            more = file.more if position == len(file.places) else 0
            also = f"{other.path}:{other.first}-{other.last}" if other is not None else ""
            yield self._unit(unit, brief_reason(unit.reasons)).model_copy(update={"more": more, "also": also})
        if not file.places:
            yield self._whole_file(file.path, "").model_copy(update={"more": file.more})

    def list_related(
        self,
        shown: Sequence[tuple[int, int, int]],
        entries: Sequence[OutlineEntry],
        own: FlightPlan | None,
        limit: int,
    ) -> list[OutlineEntry]:
        """Return what is related to shown code and is not among ``entries``, then a text that it names."""
        listed = {(entry.path, entry.name) for entry in entries}
        found: list[OutlineEntry] = []
        for unit, why in self._related_units(shown):
            key = (unit.path, unit.name)
            if len(found) == limit:
                break
            if key in listed or (own is not None and hides(own, *key)):
                continue
            listed.add(key)
            if (entry := self._unit(unit, why)).tokens:
                found.append(entry)
        paths = {entry.path for entry in entries}
        texts: list[OutlineEntry] = []
        for text in named_text(self._index, shown):
            path = self._index.paths[text.file]
            if len(texts) == _MAX_TEXT_FILES:
                break
            if path in paths or (own is not None and excluded_by(own, path)):
                continue
            if (entry := self._whole_file(path, text.why)).tokens:
                texts.append(entry)
        return [*found, *texts]

    def _related_units(self, shown: Sequence[tuple[int, int, int]]) -> Iterator[tuple[ScoredUnit, str]]:
        """Yield what shown code calls, and what calls or overrides it, best first, each with its reason.

        Tests and long classes are left out.
        """
        index = self._index
        seeds: list[Place] = []
        for file, first, last in shown:
            rows = enumerate(index.definitions(file))
            row = next((row for row, each in rows if first <= each.sig_start <= last), None)
            if row is not None:
                seeds.append((file, row))
        seeds = seeds[:_MAX_SEEDS]
        related = [each for each in neighbours_of(index, seeds) if self._is_offered(each)]
        for each in sorted(related, key=lambda each: (-each.share, each.seed, each.place)):
            file, row = each.place
            definition, name = index.definitions(file)[row], index.qualified_name(file, row)
            has_doc = 0 < definition.doc_start < definition.start
            first = definition.doc_start if has_doc else definition.start
            unit = ScoredUnit(index.paths[file], first, definition.end, name, FUNCTION, 0.0, ())
            yield unit, one_line(each.why(index, seeds[each.seed]))

    def _is_offered(self, related: Neighbour) -> bool:
        file, row = related.place
        each = self._index.definitions(file)[row]
        is_short_type = each.kind in TYPES and each.end - each.start < _MAX_TYPE_LINES
        is_test = self._index.files.is_test(file)
        return not is_test and not related.is_owner and (each.kind in FUNCTIONS or is_short_type)

    def selected(self, place: SelectedPlace) -> OutlineEntry:
        """Return the entry of a selected place."""
        if place.name:
            unit = ScoredUnit(place.path, place.first, place.last, place.name, FUNCTION, 0.0, ())
            return self._unit(unit, place.reason)
        if place.first == 1 and place.last >= int(self._index.files.lines[self._file(place.path)]):
            return self._whole_file(place.path, place.reason)
        lines = LineRange(place.first, place.last)
        part = Section("", f"{lines.first}-{lines.last}", 4)
        is_shown = self._drawn.shows(place.path, lines)
        cost = 0 if is_shown else self._costs.of_section(place.path, self._file(place.path), part)
        return _entry(place.path, lines, _SOME_LINES, place.reason, cost)

    def _unit(self, unit: ScoredUnit, why: str) -> OutlineEntry:
        file, lines = self._file(unit.path), LineRange(unit.start, unit.end)
        is_shown = self._drawn.shows(unit.path, own_lines(self._index, unit))
        cost = 0 if is_shown else self._costs.of_section(unit.path, file, _definitions(unit.name))
        entry = _entry(unit.path, lines, self._signature(file, unit), why, cost)
        return entry.model_copy(
            update={"name": one_line(unit.name), "is_sure": unit.chance >= _LIKELY_CHANCE}
        )

    def _whole_file(self, path: str, why: str) -> OutlineEntry:
        file = self._file(path)
        cost = self._costs.of_source(path, file) if self._drawn.level_of(path) < 4 else 0
        lines = LineRange(1, max(int(self._index.files.lines[file]), 1))
        return _entry(path, lines, _WHOLE_FILE, why, cost)

    def _file(self, path: str) -> int:
        file = self._index.file_id(path)
        assert file is not None
        return file

    def _signature(self, file_id: int, unit: ScoredUnit) -> str:
        """Return a unit's qualified name with its parameters, on one line."""
        leaf, call = unit.name.rpartition(".")[2], ""
        for definition in self._index.definitions(file_id):
            if unit.start <= definition.sig_start <= unit.end and definition.name == leaf:
                lines = self._index.sources.text(file_id).split("\n")
                lines = lines[definition.sig_start - 1 : definition.sig_end]
                _, _, rest = " ".join(" ".join(lines).split()).partition(leaf)
                if rest.startswith(("(", "<", "[", " (")):
                    call = "".join(rest.rpartition(")")[:2])
                call = _SELF.sub("(", call, count=1).replace("( ", "(").replace(", )", ")")
                break
        text = one_line(unit.name + call)
        if len(text) <= _MAX_SIGNATURE_CHARS:
            return text
        return f"{text[: _MAX_SIGNATURE_CHARS - 1].rstrip()}…"


def find_tests(index: Index, relevance: Relevance, outline: Sequence[OutlineEntry]) -> str:
    """Return the test file that a fix would extend, as the command that runs it; ``""`` if none is found.

    The goal leads to a file as it leads to code; calls lead from tests to the likeliest entries, and some
    files are named after the file of an entry. Of 49 that both lead to 26 were edited by the fix; of 60 first
    ones of either 28.
    """
    likely = _likeliest_definitions(index, relevance, outline)
    if likely and has_inline_tests(index, likely[0][0]):
        path = index.paths[likely[0][0]]
    else:
        path = _test_file(index, relevance, likely)
    command = build_test_command(index, [(path, ())]) if path else ""
    if not command or tokens.count(command) > _MAX_COMMAND_TOKENS:
        return path
    return command if PurePosixPath(path).name.partition(".")[0] in command else f"{path}: {command}"


def _test_file(index: Index, relevance: Relevance, likely: Sequence[Place]) -> str:
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


def _likeliest_definitions(
    index: Index, relevance: Relevance, outline: Sequence[OutlineEntry]
) -> list[Place]:
    """Return the definitions of the likeliest entries."""
    units = with_read_chances(relevance).units

    def chance(entry: OutlineEntry) -> float:
        inside = (
            unit.chance
            for unit in units
            if unit.path == entry.path and entry.first <= unit.start and unit.end <= entry.last
        )
        return max(inside, default=0.0)

    ranked = sorted((entry for entry in outline if entry.name), key=lambda entry: -chance(entry))
    found: list[Place] = []
    for entry in ranked[:_MAX_TESTED]:
        if (file := index.file_id(entry.path)) is not None:
            rows = range(len(index.definitions(file)))
            named = ((file, row) for row in rows if index.qualified_name(file, row) == entry.name)
            found += [*named][:1]
    return found
