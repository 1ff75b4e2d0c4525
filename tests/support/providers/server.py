"""A loopback HTTP server that hands each request to a provider, and can stall, drip or die as one does."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

PATIENCE_S = 30.0
BETWEEN_DRIPS_S = 0.02


class Reply(NamedTuple):
    """One HTTP answer; a list of bodies is sent as a stream of server-sent events."""

    body: Mapping[str, Any] | Sequence[Mapping[str, Any] | str] | str | bytes
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    """Beside the type and the length of the body, or in their place."""


class Stall(NamedTuple):
    """No answer until the server closes."""


class Drip(NamedTuple):
    """A stream of server-sent events that never ends, one piece after the other, until the server closes."""

    event: Mapping[str, Any] | str


class Die(NamedTuple):
    """A connection that is closed without an answer."""


Answer = Reply | Stall | Drip | Die


class LoopbackServer:
    """The server's address, and what it was asked; subclasses say what it answers."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        """Of requests to a model, in order."""
        self.requests: list[dict[str, Any]] = []
        """Their JSON."""
        self.heard: list[str] = []
        """Method, path, headers and body of everything that came, in order."""
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
                    server.heard.append(f"{self.command} {self.path}\n{self.headers}{body.decode()}")
                    answer = server.handle(self.command, self.path, json.loads(body or b"{}"))
                if isinstance(answer, Stall):
                    server._closing.wait(PATIENCE_S)
                elif isinstance(answer, Drip):
                    self._drip(answer)
                elif isinstance(answer, Die):
                    self.close_connection = True
                else:
                    self._send(answer)

            def _send(self, reply: Reply) -> None:
                kind, data = _encoded(reply)
                self.send_response(reply.status)
                given = {name.lower() for name, _ in reply.headers}
                usual = (("content-type", kind), ("content-length", str(len(data))))
                for name, value in (*(each for each in usual if each[0] not in given), *reply.headers):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def _drip(self, drip: Drip) -> None:
                data = _encoded(Reply([drip.event]))[1]
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                self.close_connection = True
                while not server._closing.wait(BETWEEN_DRIPS_S):
                    self.wfile.write(data)
                    self.wfile.flush()

            do_GET = do_POST = do_DELETE = do_PATCH = _serve  # noqa: N815

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Stay silent."""

        return Handler


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that went away before its answer."""


def _encoded(reply: Reply) -> tuple[str, bytes]:
    if isinstance(reply.body, bytes):
        return "application/json", reply.body
    if isinstance(reply.body, str):
        return "application/json", reply.body.encode()
    if isinstance(reply.body, Mapping):
        return "application/json", json.dumps(reply.body).encode()
    events = (event if isinstance(event, str) else json.dumps(event) for event in reply.body)
    return "text/event-stream", "".join(f"data: {event}\n\n" for event in events).encode()
