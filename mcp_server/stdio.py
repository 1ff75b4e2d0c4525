"""MCP over the process's own pipes, where a line that is no message is answered too."""

from __future__ import annotations

import contextvars
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

import anyio
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

_NO_JSON: Final = "The line is no JSON; write one JSON-RPC message per line, without line breaks in it."
_NO_MESSAGE: Final = (
    "The line is no JSON-RPC message; write one object per line and no batches, such as "
    '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}.'
)


class AnsweredLines:
    """The messages of a stream; what the SDK hands on as an exception, and drops, is answered here."""

    def __init__(
        self, lines: ReadStream[SessionMessage | Exception], answers: WriteStream[SessionMessage]
    ) -> None:
        self._lines = lines
        self._answers = answers

    @property
    def last_context(self) -> contextvars.Context | None:
        """The context of whoever sent the latest message, which the SDK restores."""
        context: contextvars.Context | None = getattr(self._lines, "last_context", None)
        return context

    async def receive(self) -> SessionMessage:
        """Return the next message, having answered what came before it and is none."""
        while isinstance(item := await self._lines.receive(), Exception):
            if (refused := refusal(item)) is not None:
                # A client that is gone needs no answer; the end of its lines ends the server.
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await self._answers.send(SessionMessage(refused))
        return item

    async def aclose(self) -> None:
        """Close the stream."""
        await self._lines.aclose()

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


def refusal(error: Exception) -> JSONRPCError | None:
    """Return the answer to a line that could not be read as a message; a blank line needs none."""
    findings = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    if any(finding["type"] == "json_invalid" for finding in findings):
        if not str(findings[0]["input"]).strip():
            return None
        return JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=PARSE_ERROR, message=_NO_JSON))
    given = [finding["input"] for finding in findings]
    return JSONRPCError(
        jsonrpc="2.0", id=_id_in(given), error=ErrorData(code=INVALID_REQUEST, message=_NO_MESSAGE)
    )


def _id_in(given: list[Any]) -> int | str | None:
    """Return the id of the request that was meant, so that whoever waits for it hears of it."""
    for part in given:
        if isinstance(part, dict) and "method" in part:
            key = part.get("id")
            return key if isinstance(key, (int, str)) and not isinstance(key, bool) else None
    return None
