"""How a decision changes a navigation: pure functions from one state to the next, and to what is reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from navigator.reports import Candidate, CutReport, FileReport, StopReason, TurnReport
from navigator.run import NavigationRun, StepRecord
from navigator.state import Action, DecisionLogEntry, MapMetadata, NavigatorState

if TYPE_CHECKING:
    from repo_map.drawing import RepoMap
    from repo_map.flight_plan import FlightPlan

LOG_LENGTH = 10
"""Decisions that stay in the state; every one of them is in its step's record as well."""
WHOLE_DIFFS = 2
"""Of those, how many keep their diff: an event stores the whole state, so its size is paid at every step."""
MAX_REASONING = 2_000
"""Characters."""
FOCUS_LEVEL = 3
USER = "user"
"""In a report's ``model``: the user changed the plan without one."""


class Navigation(NamedTuple):
    """Both halves of a navigation's memory."""

    state: NavigatorState
    run: NavigationRun


class View(NamedTuple):
    """A map and what it means for the goal."""

    map: RepoMap
    plan: FlightPlan
    """Its plan, stamped with the tree that it was drawn from."""
    reasons: Mapping[str, tuple[str, ...]]
    """Why a path is relevant to the goal."""
    candidates: tuple[Candidate, ...]
    sufficiency: str
    notes: tuple[str, ...] = ()
    """What of the repository could not be read, one sentence each."""


def wish_of(navigation: Navigation) -> str:
    """Return the goal with what the user has said since."""
    return "\n\n".join((navigation.state.user_task, *navigation.run.wishes))


class Decision(NamedTuple):
    """One decision as it was carried out."""

    action: Action
    model: str
    reasoning: str
    diff: Mapping[str, Any]
    at: datetime


def apply_decision(
    before: Navigation, decision: Decision, plan: FlightPlan, view: View, version: int
) -> tuple[Navigation, StepRecord]:
    """Return the navigation after ``decision``, whose view is stored as ``version``, and its record."""
    run = before.run.model_copy(
        update={
            "step": before.run.step + 1,
            "map_version": version,
            "fingerprint": view.map.fingerprint,
            "planned": before.run.planned + (decision.model != USER),
            "answer": "",
            "spent_before_step": before.run.spent,
            "usage_before_step": before.run.usage,
        }
    )
    finished = decision.action == "finalize_context"
    if finished:
        run = run.stopping(
            StopReason.FINISHED, "The planner found nothing that a further step would improve."
        )
    elif run.step >= run.max_steps and decision.model != USER:
        run = run.stopping(StopReason.MAX_STEPS, f"The limit of {run.max_steps} steps was reached.")
    reasoning = decision.reasoning[:MAX_REASONING]
    state = before.state.model_copy(
        update={
            "flight_plan": plan,
            "map_metadata": map_metadata(view.map),
            "decision_log": _log(before.state.decision_log, decision, run.step, reasoning),
            "interactive_pause": before.state.execution_mode == "interactive" and not finished,
            "exploration_complete": finished,
            "reasoning_summary": reasoning if finished else before.state.reasoning_summary,
        }
    )
    after = Navigation(state, run)
    return after, step_record(after, view, decision, since=before.run)


def opened(before: Navigation, view: View, version: int) -> tuple[Navigation, StepRecord]:
    """Return the navigation with its opening view, stored as ``version``, and the record of step 0."""
    run = before.run.model_copy(update={"map_version": version, "fingerprint": view.map.fingerprint})
    state = before.state.model_copy(update={"map_metadata": map_metadata(view.map)})
    after = Navigation(state, run)
    return after, step_record(after, view, None, since=run)


def step_record(
    after: Navigation, view: View, decision: Decision | None, *, since: NavigationRun
) -> StepRecord:
    """Return the record of the step that led to ``after``; without a decision, of the opening view."""
    state, run = after
    files = tuple(
        FileReport(
            path=file.path, level=int(file.level), tokens=file.tokens, reasons=view.reasons.get(file.path, ())
        )
        for file in view.map.files
    )
    report = TurnReport(
        navigation_id=run.navigation_id,
        step_number=run.step,
        mode=state.execution_mode,
        model=decision.model if decision else run.model,
        last_action=decision.action if decision else "open",
        answer=since.answer,
        reasoning=decision.reasoning
        if decision
        else "Drew the satellite view: every file, in as much detail as fits.",
        config_diff=dict(decision.diff) if decision else {},
        cost_this_turn=run.spent - since.spent_before_step,
        total_cost=run.spent,
        budget_remaining=max(state.budget_config.max_spend_usd - run.spent, Decimal(0)),
        map_size_tokens=view.map.tokens,
        token_budget=run.token_budget,
        budget_utilization=_share(view.map.tokens, run.token_budget),
        map_version=run.map_version,
        file_count=len(files),
        focus_areas=state.map_metadata.focus_areas,
        focus=tuple(file for file in files if file.level >= FOCUS_LEVEL),
        excluded_count=view.map.excluded,
        left_out=view.map.left_out,
        cuts=_cuts(view.map),
        candidates=view.candidates,
        sufficiency=view.sufficiency,
        usage=run.usage.minus(since.usage_before_step),
        total_usage=run.usage,
        account=run.account,
        stop_reason=run.stop_reason,
        ended=run.ended,
        notes=(*run.notes, *view.map.notes, *view.notes),
    )
    return StepRecord(
        report=report,
        files=files,
        flight_plan=view.plan,
        reasoning_summary=state.reasoning_summary,
    )


def map_metadata(drawn: RepoMap) -> MapMetadata:
    """Return the statistics of a map."""
    return MapMetadata(
        total_tokens=drawn.tokens,
        file_count=len(drawn.files),
        focus_areas=tuple(file.path for file in drawn.files if file.level >= FOCUS_LEVEL),
        excluded_count=drawn.excluded,
        budget_utilization=_share(drawn.tokens, drawn.budget),
    )


def report_now(record: StepRecord, run: NavigationRun) -> TurnReport:
    """Return the record's report as it reads now: the latest one also tells how the navigation has ended."""
    if record.report.step_number != run.step:
        return record.report
    return record.report.model_copy(
        update={
            "stop_reason": run.stop_reason,
            "ended": run.ended,
            "notes": tuple(dict.fromkeys((*run.notes, *record.report.notes))),
            "total_cost": run.spent,
            "total_usage": run.usage,
            "account": run.account,
        }
    )


def _log(
    log: Sequence[DecisionLogEntry], decision: Decision, step: int, reasoning: str
) -> tuple[DecisionLogEntry, ...]:
    entry = DecisionLogEntry(
        step=step,
        action=decision.action,
        reasoning=reasoning,
        config_diff=dict(decision.diff),
        timestamp=decision.at,
    )
    kept = [*log, entry][-LOG_LENGTH:]
    return tuple(
        old
        if position >= len(kept) - WHOLE_DIFFS or not old.config_diff
        else old.model_copy(update={"config_diff": {}})
        for position, old in enumerate(kept)
    )


def _cuts(drawn: RepoMap) -> tuple[CutReport, ...]:
    return tuple(
        CutReport(
            path=cut.path, wanted=int(cut.wanted), drawn=int(cut.drawn), tokens_to_add=cut.tokens_to_add
        )
        for cut in drawn.cuts
    )


def _share(tokens: int, budget: int) -> float:
    return round(min(100.0, 100 * tokens / budget), 1)
