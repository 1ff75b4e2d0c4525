"""The navigator's state, as ``session.state["navigator"]`` holds it between steps."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from repo_map.plan.model import FlightPlan

ExecutionMode = Literal["autonomous", "interactive"]
Action = Literal["update_flight_plan", "finalize_context"]


def _exact(value: object) -> object:
    # A float's shortest decimal form is the number that was written; its binary expansion is not.
    return Decimal(str(value)) if isinstance(value, float) else value


Usd = Annotated[
    Decimal,
    BeforeValidator(_exact),
    PlainSerializer(float, return_type=float, when_used="json"),
    Field(allow_inf_nan=False),
]
"""US dollars: exact in memory, a plain number in JSON."""

Rate = Annotated[Usd, Field(gt=0)]
"""US dollars per million tokens."""


PlanValue = Annotated[
    FlightPlan, PlainSerializer(lambda plan: plan.model_dump(mode="json", exclude_none=True))
]
"""A flight plan that leaves out what is not set: the state's contract knows no null."""


def _partial_plan(diff: dict[str, Any]) -> dict[str, Any]:
    for name, part in diff.items():
        if name not in FlightPlan.model_fields:
            raise ValueError(f"`{name}` is not a part of a flight plan")
        if part is not None and not isinstance(part, _PARTS.get(name, object)):
            raise ValueError(f"`{name}` is no such part of a flight plan")
    return diff


_PARTS: dict[str, type] = {"budget": int, "focus": dict, "verbosity": list, "custom_queries": list}
PlanDiff = Annotated[dict[str, Any], AfterValidator(_partial_plan)]
"""A partial flight plan, as a change of one is stored: its parts are named and formed like the plan's."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)


class ModelPricingRates(_Part):
    """What a million tokens cost, in US dollars."""

    model_name: str
    input_per_million: Rate
    output_per_million: Rate


class BudgetConfig(_Part):
    """The cost limit of a navigation and what it has spent."""

    max_spend_usd: Annotated[Usd, Field(gt=0)] = Decimal(2)
    current_spend_usd: Annotated[Usd, Field(ge=0)] = Decimal(0)
    model_pricing_rates: ModelPricingRates


class DecisionLogEntry(_Part):
    """One decision: what was changed, and why."""

    step: int = Field(ge=1)
    action: Action
    reasoning: str = Field(min_length=1)
    config_diff: PlanDiff = Field(default_factory=dict)
    timestamp: datetime


class MapMetadata(_Part):
    """Statistics of the current map."""

    total_tokens: int = Field(default=0, ge=0)
    file_count: int = Field(default=0, ge=0)
    focus_areas: tuple[str, ...] = ()
    excluded_count: int = Field(default=0, ge=0)
    budget_utilization: float = Field(default=0.0, ge=0, le=100)
    """Percentage of the token budget that the map uses."""


class NavigatorState(_Part):
    """Everything that the next decision may depend on; whole from the first moment, and bounded."""

    user_task: str = Field(min_length=1)
    repo_path: str
    execution_mode: ExecutionMode = "autonomous"
    budget_config: BudgetConfig
    flight_plan: PlanValue
    decision_log: tuple[DecisionLogEntry, ...] = ()
    """The latest decisions, oldest first; the whole log is among the navigation's artifacts."""
    map_metadata: MapMetadata = MapMetadata()
    interactive_pause: bool = False
    exploration_complete: bool = False
    reasoning_summary: str = ""
