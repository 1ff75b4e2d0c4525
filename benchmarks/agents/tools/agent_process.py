"""Trying an ADK agent that was just written, in a process and an environment of its own."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.agents.isolation.limits import Ended, Limits
from benchmarks.agents.isolation.sandbox import Room, Uplink, run_isolated
from benchmarks.agents.model import Endpoint
from benchmarks.agents.tools.relay import LENT_KEY, relaying
from navigator.records.pricing import TokenUsage

_HOST = Path(__file__).with_name("agent_host.py")


class Tried(NamedTuple):
    """How an agent's run ended, and what its model calls took."""

    ended: Ended
    usage: TokenUsage


async def run_adk_agent(file: str, prompt: str, room: Room, endpoint: Endpoint, limits: Limits) -> Tried:
    """Run the agent in ``file`` of the room's work folder on one prompt.

    The key of ``endpoint`` stays outside: the agent reaches the model, and nothing else, through a relay that
    adds it. Time, output and model calls are limited; it is killed with its children.
    """
    # A short path: Unix sockets allow about a hundred characters.
    with tempfile.TemporaryDirectory(prefix="relay-") as folder:
        path = Path(folder) / "model"
        port = _free_port()
        environment = {
            "GOOGLE_API_KEY": LENT_KEY,
            "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}",
            "ADK_DISABLE_LOAD_DOTENV": "1",
        }
        with relaying(endpoint, path) as relay:
            ended = await run_isolated(
                ("python", str(_HOST), file, prompt),
                room,
                limits,
                environment=environment,
                readable=(_HOST,),
                uplink=Uplink(port, path),
            )
        return Tried(ended, relay.usage)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
