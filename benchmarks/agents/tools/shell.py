"""A shell for agents: asynchronous, in a cell, within limits."""

from __future__ import annotations

from benchmarks.agents.isolation.limits import Limits
from benchmarks.agents.isolation.sandbox import Room, run_isolated


async def run_shell_command(command: str, room: Room, limits: Limits) -> str:
    """Run a command line in the room's work folder; return what it printed, and how it ended."""
    return (await run_isolated(("bash", "-c", command), room, limits)).log()
