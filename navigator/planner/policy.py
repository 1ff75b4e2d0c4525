"""The embedded policy: what to show next without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from navigator.planner.answer_size import pack_answer
from navigator.planner.context import FOCUS_LEVEL
from navigator.planner.plan_changes import list_names
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
from repo_map.plan.levels import level_label
from repo_map.plan.update import compare_plans
from repo_map.sources.file_kinds import GENERATED_OR_VENDORED, FileFlag, FileKind

if TYPE_CHECKING:
    from navigator.workspaces.workspace import Workspace
    from repo_map.index.index import Index
    from repo_map.outline.draw import RepoMap
    from repo_map.plan.model import FlightPlan, VerbosityRule
    from repo_map.ranking.score import Relevance, ScoredUnit
    from repo_map.relations.model import Place

_MAX_NAMED: Final = 3
"""Places whose reasons a decision spells out."""
_MAX_SUMMARY_FILES: Final = 12
_MAX_CHECKED_UNITS: Final = 40
"""Best units whose related definitions are looked up."""


def decide(navigation: Navigation, workspace: Workspace, view: View) -> Decision:
    """Return the policy's decision: another plan, or to finish with the map as it is."""
    reasoning, plan = choose_plan(navigation, workspace, view)
    if plan is None:
        ended = reason_of_planner(view.report.outline, fills=navigation.run.fill)
        before = navigation.state.flight_plan
        return Decision("finalize_context", EMBEDDED, reasoning, before, ended=ended)
    diff = compare_plans(navigation.state.flight_plan, plan).diff
    return Decision("update_flight_plan", EMBEDDED, reasoning, plan, diff, selection=())


def choose_plan(navigation: Navigation, workspace: Workspace, view: View) -> tuple[str, FlightPlan | None]:
    """Return the reasoning and the plan of the next step.

    Without a plan the map is as good as this policy makes it, and the reasoning is its summary.
    """
    index, (state, run) = workspace.index, navigation
    relevance = without_excluded(
        index, workspace.relevance(state.user_task, run.changes, run.names), run.user_plan
    )
    if run.decision_count == 0 or run.first_look > view.is_first_look:
        return _zoom(navigation, index, relevance, view)
    return _summary(view, _related(index, relevance, view.map, run.user_plan)), None


def _zoom(
    navigation: Navigation, index: Index, relevance: Relevance, view: View
) -> tuple[str, FlightPlan | None]:
    """Go from the overview to the code that the scores point at."""
    plan, run = navigation.state.flight_plan, navigation.run
    sentences = (*view.report.impact, *view.notes, *relevance.sufficiency.notes)
    packed = pack_answer(index, relevance, run, plan.budget, sentences, is_about_one=relevance.is_about_one)
    if not compare_plans(plan, packed).diff:
        return _summary(view), None
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
    return reasoning, packed


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


def _summary(view: View, related: Sequence[str] = ()) -> str:
    """Return how sure the choice is, why each focus area is there, and what is missing or left out."""
    focus = [file for file in view.map.blocks if file.level >= FOCUS_LEVEL]
    lines = [
        f"- `{file.path}` ({level_label(file.level)}, {plural(file.tokens, 'token')}): "
        f"{', '.join(view.reasons.get(file.path, ())) or 'belongs to what the chosen code needs'}"
        for file in focus[:_MAX_SUMMARY_FILES]
    ]
    if len(focus) > _MAX_SUMMARY_FILES:
        lines.append(f"- and {plural(len(focus) - _MAX_SUMMARY_FILES, 'more file')}")
    if related:
        lines.append(f"Related but not shown: {'; '.join(related)}.")
    if view.map.excluded:
        files = plural(view.map.excluded, "file")
        lines.append(f"Left out by your rules, or for lack of evidence or room: {files}.")
    head = "In focus:" if focus else "Nothing is in focus."
    # How sure the choice is comes first: a long summary is cut at its end.
    return "\n".join(filter(None, [view.report.sufficiency, head, *lines]))


def _related(index: Index, relevance: Relevance, drawn: RepoMap, own: FlightPlan) -> list[str]:
    """Return the first definitions that shown code calls, overrides or extends, then its callers, with why.

    What ``drawn`` shows is left out, as is what ``own``, the user's part of the plan, excludes, and, unless
    the goal is about tests, what tests hold.
    """
    chosen: list[Place] = []
    for unit in relevance.units[:_MAX_CHECKED_UNITS]:
        file = index.file_id(unit.path)
        if file is None or not unit.name:
            continue
        rows = enumerate(index.definitions(file))
        row = next((row for row, each in rows if unit.start <= each.start and each.end <= unit.end), None)
        if row is not None and drawn.shows(unit.path, own_lines(index, unit)):
            chosen.append((file, row))
    is_about_tests = FileKind.TESTS in relevance.goal.aims.kinds
    unwanted = int(GENERATED_OR_VENDORED if is_about_tests else GENERATED_OR_VENDORED | FileFlag.TEST)
    found: list[str] = []
    seen: set[Place] = set()
    related = [each for each in neighbours_of(index, chosen) if not each.is_owner]
    for each in sorted(related, key=lambda each: (-each.share, each.seed, each.place)):
        file, row = each.place
        path, name, definition = (
            index.paths[file],
            index.qualified_name(file, row),
            index.definitions(file)[row],
        )
        is_wanted = definition.kind in CODE and not int(index.files.flags[file]) & unwanted
        line = LineRange(definition.sig_start, definition.sig_start)
        if each.place in seen or not is_wanted or hides(own, path, name) or drawn.shows(path, line):
            continue
        seen.add(each.place)
        text = f"`{name}` ({path}), {each.why(index, chosen[each.seed])}"
        # Overloads share one line.
        found += [text] if text not in found else []
        if len(found) == _MAX_NAMED:
            break
    return found
