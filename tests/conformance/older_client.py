"""A client as written for the SDK's 1.x versions; run by the Python of an environment that has one of them.

    python older_client.py URL FOLDER COMMAND...

It navigates FOLDER over HTTP at URL, and over stdio at the server that COMMAND starts.
"""

import asyncio
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

GOAL = "the discount on an apple"


async def fly(session: ClientSession, folder: str) -> None:
    """Use everything that a host uses, and check what comes back."""
    hello = await session.initialize()
    assert hello.serverInfo.name == "repo-navigator"
    tools = (await session.list_tools()).tools
    assert [tool.name for tool in tools] == ["navigate", "step", "get_turn_report", "get_context"]
    told = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    call = {"goal": GOAL, "repo_path": folder}
    found = await session.call_tool("navigate", call, progress_callback=note)
    assert not found.isError, found.content
    assert found.structuredContent is not None
    assert "def discount" in found.structuredContent["context"]
    assert told
    step = await session.call_tool("step", {"feedback": "show the discount again"})
    assert not step.isError, step.content
    assert step.structuredContent is not None
    key = found.structuredContent["navigation_id"]
    assert step.structuredContent["navigation_id"] == key
    context = await session.read_resource(f"navigator://{key}/context")
    assert "def discount" in context.contents[0].text
    prompt = await session.get_prompt("explain_context", {"navigation_id": key})
    assert key in prompt.messages[0].content.text
    refused = await session.call_tool("get_context", {"navigation_id": "nav-none"})
    assert refused.isError


async def main(url: str, folder: str, *command: str) -> None:
    """Fly once over each transport."""
    server = StdioServerParameters(command=command[0], args=list(command[1:]), env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await fly(session, folder)
    async with streamablehttp_client(url) as (read, write, _), ClientSession(read, write) as session:
        await fly(session, folder)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
