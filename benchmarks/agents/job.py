"""One run of the workflow: its task, its limits, and what its stages take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchmarks.agents.isolation.sandbox import Limits
from benchmarks.agents.model import Endpoint
from benchmarks.agents.task import Task
from benchmarks.agents.trial import AGENT_LIMITS, TEST_LIMITS
from navigator.state.usage import TokenUsage


class Options(NamedTuple):
    """How the workflow runs; the same for all variants that are compared."""

    knowledge_tokens: int = 1_500
    """Most tokens of retrieved code and documentation."""
    max_rounds: int = 3
    """Rounds of the implementation loop."""
    test_limits: Limits = TEST_LIMITS
    agent_limits: Limits = AGENT_LIMITS


@dataclass(slots=True)
class StageUse:
    """The use of one stage, all its rounds together."""

    seconds: float = 0.0
    usage: TokenUsage = field(default_factory=TokenUsage)


class Meter:
    """Add up the model calls, tokens and seconds of each stage, in the order in which they first ran."""

    def __init__(self) -> None:
        self.stages: dict[str, StageUse] = {}

    @contextmanager
    def timing(self, stage: str) -> Iterator[None]:
        """Count the time of the block towards a stage."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self._of(stage).seconds += time.perf_counter() - started

    def count(self, stage: str, usage: TokenUsage) -> None:
        """Count model calls towards a stage."""
        entry = self._of(stage)
        entry.usage = entry.usage.plus(usage)

    def total(self) -> TokenUsage:
        """Return the tokens and calls of all stages."""
        total = TokenUsage()
        for stage in self.stages.values():
            total = total.plus(stage.usage)
        return total

    def _of(self, stage: str) -> StageUse:
        return self.stages.setdefault(stage, StageUse())


@dataclass(slots=True)
class Job:
    """What the stages of one run share beside the session's state."""

    task: Task
    endpoint: Endpoint
    scratch: Path
    """Where the workspace is made."""
    out: Path
    """Where the files of the solution are written."""
    options: Options = field(default_factory=Options)
    meter: Meter = field(default_factory=Meter)
    agents: dict[str, str] = field(default_factory=dict)
    """The stage of each model agent, by the agent's name."""
