"""What a step and a navigation hand back: frozen values, ready for a terminal, a wire or a test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from navigator.state.state import ExecutionMode, PlanDiff, PlanValue, Usd
from navigator.state.usage import TokenUsage
from repo_map.check.model import Finding
from repo_map.ranking.grade import Grade


class StopReason(StrEnum):
    """Why a navigation takes no further step."""

    FINISHED = "finished"
    """The model called ``finalize_context``."""
    BUDGET = "budget"
    """The next model call could have passed the cost limit."""
    MAX_STEPS = "max_steps"
    USER = "user"
    """The user said that the context is good enough."""
    CANCELLED = "cancelled"
    ERROR = "error"
    """No model gave a usable answer; the best plan so far remains."""


class Progress(NamedTuple):
    """A progress message of a running navigation."""

    step: int
    max_steps: int
    message: str
    tokens: int

    @classmethod
    def after(cls, report: TurnReport, max_steps: int) -> Progress:
        return cls(report.step_number, max_steps, report.reasoning, report.map_size_tokens)


OnProgress = Callable[[Progress], Awaitable[None]]


class _Report(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)


class FileReport(_Report):
    """A file of the map."""

    path: str
    level: int
    """Verbosity level from 1 (path alone) to 4 (source)."""
    tokens: int
    reasons: tuple[str, ...] = ()


class CutReport(_Report):
    """A file that the budget shows in less detail than the plan asked for."""

    path: str
    wanted: int
    drawn: int
    tokens_to_add: int


class OutlineEntry(_Report):
    """A place of the outline: a definition, or a whole file, to be asked for by its number."""

    number: int
    """From 1, within one step."""
    path: str
    name: str
    """Qualified; ``""`` for a whole file."""
    first: int
    last: int
    head: str
    """The name with the telling part of its signature."""
    why: str = ""
    """The strongest reason, in a few words."""
    tokens: int
    """Of its source, about; 0 if the map shows it whole."""
    is_sure: bool = False
    also: str = ""
    """Where it is defined too: ``same in lib/types.ts:12-40`` for the same code, else ``also in``."""


class UnreadWords(_Report):
    """A part of the user's words that was not understood, and changed nothing."""

    words: str
    unknown_name: str | None = None


class GoalReport(_Report):
    """What a map means for its goal."""

    outline: tuple[OutlineEntry, ...] = ()
    also_listed: str = ""
    """What the index lists beside the places that a model selected, on one line."""
    tests: str = ""
    confidence: Grade | None = None
    """How likely the choice is complete; None if it is not known."""
    sufficiency: str = ""
    """The same in words, with what speaks against the choice."""
    findings: tuple[Finding, ...] = ()
    """What a change was seen to break or forget, the surest first."""
    impact: tuple[str, ...] = ()


class TurnReport(GoalReport):
    """What one step did, what it cost, and what a next step could do."""

    navigation_id: str
    step_number: int
    """0 for the overview that opening the navigation draws."""
    mode: ExecutionMode = "autonomous"
    model: str
    """The model that made the decision; ``user`` where the user changed the plan directly."""
    last_action: str
    reasoning: str
    answer: str = ""
    not_understood: tuple[UnreadWords, ...] | None = Field(default=None, exclude=True)
    """What of the words of this very call was not understood, None without words; it is not stored."""
    config_diff: PlanDiff = {}
    cost_this_turn: Usd = Decimal(0)
    total_cost: Usd = Decimal(0)
    budget_remaining: Usd
    """US dollars left of the cost limit."""
    map_size_tokens: int
    map_token_budget: int
    map_version: int
    file_count: int
    focus_areas: tuple[str, ...] = ()
    """Paths at level 3 or 4, most relevant first."""
    focus: tuple[FileReport, ...] = ()
    left_out: int = 0
    """Files that are not in the map for want of budget."""
    cuts: tuple[CutReport, ...] = ()
    repository: str = ""
    usage: TokenUsage = TokenUsage()
    total_usage: TokenUsage = TokenUsage()
    stop_reason: StopReason | None = None
    is_running: bool = Field(default=False, exclude=True)
    """Whether a step goes on while this is reported; it is not stored."""
    ended: str = ""
    notes: tuple[str, ...] = ()
    """What was left out, failed or fell back, one sentence each."""


class Seconds(_Report):
    """Where the time went."""

    index: float = 0.0
    navigate: float = 0.0
    total: float = 0.0


class NavigatorOutput(TurnReport):
    """The report of a step with its context and the plan that made it."""

    context_string: str
    """The map; with ``since_step`` only the files that are new or shown differently since then."""
    file_starts: tuple[int, ...] = ()
    """The characters of ``context_string`` that a file's block begins at, ascending."""
    token_count: int
    flight_plan: PlanValue
    """The plan that draws this map, stamped with the tree."""
    reasoning_summary: str
    files: tuple[FileReport, ...]
    """Files of the map, most relevant first."""
    since_step: int | None = None
    removed: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    """Paths that the map shows again as its reader was given them before ``since_step``."""
    truncated: tuple[str, ...] = ()
    seconds: Seconds = Seconds()

    @property
    def total_iterations(self) -> int:
        return self.step_number

    @cached_property
    def flight_plan_yaml(self) -> str:
        """The plan as text; written only for those who read it, as a long one takes longer than its map."""
        from repo_map.plan.yaml import format_plan  # noqa: PLC0415 - YAML loads only for plans that are text

        return format_plan(self.flight_plan)
