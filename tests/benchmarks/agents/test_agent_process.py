"""An ADK agent in a process of its own: it reaches its model and nothing else, and never sees the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.agents.agent_process import run_adk_agent
from benchmarks.agents.isolation.sandbox import EndReason, Room
from benchmarks.agents.trial import AGENT_LIMITS
from tests.benchmarks.agents.conftest import endpoint_of
from tests.support.providers.gemini import gemini
from tests.support.providers.minds import call, say

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

AGENT = """
import os, socket
from google.adk.agents import LlmAgent

def look(word: str) -> dict:
    try:
        socket.create_connection(("192.0.2.1", 80), 2)
        way_out = True
    except OSError:
        way_out = False
    return {"key": os.environ["GOOGLE_API_KEY"], "names": sorted(os.environ), "way_out": way_out}

root_agent = LlmAgent(name="looker", model="gemini-2.0-flash", instruction="Look.", tools=[look])
"""


async def test_an_agent_reaches_its_model_without_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "key-of-the-user")
    room = Room(tmp_path / "room")
    room.prepare()
    (room.work / "my_agent.py").write_text(AGENT)
    with gemini(lambda _, number: say("Done.") if number else call("look", {"word": "x"})) as server:
        ended, usage = await run_adk_agent("my_agent.py", "Look!", room, endpoint_of(server), AGENT_LIMITS)
    assert ended.passed, ended.log()
    assert "key-of-the-user" not in ended.output
    assert '"key": "lent-for-one-run"' in ended.output
    assert ended.output.endswith("said Done.\n")
    assert (usage.calls, usage.input, usage.output) == (2, 2_000, 100)
    assert '"way_out": false' in ended.output


async def test_an_agent_that_calls_its_model_without_end_is_refused_and_fails(tmp_path: Path) -> None:
    room = Room(tmp_path / "room")
    room.prepare()
    (room.work / "my_agent.py").write_text("import sys\nprint('no agent here')\nsys.exit(4)\n")
    with gemini(lambda _, __: say("never asked")) as server:
        ended, usage = await run_adk_agent("my_agent.py", "Hm?", room, endpoint_of(server), AGENT_LIMITS)
    assert (ended.reason, ended.code, usage.calls) == (EndReason.EXITED, 4, 0)
    assert ended.log() == "no agent here\n[exit status 4]"
