"""The decisions of the embedded policy, how a decision changes a navigation, and the record of its step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from navigator.planner.answer_size import pack_answer
from navigator.planner.context import FOCUS_LEVEL, summarize
from navigator.state.labels import EMBEDDED, USER
from navigator.state.reports import CutReport, FileReport, OutlineEntry, StopReason, TurnReport
from navigator.state.run_state import Navigation, RunState, SelectedPlace, StepRecord
from navigator.state.state import Action, DecisionLogEntry, MapMetadata, NavigatorState
from navigator.workspaces.address import address_name
from repo_map.messages import one_line, plural
from repo_map.outline.exclusions import without_excluded
from repo_map.outline.pack import is_shown
from repo_map.outline.places import Place
from repo_map.plan.update import compare_plans

if TYPE_CHECKING:
    from navigator.planner.view import View
    from navigator.workspaces.workspace import Workspace
    from repo_map.outline.draw import RepoMap
    from repo_map.plan.model import FlightPlan

_LOG_LENGTH: Final = 10
"""Decisions that stay in the state; every one of them is in its step's record as well."""
_LOGGED_DIFFS: Final = 2
"""Of those, how many keep their diff: an event stores the whole state, so its size is paid at every step."""
_MAX_LANGUAGES: Final = 2
_MAX_REASONING_CHARS: Final = 2_000
_NOTHING_TO_IMPROVE: Final = "Nothing was found that a further step would improve."
_MORE_IS_LISTED: Final = "The outline lists more."


class Decision(NamedTuple):
    """What a model, the policy or the user decided in a step: a change of the plan, or to finish."""

    action: Action
    by: str
    """The model that decided, the planner, or the user."""
    reasoning: str
    plan: FlightPlan
    diff: Mapping[str, Any] = {}
    """What changes, as a partial plan."""
    selection: tuple[SelectedPlace, ...] | None = None
    """The places that are selected from now on; None if they stay."""


def _ended(outline: Sequence[OutlineEntry]) -> str:
    # Never that nothing is missing beside a list of what had no room.
    return _MORE_IS_LISTED if any(entry.tokens for entry in outline) else _NOTHING_TO_IMPROVE


def apply_decision(
    before: Navigation, decision: Decision, at: datetime, view: View, version: int
) -> tuple[Navigation, StepRecord]:
    """Return the navigation after a decision, and the record of its step.

    The ``view`` is that of the decision's plan, whose map is stored as ``version``.
    """
    run = before.run.model_copy(
        update={
            "step": before.run.step + 1,
            "map_version": version,
            "fingerprint": view.map.fingerprint,
            "decision_count": before.run.decision_count + (decision.by != USER),
            "first_look": before.run.first_look if decision.by == USER else view.is_first_look,
            "answer": "",
            "selection": before.run.selection if decision.selection is None else decision.selection,
            "undo": None,
            "last_user_change": before.run.step + 1 if before.run.undo else before.run.last_user_change,
            "spent_before_step": before.run.spent,
            "usage_before_step": before.run.usage,
        }
    )
    is_finished = decision.action == "finalize_context"
    if is_finished:
        run = run.stopping(StopReason.FINISHED, _ended(view.report.outline))
    elif run.step >= run.max_steps and decision.by != USER:
        run = run.stopping(StopReason.MAX_STEPS, f"The limit of {plural(run.max_steps, 'step')} was reached.")
    reasoning = decision.reasoning[:_MAX_REASONING_CHARS]
    summary = reasoning
    if not is_finished:
        summary = _given_summary(before.state) or summarize(reasoning, files_of(view))
    entry = DecisionLogEntry(
        step=run.step,
        action=decision.action,
        reasoning=reasoning,
        config_diff=dict(decision.diff),
        timestamp=at,
    )
    log = [*before.state.decision_log, entry][-_LOG_LENGTH:]
    older = [each.model_copy(update={"config_diff": {}}) for each in log[:-_LOGGED_DIFFS]]
    state = before.state.model_copy(
        update={
            "flight_plan": decision.plan,
            "map_metadata": _map_metadata(view.map),
            "decision_log": (*older, *log[-_LOGGED_DIFFS:]),
            "interactive_pause": before.state.execution_mode == "interactive" and not is_finished,
            "exploration_complete": is_finished,
            "reasoning_summary": summary,
        }
    )
    after = Navigation(state, run)
    return after, _step_record(after, view, decision, since=before.run)


def _given_summary(state: NavigatorState) -> str:
    """Return the summary by which a decision finished earlier, ``""`` if none did."""
    summary, log = state.reasoning_summary, state.decision_log
    is_given = any(each.action == "finalize_context" and each.reasoning == summary for each in log)
    return summary if is_given else ""


AS_ASKED: Final = "The context shows what you asked for."


def finish_after_step(after: Navigation, ended: str = AS_ASKED) -> Navigation:
    """Return a navigation as ended whose planner has done in one step all that is to be done.

    It stays open if its budget is to be filled or its user is asked after each step.
    """
    state, run = after
    if run.fill or state.execution_mode != "autonomous" or run.stop_reason is not None:
        return after
    update = {"interactive_pause": False, "exploration_complete": True}
    return after.replace(state=update, run={"stop_reason": StopReason.FINISHED, "ended": ended})


def open_record(before: Navigation, view: View, version: int) -> tuple[Navigation, StepRecord]:
    """Return the navigation with its opening view, stored as ``version``, and the record of step 0."""
    after = before.replace(
        state={"map_metadata": _map_metadata(view.map)},
        run={"map_version": version, "fingerprint": view.map.fingerprint},
    )
    return after, _step_record(after, view, None, since=after.run)


def _step_record(after: Navigation, view: View, decision: Decision | None, *, since: RunState) -> StepRecord:
    """Return the record of the step that led to ``after``; without a decision, of the opening view."""
    state, run = after
    files, drawn = files_of(view), view.map
    report = TurnReport(
        **dict(view.report),
        navigation_id=run.navigation_id,
        step_number=run.step,
        mode=state.execution_mode,
        model=decision.by if decision else run.model,
        last_action=decision.action if decision else "open",
        answer=since.answer,
        reasoning=decision.reasoning
        if decision
        else "Opened: what the index finds for the task, before any decision.",
        config_diff=dict(decision.diff) if decision else {},
        cost_this_turn=run.spent - since.spent_before_step,
        total_cost=run.spent,
        budget_remaining=max(state.budget_config.max_spend_usd - run.spent, Decimal(0)),
        map_size_tokens=drawn.tokens,
        map_token_budget=run.map_token_budget,
        map_version=run.map_version,
        file_count=len(files),
        focus_areas=state.map_metadata.focus_areas,
        focus=tuple(file for file in files if file.level >= FOCUS_LEVEL),
        left_out=drawn.left_out,
        cuts=cuts_of(drawn),
        repository=_repository(state, view),
        usage=run.usage.minus(since.usage_before_step),
        total_usage=run.usage,
        stop_reason=run.stop_reason,
        ended=run.ended,
        notes=(*run.notes, *drawn.notes, *view.notes),
    )
    return StepRecord(
        report=report,
        files=files,
        flight_plan=view.plan,
        reasoning_summary=state.reasoning_summary,
        undo=since.undo,
    )


def _repository(state: NavigatorState, view: View) -> str:
    languages = ", ".join(f"{name} {number:,}" for name, number in view.languages[:_MAX_LANGUAGES])
    return one_line(": ".join(filter(None, (address_name(state.repo_path), languages))))


def files_of(view: View) -> tuple[FileReport, ...]:
    return tuple(
        FileReport(
            path=file.path,
            level=file.level,
            tokens=file.tokens,
            reasons=tuple(map(one_line, view.reasons.get(file.path, ()))),
        )
        for file in view.map.blocks
    )


def _map_metadata(drawn: RepoMap) -> MapMetadata:
    return MapMetadata(
        total_tokens=drawn.tokens,
        file_count=len(drawn.blocks),
        focus_areas=tuple(file.path for file in drawn.blocks if file.level >= FOCUS_LEVEL),
        excluded_count=drawn.excluded,
        budget_utilization=round(min(100.0, 100 * drawn.tokens / drawn.budget), 1),
    )


def cuts_of(drawn: RepoMap) -> tuple[CutReport, ...]:
    """Return the files that a map shows in less detail than its plan asks for."""
    return tuple(
        CutReport(
            path=cut.path, wanted=int(cut.wanted), drawn=int(cut.drawn), tokens_to_add=cut.tokens_to_add
        )
        for cut in drawn.cuts
    )


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
