"""The embedded policy: what to add next."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from navigator.planner.answer_size import answer_size
from navigator.planner.turn import (
    FOCUS_LEVEL,
    Decision,
    amend_by_model,
    finished_by_planner,
    named,
)
from navigator.planner.view import View
from navigator.state.labels import EMBEDDED
from navigator.state.run_state import Navigation
from repo_map import globs
from repo_map.graph.references import callees_by_name, referrers, unique_definitions
from repo_map.languages.kinds import CODE
from repo_map.messages import plural
from repo_map.outline.exclusions import hides, without_excluded
from repo_map.outline.listing import list_places, tokens_of
from repo_map.outline.pack import pack
from repo_map.outline.sections import line_range
from repo_map.outline.source import own_lines
from repo_map.parsing.values import LineRange
from repo_map.plan.diff import compare_plans
from repo_map.plan.levels import level_word
from repo_map.plan.update import apply_update
from repo_map.relations.model import Confidence
from repo_map.relations.resolve import relations_of
from repo_map.sources.file_kinds import GENERATED_OR_VENDORED, FileFlag, FileKind

if TYPE_CHECKING:
    from navigator.workspaces.workspace import Workspace
    from repo_map.index.repo_index import RepoIndex
    from repo_map.outline.draw import RepoMap
    from repo_map.plan.model import FlightPlan, VerbosityRule
    from repo_map.ranking.score import Relevance, ScoredUnit
    from repo_map.relations.model import Place


INTERFACE = 3
FILE_COST = 20
"""Tokens of a file's header and elisions, about."""
MAX_NEIGHBOURS = 24


class PlannedNeighbour(NamedTuple):
    """A definition beside the chosen code, and why it is worth its tokens."""

    path: str
    name: str
    """Qualified."""
    tokens: int
    """Estimated, at level 3."""
    why: str


def neighbours(
    index: RepoIndex,
    chosen: Sequence[Place],
    drawn: RepoMap,
    room: int,
    *,
    own: FlightPlan,
    tests: bool = False,
) -> tuple[PlannedNeighbour, ...]:
    """Return what the chosen definitions use, then what uses them, as far as ``room`` tokens go.

    What ``drawn`` shows is not repeated, and what ``own``, the user's part of the plan, leaves out is not
    taken. Only what is resolved is followed, or a name that one definition bears: a guess costs tokens.
    """
    found: dict[Place, PlannedNeighbour] = {}
    files: set[int] = set()
    for place, why in (*_used(index, chosen), *_users(index, chosen)):
        if len(found) == MAX_NEIGHBOURS:
            break
        if (
            place in found
            or place in chosen
            or _is_aside(index, place[0], tests=tests)
            or hides(own, index.paths[place[0]], index.qualified_name(*place))
            or _is_shown_in(drawn, index, place)
        ):
            continue
        row = int(index.symbols.file_start[place[0]]) + place[1]
        tokens = int(index.costs.definitions[row][1]) + (0 if place[0] in files else FILE_COST)
        if tokens > room:
            continue
        room -= tokens
        files.add(place[0])
        found[place] = PlannedNeighbour(index.paths[place[0]], index.qualified_name(*place), tokens, why)
    return tuple(found.values())


def _used(index: RepoIndex, chosen: Sequence[Place]) -> Iterable[tuple[Place, str]]:
    """Yield the definitions that the chosen ones refer to, those of the first chosen first."""
    relations = relations_of(index)
    for place in chosen:
        user = index.qualified_name(*place)
        if relations.knows(place[0]):
            for each in relations.used_in(place, relations.max_confidence(place[0])):
                if _is_code(index, each.target):
                    verb = "uses" if each.confidence is Confidence.RESOLVED else "likely uses"
                    yield each.target, f"`{user}` {verb} it in line {each.line}"
        else:
            for other in callees_by_name(index, place):
                if _is_alike(index, place, other):
                    yield other, f"`{user}` likely uses it"


def _users(index: RepoIndex, chosen: Sequence[Place]) -> Iterable[tuple[Place, str]]:
    """Yield the definitions that use a chosen one; where no names are resolved, by one that is its alone."""
    relations = relations_of(index)
    for place in chosen:
        used = index.qualified_name(*place)
        if relations.knows(place[0]):
            for each in relations.uses_of(place, relations.max_confidence(place[0])):
                if _is_code(index, each.source):
                    verb = "uses" if each.confidence is Confidence.RESOLVED else "likely uses"
                    yield each.source, f"it {verb} `{used}` in line {each.line}"
            continue
        name = int(index.symbols.name[int(index.symbols.file_start[place[0]]) + place[1]])
        if [place] == unique_definitions(index, [name]):
            for user in referrers(index, name):
                if _is_alike(index, place, user):
                    yield user, f"it likely uses `{used}`"


def _is_code(index: RepoIndex, place: Place) -> bool:
    """Tell whether a place is a definition whose head is worth showing."""
    return place[1] >= 0 and index.definitions(place[0])[place[1]].kind in CODE


def _is_alike(index: RepoIndex, place: Place, other: Place) -> bool:
    return bool(index.files.language[place[0]] == index.files.language[other[0]])


def _is_aside(index: RepoIndex, file: int, *, tests: bool) -> bool:
    return bool(
        int(index.files.flags[file])
        & (int(GENERATED_OR_VENDORED if tests else GENERATED_OR_VENDORED | FileFlag.TEST))
    )


def _is_shown_in(drawn: RepoMap, index: RepoIndex, place: Place) -> bool:
    """Say whether a map shows the line that a definition's signature begins with."""
    file, row = place
    line = index.definitions(file)[row].sig_start
    return drawn.shows(index.paths[file], LineRange(line, line))


NAMED = 3
"""Places whose evidence a decision's reasoning spells out."""
SUMMED_UP = 12
"""Focus areas that the summary gives a reason for."""
CHECKED_UNITS = 40
"""Of the best units, how many are checked for what they need beside them."""
LEAST_ROOM = 150
"""Tokens that must be free before more is worth a step."""
ANY_ROOM = 1_000_000
_FOCUS_HEAD = "In focus:"
"""What a summary says before its list of files."""
SAFE_SHARE = 0.8
"""Of the free tokens, what estimates may fill: the rest is their error."""


class Update(NamedTuple):
    """Change the plan."""

    reasoning: str
    updates: Mapping[str, Any]


class Finalize(NamedTuple):
    """The map is as good as this planner makes it."""

    summary: str


def decide(navigation: Navigation, workspace: Workspace, view: View) -> Update | Finalize:
    """Return the next decision: zoom in, add what the chosen code needs, or finish."""
    index, own = workspace.index, navigation.run.own
    relevance = without_excluded(
        index, workspace.relevance(navigation.state.user_task, navigation.run.changes), own
    )
    if navigation.run.planned == 0 or navigation.run.first_look > view.is_first_look:
        return zoom(navigation, index, relevance, view)
    if navigation.run.planned == 1 and navigation.run.fill:
        return complete(navigation, index, relevance, view)
    return Finalize(summary(view, _missing(navigation, index, relevance, view)))


def planned(navigation: Navigation, workspace: Workspace, view: View) -> tuple[Decision, tuple[str, ...]]:
    """Return the planner's decision as it is recorded, and what is to be told of it.

    Raises:
        FlightPlanError: the plan as it is can't be changed so.
    """
    found, plan = decide(navigation, workspace, view), navigation.state.flight_plan
    if isinstance(found, Finalize):
        ended = finished_by_planner(view.outline, fills=navigation.run.fill)
        return Decision("finalize_context", EMBEDDED, found.summary, plan, ended=ended), ()
    change, message = amend_by_model(
        navigation, workspace.index, found.reasoning, found.updates, view.outline
    )
    return Decision("update_flight_plan", EMBEDDED, found.reasoning, change.plan, change.diff), message


def zoom(navigation: Navigation, index: RepoIndex, relevance: Relevance, view: View) -> Update | Finalize:
    """Go from the satellite view to the code that the evidence points at."""
    plan, run = navigation.state.flight_plan, navigation.run
    sentences = (*view.impact, *view.notes, *relevance.sufficiency.notes)
    size = answer_size(
        run.first_answer,
        plan.budget,
        sentences,
        confidence=relevance.sufficiency.confidence,
        is_about_one=relevance.is_about_one,
    )
    outline, spelt = (tokens_of(list_places(index, relevance, room)) for room in (size.outline, 0))
    most, alone = size.code(outline), size.alone(outline, spelt)
    packed = pack(index, relevance, plan.budget, base=run.own, fill=run.fill, most=most, most_alone=alone)
    updates = updates_to(plan, packed)
    if not updates:
        return Finalize(summary(view))
    rules = {rule.pattern: rule for rule in packed.verbosity}
    named = (unit for unit in relevance.units if unit.name and unit.reasons and _is_shown(rules, unit))
    places = list(dict.fromkeys(map(_place, named)))[:NAMED]
    files = [f"`{file.path}` ({_join(file.reasons)})" for file in relevance.files[:NAMED]]
    words = "Nothing matches the goal."
    if relevance.files:
        words = f"Zoomed in on {'; '.join(places)}." if places else f"Put first {'; '.join(files)}."
    if navigation.run.first_look > view.is_first_look:
        words = f"{_changed_since_first_look(plan, packed)} {words}"
    return Update(words, updates)


def _changed_since_first_look(before: FlightPlan, after: FlightPlan) -> str:
    """Say in one sentence what the whole index changes of a plan that a first look made."""
    old, new = (
        [path for rule in plan.verbosity if rule.level != 0 and (path := globs.literal(rule.pattern))]
        for plan in (before, after)
    )
    more = named([each for each in new if each not in old])
    less = named([each for each in old if each not in new])
    if not (more or less):
        return "Planned again with the full index, which chooses the same files as the first look."
    changes = [f"it adds {more}"] * bool(more) + [f"it leaves out {less}"] * bool(less)
    return f"Planned again with the full index: {', and '.join(changes)}."


def complete(navigation: Navigation, index: RepoIndex, relevance: Relevance, view: View) -> Update | Finalize:
    """Fill the room that is left with the interfaces around the chosen code."""
    room = navigation.state.flight_plan.budget - view.map.tokens
    if room < LEAST_ROOM:
        return Finalize(summary(view, _missing(navigation, index, relevance, view)))
    found = _beside(navigation, index, relevance, view, int(room * SAFE_SHARE))
    if not found:
        return Finalize(summary(view))
    named = [f"`{each.name}` ({each.path}): {each.why}" for each in found[:NAMED]]
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    words = (
        f"{room:,} tokens are free; added the interfaces around the chosen code: {'; '.join(named)}{more}."
    )
    return Update(words, {"verbosity": _rules(navigation.state.flight_plan, found)})


def updates_to(plan: FlightPlan, wanted: FlightPlan) -> dict[str, Any]:
    """Return the updates that turn ``plan`` into ``wanted``, empty where nothing differs."""
    updates = compare_plans(plan, wanted).diff
    if not updates or apply_update(plan, updates).plan.verbosity == wanted.verbosity:
        return updates
    # Of several rules the last one holds, so order matters: take all out, then put them back in order.
    removed = [{"pattern": rule.pattern, "level": None} for rule in plan.verbosity]
    added = [rule.model_dump(mode="json", exclude_none=True) for rule in wanted.verbosity]
    return {**updates, "verbosity": [*removed, *added]}


def summary(view: View, missing: Sequence[PlannedNeighbour] = ()) -> str:
    """Return how sure the choice is, why each focus area is there, and what is missing or left out."""
    focus = [file for file in view.map.blocks if file.level >= FOCUS_LEVEL]
    lines = [
        f"{_entry(file.path, file.level)} {plural(file.tokens, 'token')}): "
        f"{_join(view.reasons.get(file.path, ())) or 'belongs to what the chosen code needs'}"
        for file in focus[:SUMMED_UP]
    ]
    if len(focus) > SUMMED_UP:
        more = len(focus) - SUMMED_UP
        lines.append(f"- and {plural(more, 'more file')}")
    # Overloads are called in one line.
    named = [*dict.fromkeys(f"`{each.name}` ({each.path}), {each.why}" for each in missing)][:NAMED]
    wanted = f"Beside the chosen code, not shown: {'; '.join(named)}." if named else ""
    left_out = (
        f"Left out by your rules, or for lack of evidence or room: {plural(view.map.excluded, 'file')}."
        if view.map.excluded
        else ""
    )
    head = _FOCUS_HEAD if lines else "Nothing is in focus."
    # How sure the choice is comes first: a long summary is cut at its end.
    return "\n".join(filter(None, [view.confidence.words, head, *lines, wanted, left_out]))


def without_files(summed_up: str, files: Collection[tuple[str, int]]) -> str:
    """Return a summary without its entries for files, each given by its path and level.

    Where no other is left, the line before them goes as well.
    """
    lines = summed_up.split("\n")
    entries = tuple(_entry(path, level) for path, level in files)
    kept = [line for line in lines if not line.startswith(entries)]
    if len(kept) < len(lines) and not any(line.startswith("- ") for line in kept):
        kept = [line for line in kept if line != _FOCUS_HEAD]
    return "\n".join(kept)


def _entry(path: str, level: int) -> str:
    """Return how a file's line in a summary begins."""
    return f"- `{path}` ({level_word(level)},"


def _beside(
    navigation: Navigation, index: RepoIndex, relevance: Relevance, view: View, room: int
) -> tuple[PlannedNeighbour, ...]:
    """Return what stands beside the chosen code as far as ``room`` goes; tests if the goal wants them."""
    chosen = _shown_whole(index, relevance, view)
    tests = FileKind.TESTS in relevance.goal.aims.kinds
    return neighbours(index, chosen, view.map, room, own=navigation.run.own, tests=tests)


def _missing(
    navigation: Navigation, index: RepoIndex, relevance: Relevance, view: View
) -> tuple[PlannedNeighbour, ...]:
    """Return what the chosen code needs beside it and the map does not show."""
    return _beside(navigation, index, relevance, view, ANY_ROOM)


def _shown_whole(index: RepoIndex, relevance: Relevance, view: View) -> list[Place]:
    """Return the best units whose source the map shows, best first."""
    found: list[Place] = []
    for unit in relevance.units[:CHECKED_UNITS]:
        file = index.file_id(unit.path)
        if file is None or not unit.name:
            continue
        rows = [
            row
            for row, each in enumerate(index.definitions(file))
            if unit.start <= each.start and each.end <= unit.end
        ]
        if rows and view.map.shows(unit.path, own_lines(index, unit)):
            found.append((file, rows[0]))
    return found


def _rules(plan: FlightPlan, found: Sequence[PlannedNeighbour]) -> list[dict[str, Any]]:
    """Return the rules that add the neighbours; a rule that is there keeps what it says of the rest."""
    known = {rule.pattern for rule in plan.verbosity}
    rules: dict[str, dict[str, Any]] = {}
    for each in found:
        pattern = globs.escape(each.path)
        rule = rules.setdefault(pattern, {"pattern": pattern, "sections": []})
        if pattern not in known:
            rule["level"] = 1
        rule["sections"].append({"pattern": globs.escape(each.name), "level": INTERFACE})
    return list(rules.values())


def _is_shown(rules: Mapping[str, VerbosityRule], unit: ScoredUnit) -> bool:
    """Say whether a plan shows some of a unit's source."""
    rule = rules.get(globs.escape(unit.path))
    if rule is None or rule.level == 4:
        return rule is not None
    name = globs.escape(unit.name)
    for section in rule.sections:
        first, last = line_range(section.lines) if section.lines else (0, -1)
        if section.level == 4 and (section.pattern == name or (first <= unit.end and unit.start <= last)):
            return True
    return False


def _place(unit: ScoredUnit) -> str:
    return f"`{unit.name}` ({unit.path}): {_join(unit.reasons)}"


def _join(reasons: Sequence[str]) -> str:
    return ", ".join(reasons)
