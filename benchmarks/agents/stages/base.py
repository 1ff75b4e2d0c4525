"""Stages: timed nodes that talk to one another through the session's state alone; set-up and teardown."""

from __future__ import annotations

import shutil
import uuid
from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.context import Context
from google.adk.workflow import Node

from benchmarks.agents.isolation.sandbox import Room
from benchmarks.agents.job import Job
from benchmarks.agents.schemas import SetupContext

State = Any
"""ADK's session state: ``get(key, default)`` and item access."""


class Stage(Node):
    """A stage that is code."""

    rerun_on_resume: bool = True
    job: Job

    async def run_node_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        """Do the work; the previous stage's output is ignored, and nothing is passed to the next."""
        with self.job.meter.timing(self.name):
            await self.work(ctx)
        yield None

    @abstractmethod
    async def work(self, ctx: Context) -> None:
        """Read the state, do the work, write the state."""


class ModelStage(Stage):
    """A stage that a model does: its instruction never varies, its brief is made from the state."""

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
    """Return a section of a brief, empty if the text is."""
    return f"## {title}\n{text.strip()}\n\n" if text.strip() else ""


def room_of(state: State) -> Room:
    """Return the workspace as a room whose work folder is the repository."""
    return Room(Path(state["workspace_dir"]))


def repository_of(state: State) -> Path:
    """Return the folder of the repository in the workspace."""
    return room_of(state).work


class SetupAgentCodeBased(Stage):
    """Make the workspace and write the repository into it."""

    async def work(self, ctx: Context) -> None:
        """Write ``workspace_dir`` first, so that the teardown finds it whatever fails."""
        workspace = self.job.scratch / f"task_{uuid.uuid4().hex}"
        ctx.state["workspace_dir"] = str(workspace)
        room = Room(workspace)
        room.prepare()
        self.job.task.lay_out(room.work)
        setup = SetupContext(workspace_dir=str(workspace), user_request=self.job.task.goal)
        ctx.state["user_request"] = setup.user_request
        ctx.state["setup_context"] = setup.model_dump()


class CodeBasedTeardownAgent(Stage):
    """Delete the workspace, also after a failure."""

    async def work(self, ctx: Context) -> None:
        """Delete the folder that ``workspace_dir`` names, if there is one."""
        if ctx.state.get("workspace_dir"):
            shutil.rmtree(ctx.state["workspace_dir"], ignore_errors=True)
        ctx.state["workspace_dir"] = ""
