"""What a turn comes to: an answer, a plan changed as the user asks, or a step that the planner decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from navigator.planner.answer_size import level_of_others
from navigator.planner.plan_changes import (
    amend_by_user,
    apply_wishes,
    list_names,
    merge_user_plan,
    with_notes,
)
from navigator.planner.record import Decision
from navigator.state.labels import EMBEDDED, USER
from navigator.state.reports import UnreadWords
from navigator.state.run_state import Navigation, UndoPoint
from repo_map.messages import plural
from repo_map.outline.exclusions import hides
from repo_map.outline.pack import general_rules, goal_terms, is_shown, pack, shown_places
from repo_map.outline.places import rank_places, with_boosts
from repo_map.plan.update import PlanChange, compare_plans
from repo_map.steering.apply import steer
from repo_map.steering.commands import UNDO_ALL
from repo_map.steering.targets import NamedDefinition

if TYPE_CHECKING:
    from navigator.planner.arguments import TurnRequest
    from navigator.state.reports import OutlineEntry
    from navigator.workspaces.workspace import Workspace
    from repo_map.steering.apply import Steering

NOTHING_TO_UPDATE: Final = "The updates change nothing, so no step was taken."
ACCEPTED: Final = "The context is accepted."
_MAX_MESSAGES: Final = 5
_MAX_CHANGES: Final = 5
"""Of a plan, in the sentence that lists them."""
_FOCUS_ALONE: Final = "A focus changes the order of what is shown and adds nothing to it; `show` adds."
_TOO_LARGE: Final = (
    "{} takes more than the {} available for code: the most relevant part is shown. Ask for the "
    "rest by name, or by lines."
)


class SteeredNavigation(NamedTuple):
    """A navigation as the user's words and fields change it, without a model."""

    navigation: Navigation
    steering: Steering


class TurnContext(NamedTuple):
    """A turn's request, with the navigation that it is made of."""

    stored: Navigation
    """As it was, and stays if nothing changes."""
    before: Navigation
    """The same, open for a step: with its new limits, and with what the user takes back undone."""
    request: TurnRequest
    updates: Mapping[str, Any]
    steered: SteeredNavigation | None = None
    has_limits: bool = False
    undone: int = 0
    plans_anew: bool = True


class Turn(NamedTuple):
    """What a turn comes to."""

    navigation: Navigation
    answer: str = ""
    """What is answered if no step is taken, in place of the latest step's answer."""
    is_answered: bool = False
    decision: Decision | None = None
    """The step's decision, if the words or updates make it already; else the planner or a model decides."""
    is_complete: bool = False
    """Whether nothing is left to do for the words once that is decided."""
    finishes: bool = False
    not_understood: tuple[UnreadWords, ...] | None = None
    """What of the words was not understood; None for a turn without words."""


def reopened(before: Navigation) -> Navigation:
    paused = {"interactive_pause": False, "exploration_complete": False}
    return before.replace(state=paused, run={"stop_reason": None, "ended": ""})


def restored(before: Navigation, point: UndoPoint) -> Navigation:
    run = {"user_plan": point.user_plan, "last_user_change": point.last_user_change, "undo": None}
    return before.replace(state={"flight_plan": point.flight_plan}, run=run)


def steer_navigation(
    before: Navigation, request: TurnRequest, workspace: Workspace, outline: Sequence[OutlineEntry] = ()
) -> SteeredNavigation:
    """Return the navigation as feedback changes it; ``outline`` is the one whose numbers it means."""
    state, run = before
    index = workspace.index
    steering = steer(
        index,
        state.flight_plan,
        request.feedback,
        typed=request.wishes,
        own=run.user_plan,
        outline={each.number: NamedDefinition(each.path, each.name, each.first) for each in outline},
    )
    own, notes = merge_user_plan(index, run.user_plan, steering.updates)
    messages = (*run.feedback, request.summary)[-_MAX_MESSAGES:]
    after = before.replace(
        state={"flight_plan": state.flight_plan.model_copy(update={"budget": own.budget})},
        run={"user_plan": own, "feedback": messages, "decision_count": 0},
    )
    return SteeredNavigation(with_notes(after, (*steering.lines, *notes, steering.answer)), steering)


def report_undone(steered: SteeredNavigation, asked: int, taken: int) -> SteeredNavigation:
    """Return ``steered`` with a line on ``taken`` of ``asked`` changes that were undone."""
    line = "There is no change of yours to undo."
    if taken:
        line = f"Undone: your last {f'{taken} changes' if taken > 1 else 'change'}."
        if taken < asked < UNDO_ALL:
            line += " There were no more."
    answer = "\n".join(filter(None, (line, steered.navigation.run.answer)))
    return steered._replace(navigation=steered.navigation.replace(run={"answer": answer}))


def plan_turn(turn: TurnContext, workspace: Workspace) -> Turn:
    """Return what a turn comes to before a step is taken."""
    steered = turn.steered
    if steered is None:
        found = _apply_updates(turn, turn.before, workspace) if turn.updates else None
        return found or Turn(turn.before, is_complete=turn.before.run.first_look)
    if turn.updates:
        found = _apply_updates(turn, _with_user_plan(turn, steered, workspace), workspace)
    else:
        found = _apply_feedback(turn, steered, workspace)
    unread = tuple(
        UnreadWords(words=each.words, unknown_name=each.unknown or None)
        for each in steered.steering.not_understood
    )
    return found._replace(finishes=steered.steering.finish, not_understood=unread)


def _apply_feedback(turn: TurnContext, steered: SteeredNavigation, workspace: Workspace) -> Turn:
    before, steering, words = turn.before, steered.steering, turn.request.summary
    # A model may make something of words that were not understood, not of a question that is answered.
    may_ask_model = not turn.plans_anew and not steering.finish and not turn.undone
    needs_step = bool(steering.updates) or (may_ask_model and bool(steering.not_understood))
    if not needs_step and not turn.has_limits:
        if not turn.undone:
            accepted = ACCEPTED if steering.finish else ""
            answer = "\n".join(filter(None, (steered.navigation.run.answer, accepted)))
            return Turn(turn.stored, answer, is_answered=True)
        change = compare_plans(turn.stored.state.flight_plan, before.state.flight_plan)
        return Turn(steered.navigation, decision=_revision(change, words), is_complete=turn.plans_anew)
    # Before the first decision the plan shows all files alike, and one that a first look made is made anew.
    has_plan = bool(before.state.decision_log) and not before.run.first_look
    # What is understood needs no model.
    asks_model = not turn.plans_anew and (bool(steering.not_understood) or steering.asks_for_more)
    if has_plan and not asks_model:
        after, change, by = _revise_plan(before, steered, workspace)
        return Turn(_with_undo(before, after), decision=_revision(change, words, by), is_complete=True)
    # The planner plans anew with the words; a plan that a model changes has to hold them itself.
    after = steered.navigation if turn.plans_anew else _with_user_plan(turn, steered, workspace)
    return Turn(_with_undo(before, after), is_complete=True)


def _apply_updates(turn: TurnContext, before: Navigation, workspace: Workspace) -> Turn:
    amended, change = amend_by_user(before, workspace.index, turn.updates)
    hides_others = any(rule.pattern == "**" and rule.level == 0 for rule in change.plan.verbosity)
    if hides_others and set(turn.updates) == {"focus"}:
        amended = with_notes(amended, [_FOCUS_ALONE])
    if turn.steered is None:
        amended = _with_undo(before, amended)
        if not (change.diff or amended.run.user_plan != before.run.user_plan or turn.has_limits):
            return Turn(turn.stored, NOTHING_TO_UPDATE, is_answered=True)
    return Turn(amended, decision=_revision(change, turn.request.summary))


def _with_user_plan(turn: TurnContext, steered: SteeredNavigation, workspace: Workspace) -> Navigation:
    """Return the navigation with a plan that does what the words ask of it."""
    after, updates = steered.navigation, steered.steering.updates
    plan = apply_wishes(workspace.index, after.state.flight_plan, updates, after.run.user_plan)
    return _with_undo(turn.before, after.replace(state={"flight_plan": plan}))


def _with_undo(before: Navigation, after: Navigation) -> Navigation:
    """Return ``after`` with what to go back to, if the user asks for something else than ``before``."""
    own, plan = before.run.user_plan, before.state.flight_plan
    if after.run.user_plan == own:
        return after
    point = UndoPoint(user_plan=own, flight_plan=plan, last_user_change=before.run.last_user_change)
    return after.replace(run={"undo": point})


def _revision(change: PlanChange, words: str, by: str = USER) -> Decision:
    """Return a change of the plan that the user asks for, as a decision."""
    if not words:
        more = len(change.lines) - _MAX_CHANGES
        counted_rest = f"; and {more} more" if more > 0 else ""
        words = f"The user changed the plan: {'; '.join(change.lines[:_MAX_CHANGES])}{counted_rest}."
        if not change.lines:
            words = "The plan already says so; it is now the user's own rule."
    return Decision("update_flight_plan", by, words, change.plan, change.diff)


def _revise_plan(
    before: Navigation, steered: SteeredNavigation, workspace: Workspace
) -> tuple[Navigation, PlanChange, str]:
    """Return the navigation with a plan that does what was asked and shows what it showed, as far as it fits.

    Then the change of the plan, and who made it: the user, or the planner if more was asked for.
    """
    index, steering, (state, run) = workspace.index, steered.steering, steered.navigation
    own = run.user_plan
    relevance = with_boosts(index, workspace.relevance(state.user_task, run.changes, run.names), own)
    asks_for_more = steering.asks_for_more or own.budget > before.run.user_plan.budget
    ranked = rank_places(index, relevance)
    shown = shown_places(index, before.state.flight_plan, before.run.user_plan, ranked)
    # What is shown stays before what is only likely.
    places = [each._replace(chance=1.0) for each in shown if not hides(own, each.path, each.name)]
    kept = len(places)
    if asks_for_more or run.fill:
        known = {(place.path, place.name, place.first) for place in places}
        places += [place for place in ranked if (place.path, place.name, place.first) not in known]
    latest = {
        rule["pattern"]: tuple(
            (each.get("pattern"), each.get("lines")) for each in rule.get("sections") or ()
        )
        for rule in steering.updates.get("verbosity") or ()
    }
    general = general_rules(index, before.state.flight_plan, before.run.user_plan)
    base = own.model_copy(update={"verbosity": (*general, *own.verbosity)})
    others = level_of_others(index) if asks_for_more or run.fill else 0
    terms = goal_terms(relevance.goal)
    packed = pack(index, base, places, own.budget, terms=terms, latest=latest, others=others)
    hidden = [place for place in places[:kept] if not is_shown(packed.plan, place)]
    without_room = [*packed.without_room, *(f"{each.name or each.first} ({each.path})" for each in hidden)]
    room, notes = plural(own.budget, "token"), []
    if without_room:
        dropped = list_names(without_room)
        notes.append(f"To make room in the {room} available for code, no longer shown: {dropped}.")
    if packed.in_part:
        notes.append(_TOO_LARGE.format(list_names(packed.in_part), room))
    # The earlier summary is of another map; a further step goes on from this one.
    decisions = {"decision_count": 0 if asks_for_more else 1}
    after = steered.navigation.replace(state={"reasoning_summary": ""}, run=decisions)
    change = compare_plans(before.state.flight_plan, packed.plan)
    return with_notes(after, notes), change, EMBEDDED if asks_for_more else USER
