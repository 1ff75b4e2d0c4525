"""Who decides a step and what a decision does, by name and in the words that readers are told."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

EMBEDDED: Final = "embedded"
"""The planner that needs no key, no network and no money."""
USER: Final = "user"
"""In a report's ``model``: the user changed the plan without one."""

_ACTIONS: Final = {"open": "opened", "update_flight_plan": "changed the plan", "finalize_context": "done"}
"""What a step did, by its action."""
_TO_A_PERSON: Final = {EMBEDDED: "without a model", USER: "by you"}
_TO_A_MODEL: Final = {EMBEDDED: "the last step without a model", USER: "changed by the user"}


def action_word(action: str) -> str:
    """Return what a step did; an action that has no words stays."""
    return _ACTIONS.get(action, action)


def decider_word(model: str) -> str:
    """Return who decided a step, as the user is told: a model by its name."""
    return _TO_A_PERSON.get(model, model)


def decider_to_model(model: str) -> str:
    """Return who decided the last step, as the caller's model is told."""
    return _TO_A_MODEL.get(model, f"model {model}")


def dollars(amount: Decimal | float) -> str:
    """Return an amount of US dollars as it is told everywhere: with cents, and with as much more as matters.

    Up to six decimals are exact; of what is smaller still, two digits are told.
    """
    exact = Decimal(str(amount))
    decimals = max(6, 1 - exact.adjusted()) if exact else 2
    whole, _, rest = f"{exact:.{decimals}f}".partition(".")
    return f"${whole}.{rest.rstrip('0').ljust(2, '0')}"
