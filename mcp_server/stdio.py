"""MCP over the process's own pipes: with lines of any bytes, and clients that leave or never read."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import select
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from types import TracebackType
from typing import Any, Final, NamedTuple, NoReturn, Self, TypeVar

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.os.win32.utilities import rebind_std_handle_to_fd
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import from_json

from mcp_server.ending import CALL_SECONDS, CLOSING_SECONDS, end_now, end_within
from mcp_server.sdk_private import ReadStream, WriteStream
from repo_map.messages import output_error

logger = logging.getLogger(__name__)

T = TypeVar("T")
Serve = Callable[[ReadStream[SessionMessage | Exception], WriteStream[SessionMessage]], Awaitable[None]]
"""Serves one client over its messages, and what it is answered."""

MAX_LINE_BYTES: Final = 10_000_000
"""Longest line that is a message; a host's model may have much to say, but not that much."""
_MAX_CALLS: Final = 1_000
"""Requests that may wait for their answers to be taken; then no more are read, until some are."""
_CHUNK_BYTES: Final = 65_536
_LOOK_SECONDS: Final = 0.5
"""How often it is looked whether anybody still reads, once stdin has ended."""
_ENDLESS: Final = "subscriptions/listen"
"""A request that is answered when its connection ends."""
_NO_JSON: Final = "The line is not JSON; write one JSON-RPC message per line, without line breaks in it."
_NO_MESSAGE: Final = (
    "The line is not a JSON-RPC message; write one object per line and no batches, such as "
    '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}.'
)
_TOO_LONG: Final = f"The line has more than {MAX_LINE_BYTES} bytes; send less in one message."
_NOBODY: Final = ErrorData(code=CONNECTION_CLOSED, message="The client's input has ended; it can't be asked.")
_ENDED: Final = ErrorData(
    code=CONNECTION_CLOSED,
    message="The server was ended before the call was done; what was done is kept, call again.",
)


async def serve_stdio(serve: Serve, grace_seconds: float) -> None:
    """Serve the process's own pipes until the client leaves or a signal comes.

    Once stdin has ended, calls under way have ``grace_seconds`` to be answered; after a signal, a few
    seconds; none if no client reads the answers.
    """
    exchange = Exchange(*_own_pipes(), grace_seconds)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(exchange.write)
        async with _ended_by_signals(exchange):
            await serve(exchange, exchange.answers)
        await exchange.written()
    if not exchange.has_ended:
        # A thread still waits for the next line, and the interpreter would wait for the thread.
        end_now()


@asynccontextmanager
async def _ended_by_signals(exchange: Exchange) -> AsyncIterator[None]:
    """Cancel the block once a signal has come and calls under way are answered, or out of time."""
    loop, came = asyncio.get_running_loop(), anyio.Event()

    def on_signal(*_: object) -> None:
        if came.is_set():
            end_now()
        end_within(CALL_SECONDS + CLOSING_SECONDS)
        loop.call_soon_threadsafe(came.set)

    async def end() -> None:
        await came.wait()
        await exchange.drain(CALL_SECONDS)
        tasks.cancel_scope.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(end)
        yield
        tasks.cancel_scope.cancel()


class RefusedLine(NamedTuple):
    """A line that is no message."""

    answer: JSONRPCError


class Exchange:
    """The messages of the client at the other end of two pipes, and what is not answered yet."""

    def __init__(self, source: int, sink: int, grace_seconds: float) -> None:
        self._threads = anyio.CapacityLimiter(2)
        self._lines = LineReader(partial(self._in_thread, os.read, source, _CHUNK_BYTES))
        self._source = source
        self._sink = sink
        self._grace_seconds = grace_seconds
        self._patience = math.inf
        """When calls under way are out of time, by the loop's clock."""
        self._calls: Counter[RequestId] = Counter()
        """Ids of the requests whose answers are not written yet, each as often as it was given."""
        self._asked: dict[RequestId, RequestId] = {}
        """Ids of what the client was asked and has not answered, by the number that they mean."""
        self._changed = anyio.Event()
        self._is_draining = False
        self.has_ended = False
        """Whether the client's lines have come to their end."""
        self._to_write: MemoryObjectReceiveStream[SessionMessage]
        self.answers: MemoryObjectSendStream[SessionMessage]
        self.answers, self._to_write = anyio.create_memory_object_stream[SessionMessage](0)
        self._is_written = anyio.Event()

    async def receive(self) -> SessionMessage:
        """Return the next message, having answered what came before it and is none.

        Raises:
            anyio.EndOfStream: The client's lines are at their end, and all its calls are answered.
        """
        while not self.has_ended:
            await self._until(lambda: self._calls.total() < _MAX_CALLS or bool(self._asked))
            line = await self._lines.next()
            if line is None:
                self.has_ended = True
                break
            item = line if isinstance(line, RefusedLine) else _message(line)
            if isinstance(item, RefusedLine):
                await self._answer(item.answer)
            elif item is not None:
                await self._until(lambda: not self._is_draining)
                self._note_received(item)
                return SessionMessage(item)
        # From now on the client is asked in vain.
        await self._until(lambda: not self._calls or bool(self._asked))
        if self._asked:
            _, asked = self._asked.popitem()
            return SessionMessage(JSONRPCError(jsonrpc="2.0", id=asked, error=_NOBODY))
        end_within(CLOSING_SECONDS)
        raise anyio.EndOfStream

    async def drain(self, seconds: float) -> None:
        """Take no more requests; return once those under way are answered, or end the process then."""
        self._is_draining = True
        self._patience = min(self._patience, anyio.current_time() + seconds)
        self._change()
        await self._until(lambda: not self._calls)

    async def written(self) -> None:
        """Return once the last answer is written."""
        await self.answers.aclose()
        await self._is_written.wait()

    async def write(self) -> None:
        """Write answers one after the other, each as a whole, as long as the client reads them."""
        async with self._to_write:
            async for answer in self._to_write:
                self._note_asked(answer.message)
                try:
                    await self._in_thread(_write_whole, self._sink, _line_of(answer.message))
                except ConnectionError:
                    end_now()
                except OSError as error:
                    logger.error("%s", output_error(error))
                    end_now(1)
                self._note_answered(answer.message)
        self._is_written.set()

    async def aclose(self) -> None:
        """Read no more."""

    @property
    def last_context(self) -> None:
        """Every message comes from the same client."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _answer(self, answer: JSONRPCError) -> None:
        # A client that is gone needs no answer; the end of its lines ends the server.
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self.answers.send(SessionMessage(answer))

    async def _until(self, holds: Callable[[], bool]) -> None:
        """Wait until ``holds``; end the process if the client has gone, or if timeouts is at its end.

        A client that takes no answers is not read either: whether it has left is seen by the pipe itself.
        """
        while not holds():
            now = anyio.current_time()
            if _is_hung_up(self._sink):
                end_now()
            if self.has_ended or _is_hung_up(self._source):
                self._patience = min(self._patience, now + self._grace_seconds)
            if now >= self._patience:
                await self._give_up()
            with anyio.move_on_after(min(_LOOK_SECONDS, self._patience - now)):
                await self._changed.wait()

    async def _give_up(self) -> NoReturn:
        """Tell every call under way that it has no answer, and end: what it waits for may never come."""
        with anyio.move_on_after(_LOOK_SECONDS):
            for call in list(self._calls):
                await self._answer(JSONRPCError(jsonrpc="2.0", id=call, error=_ENDED))
            await self.written()
        end_now()

    async def _in_thread(self, call: Callable[..., T], *arguments: object) -> T:
        return await anyio.to_thread.run_sync(
            partial(call, *arguments), abandon_on_cancel=True, limiter=self._threads
        )

    def _change(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    def _note_received(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest) and message.method != _ENDLESS:
            self._calls[coerce_request_id(message.id)] += 1
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            # What is cancelled is never answered.
            self._forget((message.params or {}).get("requestId"))
        elif isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._asked.pop(coerce_request_id(message.id), None)
        self._change()

    def _note_asked(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self._asked[coerce_request_id(message.id)] = message.id
            self._change()

    def _note_answered(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._forget(message.id)
            self._change()

    def _forget(self, request_id: object) -> None:
        if isinstance(request_id, int | str) and (key := coerce_request_id(request_id)) in self._calls:
            self._calls[key] -= 1
            if not self._calls[key]:
                del self._calls[key]


class LineReader:
    """The lines that come out of a pipe, each within bounds."""

    def __init__(self, read: Callable[[], Awaitable[bytes]]) -> None:
        """Take what ``read`` returns, until that is nothing."""
        self._more = read
        self._read = bytearray()
        self._searched = 0
        self._too_long = False
        """Whether what is read now is the rest of a line that was refused."""
        self._ended = False

    async def next(self) -> bytes | RefusedLine | None:
        """Return the next line, the refusal of one that is too long, or None at their end."""
        while True:
            end = self._read.find(b"\n", self._searched)
            if end >= 0:
                line = bytes(self._read[:end])
                del self._read[: end + 1]
                self._searched = 0
                if not self._too_long:
                    return line
                self._too_long = False
                continue
            self._searched = len(self._read)
            if self._too_long or self._searched > MAX_LINE_BYTES:
                self._read.clear()
                self._searched = 0
                if not self._too_long:
                    self._too_long = True
                    return RefusedLine(_error(INVALID_REQUEST, _TOO_LONG))
            if self._ended:
                last, self._read = bytes(self._read), bytearray()
                return last or None
            try:
                more = await self._more()
            except OSError:
                more = b""
            self._ended = not more
            self._read += more


def refusal(error: ValidationError) -> JSONRPCError | None:
    """Return the answer to a line that could not be read as a message; a blank line needs none."""
    findings = error.errors(include_url=False)
    if any(finding["type"] == "json_invalid" for finding in findings):
        return None if not str(findings[0]["input"]).strip() else _error(PARSE_ERROR, _NO_JSON)
    return _error(INVALID_REQUEST, _NO_MESSAGE, _id_in([finding["input"] for finding in findings]))


def _message(line: bytes) -> JSONRPCMessage | RefusedLine | None:
    """Return the message of a line, or its refusal; None if it is blank."""
    text = line.decode("utf-8", "replace")
    try:
        message = jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValidationError as error:
        answer = refusal(error)
        return None if answer is None else RefusedLine(answer)
    # A request whose id is neither a whole number nor a string would pass as a notification.
    if isinstance(message, JSONRPCNotification) and '"id"' in text and from_json(text).get("id") is not None:
        return RefusedLine(_error(INVALID_REQUEST, _NO_MESSAGE))
    return message


def _error(code: int, message: str, request_id: RequestId | None = None) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message))


def _id_in(given: list[Any]) -> int | str | None:
    """Return the id of the request that was meant, so that the client that waits gets an answer."""
    for part in given:
        if isinstance(part, dict) and "method" in part:
            key = part.get("id")
            return key if isinstance(key, (int, str)) and not isinstance(key, bool) else None
    return None


def _line_of(message: JSONRPCMessage) -> bytes:
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:
        # Half of a character, as a goal that came over HTTP may hold: there is no UTF-8 for it.
        text = json.dumps(message.model_dump(by_alias=True, exclude_unset=True))
    return text.encode() + b"\n"


def _write_whole(sink: int, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(sink, rest) :]


def _is_hung_up(pipe: int) -> bool:
    """Return True if the other end is known to be closed."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(pipe, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def _own_pipes() -> tuple[int, int]:
    """Return stdin and stdout for the protocol alone; others read nothing, and write to stderr."""
    source, sink = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)
    if sys.platform == "win32":
        for number in (0, 1):
            rebind_std_handle_to_fd(number)
    return source, sink
