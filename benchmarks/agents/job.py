"""One task on its way through the workflow: what its stages share beside the session's state."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchmarks.agents.isolation.limits import Limits
from benchmarks.agents.meter import Meter
from benchmarks.agents.model import Endpoint
from benchmarks.agents.task import Task
from benchmarks.agents.trial import AGENT_LIMITS, TEST_LIMITS


class Options(NamedTuple):
    """How the workflow runs; the same for all variants that are compared."""

    knowledge_tokens: int = 1_500
    """Most tokens of retrieved code and documentation."""
    max_rounds: int = 3
    """Rounds of the implementation loop."""
    test_limits: Limits = TEST_LIMITS
    agent_limits: Limits = AGENT_LIMITS


@dataclass(slots=True)
class Job:
    """One run of the workflow."""

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
