"""The embedded policy: what to show next without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from navigator.planner.answer_size import pack_answer
from navigator.planner.context import FOCUS_LEVEL, summarize
from navigator.planner.record import Decision, files_of
from navigator.planner.view import View
from navigator.state.labels import EMBEDDED
from navigator.state.run_state import Navigation
from repo_map.outline.exclusions import without_excluded
from repo_map.outline.pack import is_shown
from repo_map.outline.places import Place
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
        return Decision("finalize_context", EMBEDDED, reasoning, navigation.state.flight_plan)
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
        reasoning = f"Planned again with the full index. {reasoning}"
    return reasoning, packed


def _place(entry: OutlineEntry) -> Place:
    return Place(entry.path, entry.first, entry.last, entry.name)


def _summary(view: View) -> str:
    # How sure the choice is comes first: a long summary is cut at its end.
    focus = [file for file in files_of(view) if file.level >= FOCUS_LEVEL]
    return summarize(view.report.sufficiency, focus[:_MAX_SUMMARY_FILES])
