"""The shapes that clients see: what each tool returns as structured content."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from navigator.state.reports import CutReport

Status = Literal["open", "running", "finished", "budget", "max_steps", "user", "cancelled", "error"]
"""``open`` takes another step, ``running`` is taking one; the rest say why a navigation stopped."""

NAVIGATIONS: Final = "navigator://navigations"
Part = Literal["context", "plan", "report", "decisions", "maps/{version}"]


def address(navigation_id: str, part: Part) -> str:
    """Return the address of a part of a navigation; ``{navigation_id}`` gives the template of all."""
    return f"navigator://{navigation_id}/{part}"


def as_object(**fields: Any) -> dict[str, Any]:
    """Return the object of an answer, without the fields that say nothing."""
    return {name: value for name, value in fields.items() if value is not None and value != []}


class TurnReportJson(BaseModel):
    """What one step did, what it cost, and what a next step could do."""

    model_config = ConfigDict(frozen=True)

    navigation_id: str
    status: Annotated[Status, WithJsonSchema({"type": "string"})]
    step_number: int
    last_action: str
    reasoning: str
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
    focus_areas: list[str]
    cuts: list[CutReport] = []
    outline: str | None = None
    """Places that are not shown, by number, for a next step to ask for."""
    sufficiency: str | None = None
    usage: dict[str, int] | None = None
    """Tokens of all model calls so far; ``cached`` is a part of ``input``."""
    findings: list[dict[str, Any]] = []
    impact: list[str] = []
    notes: list[str] = []
    next: str
    # Not in the schema, for which hosts pay.
    repository: SkipJsonSchema[str | None] = None
    also_listed: SkipJsonSchema[str | None] = None

    def on_the_wire(self, *, is_nested: bool = False) -> dict[str, Any]:
        """Return the JSON object; one within an answer leaves out what the answer itself has."""
        outer = {"navigation_id", "status"} if is_nested else None
        fields = self.model_dump(mode="json", exclude_none=True, exclude=outer)
        return {"focus_areas": [], **as_object(**fields)}
