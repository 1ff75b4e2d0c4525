"""The embedded policy: what to show next without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from navigator.planner.answer_size import pack_answer
from navigator.planner.context import FOCUS_LEVEL
from navigator.planner.plan_changes import list_names
from navigator.planner.record import Decision, reason_of_planner
from navigator.planner.view import View
from navigator.state.labels import EMBEDDED
from navigator.state.run_state import Navigation
from repo_map import globs
from repo_map.messages import plural
from repo_map.outline.exclusions import without_excluded
from repo_map.outline.pack import is_shown
from repo_map.outline.places import Place
from repo_map.plan.levels import level_label
from repo_map.plan.update import compare_plans

if TYPE_CHECKING:
    from navigator.state.reports import OutlineEntry
    from navigator.workspaces.workspace import Workspace
    from repo_map.plan.model import FlightPlan

_MAX_NAMED: Final = 3
"""Places whose reasons a decision spells out."""
_MAX_SUMMARY_FILES: Final = 12


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
    """Return the reasoning and the plan of the next step: zoom in on the likeliest places.

    Without a plan the map is as good as this policy makes it, and the reasoning is its summary.
    """
    index, (state, run) = workspace.index, navigation
    if run.decision_count > 0 and run.first_look <= view.is_first_look:
        return _summary(view), None
    relevance = without_excluded(
        index, workspace.relevance(state.user_task, run.changes, run.names), run.user_plan
    )
    sentences = (*view.report.impact, *view.notes, *relevance.sufficiency.notes)
    packed = pack_answer(index, relevance, run, sentences).plan
    if not compare_plans(state.flight_plan, packed).diff:
        return _summary(view), None
    shown = [f"`{each.name}` ({each.path})" for each in view.report.outline if is_shown(packed, _place(each))]
    reasoning = "Nothing matches the goal."
    if shown:
        reasoning = f"Zoomed in on {'; '.join(list(dict.fromkeys(shown))[:_MAX_NAMED])}."
    elif relevance.files:
        files = [f"`{file.path}` ({', '.join(file.reasons)})" for file in relevance.files[:_MAX_NAMED]]
        reasoning = f"Put first {'; '.join(files)}."
    if run.first_look > view.is_first_look:
        reasoning = f"{_changes_since_first_look(state.flight_plan, packed)} {reasoning}"
    return reasoning, packed


def _place(entry: OutlineEntry) -> Place:
    return Place(entry.path, entry.first, entry.last, entry.name)


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


def _summary(view: View) -> str:
    """Return how sure the choice is, why each focus area is there, and what is left out."""
    focus = [file for file in view.map.blocks if file.level >= FOCUS_LEVEL]
    lines = [
        f"- `{file.path}` ({level_label(file.level)}, {plural(file.tokens, 'token')}): "
        f"{', '.join(view.reasons.get(file.path, ())) or 'belongs to what the chosen code needs'}"
        for file in focus[:_MAX_SUMMARY_FILES]
    ]
    if len(focus) > _MAX_SUMMARY_FILES:
        lines.append(f"- and {plural(len(focus) - _MAX_SUMMARY_FILES, 'more file')}")
    if view.map.excluded:
        files = plural(view.map.excluded, "file")
        lines.append(f"Left out by your rules, or for lack of evidence or room: {files}.")
    head = "In focus:" if focus else "Nothing is in focus."
    # How sure the choice is comes first: a long summary is cut at its end.
    return "\n".join(filter(None, [view.report.sufficiency, head, *lines]))
