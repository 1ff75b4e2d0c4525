"""The private names of the MCP SDK that are used here, each with its reason; its minor version is pinned."""

from __future__ import annotations

from functools import partial
from typing import Any

from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.mcpserver import MCPServer

# What a server reads from and writes to. No public module names the types, and `Server.run` takes no others.
from mcp.shared._stream_protocols import ReadStream, WriteStream

__all__ = [
    "ReadStream",
    "WriteStream",
    "announce_changes_of_resources",
    "let_calls_end",
    "low_level",
    "ping_streams",
]


def low_level(server: MCPServer[Any]) -> Server[Any]:
    """Return what serves an `MCPServer`'s messages.

    `MCPServer` runs over pipes and addresses of its own making only, and offers no subscriptions in the
    earlier era; both can be had of this one, and there is no public way to it.
    """
    return server._lowlevel_server


def announce_changes_of_resources(server: MCPServer[Any]) -> None:
    """Let the earlier era's hosts know that the list of resources changes.

    The options come with each connection's opening, which `MCPServer` makes over HTTP by itself without them.
    """
    low = low_level(server)
    options = NotificationOptions(resources_changed=True)
    low.create_initialization_options = partial(low.create_initialization_options, options)  # type: ignore[method-assign]


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
