"""What the stages of the workflow tell each other: the keys of the session's state, and typed values."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class SetupContext(_Value):
    """Where the work happens, and what was asked."""

    workspace_dir: str
    """The root of the isolated workspace; gone after the teardown."""
    user_request: str


class RelevantModules(_Value):
    """Modules that a selector takes for relevant, the most relevant first."""

    modules: tuple[str, ...] = Field(default=(), max_length=20)


class Plan(_Value):
    """How the task is to be solved, step by step."""

    steps: str


class VerificationPlan(_Value):
    """How to find out that it is solved: for an agent, the prompt that it is tried with."""

    test_prompt: str


class WorkflowState(BaseModel):
    """The keys of ``session.state``: stages read and write these, and hand each other nothing else."""

    user_request: str = ""
    workspace_dir: str = ""
    setup_context: dict[str, Any] | None = None
    sanitized_request: str = ""
    selection: str = ""
    """What the module selector said."""
    relevant_modules: dict[str, Any] | None = None
    knowledge: str = ""
    """The code and documentation that planner and candidate creator get to read."""
    implementation_plan: str = ""
    verification_plan: str = ""
    round: int = 0
    """Rounds of the implementation loop that were begun."""
    candidate_response: str = ""
    """The raw answer of the candidate creator: its reasons, and code."""
    agent_code: str = ""
    """The code in it."""
    run_output: str = ""
    """The log of the latest run."""
    run_analysis: str = ""
    """Why it failed, for the next round."""
    loop_exited: bool = False
    """Whether the analysis called ``exit_loop``."""
    final_response: str = ""
    failure: str = ""
    """Why the workflow broke off; empty when it did not."""
