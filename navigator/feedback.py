"""What the user's words change: the goal's wish, the user's own part of the plan, and what is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from navigator.amendments import amend
from navigator.errors import InvalidRequestError
from navigator.turns import Navigation, wish_of
from repo_map.secrecy.masking import mask_text

if TYPE_CHECKING:
    from navigator.workspace import Workspace

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


def hear(before: Navigation, words: str, workspace: Workspace) -> Navigation:
    """Return the navigation with the user's words, and with what they come to without a model."""
    from repo_map.steering import steer  # noqa: PLC0415

    state, run = before
    relevance = workspace.relevance(wish_of(before))
    steering = steer(workspace.index, state.flight_plan, relevance, words)
    own = amend(run.own, steering.updates).plan if steering.updates else run.own
    wishes = (*run.wishes, steering.goal_addition) if steering.goal_addition else run.wishes
    run = run.model_copy(
        update={
            "own": own,
            "token_budget": own.budget,
            "feedback": (*run.feedback, words)[-KEPT:],
            "wishes": wishes[-KEPT:],
            "answer": "\n".join(filter(None, (*steering.lines, steering.answer))),
            "planned": 0,
        }
    )
    plan = state.flight_plan.model_copy(update={"budget": own.budget})
    return Navigation(state.model_copy(update={"flight_plan": plan}), run)
