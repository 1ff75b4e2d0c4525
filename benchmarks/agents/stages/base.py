"""What every stage is: a node that is timed, and talks to the others through the session's state alone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.context import Context
from google.adk.workflow import Node

from benchmarks.agents.job import Job

State = Any
"""ADK's session state: ``get(key, default)`` and item access."""


class Stage(Node):
    """A stage that is code."""

    rerun_on_resume: bool = True
    job: Job

    async def run_node_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        """Do the work; what the stage before said is not read, and nothing is said to the next."""
        with self.job.meter.timing(self.name):
            await self.work(ctx)
        yield None

    @abstractmethod
    async def work(self, ctx: Context) -> None:
        """Read the state, do the work, write the state."""


class ModelStage(Stage):
    """A stage that a model does: its instruction never varies, its brief is drawn from the state."""

    agent: LlmAgent
    brief: Callable[[State], str]

    async def work(self, ctx: Context) -> None:
        """Let the agent answer one brief, tool calls included."""
        await ctx.run_node(self.agent, node_input=self.brief(ctx.state))


def model_stage(
    name: str,
    agent_name: str,
    instruction: str,
    brief: Callable[[State], str],
    job: Job,
    *,
    tools: tuple[Callable[..., Any], ...] = (),
    output_key: str | None = None,
) -> ModelStage:
    """Return a stage whose agent sees its instruction and its brief, never the conversation of others."""
    agent = LlmAgent(
        name=agent_name,
        model=job.endpoint.llm(),
        # A function, because the text of an instruction may contain braces.
        instruction=lambda _context: instruction,
        tools=list(tools),
        output_key=output_key,
        include_contents="none",
        disallow_transfer_to_parent=True,
        disallow_transfer_to_peers=True,
    )
    job.agents[agent_name] = name
    return ModelStage(name=name, job=job, agent=agent, brief=brief)


def section(title: str, text: str) -> str:
    """Return a part of a brief, empty where there is nothing to say."""
    return f"## {title}\n{text.strip()}\n\n" if text.strip() else ""
