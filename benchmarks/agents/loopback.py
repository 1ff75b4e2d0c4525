"""A loopback server that speaks Gemini's ``generateContent``, with a scripted mind behind it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Reply(NamedTuple):
    """One HTTP answer."""

    body: dict[str, Any] | str
    status: int = 200


class Stall(NamedTuple):
    """No answer until the server closes."""


class Die(NamedTuple):
    """A connection that is closed without an answer."""


Mind = Callable[[dict[str, Any], int], Reply | Stall | Die]
"""Takes the request's JSON and its number from 0, and answers."""


def call(name: str, args: dict[str, Any], **usage: int) -> Reply:
    """Answer with a tool call, and the tokens it is billed for."""
    return parts([{"functionCall": {"name": name, "args": args}}], **usage)


def say(text: str, **usage: int) -> Reply:
    """Answer with text."""
    return parts([{"text": text}], **usage)


def parts(content: list[dict[str, Any]], **usage: int) -> Reply:
    """Answer with any parts; usage in snake case: ``prompt``, ``candidates``, ``cached``, ``thoughts``."""
    prompt, candidates = usage.get("prompt", 1000), usage.get("candidates", 50)
    thoughts = usage.get("thoughts", 0)
    return Reply(
        {
            "candidates": [{"content": {"role": "model", "parts": content}, "finishReason": "STOP"}],
            "usageMetadata": {
                "promptTokenCount": prompt,
                "cachedContentTokenCount": usage.get("cached", 0),
                "candidatesTokenCount": candidates,
                "thoughtsTokenCount": thoughts,
                "totalTokenCount": prompt + candidates + thoughts,
            },
            "modelVersion": "loopback",
        }
    )


def fail(status: int, message: str = "scripted") -> Reply:
    """Answer with an error as the API words it."""
    return Reply({"error": {"code": status, "message": message, "status": "SCRIPTED"}}, status)


class GeminiServer:
    """The server's address and what it was asked."""

    def __init__(self, mind: Mind) -> None:
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self._mind = mind
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True

    @property
    def url(self) -> str:
        """Base URL."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def start(self) -> None:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()

    def answer(self, path: str, request: dict[str, Any]) -> Reply | Stall | Die:
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
            self.paths.append(path)
        return self._mind(request, number)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                reply = server.answer(self.path, json.loads(body or b"{}"))
                if isinstance(reply, Stall):
                    server._closing.wait(30)
                    return
                if isinstance(reply, Die):
                    self.close_connection = True
                    return
                data = (reply.body if isinstance(reply.body, str) else json.dumps(reply.body)).encode()
                self.send_response(reply.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Stay silent."""

        return Handler


@contextmanager
def gemini(mind: Mind) -> Iterator[GeminiServer]:
    """Serve ``mind`` as long as the block lasts."""
    server = GeminiServer(mind)
    server.start()
    try:
        yield server
    finally:
        server.close()


def text_of(request: dict[str, Any]) -> str:
    """Return every text of a request's contents, in order."""
    return "\n".join(
        part.get("text", "") for content in request["contents"] for part in content.get("parts", [])
    )
