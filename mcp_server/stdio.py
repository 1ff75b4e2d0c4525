"""MCP over stdin and stdout: the SDK's transport, and a process that ends in time."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Final, NoReturn, Self, cast

import anyio
import anyio.to_thread
import mcp_types as types
from anyio.abc import ObjectStream
from mcp.server.stdio import stdio_server
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from mcp_server.settings import CALL_SECONDS
from repo_map.errors import first_cause
from repo_map.messages import output_error

logger = logging.getLogger(__name__)
Serve = Callable[[ObjectStream[Any], ObjectStream[Any]], Awaitable[None]]
"""Serves one client over its messages and the stream of their answers."""

CLOSING_SECONDS: Final = 3
_PARENT_SECONDS: Final = 5.0
_ENDLESS: Final = "subscriptions/listen"
"""A request that is answered when its connection ends."""
_NO_MESSAGE: Final = (
    "The line is not a JSON-RPC message; write one object per line and no batches, such as "
    '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}.'
)
_INPUT_ENDED: Final = types.ErrorData(
    code=types.CONNECTION_CLOSED, message="The connection is closing; the client can't be asked."
)


def end_now(code: int = 0) -> NoReturn:
    """End the process without waiting for threads: one may be blocked in a read that never returns."""
    os._exit(code)


def end_within(seconds: float) -> None:
    """End the process after ``seconds`` at the latest; each answered step is stored by then."""
    timer = threading.Timer(seconds, end_now)
    timer.daemon = True
    timer.start()


async def serve_stdio(serve: Serve, grace_seconds: float) -> None:
    """Serve stdin and stdout until the input ends, the parent process dies or a signal comes.

    Running calls get ``grace_seconds`` to finish after the end of the input, and a few after a signal.
    """
    # It warns of each answer that a client which has left does not take.
    logging.getLogger("mcp.shared.jsonrpc_dispatcher").setLevel(logging.ERROR)
    client = _Client(grace_seconds)
    try:
        async with stdio_server(stdin=client.lines) as (source, sink):  # type: ignore[arg-type]
            await client.connect(serve, source, sink)
    except* ConnectionError:
        end_now()  # The client closed stdout.
    except* OSError as group:
        if isinstance(error := first_cause(group), OSError):
            logger.error("%s", output_error(error))
        end_now(1)
    if not client.lines.has_ended:
        end_now()


class _InputLines:
    """The lines of stdin, whose reading can be stopped while a thread waits for the next one."""

    def __init__(self) -> None:
        self.has_ended = False
        self._is_stopped = False
        self._reading = anyio.CancelScope()
        self._thread = anyio.CapacityLimiter(1)

    def stop(self) -> None:
        self._is_stopped = True
        self._reading.cancel()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        line = b""
        if not self._is_stopped:
            with anyio.CancelScope() as self._reading:
                line = await anyio.to_thread.run_sync(
                    sys.stdin.buffer.readline, abandon_on_cancel=True, limiter=self._thread
                )
                self.has_ended = not line
        if not line:
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")


class _Client(ObjectStream[Any]):
    """The client's messages, which end once every call is answered or out of time, and the way to it."""

    def __init__(self, grace_seconds: float) -> None:
        self.lines = _InputLines()
        self._grace_seconds = grace_seconds
        self._source: Any = None
        self._sink: Any = None
        self._deadline = math.inf
        """Of the calls that are not answered when the input ends."""
        self._draining = anyio.CancelScope()
        self._calls: set[types.RequestId] = set()
        self._asked: dict[types.RequestId, types.RequestId] = {}
        """Ids of the server's requests that the client has not answered, by their compared form."""
        self._changed = anyio.Event()

    async def connect(self, serve: Serve, source: Any, sink: Any) -> None:
        """Serve until the input has ended and every call is answered, or out of time."""
        self._source, self._sink = source, sink
        signalled = anyio.Event()
        _handle_signals(asyncio.get_running_loop(), signalled)
        async with anyio.create_task_group() as watching:
            watching.start_soon(self._end_when, signalled.wait, CALL_SECONDS)
            watching.start_soon(self._end_when, _parent_death, self._grace_seconds)
            async with source, sink:
                await serve(self, self)
            watching.cancel_scope.cancel()
        self.lines.stop()

    async def receive(self) -> SessionMessage:
        """Return the next message; once the input has ended, an error for each question that is open."""
        async for item in self._source:
            if not isinstance(item, Exception):
                self._note_received(item.message)
                return cast("SessionMessage", item)
            if (refused := refusal(item)) is not None:
                await self._sink.send(SessionMessage(refused))
        self._limit_calls(self._grace_seconds)
        with anyio.CancelScope(deadline=self._deadline) as self._draining:
            while self._calls and not self._asked:
                await self._changed.wait()
        if self._asked:
            return SessionMessage(
                types.JSONRPCError(jsonrpc="2.0", id=self._asked.popitem()[1], error=_INPUT_ENDED)
            )
        if self._calls:
            end_within(CLOSING_SECONDS)
        raise anyio.EndOfStream

    async def send(self, item: SessionMessage) -> None:
        """Send an answer or a question, and note which."""
        await self._sink.send(item)
        message = item.message
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._forget(message.id)
        elif isinstance(message, types.JSONRPCRequest):
            self._asked[coerce_request_id(message.id)] = message.id
            self._wake()

    async def send_eof(self) -> None:
        """Do nothing: ``connect`` closes both ways."""

    async def aclose(self) -> None:
        """Do nothing: the server closes one way before it has written to the other."""

    async def _end_when(self, wait: Callable[[], Awaitable[None]], seconds: float) -> None:
        await wait()
        self._limit_calls(seconds)
        self.lines.stop()

    def _limit_calls(self, seconds: float) -> None:
        self._deadline = min(self._deadline, anyio.current_time() + seconds)
        self._draining.deadline = self._deadline

    def _note_received(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest) and message.method != _ENDLESS:
            self._calls.add(coerce_request_id(message.id))
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            # The SDK answers no cancelled request.
            self._forget((message.params or {}).get("requestId"))
        elif isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and message.id is not None:
            self._asked.pop(coerce_request_id(message.id), None)

    def _forget(self, request_id: Any) -> None:
        if isinstance(request_id, int | str):
            self._calls.discard(coerce_request_id(request_id))
            self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


def _handle_signals(loop: asyncio.AbstractEventLoop, signalled: anyio.Event) -> None:
    def on_signal(*_: object) -> None:
        if signalled.is_set():
            end_now()
        end_within(CALL_SECONDS + CLOSING_SECONDS)
        loop.call_soon_threadsafe(signalled.set)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)


async def _parent_death() -> None:
    """Return once the parent process is gone, though another one holds the pipes open."""
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - nothing tells of it
        await anyio.sleep(_PARENT_SECONDS)


def refusal(error: Exception) -> types.JSONRPCError | None:
    """Return the answer to a line that is no message, None to a blank one."""
    findings = error.errors() if isinstance(error, ValidationError) else []
    code, given = types.INVALID_REQUEST, [each["input"] for each in findings]
    if findings and findings[0]["type"] == "json_invalid":
        if not given[0].strip():
            return None
        try:
            # What Python reads and the SDK does not, such as an unpaired surrogate, waits for an answer too.
            given = [json.loads(given[0])]
        except (ValueError, RecursionError):
            code = types.PARSE_ERROR
    ids = [each.get("id") for each in given if isinstance(each, dict) and "method" in each]
    request_id = ids[0] if ids and isinstance(ids[0], int | str) and not isinstance(ids[0], bool) else None
    return types.JSONRPCError(
        jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=_NO_MESSAGE)
    )
