"""Whether an argument of a request can be used; a refusal carries it, for each surface to name."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from navigator.errors import InvalidArgumentError

MAX_TOKEN_BUDGET = 2_000_000


def require_goal(goal: str) -> str:
    """Return a goal that has words.

    Raises:
        InvalidArgumentError: it has none.
    """
    if not goal.strip():
        raise InvalidArgumentError("goal", "is empty; say in a sentence what you want to do in the code.")
    return goal


def require_token_budget(budget: int) -> int:
    """Return a budget of tokens, from 1 to ``MAX_TOKEN_BUDGET``.

    Raises:
        InvalidArgumentError: it is none.
    """
    return whole_number("token_budget", budget, MAX_TOKEN_BUDGET, "how many tokens the context may take")


def whole_number(argument: str, value: int, most: int, meaning: str) -> int:
    """Return a whole number from 1 to ``most``.

    Raises:
        InvalidArgumentError: it is none, or out of that range.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidArgumentError(argument, f"is {value}; give {meaning}: a whole number from 1 to {most}.")
    return value


def dollars_limit(value: Decimal | float) -> Decimal:
    """Return a limit in US dollars, above zero.

    Raises:
        InvalidArgumentError: it is none.
    """
    try:
        cost = Decimal("NaN") if isinstance(value, bool) else Decimal(str(value))
    except InvalidOperation:
        cost = Decimal("NaN")
    if not cost.is_finite() or cost <= 0:
        raise InvalidArgumentError(
            "max_cost_usd",
            f"is {value}; give a positive number of US dollars, or leave it out: "
            "the embedded planner costs nothing.",
        )
    return cost
