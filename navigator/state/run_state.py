"""What a navigation has to remember besides its state's contract: limits, totals, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from navigator.state.reports import FileReport, Seconds, StopReason, TurnReport
from navigator.state.state import NavigatorState, PlanValue
from navigator.state.usage import TokenUsage
from repo_map.check.model import NO_CHANGES, Changes

MAX_NOTES = 8

ExactUsd = Annotated[Decimal, PlainSerializer(str, return_type=str, when_used="json")]
"""US dollars, exact in JSON as well."""


class UndoPoint(BaseModel):
    """What the user had asked for before a step that changed it, kept with that step's record."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    user_plan: PlanValue
    flight_plan: PlanValue
    last_user_change: int = 0


class SelectedPlace(BaseModel):
    """A place that a model selected for the task."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    path: str
    first: int
    last: int
    name: str = ""
    reason: str = ""
    also: str = ""

    @property
    def key(self) -> tuple[str, int, int]:
        """What makes two places the same."""
        return self.path, self.first, self.last


class RunState(BaseModel):
    """Bookkeeping of one navigation, in ``session.state["navigator_run"]``; of bounded size."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    navigation_id: str
    model: str
    max_steps: int = Field(ge=1)
    fingerprint: str = ""
    """Of the tree that the latest map was drawn from."""
    step: int = 0
    map_version: int = 0
    record_versions: dict[int, int] = {}
    """Version of a step's record, where it is not the first: a step that was cut short may have left one."""
    spent: ExactUsd = Decimal(0)
    spent_before_step: ExactUsd = Decimal(0)
    """The total when the last completed step ended: what came since belongs to the step under way."""
    usage: TokenUsage = TokenUsage()
    usage_before_step: TokenUsage = TokenUsage()
    user_plan: PlanValue
    """What the user asks of the plan: the one that was given, with the user's later changes.

    Its budget is the map's, whatever less a model makes do with.
    """
    fill: bool = False
    """Whether the embedded planner fills the budget; else it stops where more is not worth its tokens."""
    first_answer: int | None = None
    feedback: tuple[str, ...] = ()
    """The user's words, oldest first, that steer the steps to come."""
    undo: UndoPoint | None = None
    """What the step under way changes of what the user asks; its record keeps it."""
    last_user_change: int = 0
    answer: str = ""
    """What was understood of the latest feedback, and the answers to what it asked; until the next step."""
    changes: Changes = NO_CHANGES
    names: tuple[str, ...] = ()
    selection: tuple[SelectedPlace, ...] = ()
    first_look: bool = False
    """Whether the plan was made by a first look, when most files were not read yet."""
    decision_count: int = 0
    """Decisions of a model since the start or since the last feedback."""
    stop_reason: StopReason | None = None
    ended: str = ""
    notes: tuple[str, ...] = ()
    seconds: Seconds = Seconds()

    @property
    def map_token_budget(self) -> int:
        return self.user_plan.budget

    def noting(self, *notes: str) -> RunState:
        """Return the run with ``notes`` added, each once, the oldest dropped beyond ``MAX_NOTES``."""
        fresh = [note for note in dict.fromkeys(notes) if note not in self.notes]
        return self.model_copy(update={"notes": (*self.notes, *fresh)[-MAX_NOTES:]})

    def stopping(self, reason: StopReason, ended: str) -> RunState:
        return self.model_copy(update={"stop_reason": reason, "ended": ended})

    def recorded(self, step: int, version: int) -> RunState:
        versions = {**self.record_versions, step: version} if version else self.record_versions
        return self.model_copy(update={"record_versions": versions})


class Navigation(NamedTuple):
    """Both halves of a navigation's memory."""

    state: NavigatorState
    run: RunState

    def replace(self, *, state: Mapping[str, Any] = {}, run: Mapping[str, Any] = {}) -> Navigation:
        return Navigation(self.state.model_copy(update=state), self.run.model_copy(update=run))


class StepRecord(BaseModel):
    """One completed step, stored once as an artifact and never changed."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    report: TurnReport
    files: tuple[FileReport, ...]
    flight_plan: PlanValue
    reasoning_summary: str = ""
    undo: UndoPoint | None = None
    """What to go back to where this step is undone; None where it changed nothing that the user asks."""
