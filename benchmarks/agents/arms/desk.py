"""The tools of the plain agent: a shell in a cell and, by its arm, those of the navigator's server."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from google.genai import types
from mcp import Client, StdioServerParameters

from benchmarks.agents.arms.records import Arm
from benchmarks.agents.isolation.sandbox import Room
from benchmarks.agents.tools.shell import run_shell_command
from benchmarks.agents.trial import TEST_LIMITS

_MOST_SHOWN = 10_000
"""Characters of what a command printed that the agent sees."""
SHELL = types.FunctionDeclaration(
    name="shell",
    description="Run a command line in the repository; get what it printed and how it ended.",
    parameters_json_schema={
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
)
FIND_TOOLS = types.FunctionDeclaration(
    name="find_tools",
    description="Search for further tools by words; those that are found can be called afterwards.",
    parameters_json_schema={
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    },
)


class Desk:
    """What one agent can call; ``find_tools`` adds to it."""

    def __init__(self, room: Room, arm: Arm, server: Client | None, served: list[Any]) -> None:
        self._room = room
        self._server = server
        self._served = {tool.name: tool for tool in served}
        self._shown = set(self._served) if arm is Arm.ALWAYS else set[str]()
        self._searches = arm is Arm.INSTALLED
        self.navigator_calls = 0

    def declarations(self) -> list[types.FunctionDeclaration]:
        """Return the tools that the next prompt shows."""
        known = [
            types.FunctionDeclaration(
                name=name, description=tool.description, parameters_json_schema=tool.input_schema
            )
            for name, tool in self._served.items()
            if name in self._shown
        ]
        return [SHELL, *([FIND_TOOLS] if self._searches else []), *known]

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Call a tool and return what the agent sees of its answer; wrong calls are told, never raised."""
        if name == "shell":
            said = await run_shell_command(str(arguments.get("command", "")), self._room, TEST_LIMITS)
            return (
                said
                if len(said) <= _MOST_SHOWN
                else f"{said[: _MOST_SHOWN // 2]}\n…\n{said[-_MOST_SHOWN // 2 :]}"
            )
        if name == "find_tools" and self._searches:
            return self._find(str(arguments.get("query", "")))
        if self._server is None or name not in self._shown:
            return f"There is no tool {name}."
        self.navigator_calls += 1
        answer = await self._server.call_tool(name, arguments)
        return "\n".join(part.text for part in answer.content if part.type == "text")

    def _find(self, query: str) -> str:
        """Show the tools whose name or description holds a word of the query."""
        words = [word for word in query.lower().split() if len(word) > 2]
        found = [
            tool
            for tool in self._served.values()
            if any(word in f"{tool.name} {tool.description}".lower() for word in words)
        ]
        self._shown |= {tool.name for tool in found}
        return "\n".join(f"{tool.name}: {tool.description}" for tool in found) or "No tool fits."


@asynccontextmanager
async def desk_of(room: Room, arm: Arm) -> AsyncIterator[Desk]:
    """Open a desk; the navigator's server runs as hosts start it, in the repository, as long as it lasts."""
    if arm is Arm.WITHOUT:
        yield Desk(room, arm, None, [])
        return
    places = {
        "REPO_NAVIGATOR_DATA": str(room.folder / "navigations"),
        "REPO_NAVIGATOR_CACHE": str(room.folder / "cache"),
    }
    command = StdioServerParameters(
        command=sys.executable, args=["-P", "-m", "mcp_server"], env=os.environ | places, cwd=str(room.work)
    )
    async with Client(command) as server:
        yield Desk(room, arm, server, list((await server.list_tools()).tools))
