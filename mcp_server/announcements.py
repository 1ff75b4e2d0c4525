"""Tells a host that resources are new or changed, in the way of the protocol's era."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from mcp_server.callers import caller_of, current_caller
from mcp_server.desk import Desk
from mcp_server.questions import MODERN

NAVIGATIONS: Final = "navigator://navigations"
_CHANGING: Final = ("context", "plan", "report", "decisions")


class Subscriptions:
    """The resources that the sessions of the earlier era asked to hear of; the modern one keeps its own."""

    def __init__(self) -> None:
        self._uris: defaultdict[str | None, set[str]] = defaultdict(set)

    async def subscribe(
        self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams
    ) -> EmptyResult:
        """Note that the session wants to hear of a resource."""
        self._uris[caller_of(ctx).session].add(str(params.uri))
        return EmptyResult()

    async def unsubscribe(
        self, ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams
    ) -> EmptyResult:
        """Note that it no longer does."""
        self._uris[caller_of(ctx).session].discard(str(params.uri))
        return EmptyResult()

    def forget(self, session: str | None) -> None:
        """Drop what a session that ended asked for."""
        self._uris.pop(session, None)

    async def announce(self, ctx: Context[Desk, Any], navigation_id: str, *, opened: bool = False) -> None:
        """Tell whoever asked that a navigation was stepped, and, where ``opened``, that it is new."""
        uris = [NAVIGATIONS, *(f"navigator://{navigation_id}/{part}" for part in _CHANGING)]
        if (ctx.protocol_version or "") >= MODERN:
            for uri in uris:
                await ctx.notify_resource_updated(uri)
            if opened:
                await ctx.notify_resources_changed()
            return
        for uri in uris:
            if uri in self._uris[current_caller().session]:
                await ctx.session.send_resource_updated(uri)
        if opened:
            await ctx.session.send_resource_list_changed()


def offer_subscriptions(server: MCPServer[Desk], subscriptions: Subscriptions) -> None:
    """Register what the earlier era needs; `MCPServer` serves the modern era by itself."""
    low = server._lowlevel_server
    low.add_request_handler("resources/subscribe", SubscribeRequestParams, subscriptions.subscribe)
    low.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, subscriptions.unsubscribe)
    options = NotificationOptions(resources_changed=True)
    low.create_initialization_options = partial(low.create_initialization_options, options)  # type: ignore[method-assign]
