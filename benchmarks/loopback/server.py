"""A loopback HTTP server that hands each request to a provider, and can stall or die as one does."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

PATIENCE_S = 30.0


class Reply(NamedTuple):
    """One HTTP answer; a list of bodies is sent as a stream of server-sent events."""

    body: Mapping[str, Any] | Sequence[Mapping[str, Any] | str] | str
    status: int = 200


class Stall(NamedTuple):
    """No answer until the server closes."""


class Die(NamedTuple):
    """A connection that is closed without an answer."""


Answer = Reply | Stall | Die


class LoopbackServer:
    """The server's address, and what it was asked; subclasses say what it answers."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        """Of requests to a model, in order."""
        self.requests: list[dict[str, Any]] = []
        """Their JSON."""
        self._lock = threading.RLock()
        self._closing = threading.Event()
        self._http = _Quiet(("127.0.0.1", 0), self._handler())

    @property
    def url(self) -> str:
        """Base URL."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> LoopbackServer:
        serve = self._http.serve_forever
        threading.Thread(target=serve, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()

    def handle(self, method: str, path: str, request: dict[str, Any]) -> Answer:
        """Return the answer to one request."""
        raise NotImplementedError

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def _serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                with server._lock:
                    answer = server.handle(self.command, self.path, json.loads(body or b"{}"))
                if isinstance(answer, Stall):
                    server._closing.wait(PATIENCE_S)
                elif isinstance(answer, Die):
                    self.close_connection = True
                else:
                    self._send(answer)

            def _send(self, reply: Reply) -> None:
                kind, data = _encoded(reply)
                self.send_response(reply.status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_DELETE = do_PATCH = _serve  # noqa: N815

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Stay silent."""

        return Handler


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that went away before its answer."""


def _encoded(reply: Reply) -> tuple[str, bytes]:
    if isinstance(reply.body, str):
        return "application/json", reply.body.encode()
    if isinstance(reply.body, Mapping):
        return "application/json", json.dumps(reply.body).encode()
    events = (event if isinstance(event, str) else json.dumps(event) for event in reply.body)
    return "text/event-stream", "".join(f"data: {event}\n\n" for event in events).encode()
