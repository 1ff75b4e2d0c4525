"""What one agent can call: a shell in a cell or the files alone, and by its arm the navigator beside them."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from google.genai import types
from mcp import Client, StdioServerParameters

from benchmarks.agents.tools.shell import run_shell_command
from benchmarks.agents.trial import TEST_LIMITS
from benchmarks.study.files import FileTool, file_tools
from benchmarks.study.hooks import Hooks, places
from benchmarks.study.records import Work

SHELL_HOST: Final = "shell"
"""A host whose agent has a shell; it runs in a cell, and no other program is needed."""
FILES_HOST: Final = "no shell"
"""A host whose agent reads and writes files, and runs nothing."""
_MOST_SHOWN: Final = 10_000
"""Characters of a tool's result that the agent sees."""
SHELL: Final = types.FunctionDeclaration(
    name="shell",
    description="Run a command line in the repository; get what it printed and how it ended.",
    parameters_json_schema={
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
)


class Desk:
    """What the agent of one attempt can call."""

    def __init__(self, work: Work, server: Client | None, served: list[Any]) -> None:
        self._room = work.room
        self._server = server
        self._served = {tool.name: tool for tool in served}
        self._files = file_tools(work.room.work) if work.host == FILES_HOST else dict[str, FileTool]()
        self._hooks = Hooks(work.room) if work.arm.has_hooks else None
        self.navigator_calls = 0

    @property
    def told(self) -> int:
        """How often a hook said something."""
        return self._hooks.told if self._hooks else 0

    @property
    def instructions(self) -> str:
        """What the navigator's server tells a host to show its model, empty without it."""
        return (self._server.instructions or "") if self._server else ""

    def declarations(self) -> list[types.FunctionDeclaration]:
        """Return the tools that every prompt shows."""
        own = [tool.declaration for tool in self._files.values()] or [SHELL]
        return own + [
            types.FunctionDeclaration(
                name=name, description=tool.description, parameters_json_schema=tool.input_schema
            )
            for name, tool in self._served.items()
        ]

    async def begin(self, goal: str) -> str:
        """Return what a hook says beside the prompt."""
        return await self._hooks.begin(goal) if self._hooks else ""

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Call a tool and return what the agent sees of its answer; wrong calls are told, never raised."""
        if name in self._served and self._server is not None:
            self.navigator_calls += 1
            answer = await self._server.call_tool(name, arguments)
            return "\n".join(part.text for part in answer.content if part.type == "text")
        if name in self._files:
            tool = self._files[name]
            given = {tool.host_arguments.get(key, key): value for key, value in arguments.items()}
            return await self._beside(tool.host_name, given, tool.act(**arguments))
        if name == SHELL.name and not self._files:
            said = await run_shell_command(str(arguments.get("command", "")), self._room, TEST_LIMITS)
            return await self._beside("Bash", arguments, said)
        return f"There is no tool {name}."

    async def _beside(self, host_name: str, given: Mapping[str, Any], said: str) -> str:
        """Return a tool's result, cut where it is long, and what a hook says of it."""
        half = _MOST_SHOWN // 2
        shown = said if len(said) <= _MOST_SHOWN else f"{said[:half]}\n…\n{said[-half:]}"
        more = await self._hooks.after(host_name, given, said) if self._hooks else ""
        return f"{shown}\n\n{more}" if more else shown


@asynccontextmanager
async def desk_of(work: Work) -> AsyncIterator[Desk]:
    """Open a desk; the navigator's server runs as hosts start it, in the repository, as long as it lasts."""
    if not work.arm.has_tool:
        yield Desk(work, None, [])
        return
    command = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "mcp_server"],
        env=os.environ | places(work.room),
        cwd=str(work.room.work),
    )
    async with Client(command) as server:
        yield Desk(work, server, list((await server.list_tools()).tools))
