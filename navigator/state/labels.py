"""Names and words for deciders, actions and amounts of money."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

EMBEDDED: Final = "embedded"
"""The planner that needs no key, no network and no money."""
USER: Final = "user"
"""In a report's ``model``: the user changed the plan without one."""

_ACTIONS: Final = {"open": "opened", "update_flight_plan": "changed the plan", "finalize_context": "done"}
_DECIDERS: Final = {EMBEDDED: "without a model", USER: "by you"}
_DECIDERS_FOR_MODEL: Final = {EMBEDDED: "the last step without a model", USER: "changed by the user"}


def action_word(action: str) -> str:
    return _ACTIONS.get(action, action)


def decider_word(model: str) -> str:
    """Return who decided a step, for the user: a model by its name."""
    return _DECIDERS.get(model, model)


def decider_to_model(model: str) -> str:
    """Return who decided the last step, for the caller's model."""
    return _DECIDERS_FOR_MODEL.get(model, f"model {model}")


def dollars(amount: Decimal | float) -> str:
    """Return an amount of US dollars with cents, and with as many decimals more as matter.

    Up to six decimals are exact; a smaller amount has two digits.
    """
    exact = Decimal(str(amount))
    decimals = max(6, 1 - exact.adjusted()) if exact else 2
    whole, _, rest = f"{exact:.{decimals}f}".partition(".")
    return f"${whole}.{rest.rstrip('0').ljust(2, '0')}"
