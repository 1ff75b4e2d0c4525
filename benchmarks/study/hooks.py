"""The navigator's hooks as a host starts them: a process for each event, whose answer its model reads."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any, Final

from benchmarks.agents.isolation.sandbox import Room
from repo_navigator.hooks.program import EVENTS, PROMPT, START, TOOL

_SESSION: Final = "study"
_PREPARING_S: Final = 200.0


def places(room: Room) -> dict[str, str]:
    """Return where the navigator keeps what it writes during one attempt."""
    return {
        "REPO_NAVIGATOR_DATA": str(room.folder / "navigations"),
        "REPO_NAVIGATOR_CACHE": str(room.folder / "cache"),
    }


class Hooks:
    """The hooks of one session."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.told = 0

    async def prepare(self) -> None:
        """Make the repository one in which there was a session before: its names are written."""
        session = str(self._room.folder / "before")
        arguments = ("repo_navigator.hooks.background", str(self._room.work), session)
        await asyncio.wait_for(self._run(arguments, b""), _PREPARING_S)

    async def begin(self, goal: str) -> str:
        """Begin the session with a prompt; return what its model reads beside it."""
        await self.prepare()
        said = [await self._hear(START, {"source": "startup"}), await self._hear(PROMPT, {"prompt": goal})]
        return "\n".join(filter(None, said))

    async def after(self, tool: str, given: Mapping[str, Any], printed: str) -> str:
        """Return what its model reads beside the result of a tool, named as Claude Code names it."""
        return await self._hear(
            TOOL, {"tool_name": tool, "tool_input": given, "tool_response": {"stdout": printed}}
        )

    async def _hear(self, event: str, message: Mapping[str, Any]) -> str:
        about = {"session_id": _SESSION, "cwd": str(self._room.work), "hook_event_name": EVENTS[event]}
        heard = await self._run(
            ("repo_navigator.main", "hook", event), json.dumps({**about, **message}).encode()
        )
        if not heard.strip():
            return ""
        self.told += 1
        text: str = json.loads(heard)["hookSpecificOutput"]["additionalContext"]
        return text

    async def _run(self, arguments: tuple[str, ...], given: bytes) -> bytes:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", *arguments),
            cwd=self._room.folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=os.environ | places(self._room),
        )
        try:
            return (await process.communicate(given))[0]
        finally:
            if process.returncode is None:
                process.kill()
