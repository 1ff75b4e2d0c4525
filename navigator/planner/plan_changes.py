"""Changes of a flight plan: by a model, and by the user, whose rules hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from navigator.planner.answer_size import code_tokens_of
from navigator.planner.selection import change_selection, plan_selection
from navigator.state.run_state import Navigation, SelectedPlace
from repo_map.errors import FlightPlanError
from repo_map.messages import plural
from repo_map.outline.exclusions import excluded, readmitted_files, with_exclusions_of
from repo_map.outline.select import files_named
from repo_map.plan.update import apply_update, compare_plans

if TYPE_CHECKING:
    from navigator.state.reports import OutlineEntry
    from repo_map.index.index import Index
    from repo_map.plan.model import FlightPlan, VerbosityRule
    from repo_map.plan.update import PlanChange

_MAX_NAMED: Final = 3
"""Files that a sentence names; the rest are counted."""


class ModelAmendment(NamedTuple):
    """A plan as a model changes it, with its selection, and notes on what did not come to pass."""

    change: PlanChange
    selection: tuple[SelectedPlace, ...] | None
    """None if the model selected and dropped nothing."""
    notes: tuple[str, ...]


def amend_by_model(
    navigation: Navigation,
    index: Index,
    reasoning: str,
    asked: Mapping[str, Any],
    outline: Sequence[OutlineEntry] = (),
) -> ModelAmendment:
    """Return the plan as a model changes it; what the user excludes stays excluded, and a note says so.

    ``asked`` may have ``updates``, a partial plan, with ``select`` and ``drop`` as ``change_selection`` takes
    them. A selection is drawn as a plan of its own, to which the updates are then applied.

    Raises:
        RepoMapError: the change is not well-formed, not explained, takes more tokens than given, names no
            place, or would do nothing but show what the user excludes.
    """
    if not reasoning.strip():
        raise FlightPlanError("`reasoning` is empty; say in a sentence which evidence leads to this change.")
    select, drop = asked.get("select"), asked.get("drop")
    before, run = navigation.state.flight_plan, navigation.run
    own, plan, selection, notes = run.user_plan, before, None, tuple[str, ...]()
    if select or drop:
        selection, notes = change_selection(index, run.selection, select, drop, outline=outline, own=own)
        # A model may have asked for fewer tokens in an earlier step.
        within = own.model_copy(update={"budget": min(before.budget, own.budget)})
        room = code_tokens_of(run, selection, reasoning)
        plan = plan_selection(index, selection, within, room, navigation.state.user_task)
    plan = apply_update(plan, asked.get("updates") or {}).plan
    limit = run.map_token_budget
    if plan.budget > limit:
        raise FlightPlanError(
            f"`budget` is {plan.budget}, more than the user's {plural(limit, 'token')}; "
            "leave it out or make it smaller."
        )
    if back := readmitted_files(index, plan, own):
        note = f"The user leaves out {list_names(back)}; a model can't bring that back."
        plan, notes = with_exclusions_of(index, plan, own), (*notes, note)
        if not compare_plans(before, plan).diff:
            raise FlightPlanError(f"{note} Choose among the other files, or finish.")
    return ModelAmendment(compare_plans(before, plan), selection, notes)


def merge_user_plan(
    index: Index, own: FlightPlan, updates: Mapping[str, Any]
) -> tuple[FlightPlan, tuple[str, ...]]:
    """Return the user's part of the plan as the user changes it, with notes on what differs from that.

    Of two wishes the later one holds.
    A rule for nothing but files that were excluded brings them back, as does another level for the pattern
    that excluded them; a wider rule does not.
    """
    plan = apply_update(own, updates).plan
    new = {rule.pattern: rule for rule in plan.verbosity}
    rules, notes = own.verbosity, list[str]()
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
            notes.append(f"Shown again, as you name what was left out: {list_names(back)}.")
        else:
            rules = with_exclusions_of(index, later, earlier).verbosity
            notes.append(
                f"Still left out, as `{pattern}` names more than that: {list_names(back)}; "
                "name it alone to bring it back."
            )
    return _with_rules(plan, rules), tuple(notes)


def amend_by_user(
    navigation: Navigation, index: Index, updates: Mapping[str, Any]
) -> tuple[Navigation, PlanChange]:
    """Return the navigation with the user's part of the plan changed, and the change of the whole plan."""
    state, run = navigation
    own, notes = merge_user_plan(index, run.user_plan, updates)
    plan = apply_wishes(index, state.flight_plan, updates, own)
    after = navigation.replace(run={"user_plan": own})
    return with_notes(after, notes), compare_plans(state.flight_plan, plan)


def apply_wishes(index: Index, plan: FlightPlan, updates: Mapping[str, Any], own: FlightPlan) -> FlightPlan:
    """Return ``plan`` with the user's updates, which lead to ``own``, in it."""
    plan = apply_update(plan, updates).plan
    mentioned, rules, out = _mentioned(updates), plan.verbosity, excluded(index, plan)
    # What has just been asked for must not be hidden by an earlier rule behind it.
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
    return {rule["pattern"].strip(): rule for rule in updates.get("verbosity") or ()}


def with_notes(before: Navigation, notes: Iterable[str]) -> Navigation:
    """Return the navigation with more lines in the next step's answer."""
    answer = "\n".join(filter(None, (before.run.answer, *notes)))
    return before.replace(run={"answer": answer})


def list_names(names: Sequence[str]) -> str:
    """Return the first names of files or parts of files, the others counted."""
    listed = ", ".join(f"`{name}`" for name in names[:_MAX_NAMED])
    more = len(names) - _MAX_NAMED
    return f"{listed} and {more:,} more" if more > 0 else listed
