"""The embedded planner's policy: from state, index and relevance to the next decision; a pure function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from navigator.surroundings import INTERFACE, Neighbour, neighbours
from navigator.turns import FOCUS_LEVEL, Navigation, View, wish_of
from repo_map import globs
from repo_map.relevance.aims import Aim
from repo_map.selection.sections import line_range

if TYPE_CHECKING:
    from navigator.workspace import Workspace
    from repo_map.flight_plan import FlightPlan, VerbosityRule
    from repo_map.index import RepoIndex
    from repo_map.relations import Place
    from repo_map.relevance.scoring import Relevance, ScoredUnit

NAMED = 3
"""Places whose evidence a decision's reasoning spells out."""
SUMMED_UP = 12
"""Focus areas that the summary gives a reason for."""
CHECKED_UNITS = 40
"""Of the best units, how many are checked for what they need beside them."""
LEAST_ROOM = 150
"""Tokens that must be free before more is worth a step."""
ANY_ROOM = 1_000_000
FOCUS_HEAD = "In focus:"
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
    relevance = workspace.relevance(wish_of(navigation))
    if navigation.run.planned == 0:
        return zoom(navigation, workspace.index, relevance, view)
    if navigation.run.planned == 1:
        return complete(navigation, workspace.index, relevance, view)
    return Finalize(summary(view, _missing(workspace.index, relevance, view)))


def zoom(navigation: Navigation, index: RepoIndex, relevance: Relevance, view: View) -> Update | Finalize:
    """Go from the satellite view to the code that the evidence points at."""
    from repo_map.packing import pack  # noqa: PLC0415

    plan = navigation.state.flight_plan
    packed = pack(index, relevance, plan.budget, base=navigation.run.own)
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
    heard = f"{navigation.run.answer}\n" if navigation.run.answer else ""
    return Update(f"{heard}{words}", updates)


def complete(navigation: Navigation, index: RepoIndex, relevance: Relevance, view: View) -> Update | Finalize:
    """Fill the room that is left with the interfaces around the chosen code."""
    room = navigation.state.flight_plan.budget - view.map.tokens
    if room < LEAST_ROOM:
        return Finalize(summary(view, _missing(index, relevance, view)))
    found = _beside(index, relevance, view, int(room * SAFE_SHARE))
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
    from repo_map.plans.updates import apply_update, compare_plans  # noqa: PLC0415

    updates = compare_plans(plan, wanted).diff
    if not updates or apply_update(plan, updates).plan.verbosity == wanted.verbosity:
        return updates
    # Of several rules the last one holds, so order matters: take all out, then put them back in order.
    removed = [{"pattern": rule.pattern, "level": None} for rule in plan.verbosity]
    added = [rule.model_dump(mode="json", exclude_none=True) for rule in wanted.verbosity]
    return {**updates, "verbosity": [*removed, *added]}


def summary(view: View, missing: Sequence[Neighbour] = ()) -> str:
    """Return how sure the choice is, why each focus area is there, and what is missing or left out."""
    focus = [file for file in view.map.files if file.level >= FOCUS_LEVEL]
    lines = [
        f"- `{file.path}` (level {int(file.level)}, {file.tokens:,} tokens): "
        f"{_join(view.reasons.get(file.path, ())) or 'belongs to what the chosen code needs'}"
        for file in focus[:SUMMED_UP]
    ]
    if len(focus) > SUMMED_UP:
        more = len(focus) - SUMMED_UP
        lines.append(f"- and {more} more file{'s' * (more != 1)}")
    named = [f"`{each.name}` ({each.path}), {each.why}" for each in missing[:NAMED]]
    wanted = f"Beside the chosen code, yet without room: {'; '.join(named)}." if named else ""
    left_out = (
        f"Left out for want of evidence or of room: {view.map.excluded:,} files." if view.map.excluded else ""
    )
    head = FOCUS_HEAD if lines else "Nothing is in focus."
    # How sure the choice is comes first: a long summary is cut at its end.
    return "\n".join(filter(None, [view.sufficiency, head, *lines, wanted, left_out]))


def _beside(index: RepoIndex, relevance: Relevance, view: View, room: int) -> tuple[Neighbour, ...]:
    """Return what stands beside the chosen code as far as ``room`` goes; tests if the goal wants them."""
    chosen = _shown_whole(index, relevance, view)
    return neighbours(index, chosen, view.map.text, room, tests=Aim.TESTS in relevance.goal.aims)


def _missing(index: RepoIndex, relevance: Relevance, view: View) -> tuple[Neighbour, ...]:
    """Return what the chosen code needs beside it and the map does not show."""
    return _beside(index, relevance, view, ANY_ROOM)


def _shown_whole(index: RepoIndex, relevance: Relevance, view: View) -> list[Place]:
    """Return the best units whose source the map shows, best first."""
    found: list[Place] = []
    for unit in relevance.units[:CHECKED_UNITS]:
        file = index.file_id(unit.path)
        if file is None or not unit.name:
            continue
        source = "\n".join(index.text(file).split("\n")[unit.start - 1 : unit.end])
        rows = [
            row
            for row, each in enumerate(index.definitions(file))
            if unit.start <= each.start and each.end <= unit.end
        ]
        if rows and source in view.map.text:
            found.append((file, rows[0]))
    return found


def _rules(plan: FlightPlan, found: Sequence[Neighbour]) -> list[dict[str, Any]]:
    """Return the rules that add the neighbours; a rule that is there keeps what it says of the rest."""
    from repo_map import globs  # noqa: PLC0415

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
