"""What the user's words change: the goal's wish, the user's own part of the plan, and what is answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from navigator.bookkeeping import UndoPoint
from navigator.errors import InvalidRequestError
from navigator.turn import Navigation, goal_with_feedback, merge_user_plan, with_notes
from repo_map.feedback.amounts import EVERY_STEP
from repo_map.secrets.masking import mask_text

if TYPE_CHECKING:
    from navigator.reports import MenuPlace
    from navigator.workspace import Workspace
    from repo_map.feedback.steering import Steering

MAX_FEEDBACK = 4_000
"""Characters of one message."""
KEPT = 5
"""Messages that are remembered."""


def checked_feedback(feedback: str | None) -> str:
    """Return the words without surrounding blanks, secrets masked.

    Raises:
        InvalidRequestError: they are too many.
    """
    words = mask_text((feedback or "").encode("utf-8", "replace").decode("utf-8").strip())
    if len(words) > MAX_FEEDBACK:
        raise InvalidRequestError(
            f"The feedback has {len(words)} characters, more than {MAX_FEEDBACK}; say it in a few sentences."
        )
    return words


def reopened(before: Navigation) -> Navigation:
    """Return the navigation open for another step."""
    state = before.state.model_copy(update={"interactive_pause": False, "exploration_complete": False})
    return Navigation(state, before.run.reopened())


class FeedbackOutcome(NamedTuple):
    """What the user's words come to without a model."""

    navigation: Navigation
    """With the words, and with what they change."""
    steering: Steering

    def asks_nothing(self, *, of_a_model: bool) -> bool:
        """Say whether the words need no step: they ask what is answered already, or are not understood.

        A model may make something of words that were not understood, not of a question that is answered.
        """
        steering = self.steering
        changes = bool(steering.updates or steering.goal_addition)
        return not changes and not (of_a_model and steering.not_understood)

    def undone(self, steps: int, taken: int) -> FeedbackOutcome:
        """Return it with what is to be told of ``taken`` of ``steps`` changes that were taken back."""
        if taken == 0:
            line = "There is no change of yours to undo."
        else:
            line = f"Undone: your last {f'{taken} changes' if taken > 1 else 'change'}."
            if taken < steps < EVERY_STEP:
                line += " There were no more."
        run = self.navigation.run
        answer = "\n".join(filter(None, (line, run.answer)))
        return self._replace(
            navigation=Navigation(self.navigation.state, run.model_copy(update={"answer": answer}))
        )


def restored(before: Navigation, point: UndoPoint) -> Navigation:
    """Return the navigation as the user had it before a change."""
    run = before.run.model_copy(
        update={"own": point.own, "wishes": point.wishes, "changed_at": point.changed_at, "undo": None}
    )
    return Navigation(before.state.model_copy(update={"flight_plan": point.flight_plan}), run)


def with_undo_point(before: Navigation, after: Navigation) -> Navigation:
    """Return ``after`` with what to go back to, where the user asks for something else than ``before``."""
    if (after.run.own, after.run.wishes) == (before.run.own, before.run.wishes):
        return after
    point = UndoPoint(
        own=before.run.own,
        wishes=before.run.wishes,
        flight_plan=before.state.flight_plan,
        changed_at=before.run.changed_at,
    )
    return Navigation(after.state, after.run.model_copy(update={"undo": point}))


def apply_feedback(
    before: Navigation, words: str, workspace: Workspace, menu: Sequence[MenuPlace] = ()
) -> FeedbackOutcome:
    """Return what the user's words come to, and the navigation with them; ``menu`` is the latest they saw."""
    from repo_map.feedback.apply import steer  # noqa: PLC0415 - most steps have no feedback
    from repo_map.feedback.names import NamedDefinition  # noqa: PLC0415 - most steps have no feedback

    state, run = before
    relevance = workspace.relevance(goal_with_feedback(before), run.changes)
    places = {each.number: NamedDefinition(each.path, each.name, each.first) for each in menu}
    steering = steer(
        workspace.index,
        state.flight_plan,
        relevance,
        words,
        own=run.own,
        menu=places,
        history=workspace.history,
    )
    heard = merge_user_plan(workspace.index, run.own, steering.updates)
    own = heard.change.plan
    wishes = (*run.wishes, steering.goal_addition) if steering.goal_addition else run.wishes
    run = run.model_copy(
        update={
            "own": own,
            "feedback": (*run.feedback, words)[-KEPT:],
            "wishes": wishes[-KEPT:],
            "planned": 0,
        }
    )
    plan = state.flight_plan.model_copy(update={"budget": own.budget})
    after = Navigation(state.model_copy(update={"flight_plan": plan}), run)
    return FeedbackOutcome(with_notes(after, (*steering.lines, *heard.message, steering.answer)), steering)
