"""What the user's words change: the goal's wish, the user's own part of the plan, and what is answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from navigator.planner.turn import merge_user_plan, with_notes
from navigator.state.reports import UnreadWords
from navigator.state.run_state import Navigation, UndoPoint
from repo_map.steering.apply import steer
from repo_map.steering.commands import UNDO_ALL
from repo_map.steering.targets import NamedDefinition

if TYPE_CHECKING:
    from navigator.planner.arguments import Feedback
    from navigator.state.reports import OutlineEntry
    from navigator.workspaces.workspace import Workspace
    from repo_map.steering.apply import Steering

KEPT = 5
"""Messages that are remembered."""


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
        return not steering.updates and not (of_a_model and steering.not_understood)

    def undone(self, steps: int, taken: int) -> FeedbackOutcome:
        """Return it with what is to be told of ``taken`` of ``steps`` changes that were taken back."""
        if taken == 0:
            line = "There is no change of yours to undo."
        else:
            line = f"Undone: your last {f'{taken} changes' if taken > 1 else 'change'}."
            if taken < steps < UNDO_ALL:
                line += " There were no more."
        run = self.navigation.run
        answer = "\n".join(filter(None, (line, run.answer)))
        return self._replace(
            navigation=Navigation(self.navigation.state, run.model_copy(update={"answer": answer}))
        )


def unread_words(steering: Steering) -> tuple[UnreadWords, ...]:
    """Return what of a feedback was not understood, as a report has it."""
    return tuple(
        UnreadWords(words=each.words, unknown_name=each.unknown or None) for each in steering.not_understood
    )


def restored(before: Navigation, point: UndoPoint) -> Navigation:
    """Return the navigation as the user had it before a change."""
    run = before.run.model_copy(update={"own": point.own, "changed_at": point.changed_at, "undo": None})
    return Navigation(before.state.model_copy(update={"flight_plan": point.flight_plan}), run)


def with_undo_point(before: Navigation, after: Navigation) -> Navigation:
    """Return ``after`` with what to go back to, where the user asks for something else than ``before``."""
    if after.run.own == before.run.own:
        return after
    point = UndoPoint(
        own=before.run.own,
        flight_plan=before.state.flight_plan,
        changed_at=before.run.changed_at,
    )
    return Navigation(after.state, after.run.model_copy(update={"undo": point}))


def apply_feedback(
    before: Navigation, feedback: Feedback, workspace: Workspace, outline: Sequence[OutlineEntry] = ()
) -> FeedbackOutcome:
    """Return what feedback comes to, and the navigation with it; ``outline`` is the latest that was seen."""
    state, run = before
    places = {each.number: NamedDefinition(each.path, each.name, each.first) for each in outline}
    index = workspace.index
    steering = steer(
        index,
        state.flight_plan,
        feedback.words,
        typed=feedback.typed,
        own=run.own,
        outline=places,
        history=workspace.history,
    )
    amendment = merge_user_plan(index, run.own, steering.updates)
    own = amendment.change.plan
    run = run.model_copy(
        update={
            "own": own,
            "feedback": (*run.feedback, feedback.summary)[-KEPT:],
            "planned": 0,
        }
    )
    plan = state.flight_plan.model_copy(update={"budget": own.budget})
    after = Navigation(state.model_copy(update={"flight_plan": plan}), run)
    return FeedbackOutcome(
        with_notes(after, (*steering.lines, *amendment.message, steering.answer)), steering
    )
