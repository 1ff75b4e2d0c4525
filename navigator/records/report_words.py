"""What readers are told of a step in place of the names that our code has for it."""

from __future__ import annotations

from typing import Final

from navigator.settings import EMBEDDED

_ACTIONS: Final = {"open": "opened", "update_flight_plan": "changed the plan", "finalize_context": "done"}
"""What a step did, by its action."""
_DECIDERS: Final = {EMBEDDED: "without a model", "user": "by you"}


def action_word(action: str) -> str:
    """Return what a step did; an action that has no words stays."""
    return _ACTIONS.get(action, action)


def decider_word(model: str) -> str:
    """Return who decided a step: a model by its name."""
    return _DECIDERS.get(model, model)
