"""One turn: feedback, update, drawing, record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from navigator.planner.outline_numbers import with_places
from navigator.planner.outputs import summary_of
from navigator.state.labels import USER
from navigator.state.reports import CutReport, FileReport, OutlineEntry, StopReason, TurnReport
from navigator.state.run_state import Navigation, RunState, StepRecord
from navigator.state.state import Action, DecisionLogEntry, MapMetadata, NavigatorState
from repo_map.errors import FlightPlanError
from repo_map.messages import one_line, plural
from repo_map.outline.exclusions import excluded, readmitted_files, with_exclusions_of
from repo_map.outline.select import files_named
from repo_map.plan.diff import compare_plans
from repo_map.plan.update import apply_update

if TYPE_CHECKING:
    from navigator.planner.view import View
    from repo_map.index.repo_index import RepoIndex
    from repo_map.outline.draw import RepoMap
    from repo_map.plan.diff import PlanChange
    from repo_map.plan.model import FlightPlan, VerbosityRule


LOG_LENGTH = 10
"""Decisions that stay in the state; every one of them is in its step's record as well."""
WHOLE_DIFFS = 2
"""Of those, how many keep their diff: an event stores the whole state, so its size is paid at every step."""
MAX_REASONING = 2_000
"""Characters."""
FOCUS_LEVEL = 3
_NOTHING_TO_IMPROVE = "Nothing was found that a further step would improve."
_ENDED_BY_ROOM = "The code ends here; the outline lists what had no room."
_ENDED_BY_NEED = "The outline lists more."


def with_notes(before: Navigation, message: Iterable[str]) -> Navigation:
    """Return the navigation with more to tell in the next step's answer."""
    answer = "\n".join(filter(None, (before.run.answer, *message)))
    return Navigation(before.state, before.run.model_copy(update={"answer": answer}))


class Decision(NamedTuple):
    """What somebody decided of a step: a revision of the plan, or that the context is good."""

    action: Action
    by: str
    """The model that decided, the planner, or the user."""
    reasoning: str
    plan: FlightPlan
    diff: Mapping[str, Any] = {}
    """What the revision changes, as a partial plan."""
    ended: str = ""
    """Why the navigation ends with it, where whoever decided says so."""


def finished_by_planner(outline: Sequence[OutlineEntry], *, fills: bool) -> str:
    """Return why the planner ends a navigation."""
    more = [place for place in outline if place.tokens]
    return _ENDED_BY_NEED if more and not fills else _why_finished(more)


def _why_finished(outline: Sequence[OutlineEntry]) -> str:
    """Return why a navigation ends: never that nothing is missing beside a list of what had no room."""
    return _ENDED_BY_ROOM if outline else _NOTHING_TO_IMPROVE


def apply_decision(
    before: Navigation, decision: Decision, at: datetime, view: View, version: int
) -> tuple[Navigation, StepRecord]:
    """Return the navigation after a decision, and the record of its step.

    Args:
        before: the navigation as it was.
        decision: what was decided.
        at: when.
        view: of the decision's plan.
        version: under which its map is stored.
    """
    run = before.run.model_copy(
        update={
            "step": before.run.step + 1,
            "map_version": version,
            "fingerprint": view.map.fingerprint,
            "planned": before.run.planned + (decision.by != USER),
            "first_look": before.run.first_look if decision.by == USER else view.is_first_look,
            "answer": "",
            "undo": None,
            "changed_at": before.run.step + 1 if before.run.undo else before.run.changed_at,
            "spent_before_step": before.run.spent,
            "usage_before_step": before.run.usage,
        }
    )
    finished = decision.action == "finalize_context"
    if finished:
        run = run.stopping(StopReason.FINISHED, decision.ended or _why_finished(view.outline))
    elif run.step >= run.max_steps and decision.by != USER:
        run = run.stopping(StopReason.MAX_STEPS, f"The limit of {plural(run.max_steps, 'step')} was reached.")
    reasoning = decision.reasoning[:MAX_REASONING]
    state = before.state.model_copy(
        update={
            "flight_plan": decision.plan,
            "map_metadata": map_metadata(view.map),
            "decision_log": _log(before.state.decision_log, decision, at, run.step, reasoning),
            "interactive_pause": before.state.execution_mode == "interactive" and not finished,
            "exploration_complete": finished,
            "reasoning_summary": reasoning
            if finished
            else _last_summary(before.state) or summary_of(reasoning, _files_of(view)),
        }
    )
    after = Navigation(state, run)
    return after, step_record(after, view, decision, since=before.run)


def _last_summary(state: NavigatorState) -> str:
    """Return the summary by which somebody finished earlier, ``""`` where nobody did."""
    summary, log = state.reasoning_summary, state.decision_log
    is_given = any(each.action == "finalize_context" and each.reasoning == summary for each in log)
    return summary if is_given else ""


def settled(after: Navigation) -> Navigation:
    """Return a navigation as ended, whose planner has done in one step what the user's words ask.

    One stays as it is whose budget is to be filled, whose user is asked after each step, or that has ended.
    """
    state, run = after
    if run.fill or state.execution_mode != "autonomous" or run.stop_reason is not None:
        return after
    run = after.run.stopping(StopReason.FINISHED, "The context is as your words asked.")
    state = after.state.model_copy(update={"interactive_pause": False, "exploration_complete": True})
    return Navigation(state, run)


def opened(before: Navigation, view: View, version: int) -> tuple[Navigation, StepRecord]:
    """Return the navigation with its opening view, stored as ``version``, and the record of step 0."""
    run = before.run.model_copy(update={"map_version": version, "fingerprint": view.map.fingerprint})
    state = before.state.model_copy(update={"map_metadata": map_metadata(view.map)})
    after = Navigation(state, run)
    return after, step_record(after, view, None, since=run)


def step_record(after: Navigation, view: View, decision: Decision | None, *, since: RunState) -> StepRecord:
    """Return the record of the step that led to ``after``; without a decision, of the opening view."""
    state, run = after
    files, drawn = _files_of(view), view.map
    # What a view tells, a report has under the same names.
    shared = {name: value for name, value in view._asdict().items() if name in TurnReport.model_fields}
    own: dict[str, Any] = {
        "navigation_id": run.navigation_id,
        "step_number": run.step,
        "mode": state.execution_mode,
        "model": decision.by if decision else run.model,
        "last_action": decision.action if decision else "open",
        "answer": since.answer,
        "reasoning": decision.reasoning
        if decision
        else "Drew an overview: every file, in as much detail as fits.",
        "config_diff": dict(decision.diff) if decision else {},
        "cost_this_turn": run.spent - since.spent_before_step,
        "total_cost": run.spent,
        "budget_remaining": max(state.budget_config.max_spend_usd - run.spent, Decimal(0)),
        "map_size_tokens": drawn.tokens,
        "map_token_budget": run.map_token_budget,
        "budget_utilization": _share(drawn.tokens, run.map_token_budget),
        "map_version": run.map_version,
        "file_count": len(files),
        "focus_areas": state.map_metadata.focus_areas,
        "focus": tuple(file for file in files if file.level >= FOCUS_LEVEL),
        "excluded_count": drawn.excluded,
        "left_out": drawn.left_out,
        "cuts": cuts_of(drawn),
        "evidence": view.confidence.evidence,
        "sufficiency": view.confidence.words,
        "usage": run.usage.minus(since.usage_before_step),
        "total_usage": run.usage,
        "account": run.account,
        "stop_reason": run.stop_reason,
        "ended": run.ended,
        "notes": (*run.notes, *drawn.notes, *view.notes),
    }
    return StepRecord(
        report=TurnReport(**{**shared, **own}),
        files=files,
        flight_plan=view.plan,
        reasoning_summary=state.reasoning_summary,
        undo=since.undo,
    )


def _files_of(view: View) -> tuple[FileReport, ...]:
    return tuple(
        FileReport(
            path=file.path,
            level=file.level,
            tokens=file.tokens,
            reasons=tuple(map(one_line, view.reasons.get(file.path, ()))),
        )
        for file in view.map.blocks
    )


def map_metadata(drawn: RepoMap) -> MapMetadata:
    """Return the statistics of a map."""
    return MapMetadata(
        total_tokens=drawn.tokens,
        file_count=len(drawn.blocks),
        focus_areas=tuple(file.path for file in drawn.blocks if file.level >= FOCUS_LEVEL),
        excluded_count=drawn.excluded,
        budget_utilization=_share(drawn.tokens, drawn.budget),
    )


def _log(
    log: Sequence[DecisionLogEntry], decision: Decision, at: datetime, step: int, reasoning: str
) -> tuple[DecisionLogEntry, ...]:
    entry = DecisionLogEntry(
        step=step,
        action=decision.action,
        reasoning=reasoning,
        config_diff=dict(decision.diff),
        timestamp=at,
    )
    kept = [*log, entry][-LOG_LENGTH:]
    return tuple(
        old
        if position >= len(kept) - WHOLE_DIFFS or not old.config_diff
        else old.model_copy(update={"config_diff": {}})
        for position, old in enumerate(kept)
    )


def cuts_of(drawn: RepoMap) -> tuple[CutReport, ...]:
    """Return the files that a map shows in less detail than its plan asks for."""
    return tuple(
        CutReport(
            path=cut.path, wanted=int(cut.wanted), drawn=int(cut.drawn), tokens_to_add=cut.tokens_to_add
        )
        for cut in drawn.cuts
    )


def _share(tokens: int, budget: int) -> float:
    return round(min(100.0, 100 * tokens / budget), 1)


MOST_NAMED = 3
"""Files that a sentence names; the rest are counted."""


class PlanAmendment(NamedTuple):
    """A changed plan, and what of the change did not come to pass."""

    change: PlanChange
    message: tuple[str, ...] = ()
    """Sentences on what stays left out, or is shown again."""


def amend_by_model(
    navigation: Navigation,
    index: RepoIndex,
    reasoning: str,
    updates: Mapping[str, Any],
    outline: Sequence[OutlineEntry] = (),
) -> PlanAmendment:
    """Return the plan as a model changes it; what the user leaves out stays left out, and the note says so.

    Raises:
        FlightPlanError: the change is not well-formed, not explained, takes more tokens than given, or would
            do nothing but show what the user leaves out.
    """
    if not reasoning.strip():
        raise FlightPlanError("`reasoning` is empty; say in a sentence which evidence leads to this change.")
    before, own = navigation.state.flight_plan, navigation.run.own
    asked, said = with_places(before, own, updates, outline)
    change = amend(before, asked)
    message = (said,) if said else ()
    most = navigation.run.map_token_budget
    if change.plan.budget > most:
        raise FlightPlanError(
            f"`budget` is {change.plan.budget}, more than the user's {plural(most, 'token')}; "
            "leave it out or make it smaller."
        )
    back = readmitted_files(index, change.plan, own)
    if not back:
        return PlanAmendment(change, message)
    names = named(back)
    kept = compare_plans(before, with_exclusions_of(index, change.plan, own))
    if not kept.diff:
        raise FlightPlanError(
            f"The user leaves out {names}; a model can't bring that back. "
            "Choose among the other files, or finish."
        )
    return PlanAmendment(kept, (*message, f"The user leaves out {names}; a model can't bring that back."))


def amend(plan: FlightPlan, updates: Mapping[str, Any]) -> PlanChange:
    """Return ``plan`` with ``updates`` merged in, and what that changes.

    Raises:
        FlightPlanError: the updates are not well-formed.
    """
    return apply_update(plan, updates)


def merge_user_plan(index: RepoIndex, own: FlightPlan, updates: Mapping[str, Any]) -> PlanAmendment:
    """Return the user's own part of the plan as the user changes it; of two wishes the later one holds.

    A rule for nothing but files that were left out brings them back, as does another level for the pattern
    that left them out; a wider rule does not.

    Raises:
        FlightPlanError: the updates are not well-formed.
    """
    change = amend(own, updates)
    new = {rule.pattern: rule for rule in change.plan.verbosity}
    rules, message = own.verbosity, list[str]()
    for pattern in _mentioned(updates):
        before, rule = rules, new.get(pattern)
        rules = tuple(each for each in rules if each.pattern != pattern)
        if rule is None:
            continue
        # What is wished last comes last, where it holds.
        rules = (*rules, rule)
        if rule.level == 0 or all(each.level != 0 for each in before):
            continue
        earlier, later = _with_rules(own, before), _with_rules(own, rules)
        if not (back := readmitted_files(index, later, earlier)):
            continue
        is_named = excluded(index, earlier)[files_named(index, pattern)].all()
        if is_named or any(each.pattern == pattern and each.level == 0 for each in before):
            message.append(f"Shown again, as you name what was left out: {named(back)}.")
        else:
            rules = with_exclusions_of(index, later, earlier).verbosity
            message.append(
                f"Still left out, as `{pattern}` names more than that: {named(back)}; "
                "name it alone to bring it back."
            )
    return PlanAmendment(change._replace(plan=_with_rules(change.plan, rules)), tuple(message))


def amend_by_user(
    navigation: Navigation, index: RepoIndex, updates: Mapping[str, Any]
) -> tuple[Navigation, PlanChange]:
    """Return the navigation with the user's part of the plan changed, and the change of the whole plan.

    Raises:
        FlightPlanError: the updates are not well-formed.
    """
    state, run = navigation
    amendment = merge_user_plan(index, run.own, updates)
    plan = _obeying(index, state.flight_plan, updates, amendment.change.plan)
    run = run.model_copy(update={"own": amendment.change.plan})
    return with_notes(Navigation(state, run), amendment.message), compare_plans(state.flight_plan, plan)


def apply_user_plan(index: RepoIndex, before: Navigation, after: Navigation) -> Navigation:
    """Return ``after`` with the plan doing what the user's own part of it has come to ask since ``before``.

    The embedded planner packs the user's part into every plan anew; another model finds it done already.
    """
    asked = compare_plans(before.run.own, after.run.own).diff
    if not asked:
        return after
    plan = _obeying(index, after.state.flight_plan, asked, after.run.own)
    return Navigation(after.state.model_copy(update={"flight_plan": plan}), after.run)


def with_rules_of(index: RepoIndex, after: Navigation, updates: Mapping[str, Any]) -> Navigation:
    """Return ``after`` with the plan doing what ``updates`` ask once more: what had given way comes back.

    The user's own part of the plan asks for it already.
    """
    plan, own = after.state.flight_plan, after.run.own
    held = {rule.pattern: {(each.pattern, each.lines) for each in rule.sections} for rule in plan.verbosity}
    asked = {rule.pattern for rule in own.verbosity if rule.level != 0}
    again = [
        rule
        for rule in updates.get("verbosity") or ()
        if rule["pattern"] in asked
        and not {(each.get("pattern"), each.get("lines")) for each in rule.get("sections") or ()}
        <= held.get(rule["pattern"], set())
    ]
    if not again:
        return after
    plan = _obeying(index, plan, {"verbosity": again}, own)
    return Navigation(after.state.model_copy(update={"flight_plan": plan}), after.run)


def _obeying(index: RepoIndex, plan: FlightPlan, updates: Mapping[str, Any], own: FlightPlan) -> FlightPlan:
    """Return ``plan`` with the user's updates, which lead to ``own``, in it."""
    plan = amend(plan, updates).plan
    wanted = {rule.pattern: rule for rule in own.verbosity}
    mentioned = _mentioned(updates)
    # A level for the whole file takes the place of the sections that the planner chose.
    whole = {pattern for pattern, rule in mentioned.items() if "sections" not in rule}
    rules = [wanted.get(rule.pattern, rule) if rule.pattern in whole else rule for rule in plan.verbosity]
    out = excluded(index, plan)
    # What has just been asked for must not be hidden by an earlier rule that stands behind it.
    late = [
        rule
        for rule in rules
        if rule.pattern in mentioned and rule.level != 0 and out[files_named(index, rule.pattern)].any()
    ]
    plan = _with_rules(plan, (*(rule for rule in rules if rule not in late), *late))
    return with_exclusions_of(index, plan, own)


def _with_rules(plan: FlightPlan, rules: Sequence[VerbosityRule]) -> FlightPlan:
    return plan.model_copy(update={"verbosity": tuple(rules)})


def _mentioned(updates: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the rules of well-formed updates by pattern, in their order."""
    return {rule["pattern"].strip(): rule for rule in updates.get("verbosity") or ()}


def named(things: Sequence[str]) -> str:
    """Return a few of the files or parts of files by their names, the others counted."""
    message = ", ".join(f"`{thing}`" for thing in things[:MOST_NAMED])
    more = len(things) - MOST_NAMED
    return f"{message} and {more:,} more" if more > 0 else message
