"""HTTP connections within limits: how many there are, and how long each may let the server wait.

The one place that knows uvicorn from within: its HTTP/1.1 protocol, and the state that its server keeps.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import sys
from contextlib import suppress
from math import ceil
from typing import Any, Final

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from mcp_server.sdk_private import keep_streams_alive, let_calls_end
from mcp_server.transport.ending import CALL_SECONDS, CLOSING_SECONDS, end_within

HEAD_BYTES: Final = 16_384
"""Most bytes of a request's line and headers together."""
HEAD_SECONDS: Final = 15.0
"""A connection that brings no whole head for so long is closed, whether it is silent or slow."""
BODY_SECONDS: Final = 30.0
"""A request's body has to be there within this time."""
TAKING_SECONDS: Final = 30.0
"""A client that takes nothing of its answer for so long is gone."""
SIGN_OF_LIFE_SECONDS: Final = 2.0
"""An answer under way says so often that its server lives; the shipped nginx leaves one silent for 8."""
LINGERING_SECONDS: Final = 11.0
"""What a connection without a call gets while the server ends: a proxy drops one that it keeps after 10."""
_FILES: Final = 256
"""Descriptors that are kept for files, databases and worker processes."""
_DESCRIPTORS: Final = 4_096
"""As many as are asked of the system; more would serve nobody."""
_FEWEST: Final = 8
_EXHAUSTED: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_PAUSE_SECONDS: Final = 0.1
_TICKS_A_SECOND: Final = 10
_LISTENING: Final = b"subscriptions/listen"
NO_ROOM: Final = b"Every connection has a call under way; try again in a moment.\n"
_REFUSAL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"connection: close\r\nretry-after: 1\r\ncontent-length: %d\r\n\r\n%b" % (len(NO_ROOM), NO_ROOM)
)

logger = logging.getLogger(__name__)


def connections_within_descriptors(wanted: int) -> int:
    """Return how many connections the process may hold, ``wanted`` at most, having raised its own limit."""
    if sys.platform == "win32":
        return wanted
    import resource  # noqa: PLC0415 - there is none on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    most = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = most
    return max(min(wanted, soft - min(_FILES, soft // 2)), _FEWEST)


class Connection(H11Protocol):
    """One client's connection, which knows since when it waits for what."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.since = self.loop.time()
        """When it began to wait for the part of the request that it waits for."""
        self._stuck_since: float | None = None
        self._lingering: asyncio.TimerHandle | None = None
        """Set while the server ends, and a request that is on its way may still come."""
        self.lingers_seconds = 0.0

    def waits_for_client(self) -> bool:
        """Return whether the next move is the client's: a request, or the rest of one."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def is_stream(self) -> bool:
        """Return whether it carries messages of the server's own, which a client asks for anew if it ends."""
        if self.waits_for_client():
            return False
        return self.scope["method"] == "GET" or (b"mcp-method", _LISTENING) in self.headers

    def is_overdue(self, now: float) -> bool:
        """Return whether the client let the server wait for longer than it may."""
        if self._stuck_since is not None and now - self._stuck_since > TAKING_SECONDS:
            return True
        if not self.waits_for_client():
            return False
        in_body = self.cycle is not None and not self.cycle.response_complete
        return now - self.since > (BODY_SECONDS if in_body else HEAD_SECONDS)

    def drop(self) -> None:
        """Close the connection, and what is left to be sent with it."""
        self.connections.discard(self)
        self._disconnect()
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take bytes; a request whose head is whole has its own time for the body."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self.since = self.loop.time()
            if self._lingering is not None and self.cycle is not None:
                self._lingering.cancel()
                self.cycle.keep_alive = False

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget what was to be closed."""
        if self._lingering is not None:
            self._lingering.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self.since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Note since when the client takes nothing."""
        self._stuck_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Note that the client takes its answer."""
        self._stuck_since = None
        super().resume_writing()

    def shutdown(self) -> None:
        """End as soon as the call under way is answered; a stream has no end of its own.

        A proxy may be sending a call over a connection that it keeps open: that one is answered too.
        """
        if self.is_stream():
            self._disconnect()
            self.transport.close()
        elif self.lingers_seconds and (self.cycle is None or self.cycle.response_complete):
            self._lingering = self.loop.call_later(self.lingers_seconds, super().shutdown)
        else:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP request, in the parser's own words for it, and close."""
        error = sys.exc_info()[1]
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = f"{msg} {error}.\n".encode("ascii", "replace")
            headers = [
                (b"content-type", b"text/plain; charset=utf-8"),
                (b"content-length", b"%d" % len(body)),
                (b"connection", b"close"),
            ]
            events = (
                h11.Response(status_code=status, headers=headers),
                h11.Data(data=body),
                h11.EndOfMessage(),
            )
            for event in events:
                self.transport.write(self.conn.send(event) or b"")
        self._disconnect()
        self.transport.close()

    def _disconnect(self) -> None:
        """Tell a request under way that its client is gone, before it says anything more."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()


class Server(uvicorn.Server):
    """Accepts connections while there is room; whoever kept it waiting longest makes room."""

    def __init__(
        self, app: ASGIApp, listener: socket.socket, most: int, drain_seconds: float = CALL_SECONDS
    ) -> None:
        """Serve ``app`` on ``listener``, with ``most`` connections at once.

        Args:
            drain_seconds: what calls under way get to be answered once the server was asked to end.
        """
        let_calls_end()
        keep_streams_alive(SIGN_OF_LIFE_SECONDS)
        super().__init__(
            uvicorn.Config(
                app,
                http=Connection,
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                # The address of a client is its own here, whatever a header says.
                proxy_headers=False,
                timeout_keep_alive=int(HEAD_SECONDS),
                timeout_graceful_shutdown=ceil(drain_seconds),
                h11_max_incomplete_event_size=HEAD_BYTES,
            )
        )
        self._listener = listener
        self._most = most
        self._drain_seconds = drain_seconds
        self._accepting: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the application, then accept."""
        await super().startup(sockets=sockets or [])
        self._listener.setblocking(False)
        self._accepting = asyncio.create_task(self._accept())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more, let calls under way end, close."""
        if self._accepting is not None:
            self._accepting.cancel()
        await self._accept_queued()
        self._listener.close()
        for connection in self._connections():
            connection.lingers_seconds = max(0.0, min(LINGERING_SECONDS, self._drain_seconds - CALL_SECONDS))
        await super().shutdown(sockets=sockets or [])

    def handle_exit(self, sig: int, frame: Any) -> None:
        """End once calls under way are answered or out of time, whatever hangs."""
        end_within(ceil(self._drain_seconds) + CLOSING_SECONDS)
        super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Close the connections whose client lets the server wait."""
        if counter % _TICKS_A_SECOND == 0:
            now = asyncio.get_running_loop().time()
            for connection in self._connections():
                if connection.is_overdue(now):
                    connection.drop()
        return await super().on_tick(counter)

    def _connections(self) -> list[Connection]:
        return [known for known in self.server_state.connections if isinstance(known, Connection)]

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                client, _ = await loop.sock_accept(self._listener)
            except ConnectionError:
                continue  # The client was gone before it was accepted.
            except OSError as error:
                logger.warning("No connection can be accepted: %s", error.strerror)
                if error.errno in _EXHAUSTED:
                    self._make_room()
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            if len(self.server_state.connections) >= self._most and not self._make_room():
                logger.warning("All %d connections have a call under way; one more was refused", self._most)
                _refuse(client)
                continue
            try:
                await loop.connect_accepted_socket(self._connection, client)
            except OSError:
                client.close()

    async def _accept_queued(self) -> None:
        """Accept what the system has connected already: it is cut off where a listener closes."""
        loop = asyncio.get_running_loop()
        while len(self.server_state.connections) < self._most:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            client.setblocking(False)
            with suppress(OSError):
                await loop.connect_accepted_socket(self._connection, client)

    def _connection(self) -> Connection:
        return Connection(self.config, self.server_state, self.lifespan.state)

    def _make_room(self) -> bool:
        """Drop the connection that can best be spared: one that waits for its client, else a stream."""
        known = self._connections()
        idle = [connection for connection in known if connection.waits_for_client()]
        spared = idle or [connection for connection in known if connection.is_stream()]
        if not spared:
            return False
        min(spared, key=lambda connection: connection.since).drop()
        return True


def _refuse(client: socket.socket) -> None:
    """Answer a connection that there is no room for, without waiting for it."""
    with client:
        client.setblocking(False)
        try:
            client.send(_REFUSAL)
        except OSError:
            return
