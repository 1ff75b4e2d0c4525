"""Token budgets: what the whole answer may take, and what of it is the map's."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcp_server.fitting import MIN_TOKEN_BUDGET, answer_budget, context_budget
from mcp_server.holdings import Holding
from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError

if TYPE_CHECKING:
    from navigator.reports import TurnReport


def budgets(settings: Settings, token_budget: int | None, flight_plan: str | None) -> tuple[int | None, int]:
    """Return the token budget of the map, None for the plan's own, and that of the whole answers.

    A plan's own budget is that of its map, to the token, so that it replays; an answer around it is larger.

    Raises:
        InvalidRequestError: No answer can hold to it.
    """
    if token_budget is None and flight_plan is not None:
        return None, max(settings.token_budget, answer_budget(_plan_budget(flight_plan)))
    asked = settings.token_budget if token_budget is None else token_budget
    if asked < MIN_TOKEN_BUDGET:
        raise InvalidRequestError(
            f"`token_budget` is {asked}; a report and a map need {MIN_TOKEN_BUDGET} tokens at least, "
            "8000 is a good start."
        )
    return context_budget(asked), asked


def with_room_for(report: TurnReport, holding: Holding) -> Holding:
    """Return the holding with the answer budget that the map needs, if an update raised the budget."""
    if report.token_budget <= context_budget(holding.token_budget):
        return holding
    return replace(holding, token_budget=answer_budget(report.token_budget))


def _plan_budget(flight_plan: str) -> int:
    from repo_map.flight_plan import FlightPlan  # noqa: PLC0415

    return FlightPlan.from_yaml(flight_plan).budget
