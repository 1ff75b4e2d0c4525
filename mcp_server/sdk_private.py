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


def keep_streams(ping_seconds: float) -> None:
    """Let streamed answers go on once uvicorn was asked to end, and show that the server lives.

    The earlier era's answers are all streams of `sse_starlette`, which by default ends each of them, and the
    call with it, half a second after the signal. A proxy leaves a server that is silent for a few times
    ``ping_seconds``; the SDK pings each 15 seconds and takes no other number.
    """
    from mcp.server import _streamable_http_modern as modern  # noqa: PLC0415 - stdio must not wait for it
    from sse_starlette.sse import AppStatus, EventSourceResponse  # noqa: PLC0415 - as above

    AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]
    EventSourceResponse.DEFAULT_PING_INTERVAL = ping_seconds  # type: ignore[assignment]
    modern._SSE_PING_INTERVAL = ping_seconds
