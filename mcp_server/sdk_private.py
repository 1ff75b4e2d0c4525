"""The private names of the MCP SDK that are used here, each with its reason; its minor version is pinned."""

from __future__ import annotations

from functools import partial
from typing import Any

from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.mcpserver import MCPServer

# What a server reads from and writes to. No public module names the types, and `Server.run` takes no others.
from mcp.shared._stream_protocols import ReadStream, WriteStream

__all__ = ["ReadStream", "WriteStream", "announce_changes_of_resources", "low_level"]


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
