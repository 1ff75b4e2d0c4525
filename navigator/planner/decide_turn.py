"""What kind of turn it is: words are answered, the plan is revised as the user asks, or somebody decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from navigator.planner.feedback import FeedbackOutcome, with_undo_point
from navigator.planner.revise_plan import is_planned, revise
from navigator.planner.turn import Decision, amend_by_user, apply_user_plan
from navigator.state.labels import USER
from repo_map.plan.diff import compare_plans

if TYPE_CHECKING:
    from navigator.planner.arguments import Feedback
    from navigator.state.run_state import Navigation
    from navigator.workspaces.workspace import Workspace
    from repo_map.plan.diff import PlanChange

NOTHING_TO_UPDATE = "The updates change nothing, so no step was taken."
TAKEN = "The context is accepted."
_MOST_CHANGES = 5
"""Of a plan, in the sentence that tells them."""


class AskedTurn(NamedTuple):
    """What a turn is asked to do, and the navigation that it is asked of."""

    stored: Navigation
    """As it was, and stays where nothing changes."""
    before: Navigation
    """The same, open for a step: on its new terms, and with what the user takes back undone."""
    outcome: FeedbackOutcome | None
    """What the feedback comes to; None where there is none."""
    feedback: Feedback
    updates: Mapping[str, Any]
    """A partial flight plan, empty for none."""
    has_terms: bool
    """Whether the terms differ from those stored."""
    undone: int
    """Changes that the user takes back."""
    plans_anew: bool


class Answered(NamedTuple):
    """No step is taken: the navigation stays as it is."""

    navigation: Navigation
    answer: str


class Revised(NamedTuple):
    """The plan is revised already, by the user or, for the user's words, by the planner."""

    navigation: Navigation
    decision: Decision
    settles: bool
    """Whether nothing is left to do then for the words."""


class Planned(NamedTuple):
    """The planner, or a model, decides from here."""

    navigation: Navigation
    settles: bool
    """Whether nothing is left to do for the words once the planner has decided."""


def decide_turn(asked: AskedTurn, workspace: Workspace) -> Answered | Revised | Planned:
    """Return what kind of turn it is.

    Raises:
        FlightPlanError: the updates are not well-formed.
    """
    if asked.outcome is not None and not asked.updates:
        return _for_words(asked, asked.outcome, workspace)
    before = asked.before if asked.outcome is None else _with_wishes(asked, asked.outcome, workspace)
    return (
        _updated(asked, before, workspace)
        if asked.updates
        else Planned(before, settles=before.run.first_look)
    )


def _for_words(
    asked: AskedTurn, outcome: FeedbackOutcome, workspace: Workspace
) -> Answered | Revised | Planned:
    before, finishes = asked.before, outcome.steering.finish
    of_a_model = not asked.plans_anew and not finishes and not asked.undone
    asks_nothing = not asked.has_terms and outcome.asks_nothing(of_a_model=of_a_model)
    if asks_nothing and not asked.undone:
        answer = "\n".join(filter(None, (outcome.navigation.run.answer, TAKEN if finishes else "")))
        return Answered(asked.stored, answer)
    if asks_nothing:
        change = compare_plans(asked.stored.state.flight_plan, before.state.flight_plan)
        return Revised(
            outcome.navigation, _revision(change, asked.feedback.summary), settles=asked.plans_anew
        )
    if asked.plans_anew and is_planned(before):
        revised = revise(before, outcome.navigation, outcome.steering, workspace)
        decision = _revision(revised.change, asked.feedback.summary, revised.by)
        return Revised(with_undo_point(before, revised.navigation), decision, settles=True)
    # The planner plans anew with the words; a plan that a model changes has to hold them itself.
    after = outcome.navigation if asked.plans_anew else _with_wishes(asked, outcome, workspace)
    return Planned(with_undo_point(before, after), settles=True)


def _with_wishes(asked: AskedTurn, outcome: FeedbackOutcome, workspace: Workspace) -> Navigation:
    """Return the navigation with a plan that does what the words ask of it."""
    return with_undo_point(asked.before, apply_user_plan(workspace.index, asked.before, outcome.navigation))


def _updated(asked: AskedTurn, before: Navigation, workspace: Workspace) -> Answered | Revised:
    amended, change = amend_by_user(before, workspace.index, asked.updates)
    if asked.outcome is None:
        amended = with_undo_point(before, amended)
    changes = bool(change.diff) or amended.run.own != before.run.own
    if not (changes or asked.outcome or asked.has_terms):
        return Answered(asked.stored, NOTHING_TO_UPDATE)
    return Revised(amended, _revision(change, asked.feedback.summary), settles=False)


def _revision(change: PlanChange, words: str, by: str = USER) -> Decision:
    """Return a change of the plan that the user asks for, as a decision."""
    return Decision("update_flight_plan", by, words or _changes_text(change.lines), change.plan, change.diff)


def _changes_text(changes: Sequence[str]) -> str:
    """Return what the user changed of the plan, in a sentence."""
    if not changes:
        return "The plan already says so; it is now the user's own rule."
    more = f"; and {len(changes) - _MOST_CHANGES} more" if len(changes) > _MOST_CHANGES else ""
    return f"The user changed the plan: {'; '.join(changes[:_MOST_CHANGES])}{more}."
