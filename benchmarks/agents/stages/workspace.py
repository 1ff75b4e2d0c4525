"""The first and the last stage: an isolated workspace, and its end."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

from google.adk.agents.context import Context

from benchmarks.agents.isolation.sandbox import Room
from benchmarks.agents.schemas import SetupContext
from benchmarks.agents.stages.base import Stage, State


class SetupAgentCodeBased(Stage):
    """Makes the workspace and lays the repository out in it."""

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
    """Deletes the workspace, also after a failure."""

    async def work(self, ctx: Context) -> None:
        """Delete what ``workspace_dir`` names, if it came to that."""
        if ctx.state.get("workspace_dir"):
            shutil.rmtree(ctx.state["workspace_dir"], ignore_errors=True)
        ctx.state["workspace_dir"] = ""


def repository_of(state: State) -> Path:
    """Return the folder of the repository in the workspace."""
    return room_of(state).work


def room_of(state: State) -> Room:
    """Return the workspace as a room whose work folder is the repository."""
    return Room(Path(state["workspace_dir"]))
