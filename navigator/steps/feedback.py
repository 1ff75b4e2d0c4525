"""What the user's words change: the goal's wish, the user's own part of the plan, and what is answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from navigator.records.bookkeeping import MentionedThing, Navigation, UndoPoint
from navigator.records.reports import UnreadWords
from navigator.steps.turn import goal_with_feedback, merge_user_plan, with_notes
from repo_map.feedback.amounts import EVERY_STEP
from repo_map.feedback.apply import steer
from repo_map.feedback.names import LineSpan, NamedDefinition, Referent
from repo_map.feedback.operations import Operation
from repo_map.feedback.steering import Wish

if TYPE_CHECKING:
    from navigator.records.reports import MenuPlace
    from navigator.steps.turn_request import Feedback
    from navigator.workspaces.workspace import Workspace
    from repo_map.feedback.steering import Steering, Wish
    from repo_map.index import RepoIndex

KEPT = 5
"""Messages that are remembered."""
_MOST_MENTIONED = 50
"""Files, definitions and lines that "it" or "them" means at most in later words."""


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


def unread_words(steering: Steering) -> tuple[UnreadWords, ...]:
    """Return what of a feedback was not understood, as a report has it."""
    return tuple(
        UnreadWords(words=each.words, unknown_name=each.unknown or None) for each in steering.not_understood
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
    before: Navigation, feedback: Feedback, workspace: Workspace, menu: Sequence[MenuPlace] = ()
) -> FeedbackOutcome:
    """Return what feedback comes to, and the navigation with it; ``menu`` is the latest that was seen."""
    state, run = before
    relevance = workspace.relevance(goal_with_feedback(before), run.changes)
    places = {each.number: NamedDefinition(each.path, each.name, each.first) for each in menu}
    index = workspace.index
    steering = steer(
        index,
        state.flight_plan,
        relevance,
        feedback.words,
        typed=feedback.typed,
        own=run.own,
        menu=places,
        history=workspace.history,
        mentioned=_mentioned_in(index, run.mentioned, run.asked),
    )
    amendment = merge_user_plan(index, run.own, steering.updates)
    own = amendment.change.plan
    wishes = (*run.wishes, steering.goal_addition) if steering.goal_addition else run.wishes
    run = run.model_copy(
        update={
            "own": own,
            "feedback": (*run.feedback, feedback.summary)[-KEPT:],
            "wishes": wishes[-KEPT:],
            "planned": 0,
            **_mentioning(steering.mentioned),
        }
    )
    plan = state.flight_plan.model_copy(update={"budget": own.budget})
    after = Navigation(state.model_copy(update={"flight_plan": plan}), run)
    return FeedbackOutcome(
        with_notes(after, (*steering.lines, *amendment.message, steering.answer)), steering
    )


def remembering(before: Navigation, outcome: FeedbackOutcome) -> Navigation:
    """Return a navigation that stays as it is but for what the user's words were about."""
    said = outcome.navigation.run
    update = {"mentioned": said.mentioned, "asked": said.asked}
    return Navigation(before.state, before.run.model_copy(update=update))


def _mentioning(mentioned: Wish) -> dict[str, object]:
    """Return the fields that remember what words were about; of too much, nothing."""
    things = tuple(
        MentionedThing(
            words=each.words,
            name=each.name,
            patterns=each.patterns,
            places=tuple((place.path, place.name, place.line) for place in each.places),
            spans=tuple((span.path, span.first, span.last) for span in each.spans),
        )
        for each in mentioned.targets
    )
    size = sum(len(each.patterns) + len(each.places) + len(each.spans) for each in things)
    if size > _MOST_MENTIONED:
        return {"mentioned": (), "asked": ""}
    return {"mentioned": things, "asked": mentioned.operation.value if mentioned.is_question else ""}


def _mentioned_in(index: RepoIndex, things: Sequence[MentionedThing], asked: str) -> Wish:
    """Return what earlier words were about as it stands in the index now; what is gone is left out."""

    def standing(path: str, name: str, line: int) -> NamedDefinition | None:
        file = index.file_id(path)
        rows = enumerate(index.definitions(file)) if file is not None else ()
        lines = [each.sig_start for row, each in rows if index.qualified_name(file or 0, row) == name]
        if not lines and (file is None or name):
            return None
        return NamedDefinition(path, name, min(lines, key=lambda at: abs(at - line), default=line))

    targets = tuple(
        Referent(
            each.words,
            each.patterns,
            tuple(place for known in each.places if (place := standing(*known)) is not None),
            tuple(LineSpan(*span) for span in each.spans if index.file_id(span[0]) is not None),
            each.name,
        )
        for each in things
    )
    kept = tuple(filter(None, targets))
    is_question = bool(kept) and asked in {each.value for each in Operation}
    return Wish(Operation(asked) if is_question else Operation.NOTHING, is_question, kept)
