"""One attempt of an agent at a task, as it is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from benchmarks.agents.isolation.sandbox import Room
from navigator.records.pricing import TokenUsage


class Arm(StrEnum):
    """What the agent has beside its own tools."""

    NONE = "none"
    TOOL = "tool"
    """The navigator's tools, in every prompt."""
    BOTH = "tool and hooks"
    HOOKS = "hooks alone"

    @property
    def has_tool(self) -> bool:
        return self in (Arm.TOOL, Arm.BOTH)

    @property
    def has_hooks(self) -> bool:
        return self in (Arm.HOOKS, Arm.BOTH)


class AttemptKey(msgspec.Struct, frozen=True, order=True):
    """What makes an attempt this one and no other."""

    task: str
    host: str
    arm: Arm
    model: str
    repeat: int


class Attempt(msgspec.Struct, frozen=True):
    """One attempt, solved or not by the task's own tests."""

    key: AttemptKey
    repo: str
    strata: tuple[str, ...]
    """The registered kinds of its task."""
    solved: bool
    usd: float
    calls: int
    """Model calls, or turns where the agent tells no more."""
    navigator_calls: int
    """Calls of the navigator's tools."""
    told: int
    """Times that a hook said something."""
    fresh: int
    cached: int
    out: int
    seconds: float
    failure: str
    """Why it broke off; empty when it did not."""
    log: str
    """The end of what the judge saw."""


class Limits(NamedTuple):
    """Where an attempt ends."""

    calls: int = 60
    usd: float = 1.0


class Trace(NamedTuple):
    """What an agent did: its events as they are kept, and what they took."""

    events: list[dict[str, Any]]
    usage: TokenUsage = TokenUsage()
    navigator_calls: int = 0
    told: int = 0
    usd: float | None = None
    """What the agent itself says that it cost; None where a price has to tell."""
    failure: str = ""


@dataclass(slots=True)
class Work:
    """An attempt while it lasts; ``trace`` is true at any moment, so that nothing that was paid is lost."""

    goal: str
    host: str
    model: str
    room: Room
    arm: Arm
    limits: Limits
    trace: Trace = field(default_factory=lambda: Trace([]))
