"""The shapes that clients see: what each tool returns as structured content."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from navigator.state.reports import CutReport

Status = Literal["open", "running", "finished", "budget", "max_steps", "user", "cancelled", "error"]
"""``open`` takes another step, ``running`` is taking one; the rest say why a navigation stopped."""

NAVIGATIONS: Final = "navigator://navigations"
Part = Literal["context", "plan", "report", "decisions", "maps/{version}"]


def address(navigation_id: str, part: Part) -> str:
    """Return the address of a part of a navigation; ``{navigation_id}`` gives the template of all."""
    return f"navigator://{navigation_id}/{part}"


class _WireModel(BaseModel):
    model_config = ConfigDict(frozen=True)

    def on_the_wire(self) -> dict[str, Any]:
        """Return the JSON object, without the parts that say nothing."""
        wire: dict[str, Any] = _without_empty(self.model_dump(mode="json", exclude_none=True))
        for name in ("navigation_id", "status"):
            # The answer around a report has them.
            wire.get("turn_report", {}).pop(name, None)
        return wire


def _without_empty(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    if isinstance(value, dict):
        return {
            name: _without_empty(part) for name, part in value.items() if part != [] or name == "focus_areas"
        }
    return value


class TurnReportJson(_WireModel):
    """What one step did, what it cost, and what a next step could do."""

    navigation_id: str
    status: Annotated[Status, WithJsonSchema({"type": "string"})]
    step_number: int
    last_action: str
    reasoning: str
    grades_first: SkipJsonSchema[bool] = Field(default=False, exclude=True)
    """Whether ``reasoning`` begins with how sure the choice is; for the text alone."""
    answer: str | None = None
    """What was understood of the feedback, and the answers to what it asked."""
    understood: SkipJsonSchema[bool | None] = None
    """Whether all words of a step were, None without words; the report of no other tool has it."""
    model: str | None = None
    """What decided; None where the user did."""
    cost_this_turn: float | None = None
    """US dollars, as the other amounts; with the answer of a step only where a model was asked."""
    total_cost: float | None = None
    budget_remaining: float | None = None
    map_size_tokens: int
    token_budget: int
    """Most tokens of a whole answer: its report, its map and all that stands around them."""
    file_count: int
    left_out: int | None = None
    """Files that are not in the map for want of budget."""
    focus_areas: list[str]
    """Paths shown in most detail, most relevant first."""
    cuts: list[CutReport] = []
    outline: str | None = None
    """Places that are not shown, by number, for a next step to ask for."""
    sufficiency: str | None = None
    account: dict[str, int] | None = None
    """Tokens of all model calls so far: fresh, cached, repeated, and what sessions of one step would send."""
    findings: list[dict[str, Any]] = []
    """What a change breaks or forgot: kind, path, line, what to do."""
    impact: list[str] = []
    """What a change touches and puts at risk, the greatest risk first."""
    notes: list[str] = []
    next: str
    """How to go on."""
    # Not in the schema, for which hosts pay.
    repository: SkipJsonSchema[str | None] = None
    also_listed: SkipJsonSchema[str | None] = None


# Its schema is published by get_turn_report alone.
_NestedReport = Annotated[TurnReportJson, WithJsonSchema({"type": "object"})]


class NavigateResultJson(_WireModel):
    """A navigation and the context it found."""

    navigation_id: str
    status: Annotated[Status, WithJsonSchema({"type": "string"})]
    turn_report: _NestedReport
    context: str
    reasoning_summary: str | None = None
    next_cursor: str | None = None


class StepResultJson(_WireModel):
    """One turn, and what the map shows that the host does not hold yet."""

    navigation_id: str
    status: Annotated[Status | Literal["deleted"], WithJsonSchema({"type": "string"})]
    turn_report: Annotated[TurnReportJson | None, WithJsonSchema({"type": "object"})] = None
    """None where the navigation was deleted, as is the context."""
    context_delta: Annotated[str | None, WithJsonSchema({"type": "string"})] = None
    removed: list[str] = []
    """Paths that the host holds and the map no longer shows."""
    next_cursor: str | None = None


class NavigatorOutputJson(_WireModel):
    """The context, or a page of it."""

    navigation_id: str
    status: Annotated[Status, WithJsonSchema({"type": "string"})]
    context_string: str
    token_count: int
    """Tokens of the whole map."""
    token_budget: int
    """As in a report."""
    total_iterations: int
    total_cost: float
    since_step: int | None = None
    removed: list[str] = []
    reasoning_summary: str | None = None
    flight_plan_yaml: str | None = None
    next_cursor: str | None = None
    """Pass it as `cursor` for the next page."""
    notes: list[str] = []
