"""The protocol's eras, and the private names of the MCP SDK, each with its reason; its version is pinned."""

from __future__ import annotations

from typing import Any, Final

from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer

MODERN: Final = "2026-07-28"
"""The revision that the modern era begins with; revisions are dates, and compare as text."""


def can_ask(ctx: Context[Any, Any]) -> bool:
    """Return whether the host can be asked during this call: by a second round, or over a way back."""
    return (ctx.protocol_version or "") >= MODERN or ctx.session.can_send_request


def low_level(server: MCPServer[Any]) -> Server[Any]:
    """Return what serves an `MCPServer`'s messages.

    `MCPServer` runs over pipes and addresses of its own making only, and there is no public way to this one.
    """
    return server._lowlevel_server


def let_calls_end() -> None:
    """Let the answers that the SDK streams go on once uvicorn was asked to end.

    The earlier era's answers are all streams of `sse_starlette`, which by default ends each of them, and the
    call with it, half a second after the signal. `connections.Connection` ends those that have no end.
    """
    from sse_starlette.sse import AppStatus  # noqa: PLC0415 - stdio must not wait for it

    AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]


def ping_streams(seconds: float) -> None:
    """Let an answer under way say every ``seconds`` that its server lives, in both eras.

    A proxy leaves a server that says nothing for a few times as long. The SDK's own 15 seconds are of no use
    for that, and it takes no others.
    """
    from mcp.server import _streamable_http_modern as modern  # noqa: PLC0415 - stdio must not wait for it
    from sse_starlette.sse import EventSourceResponse  # noqa: PLC0415 - as above

    EventSourceResponse.DEFAULT_PING_INTERVAL = seconds  # type: ignore[assignment]
    modern._SSE_PING_INTERVAL = seconds
