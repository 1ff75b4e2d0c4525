"""A plan that shows what a user asks for and the likeliest places, as far as a budget goes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from repo_map import globs
from repo_map.outline.costs import file_level_costs
from repo_map.outline.excerpt import excerpt
from repo_map.outline.exclusions import excluded_by, with_exclusions_of
from repo_map.outline.places import Place
from repo_map.outline.render_cache import RenderCache
from repo_map.outline.rendering import joint_legend
from repo_map.outline.sections import Parts, Section, Shape, captured_spans, line_range, qualified_names
from repo_map.outline.select import files_named
from repo_map.plan.model import MAX_WHY_CHARS, FlightPlan, Focus, PathBoost, SectionRule, VerbosityRule
from repo_map.text.tokens import count

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.ranking.goal import ParsedGoal

_SOURCE: Final = 4
_SIGNATURE: Final = 3
_EVERYTHING: Final = frozenset({"**", "**/*", "*"})
_MAX_CAPTURED: Final = 200
"""Files that are let in for what a query captures."""
_GENERAL_SHARE: Final = 0.5
"""Share of the room that rules for several files take at most: they step down before the places do."""
_CHARS_PER_TOKEN: Final = 4
_MIN_EXCERPT: Final = 80
"""Tokens of room below which no excerpt of a long definition is made."""
_EXCERPT_SHARES: Final = (0.8, 0.6, 0.4)
"""Of the room, what an excerpt takes: what encloses its lines is drawn as well, and differs in size."""
_MAX_EXCERPTS: Final = 4
"""Of the first places without room, how many are shown by excerpts."""
_EXCERPT_CHANCE: Final = 0.2
"""Chance from which on an excerpt of a place comes before the source of less likely ones."""
_MAX_MISSES: Final = 40
"""Places in a row without room, after which the rest is not tried."""

Latest = Mapping[str, Sequence[tuple[str | None, str | None]]]
"""Sections that were asked for last, each by its pattern or lines, by the pattern of their rule; none for
the whole of its files."""


class Packed(NamedTuple):
    """A plan, and what of it has no room."""

    plan: FlightPlan
    without_room: tuple[str, ...] = ()
    """What is asked for and not shown."""
    in_part: tuple[str, ...] = ()
    """What was asked for last and is shown in part."""


class _Part(NamedTuple):
    """A part of a file that a user's rule asks for."""

    path: str
    section: SectionRule | None
    """None for the whole file."""
    level: int
    is_latest: bool
    is_base: bool = False
    """Whether it is what the sections of its rule leave of the file."""

    @property
    def label(self) -> str:
        if self.section is None:
            return self.path
        name = self.section.pattern
        return f"{globs.plain(name)} ({self.path})" if name else f"{self.path}:{self.section.lines}"


def pack(
    index: Index,
    own: FlightPlan,
    places: Sequence[Place],
    room: int,
    *,
    terms: Mapping[str, float],
    latest: Latest | None = None,
    are_selected: bool = False,
    others: int = 0,
) -> Packed:
    """Return the plan that shows what ``own`` asks for, then as many places as fit, the best first.

    What was asked for last comes first; of what is too large for the room an excerpt is shown. The plan is
    an ordinary one: it names files, definitions and lines, and draws the same map without the goal.

    Args:
        index: what is drawn.
        own: the user's part of the plan; what it leaves out stays out, and its budget is the plan's.
        places: best first.
        room: tokens of code.
        terms: words of the goal with their weights, for excerpts.
        latest: what of ``own`` was asked for last.
        are_selected: whether a model chose the places: those without room are shown by their signatures.
        others: level of all other files, for which the room that is left is used.
    """
    draft = _Draft(index, own, min(room, own.budget), terms)
    # Rules that leave files out stay in their order, so that a later change brings nothing back unasked.
    general = [
        rule
        for rule in own.verbosity
        if rule.pattern not in _EVERYTHING and (rule.level == 0 or not _is_file(index, rule))
    ]
    draft.room -= min(_cost_of(index, general), round(_GENERAL_SHARE * draft.room))
    captured = [index.paths[file] for file in draft.spans]
    for path in [path for path in captured if not excluded_by(own, path)][:_MAX_CAPTURED]:
        draft.add(path)
    without_room, in_part = draft.add_asked(list(_asked(index, own, latest or {})), places)
    draft.add_places(places, are_selected=are_selected)
    order = dict.fromkeys((*(place.path for place in places), *draft.levels))
    paths = [path for path in order if path in draft.levels]
    boosts = tuple(
        PathBoost(pattern=globs.escape(path), weight=float(len(paths) - at + 1))
        for at, path in enumerate(paths)
    )
    ours = {boost.pattern for boost in boosts}
    focus = own.focus or Focus()
    further = tuple(each for each in focus.paths if each.pattern not in ours)
    rules = (VerbosityRule(pattern="**", level=others), *general, *map(draft.rule, paths))
    update = {"focus": Focus(paths=(*boosts, *further), symbols=focus.symbols), "verbosity": rules}
    plan = own.model_copy(update=update)
    return Packed(with_exclusions_of(index, plan, own), tuple(without_room), tuple(in_part))


def shown_places(index: Index, plan: FlightPlan, own: FlightPlan, ranked: Iterable[Place]) -> list[Place]:
    """Return the places whose source a plan shows beside what ``own`` asks for, the likeliest first."""
    chances: dict[str, list[Place]] = {}
    for place in ranked:
        chances.setdefault(place.path, []).append(place)
    asked = {(rule.pattern, section) for rule in own.verbosity for section in rule.sections}
    whole = {rule.pattern for rule in own.verbosity if not rule.sections}
    found: list[Place] = []
    for rule in plan.verbosity:
        path = globs.plain(rule.pattern)
        file = index.file_id(path)
        if file is None or rule.level == 0 or rule.pattern in whole:
            continue
        places = [Place(path, 1, int(index.files.lines[file]))] if rule.level == _SOURCE else []
        definitions = index.definitions(file)
        names = Parts(definitions)
        for section in rule.sections:
            if section.level != _SOURCE or (rule.pattern, section) in asked:
                continue
            if section.lines:
                places.append(Place(path, *line_range(section.lines)))
            for row in names.named(section.pattern) if section.pattern else ():
                each = definitions[row]
                places.append(Place(path, each.start, each.end, names.names[row]))
        found += [each._replace(chance=_chance_of(each, chances.get(path, ()))) for each in places]
    return sorted(found, key=lambda place: -place.chance)


def _chance_of(place: Place, ranked: Iterable[Place]) -> float:
    inside = (each.chance for each in ranked if each.first <= place.last and place.first <= each.last)
    return max(inside, default=0.0)


def is_shown(plan: FlightPlan, place: Place) -> bool:
    """Return whether a plan shows some of the source of a place."""
    rule = next((each for each in plan.verbosity if each.pattern == globs.escape(place.path)), None)
    if rule is None or rule.level == _SOURCE:
        return rule is not None
    name = globs.escape(place.name)
    sources = [section for section in rule.sections if section.level == _SOURCE]
    ranges = [line_range(section.lines) for section in sources if section.lines]
    return any(section.pattern == name for section in sources) or any(
        each.first <= place.last and place.first <= each.last for each in ranges
    )


def general_rules(index: Index, plan: FlightPlan, own: FlightPlan) -> tuple[VerbosityRule, ...]:
    """Return the rules of a plan that are not the user's own: for several files, or for less than source."""
    return tuple(
        rule
        for rule in plan.verbosity
        if rule not in own.verbosity
        and rule.level != 0
        and rule.pattern not in _EVERYTHING
        and (not _is_file(index, rule) or rule.level in (2, 3))
    )


def _is_file(index: Index, rule: VerbosityRule) -> bool:
    return index.file_id(globs.plain(rule.pattern)) is not None


def goal_terms(goal: ParsedGoal) -> dict[str, float]:
    """Return the words of a goal with their weights for excerpts."""
    return {term: 1.0 + math.log(number) for counts in goal.terms.values() for term, number in counts.items()}


def _cost_of(index: Index, rules: Sequence[VerbosityRule]) -> int:
    """Return the estimated tokens of the files that rules for several files show by their level."""
    levels = np.zeros(len(index.paths), np.int64)
    for rule in rules:
        levels[files_named(index, rule.pattern)] = 1 if rule.level is None else rule.level
    return int(file_level_costs(index)[np.arange(len(levels)), levels].sum())


def _asked(index: Index, own: FlightPlan, latest: Latest) -> Iterator[_Part]:
    """Yield the parts that the user's rules for single files ask for: the latest, then newer before older."""
    parts: list[_Part] = []
    for rule in reversed(own.verbosity):
        path = globs.plain(rule.pattern)
        if rule.level == 0 or index.file_id(path) is None or excluded_by(own, path):
            continue
        named = latest.get(rule.pattern)
        level = rule.level or 1
        if not rule.sections or level > 1:
            parts.append(_Part(path, None, level, named is not None, is_base=bool(rule.sections)))
        for section in rule.sections:
            is_latest = named is not None and (not named or (section.pattern, section.lines) in named)
            if section.level:
                parts.append(_Part(path, section, section.level, is_latest))
    yield from sorted(parts, key=lambda part: not part.is_latest)


class _Draft:
    """The parts of files that are shown, with what they cost as they are drawn."""

    def __init__(self, index: Index, own: FlightPlan, room: int, terms: Mapping[str, float]) -> None:
        self.room = room
        self._index = index
        self.spans = captured_spans(index, own.custom_queries)
        """What the user's queries capture, by file."""
        self._terms = terms
        self._cache = RenderCache(index, line_numbers=bool(own.line_numbers))
        self.levels: dict[str, int] = {}
        """Of what no section names, by path of the files of which something is shown."""
        self._sections: dict[str, tuple[SectionRule, ...]] = {}
        self._reasons: dict[str, str] = {}
        self._costs: dict[str, tuple[int, str]] = {}
        """Tokens and legend of each file."""
        self._names: dict[int, Counter[str]] = {}
        """Qualified names of each file's definitions."""
        self._fixed: set[str] = set()
        """Files that the user's plan gives one level in all: nothing is added to them."""

    def _left(self, costs: Mapping[str, tuple[int, str]]) -> int:
        """Return the tokens that nothing takes, where files cost so much."""
        legend = joint_legend(legend for _, legend in costs.values())
        return self.room - sum(cost for cost, _ in costs.values()) - count(legend)

    def add(self, path: str, sections: Sequence[SectionRule] = (), level: int = 1, reason: str = "") -> bool:
        """Show sections of a file, or of all of it a level, if they fit; return whether they are shown."""
        file = self._index.file_id(path)
        if file is None:
            return False
        level = max(level, self.levels.get(path, 1))
        merged = tuple(dict.fromkeys((*self._sections.get(path, ()), *sections)))
        drawn = self._cache.draw(file, Shape(level, tuple(map(Section.of, merged)), self.spans.get(file, ())))
        costs = {**self._costs, path: (max(drawn.counts), drawn.legend)}
        if self._left(costs) < 0:
            return False
        self._costs, self.levels[path], self._sections[path] = costs, level, merged
        if reason:
            self._reasons.setdefault(path, reason[:MAX_WHY_CHARS])
        return True

    def add_asked(self, parts: Sequence[_Part], places: Sequence[Place]) -> tuple[list[str], list[str]]:
        """Show what the user asks for; return what has no room, and what of the latest is shown in part."""
        without_room: list[str] = []
        in_part: list[str] = []
        latest = sum(part.is_latest for part in parts)
        for part in parts:
            if part.section is None and not part.is_base:
                self._fixed.add(part.path)
            latest -= part.is_latest
            # Each of several that were asked for last gets something.
            self.room -= (others := latest * _MIN_EXCERPT)
            if not self.add(
                part.path, [part.section] if part.section else [], 1 if part.section else part.level
            ):
                shown = part.is_latest and self._add_in_part(part, places)
                (in_part if shown else without_room).append(part.label)
            self.room += others
        return without_room, in_part

    def _add_in_part(self, part: _Part, places: Sequence[Place]) -> bool:
        """Show of a part that is too large what fits; return whether anything does."""
        file = self._index.file_id(part.path)
        assert file is not None
        if part.level < _SOURCE:
            return any(self.add(part.path, level=level) for level in range(part.level - 1, 0, -1))
        if part.section is not None:
            ranges = self._lines_of(file, part.section)
            shown = [self._add_excerpt(part.path, first, last) for first, last in ranges]
            # What was asked for last is there at least by its beginning.
            heads = [SectionRule(lines=f"{first}-{first}", level=_SOURCE) for first, _ in ranges]
            return any(shown) or self.add(part.path, heads)
        best = [place for place in places if place.path == part.path]
        known = {place.first for place in best}
        for row, each in enumerate(self._index.definitions(file)):
            if each.parent < 0 and each.start not in known:
                best.append(Place(part.path, each.start, each.end, self._index.qualified_name(file, row)))
        added = [self.add(part.path, [self._section(place)]) for place in best[:_MAX_MISSES]]
        return any(added) or self._add_excerpt(part.path, 1, int(self._index.files.lines[file]))

    def _lines_of(self, file: int, section: SectionRule) -> list[tuple[int, int]]:
        if section.lines:
            found = line_range(section.lines)
            return [(found.first, min(found.last, int(self._index.files.lines[file])))]
        definitions = self._index.definitions(file)
        rows = Parts(definitions).named(section.pattern or "")
        return [(definitions[row].start, definitions[row].end) for row in rows]

    def add_places(self, places: Sequence[Place], *, are_selected: bool) -> None:
        """Show as many places as fit, the best first; of likely ones without room an excerpt."""
        open_ = [place for place in places if place.path not in self._fixed]
        likely = [place for place in open_ if are_selected or place.chance >= _EXCERPT_CHANCE]
        others = [place for place in open_ if not are_selected and place.chance < _EXCERPT_CHANCE]
        without = [place for place in likely if not self._add_whole(place)]
        for place in without[:_MAX_EXCERPTS]:
            self._add_excerpt(place.path, place.first, place.last, place.reason)
        misses = 0
        for place in others:
            misses += not self._add_whole(place)
            if misses == _MAX_MISSES:
                break
        for place in without if are_selected else ():
            self.add(place.path, [self._section(place, _SIGNATURE)])

    def _add_whole(self, place: Place) -> bool:
        file = self._index.file_id(place.path)
        is_whole = file is not None and place.last >= self._index.files.lines[file]
        if is_whole and place.first == 1 and not place.name:
            return self.add(place.path, (), _SOURCE, place.reason)
        return self.add(place.path, [self._section(place)], reason=place.reason)

    def _add_excerpt(self, path: str, first: int, last: int, reason: str = "") -> bool:
        """Show the head of some lines, and those of them that the goal speaks of."""
        left = self._left(self._costs)
        file = self._index.file_id(path)
        if file is None or left < _MIN_EXCERPT:
            return False
        heads = [each for each in self._index.definitions(file) if each.start == first]
        head = (first, max(heads[0].sig_end, first) if heads else first)
        doc = (heads[0].doc_start, heads[0].doc_end) if heads else (0, 0)
        lines = self._index.sources.text(file).split("\n")
        for share in _EXCERPT_SHARES:
            room = round(share * left) * _CHARS_PER_TOKEN
            ranges = excerpt(lines, head, last, self._terms, room=room, doc=doc)
            sections = [SectionRule(lines=f"{low}-{high}", level=_SOURCE) for low, high in ranges]
            if sections and self.add(path, sections, reason=reason):
                return True
        return False

    def _section(self, place: Place, level: int = _SOURCE) -> SectionRule:
        """Return the section of a place: by its name if only it has that in its file, else by its lines."""
        file = self._index.file_id(place.path)
        if place.name and file is not None:
            if file not in self._names:
                self._names[file] = Counter(qualified_names(self._index.definitions(file)))
            if self._names[file][place.name] == 1:
                return SectionRule(pattern=globs.escape(place.name), level=level)
        last = place.last if level == _SOURCE else place.first
        return SectionRule(lines=f"{place.first}-{last}", level=_SOURCE)

    def rule(self, path: str) -> VerbosityRule:
        """Return the rule that shows what is chosen of a file."""
        return VerbosityRule(
            pattern=globs.escape(path),
            level=self.levels[path],
            sections=() if self.levels[path] == _SOURCE else self._sections[path],
            why=self._reasons.get(path) or None,
        )
