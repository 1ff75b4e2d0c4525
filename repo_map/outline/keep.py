"""What is shown stays: of a plan that takes more than its budget, the least valuable parts give way."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from repo_map import globs
from repo_map.outline.draft import Base, shape_of
from repo_map.outline.exclusions import excluded, with_exclusions_of
from repo_map.outline.omitted import OmittedSummary
from repo_map.outline.pieces import CHARACTERS_PER_TOKEN, PieceReader
from repo_map.outline.render_cache import RenderCache, RenderedFile, Style
from repo_map.outline.rendering import joint_legend
from repo_map.outline.sections import line_range
from repo_map.outline.select import select
from repo_map.outline.source import joined
from repo_map.outline.windows import SHARE_OF_LEFT
from repo_map.plan.model import FlightPlan, Focus, SectionRule, VerbosityRule
from repo_map.ranking.score import units_of
from repo_map.text.tokens import DEFAULT_ENCODING
from repo_map.text.tokens import counts as count

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.ranking.score import Relevance, ScoredUnit


_SHARE_OF_LARGE = 0.6
"""Of the budget, what the best parts of a file take that is larger than the whole;"""
_MOST_TRIED = 60
"""its parts that are tried, the best first."""

Asked: TypeAlias = Mapping[str, Collection[tuple[str | None, str | None]]]
"""By patterns of files the parts that were asked for last, each by its name or lines; none for the whole."""


class KeptPlan(NamedTuple):
    """A plan that fits its budget, as far as what is never given up lets it."""

    plan: FlightPlan
    gave_way: tuple[str, ...] = ()
    """What it shows no more, as it is told: ``Invoice.total (src/invoices.py)``, ``src/invoices.py:3-9``."""
    fits: bool = True
    """Whether the rest fits; else it is drawn with less detail than the plan asks for."""
    in_part: tuple[str, ...] = ()
    """What was asked for last and is larger than the whole budget: of it that is shown which fits the goal
    best."""


class _Part(NamedTuple):
    """A part of a file that a rule shows, which stays or gives way as one."""

    path: str
    at: int
    """Its place within the rule."""
    section: SectionRule
    told: str
    asked: int
    """0 where the user did not ask for it, else larger for later wishes."""
    worth: float
    is_loose: bool
    """Whether it says nothing without the other parts of its file, as imports do."""
    is_between: bool
    """Whether it is no unit of the file, but lines between two."""
    is_latest: bool
    """Whether it was asked for last."""

    @property
    def rank(self) -> tuple[int, float, bool, str, int]:
        """What has the least gives way first."""
        return self.asked, self.worth, self.is_loose, self.path, self.at


def with_more(index: Index, plan: FlightPlan, packed: FlightPlan, own: FlightPlan) -> FlightPlan:
    """Return ``plan`` with what ``packed`` shows besides, but for what the user's ``own`` part leaves out."""
    rules = {rule.pattern: rule for rule in plan.verbosity}
    for rule in packed.verbosity:
        if index.file_id(globs.plain(rule.pattern)) is None or rule.level == 0:
            continue
        before = rules.get(rule.pattern)
        rules[rule.pattern] = rule if before is None or before.level == 0 else _joined(before, rule)
    have, more = plan.focus or Focus(), packed.focus or Focus()
    known = {boost.pattern for boost in have.paths}
    paths = (*have.paths, *(boost for boost in more.paths if boost.pattern not in known))
    update = {"verbosity": tuple(rules.values()), "focus": have.model_copy(update={"paths": paths})}
    return with_exclusions_of(index, plan.model_copy(update=update), own)


def _joined(one: VerbosityRule, other: VerbosityRule) -> VerbosityRule:
    """Return the rule that shows what either of two for the same file shows."""
    level = max(one.level or 1, other.level or 1)
    if level == 4:
        return one.model_copy(update={"level": 4, "sections": ()})
    sections = {(each.pattern, each.lines): each for each in (*other.sections, *one.sections)}
    return one.model_copy(update={"level": level, "sections": tuple(sections.values())})


def keep_within(
    index: Index, relevance: Relevance, plan: FlightPlan, own: FlightPlan, latest: Asked
) -> KeptPlan:
    """Return the plan with as much of it as its budget takes.

    What ``relevance`` finds least valuable gives way first, then what the user's ``own`` part of the plan
    asks for, the oldest wish first; never what is asked for as ``latest``. Where that is larger than the
    whole budget its best parts stay: of a file beside what was there, whose cost they are not.
    """
    room = _Room(index, relevance, plan, own, latest)
    in_part = [path for path in room.larger_than(plan.budget) if latest.get(globs.escape(path)) == ()]
    for path in in_part:
        room.keep_best(path, round(_SHARE_OF_LARGE * plan.budget))
    gone: list[_Part] = []
    for part in sorted((part for part in room.parts() if not part.is_latest), key=lambda part: part.rank):
        if room.fits():
            break
        room.take_out(part)
        gone.append(part)
    named = [part for part in room.parts() if part.is_latest and part.path not in in_part]
    for part in sorted(named, key=lambda part: -room.size_of(part)):
        if room.fits():
            break
        room.cut(part)
        in_part.append(part.told)
    for part in gone[::-1]:
        room.put_back(part)
        if room.fits():
            gone.remove(part)
        else:
            room.take_out(part)
    return KeptPlan(room.plan(), tuple(dict.fromkeys(_told(gone, room))), room.fits(), tuple(in_part))


def _told(gone: Sequence[_Part], room: _Room) -> Iterator[str]:
    """Yield what gave way, the most valuable first; a file of which nothing is left is told alone."""
    files: set[str] = set()
    for part in reversed(gone):
        if room.shows(part.path):
            if not part.is_loose:
                yield part.told
        elif part.path not in files:
            files.add(part.path)
            yield part.path


class _Room:
    """The rules for single files, what each takes, and which parts of them stay."""

    def __init__(
        self, index: Index, relevance: Relevance, plan: FlightPlan, own: FlightPlan, latest: Asked
    ) -> None:
        self._index = index
        self._reader = PieceReader(index, relevance)
        self._latest = latest
        self._plan = plan
        self._cache = RenderCache(index, Style(DEFAULT_ENCODING, bool(plan.line_numbers)))
        self._units: dict[str, list[ScoredUnit]] = {}
        for unit in relevance.units:
            self._units.setdefault(unit.path, []).append(unit)
        self._own = {rule.pattern: (at, rule) for at, rule in enumerate(own.verbosity, 1) if rule.level != 0}
        out = excluded(index, plan)
        self._rules = {
            path: rule
            for rule in plan.verbosity
            if (file := index.file_id(path := globs.plain(rule.pattern))) is not None and not out[file]
        }
        self._parts = {path: self._cut(path, rule) for path, rule in self._rules.items()}
        self._gone: dict[str, set[int]] = {path: set() for path in self._rules}
        self._drawn = {path: self._draw(path) for path in self._rules}
        self._omitted = OmittedSummary(index, select(index, plan).levels > 0, plan.budget, DEFAULT_ENCODING)
        self._others = Base(index, plan).price()

    def parts(self) -> Iterator[_Part]:
        """Yield every part."""
        for parts in self._parts.values():
            yield from parts

    def fits(self) -> bool:
        """Say whether all that stays fits the plan's budget."""
        return self._left() >= 0

    def _left(self) -> int:
        """Return the tokens of the plan's budget that nothing takes."""
        drawn = {path: each for path, each in self._drawn.items() if each is not None}
        ids = [file for path in drawn if (file := self._index.file_id(path)) is not None]
        legend = count(joint_legend(each.legend for each in drawn.values()))
        columns = [*(each.counts for each in drawn.values()), legend, self._omitted.counts_without(ids)]
        return self._plan.budget - max(map(sum, zip(*columns, strict=True))) - self._others

    def size_of(self, part: _Part) -> int:
        """Return the lines that a part shows."""
        return sum(last - first + 1 for first, last in self._lines_of(part))

    def _lines_of(self, part: _Part) -> list[tuple[int, int]]:
        """Return the first and the last line of what a part shows, unit by unit, the best first."""
        first, last = line_range(part.section.lines) if part.section.lines else (1, self._lines(part.path))
        found = [(max(unit.start, first), min(unit.end, last)) for unit in self._units_in(part)]
        return found or [(first, last)]

    def _units_in(self, part: _Part) -> list[ScoredUnit]:
        """Return the units that a part shows something of, the best first."""
        units = self._units.get(part.path) or units_of(self._index, part.path)
        return sorted((unit for unit in units if _covers(part.section, unit)), key=lambda unit: -unit.score)

    def cut(self, part: _Part) -> None:
        """Let of a part without room only that stay which fits the goal best: units, or of one windows."""
        self.take_out(part)
        ranges, units = self._lines_of(part), self._units_in(part)
        if len(units) > 1:
            self._put_in_place(part, ranges)
            return
        (first, last) = ranges[0]
        room = round(SHARE_OF_LEFT * max(self._left(), 0))
        windows = [(each.first, each.last) for unit in units for each in self._reader.windows(unit, room)]
        self._put_in_place(
            part,
            [(max(low, first), min(high, last)) for low, high in windows if low <= last and first <= high],
        )
        # What the goal speaks of may be little: the rest of the room is for how it begins.
        room = round(SHARE_OF_LEFT * max(self._left(), 0)) * CHARACTERS_PER_TOKEN
        lines = self._reader.file(part.path).lines
        sizes = accumulate(len(line) + 1 for line in lines[first - 1 : last])
        if fitting := sum(size <= room for size in sizes):
            self._put_in_place(part, [(first, first + fitting - 1)])

    def _put_in_place(self, part: _Part, ranges: Sequence[tuple[int, int]]) -> None:
        """Show ranges of lines of a part, each that has room."""
        for first, last in ranges:
            parts = self._parts[part.path]
            section = SectionRule(lines=f"{first}-{last}", level=part.section.level)
            parts.append(part._replace(at=len(parts), section=section))
            self._drawn[part.path] = self._draw(part.path)
            if not self.fits():
                self.take_out(parts[-1])

    def shows(self, path: str) -> bool:
        """Say whether anything of a file stays."""
        return self._drawn[path] is not None

    def larger_than(self, budget: int) -> list[str]:
        """Return the files that take more than ``budget`` tokens alone."""
        return [path for path, each in self._drawn.items() if each is not None and max(each.counts) > budget]

    def keep_best(self, path: str, most: int) -> None:
        """Let all of a file give way but its best parts, in ``most`` tokens."""
        parts = sorted(self._parts[path], key=lambda part: (part.is_between, -part.worth, part.at))
        self._gone[path] = {part.at for part in parts}
        for part in parts[:_MOST_TRIED]:
            self._gone[path].discard(part.at)
            drawn = self._draw(path)
            if drawn is None or max(drawn.counts) > most:
                self._gone[path].add(part.at)
        self._drawn[path] = self._draw(path)

    def take_out(self, part: _Part) -> None:
        """Let a part give way."""
        self._gone[part.path].add(part.at)
        self._drawn[part.path] = self._draw(part.path)

    def put_back(self, part: _Part) -> None:
        """Let a part stay after all."""
        self._gone[part.path].discard(part.at)
        self._drawn[part.path] = self._draw(part.path)

    def plan(self) -> FlightPlan:
        """Return the plan with what stays."""
        rules = (
            self._rule(path) if self._gone.get(path := globs.plain(rule.pattern)) else rule
            for rule in self._plan.verbosity
        )
        return self._plan.model_copy(update={"verbosity": tuple(rule for rule in rules if rule is not None)})

    def _draw(self, path: str) -> RenderedFile | None:
        rule, file = self._rule(path), self._index.file_id(path)
        return None if rule is None or file is None else self._cache.draw(file, shape_of(rule))

    def _rule(self, path: str) -> VerbosityRule | None:
        """Return the rule of a file as far as it stays, None where nothing does."""
        rule, gone = self._rules[path], self._gone[path]
        if not gone:
            return rule
        kept = [part for part in self._parts[path] if part.at not in gone]
        if not any(part.section.level > 1 and not part.is_loose for part in kept):
            return None
        sections = [part.section for part in kept]
        lines = sorted(line_range(each.lines) for each in sections if each.lines and each.level == 4)
        whole = [SectionRule(lines=f"{first}-{last}", level=4) for first, last in joined(lines)]
        others = [each for each in sections if not each.lines or each.level != 4]
        level = rule.level if rule.sections else 1
        return rule.model_copy(update={"level": level, "sections": (*others, *whole)})

    def _cut(self, path: str, rule: VerbosityRule) -> list[_Part]:
        """Return the parts of a rule: its sections, or, of a file that it shows whole, its units."""
        units = sorted(self._units.get(path) or units_of(self._index, path), key=lambda unit: unit.start)
        if rule.sections:
            sections: Sequence[SectionRule] = rule.sections
        elif rule.level == 4 and units:
            sections = _sections_of(units, self._lines(path))
        else:
            sections = [SectionRule(pattern="*", level=rule.level or 1)]
        at, own = self._own.get(rule.pattern, (0, None))
        named = set() if own is None else {(each.pattern, each.lines) for each in own.sections}
        found = []
        for place, section in enumerate(sections):
            known = [unit for unit in units if _covers(section, unit)]
            asked = own is not None and ((section.pattern, section.lines) in named or not own.sections)
            worth = max((unit.score for unit in known), default=-1.0)
            told = _name_of(path, section, known)
            is_loose = not (known or asked)
            latest = self._latest.get(rule.pattern)
            is_latest = latest is not None and (not latest or (section.pattern, section.lines) in latest)
            wish = at if asked else 0
            found.append(_Part(path, place, section, told, wish, worth, is_loose, not known, is_latest))
        if all(part.is_loose for part in found):
            return [part._replace(is_loose=False) for part in found]
        most = max(part.worth for part in found)
        return [part._replace(worth=most) if part.is_loose else part for part in found]

    def _lines(self, path: str) -> int:
        file = self._index.file_id(path)
        return 1 if file is None else max(1, int(self._index.files.lines[file]))


def _sections_of(units: Sequence[ScoredUnit], lines: int) -> list[SectionRule]:
    """Return the lines of a file as one section for each unit, and one for what stands between two."""
    found: list[SectionRule] = []
    at = 1
    for unit in units:
        if unit.end < at:
            continue
        if unit.start > at:
            found.append(SectionRule(lines=f"{at}-{unit.start - 1}", level=4))
        found.append(SectionRule(lines=f"{max(at, unit.start)}-{unit.end}", level=4))
        at = unit.end + 1
    if at <= lines:
        found.append(SectionRule(lines=f"{at}-{lines}", level=4))
    return found


def _covers(section: SectionRule, unit: ScoredUnit) -> bool:
    """Say whether a section shows something of a unit."""
    if section.lines:
        first, last = line_range(section.lines)
        return first <= unit.end and unit.start <= last
    name = section.pattern or ""
    match = globs.compile_name(name).fullmatch
    is_within = unit.name.startswith(f"{globs.plain(name)}.")
    return bool(unit.name) and (is_within or bool(match(unit.name) or match(unit.name.rpartition(".")[2])))


def _name_of(path: str, section: SectionRule, units: Sequence[ScoredUnit]) -> str:
    """Return how a part is told."""
    if section.pattern:
        return path if section.pattern == "*" else f"{globs.plain(section.pattern)} ({path})"
    name = next((unit.name for unit in units if unit.name), "")
    return f"{name} ({path})" if name else f"{path}:{section.lines}"
