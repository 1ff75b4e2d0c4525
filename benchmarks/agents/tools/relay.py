"""A candidate agent's way to its model: a Unix socket that forwards model calls, adds the key, and counts."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any

import httpx

from benchmarks.agents.model import Endpoint
from navigator.records.pricing import TokenUsage

_MODEL_PATH = "/v1beta/models/"
_TIMEOUT_S = 60.0
LENT_KEY = "lent-for-one-run"
"""What the candidate gets in place of the key."""


class Relay:
    """Counts the calls of one run, and refuses those beyond a limit."""

    def __init__(self, endpoint: Endpoint, most_calls: int, most_tokens: int) -> None:
        self.usage = TokenUsage()
        self._endpoint = endpoint
        self._left = most_calls
        self._most_tokens = most_tokens
        self._lock = threading.Lock()
        self._client = httpx.Client(timeout=_TIMEOUT_S)

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
            answer = self._client.post(self._endpoint.url.rstrip("/") + path, content=body, headers=headers)
        except httpx.HTTPError as error:
            return 502, json.dumps(
                {"error": {"code": 502, "message": str(error), "status": "RELAY"}}
            ).encode()
        self._count(answer)
        return answer.status_code, answer.content

    def close(self) -> None:
        """Close the connections to the model."""
        self._client.close()

    def _count(self, answer: httpx.Response) -> None:
        try:
            message: dict[str, int] = answer.json().get("usageMetadata") or {}
        except (ValueError, AttributeError):
            message = {}
        usage = TokenUsage(
            input=message.get("promptTokenCount", 0),
            cached=message.get("cachedContentTokenCount", 0),
            output=message.get("candidatesTokenCount", 0),
            thinking=message.get("thoughtsTokenCount", 0),
            calls=1,
        )
        with self._lock:
            self.usage = self.usage.plus(usage)


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True


@contextmanager
def relaying(
    endpoint: Endpoint, socket: Path, most_calls: int = 20, most_tokens: int = 200_000
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
            """Stay silent."""

    server = _Server(str(socket), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield relay
    finally:
        server.shutdown()
        server.server_close()
        relay.close()
