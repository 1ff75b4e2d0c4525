"""The shapes that clients see: what each tool returns as structured content."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

Status = Literal["open", "running", "finished", "budget", "max_steps", "user", "cancelled", "error"]
"""``open`` takes another step, ``running`` is taking one; the rest say why a navigation stopped."""


NAVIGATIONS: Final = "navigator://navigations"
Part = Literal["context", "plan", "report", "decisions", "maps/{version}"]


def address(navigation_id: str, part: Part) -> str:
    """Return the address of a part of a navigation; ``{navigation_id}`` gives the template of all."""
    return f"navigator://{navigation_id}/{part}"


# Every host pays for these schemas in every conversation: they name the parts and leave the rest unsaid.
_ALWAYS = frozenset({"focus_areas"})
_SameStatus = Annotated[Status, WithJsonSchema({"type": "string"})]
_Strings = Annotated[list[str], WithJsonSchema({"type": "array"})]


_ResponseTokenBudget = Annotated[
    int, Field(validation_alias="token_budget", serialization_alias="token_budget")
]
"""Most tokens of a whole answer: its report, its map and all that stands around them."""


class _WireModel(BaseModel):
    model_config = ConfigDict(
        frozen=True, validate_by_name=True, validate_by_alias=True, serialize_by_alias=True
    )

    def on_the_wire(self) -> dict[str, Any]:
        """Return the JSON object, without the parts that say nothing."""
        wire: dict[str, Any] = _without_empty(self.model_dump(mode="json", exclude_none=True))
        return wire


def _without_empty(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    if isinstance(value, dict):
        return {name: _without_empty(part) for name, part in value.items() if part != [] or name in _ALWAYS}
    return value


class CandidateJson(_WireModel):
    """A place that a next step could show in more detail."""

    path: str
    symbol: str | None = None
    lines: str | None = None
    level: int
    """Level at which the map shows the file now, 0 for not at all."""
    tokens: dict[str, int]
    """What each level would add to the map."""
    reasons: list[str] = []


class CutJson(_WireModel):
    """A file that the budget shows in less detail than the plan asks for."""

    model_config = ConfigDict(from_attributes=True)

    path: str
    wanted: int
    drawn: int
    tokens_to_add: int


def _as_published(schema: dict[str, Any]) -> None:
    """Leave out what every object allows anyway."""
    schema.pop("additionalProperties", None)


class TurnReportJson(_WireModel):
    """What one step did, what it cost, and what a next step could do.

    Fields that only a report declares follow those below. They are not in the schema, for which hosts pay.
    """

    model_config = ConfigDict(extra="allow", json_schema_extra=_as_published)

    navigation_id: str
    status: _SameStatus
    step_number: int
    last_action: str
    reasoning: str
    grades_first: SkipJsonSchema[bool] = Field(default=False, exclude=True)
    """Whether ``reasoning`` begins with how sure the choice is; for the text alone."""
    answer: str | None = None
    """What was understood of the feedback, and the answers to what it asked."""
    understood: SkipJsonSchema[bool | None] = None
    """Whether all words of a step were, None without words; the report of no other tool has it."""
    model: str
    cost_this_turn: float
    """US dollars, as are the other amounts of money."""
    total_cost: float
    budget_remaining: float
    map_size_tokens: int
    response_token_budget: _ResponseTokenBudget
    file_count: int
    excluded_count: int
    left_out: int = 0
    """Files that are not in the map for want of budget."""
    focus_areas: _Strings
    """Paths shown in most detail, most relevant first."""
    cuts: Annotated[list[CutJson], WithJsonSchema({"type": "array"})] = []
    candidates: Annotated[list[CandidateJson], WithJsonSchema({"type": "array"})] = []
    outline: str | None = None
    """Places that are not shown, by number, for a next step to ask for."""
    sufficiency: str | None = None
    account: Annotated[dict[str, int] | None, WithJsonSchema({"type": "object"})] = None
    """Tokens of all model calls so far: fresh, cached, repeated, and what sessions of one step would send."""
    findings: Annotated[list[dict[str, str | int | bool]], WithJsonSchema({"type": "array"})] = []
    """What a change breaks or forgot: kind, path, line, what to do."""
    impact: _Strings = []
    """What a change touches and puts at risk, the greatest risk first."""
    notes: _Strings = []
    next: str
    """How to go on."""


# Its schema is published by get_turn_report alone.
_NestedReport = Annotated[TurnReportJson, WithJsonSchema({"type": "object"})]


class NavigateResultJson(_WireModel):
    """A navigation and the context it found."""

    navigation_id: str
    status: Status
    turn_report: _NestedReport
    context: str
    reasoning_summary: str | None = None
    flight_plan_yaml: str | None = None
    next_cursor: str | None = None
    notes: _Strings = []


class StepResultJson(_WireModel):
    """One turn, and what the map shows that the host does not hold yet."""

    navigation_id: str
    status: Annotated[Status | Literal["deleted"], WithJsonSchema({"type": "string"})]
    turn_report: Annotated[TurnReportJson | None, WithJsonSchema({"type": "object"})] = None
    """None where the navigation was deleted, as is the context."""
    context_delta: Annotated[str | None, WithJsonSchema({"type": "string"})] = None
    removed: _Strings = []
    """Paths that the host holds and the map no longer shows."""
    next_cursor: str | None = None


class NavigatorOutputJson(_WireModel):
    """The context, or a page of it."""

    navigation_id: str
    status: _SameStatus
    context_string: str
    token_count: int
    """Tokens of the whole map."""
    response_token_budget: _ResponseTokenBudget
    total_iterations: int
    total_cost: float
    since_step: int | None = None
    removed: _Strings = []
    reasoning_summary: str | None = None
    flight_plan_yaml: str | None = None
    next_cursor: str | None = None
    """Pass it as `cursor` for the next page."""
    notes: _Strings = []
