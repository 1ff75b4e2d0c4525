"""The embedded policy: what to show next without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from navigator.planner.answer_size import pack_answer
from navigator.planner.context import FOCUS_LEVEL
from navigator.planner.plan_changes import ModelUpdate, amend_by_model, list_names
from navigator.planner.record import Decision, reason_of_planner
from navigator.planner.view import View
from navigator.state.labels import EMBEDDED
from navigator.state.run_state import Navigation
from repo_map import globs
from repo_map.languages.kinds import CODE
from repo_map.messages import plural
from repo_map.outline.beside import neighbours_of
from repo_map.outline.exclusions import hides, without_excluded
from repo_map.outline.sections import line_range
from repo_map.outline.source import own_lines
from repo_map.parsing.values import LineRange
from repo_map.plan.diff import compare_plans
from repo_map.plan.levels import level_label
from repo_map.plan.update import apply_update
from repo_map.sources.file_kinds import GENERATED_OR_VENDORED, FileFlag, FileKind

if TYPE_CHECKING:
    from navigator.workspaces.workspace import Workspace
    from repo_map.index.index import Index
    from repo_map.outline.draw import RepoMap
    from repo_map.plan.model import FlightPlan, VerbosityRule
    from repo_map.ranking.score import Relevance, ScoredUnit
    from repo_map.relations.model import Place

_INTERFACE: Final = 3
_FILE_COST: Final = 20
"""Tokens of a file's header and elisions, about."""
MAX_RELATED: Final = 24
_MAX_NAMED: Final = 3
"""Places whose reasons a decision spells out."""
_MAX_SUMMARY_FILES: Final = 12
_MAX_CHECKED_UNITS: Final = 40
"""Best units whose related definitions are looked up."""
_MIN_ROOM: Final = 150
"""Tokens that must be free before more is worth a step."""
_UNLIMITED: Final = 1_000_000
_FOCUS_HEAD: Final = "In focus:"
"""What a summary says before its list of files."""
_SAFE_SHARE: Final = 0.8
"""Of the free tokens, what estimates may fill: the rest is their error."""


class RelatedDefinition(NamedTuple):
    """A definition beside the chosen code, and why it is worth its tokens."""

    path: str
    name: str
    """Qualified."""
    why: str


def decide(navigation: Navigation, workspace: Workspace, view: View) -> tuple[Decision, tuple[str, ...]]:
    """Return the policy's decision, with notes on what of it did not come to pass.

    Raises:
        FlightPlanError: the plan can't be changed so.
    """
    reasoning, updates = choose_updates(navigation, workspace, view)
    if not updates:
        ended = reason_of_planner(view.outline, fills=navigation.run.fill)
        plan = navigation.state.flight_plan
        return Decision("finalize_context", EMBEDDED, reasoning, plan, ended=ended), ()
    change, _, notes = amend_by_model(
        navigation, workspace.index, ModelUpdate(reasoning, updates), view.outline
    )
    return Decision("update_flight_plan", EMBEDDED, reasoning, change.plan, change.diff, selection=()), notes


def choose_updates(navigation: Navigation, workspace: Workspace, view: View) -> tuple[str, dict[str, Any]]:
    """Return the reasoning and the updates of the next step: zoom in, or fill the room that is left.

    Without updates the map is as good as this policy makes it, and the reasoning is its summary.
    """
    index, (state, run) = workspace.index, navigation
    relevance = without_excluded(
        index, workspace.relevance(state.user_task, run.changes, run.names), run.user_plan
    )
    if run.decision_count == 0 or run.first_look > view.is_first_look:
        return _zoom(navigation, index, relevance, view)
    if run.decision_count == 1 and run.fill:
        return _fill(navigation, index, relevance, view)
    return _summary(view, _related(navigation, index, relevance, view, _UNLIMITED)), {}


def _zoom(
    navigation: Navigation, index: Index, relevance: Relevance, view: View
) -> tuple[str, dict[str, Any]]:
    """Go from the overview to the code that the scores point at."""
    plan, run = navigation.state.flight_plan, navigation.run
    sentences = (*view.impact, *view.notes, *relevance.sufficiency.notes)
    packed = pack_answer(index, relevance, run, plan.budget, sentences, is_about_one=relevance.is_about_one)
    updates = _updates_between(plan, packed)
    if not updates:
        return _summary(view), {}
    rules = {rule.pattern: rule for rule in packed.verbosity}
    shown = [
        f"`{unit.name}` ({unit.path}): {', '.join(unit.reasons)}"
        for unit in relevance.units
        if unit.name and unit.reasons and _is_shown(rules, unit)
    ]
    reasoning = "Nothing matches the goal."
    if shown:
        reasoning = f"Zoomed in on {'; '.join(list(dict.fromkeys(shown))[:_MAX_NAMED])}."
    elif relevance.files:
        files = [f"`{file.path}` ({', '.join(file.reasons)})" for file in relevance.files[:_MAX_NAMED]]
        reasoning = f"Put first {'; '.join(files)}."
    if run.first_look > view.is_first_look:
        reasoning = f"{_changes_since_first_look(plan, packed)} {reasoning}"
    return reasoning, updates


def _is_shown(rules: Mapping[str, VerbosityRule], unit: ScoredUnit) -> bool:
    """Return True if a plan shows some of a unit's source."""
    rule = rules.get(globs.escape(unit.path))
    if rule is None or rule.level == 4:
        return rule is not None
    name = globs.escape(unit.name)
    for section in rule.sections:
        first, last = line_range(section.lines) if section.lines else (0, -1)
        if section.level == 4 and (section.pattern == name or (first <= unit.end and unit.start <= last)):
            return True
    return False


def _changes_since_first_look(before: FlightPlan, after: FlightPlan) -> str:
    """Return in one sentence what the whole index changes of a plan that a first look made."""
    old, new = (
        [path for rule in plan.verbosity if rule.level != 0 and (path := globs.literal(rule.pattern))]
        for plan in (before, after)
    )
    more = list_names([each for each in new if each not in old])
    less = list_names([each for each in old if each not in new])
    if not (more or less):
        return "Planned again with the full index, which chooses the same files as the first look."
    changes = [f"it adds {more}"] * bool(more) + [f"it leaves out {less}"] * bool(less)
    return f"Planned again with the full index: {', and '.join(changes)}."


def _fill(
    navigation: Navigation, index: Index, relevance: Relevance, view: View
) -> tuple[str, dict[str, Any]]:
    """Fill the room that is left with the interfaces around the chosen code."""
    plan = navigation.state.flight_plan
    room = plan.budget - view.map.tokens
    if room < _MIN_ROOM:
        return _summary(view, _related(navigation, index, relevance, view, _UNLIMITED)), {}
    found = _related(navigation, index, relevance, view, int(room * _SAFE_SHARE))
    if not found:
        return _summary(view), {}
    named = "; ".join(f"`{each.name}` ({each.path}): {each.why}" for each in found[:_MAX_NAMED])
    more = f" and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
    known = {rule.pattern for rule in plan.verbosity}
    rules: dict[str, dict[str, Any]] = {}
    for each in found:
        pattern = globs.escape(each.path)
        rule = rules.setdefault(pattern, {"pattern": pattern, "sections": []})
        if pattern not in known:
            # A rule that exists keeps its level for the rest of the file.
            rule["level"] = 1
        rule["sections"].append({"pattern": globs.escape(each.name), "level": _INTERFACE})
    reasoning = f"{room:,} tokens are free; added the interfaces around the chosen code: {named}{more}."
    return reasoning, {"verbosity": list(rules.values())}


def _updates_between(plan: FlightPlan, wanted: FlightPlan) -> dict[str, Any]:
    """Return the updates that turn ``plan`` into ``wanted``, empty if nothing differs."""
    updates = compare_plans(plan, wanted).diff
    if not updates or apply_update(plan, updates).plan.verbosity == wanted.verbosity:
        return updates
    # Of several rules the last one holds, so order matters: take all out, then put them back in order.
    removed = [{"pattern": rule.pattern, "level": None} for rule in plan.verbosity]
    added = [rule.model_dump(mode="json", exclude_none=True) for rule in wanted.verbosity]
    return {**updates, "verbosity": [*removed, *added]}


def _summary(view: View, missing: Sequence[RelatedDefinition] = ()) -> str:
    """Return how sure the choice is, why each focus area is there, and what is missing or left out."""
    focus = [file for file in view.map.blocks if file.level >= FOCUS_LEVEL]
    lines = [
        f"{_entry(file.path, file.level)} {plural(file.tokens, 'token')}): "
        f"{', '.join(view.reasons.get(file.path, ())) or 'belongs to what the chosen code needs'}"
        for file in focus[:_MAX_SUMMARY_FILES]
    ]
    if len(focus) > _MAX_SUMMARY_FILES:
        lines.append(f"- and {plural(len(focus) - _MAX_SUMMARY_FILES, 'more file')}")
    # Overloads share one line.
    named = [*dict.fromkeys(f"`{each.name}` ({each.path}), {each.why}" for each in missing)][:_MAX_NAMED]
    related = f"Related but not shown: {'; '.join(named)}." if named else ""
    left_out = ""
    if view.map.excluded:
        files = plural(view.map.excluded, "file")
        left_out = f"Left out by your rules, or for lack of evidence or room: {files}."
    head = _FOCUS_HEAD if lines else "Nothing is in focus."
    # How sure the choice is comes first: a long summary is cut at its end.
    return "\n".join(filter(None, [view.confidence.text, head, *lines, related, left_out]))


def _entry(path: str, level: int) -> str:
    """Return the beginning of a file's line in a summary."""
    return f"- `{path}` ({level_label(level)},"


def _related(
    navigation: Navigation, index: Index, relevance: Relevance, view: View, room: int
) -> tuple[RelatedDefinition, ...]:
    """Return the definitions around the best units that the map shows, within ``room`` tokens."""
    chosen: list[Place] = []
    for unit in relevance.units[:_MAX_CHECKED_UNITS]:
        file = index.file_id(unit.path)
        if file is None or not unit.name:
            continue
        rows = enumerate(index.definitions(file))
        row = next((row for row, each in rows if unit.start <= each.start and each.end <= unit.end), None)
        if row is not None and view.map.shows(unit.path, own_lines(index, unit)):
            chosen.append((file, row))
    tests = FileKind.TESTS in relevance.goal.aims.kinds
    return find_related(index, chosen, view.map, room, own=navigation.run.user_plan, tests=tests)


def find_related(
    index: Index,
    chosen: Sequence[Place],
    drawn: RepoMap,
    room: int,
    *,
    own: FlightPlan,
    tests: bool = False,
) -> tuple[RelatedDefinition, ...]:
    """Return what chosen definitions call, override or extend, then their callers, within ``room`` tokens.

    What ``drawn`` shows is left out, as is what ``own``, the user's part of the plan, excludes, and, unless
    ``tests``, what tests hold.
    """
    found: dict[Place, RelatedDefinition] = {}
    files: set[int] = set()
    excluded = int(GENERATED_OR_VENDORED if tests else GENERATED_OR_VENDORED | FileFlag.TEST)
    related = [each for each in neighbours_of(index, chosen) if not each.is_owner]
    for each in sorted(related, key=lambda each: (-each.share, each.seed, each.place)):
        place, (file, row) = each.place, each.place
        path, name = index.paths[file], index.qualified_name(file, row)
        definition = index.definitions(file)[row]
        line = LineRange(definition.sig_start, definition.sig_start)
        if (
            place in found
            or definition.kind not in CODE
            or int(index.files.flags[file]) & excluded
            or hides(own, path, name)
            or drawn.shows(path, line)
        ):
            continue
        cost = int(index.costs.definitions[int(index.symbols.file_start[file]) + row][1])
        cost += 0 if file in files else _FILE_COST
        if cost > room:
            continue
        room -= cost
        files.add(file)
        found[place] = RelatedDefinition(path, name, each.why(index, chosen[each.seed]))
        if len(found) == MAX_RELATED:
            break
    return tuple(found.values())
