"""Try an ADK agent that was just written, in a process and an environment of its own.

It reaches its model over a Unix socket: a relay forwards model calls, adds the key, and counts.
"""

from __future__ import annotations

import json
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any, NamedTuple

import httpx
from google.genai.types import GenerateContentResponse

from benchmarks.agents.isolation.sandbox import Ended, Limits, Room, Uplink, run_isolated
from benchmarks.agents.model import Endpoint, usage_of
from navigator.state.usage import TokenUsage

_HOST = Path(__file__).with_name("agent_host.py")
_MODEL_PATH = "/v1beta/models/"
_TIMEOUT_S = 60.0
LENT_KEY = "lent-for-one-run"
"""What the candidate gets in place of the key."""


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
        return int(listener.getsockname()[1])


class Relay:
    """Counts the calls of one run, and refuses those beyond a limit."""

    def __init__(self, endpoint: Endpoint, most_calls: int, most_tokens: int) -> None:
        self.usage = TokenUsage()
        self._endpoint = endpoint
        self._left = most_calls
        self._most_tokens = most_tokens
        self._lock = threading.Lock()
        self.client = httpx.Client(timeout=_TIMEOUT_S)

    def forward(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Return the model's answer to one call, as HTTP status and body."""
        with self._lock:
            self._left -= 1
            refused = self._left < 0 or self.usage.input + self.usage.output > self._most_tokens
        if refused or not path.startswith(f"{_MODEL_PATH}{self._endpoint.model}:"):
            why = "too many calls or tokens" if refused else f"only {self._endpoint.model} can be called"
            return 403, json.dumps({"error": {"code": 403, "message": why, "status": "REFUSED"}}).encode()
        headers = {"x-goog-api-key": self._endpoint.key, "content-type": "application/json"}
        try:
            answer = self.client.post(self._endpoint.url.rstrip("/") + path, content=body, headers=headers)
        except httpx.HTTPError as error:
            return 502, json.dumps(
                {"error": {"code": 502, "message": str(error), "status": "RELAY"}}
            ).encode()
        self._count(answer)
        return answer.status_code, answer.content

    def _count(self, answer: httpx.Response) -> None:
        try:
            metadata = GenerateContentResponse.model_validate(answer.json()).usage_metadata
        except ValueError:
            metadata = None
        with self._lock:
            self.usage = self.usage.plus(usage_of(metadata))


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True


@contextmanager
def relaying(
    endpoint: Endpoint, path: Path, most_calls: int = 20, most_tokens: int = 200_000
) -> Iterator[Relay]:
    """Serve a relay on a Unix socket as long as the block lasts; beyond either limit it refuses calls."""
    relay = Relay(endpoint, most_calls, most_tokens)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status, body = relay.forward(self.path, self.rfile.read(int(self.headers["content-length"])))
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def address_string(self) -> str:
            return "candidate"

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Log nothing."""

    server = _Server(str(path), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield relay
    finally:
        server.shutdown()
        server.server_close()
        relay.client.close()
