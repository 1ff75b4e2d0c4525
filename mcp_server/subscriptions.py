"""Tells a host that resources are new or changed, in the way of the protocol's era."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from mcp_server.addresses import NAVIGATIONS, address
from mcp_server.auth import current_principal, principal_of
from mcp_server.eras import MODERN
from mcp_server.sdk_private import announce_changes_of_resources, low_level

_CHANGING: Final = ("context", "plan", "report", "decisions")
_ANNOUNCED: Final = re.compile(
    "|".join((re.escape(NAVIGATIONS), *(address(r"nav-[0-9a-f]{24}", part) for part in _CHANGING)))
)
_MAX_STREAMS: Final = 200
"""Subscriptions of a session; one more ends its oldest."""
_SESSIONS: Final = 1_000
"""Sessions whose subscriptions are kept: as many as there may be over HTTP, where few say that they end."""


class Subscriptions:
    """The resources that the sessions of the earlier era asked to hear of; the modern one keeps its own."""

    def __init__(self) -> None:
        self._uris: OrderedDict[str | None, dict[str, None]] = OrderedDict()
        """By session, the one that subscribed last at the end; within it, the latest at the end."""

    async def subscribe(
        self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams
    ) -> EmptyResult:
        """Note that the session wants to hear of a resource, if it is one that changes."""
        uri, session = str(params.uri), principal_of(ctx).session
        if _ANNOUNCED.fullmatch(uri):
            uris = self._uris.setdefault(session, {})
            uris.pop(uri, None)
            uris[uri] = None
            if len(uris) > _MAX_STREAMS:
                del uris[next(iter(uris))]
            self._uris.move_to_end(session)
            if len(self._uris) > _SESSIONS:
                self._uris.popitem(last=False)
        return EmptyResult()

    async def unsubscribe(
        self, ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams
    ) -> EmptyResult:
        """Note that it no longer does."""
        session = principal_of(ctx).session
        uris = self._uris.get(session, {})
        uris.pop(str(params.uri), None)
        if not uris:
            self._uris.pop(session, None)
        return EmptyResult()

    async def announce(self, ctx: Context[Any, Any], navigation_id: str, *, listed: bool = False) -> None:
        """Notify subscribers that a navigation was stepped, and, where ``listed``, that it is new or gone."""
        uris = [NAVIGATIONS, *(address(navigation_id, part) for part in _CHANGING)]
        if (ctx.protocol_version or "") >= MODERN:
            for uri in uris:
                await ctx.notify_resource_updated(uri)
            if listed:
                await ctx.notify_resources_changed()
            return
        wanted = self._uris.get(current_principal().session, {})
        for uri in uris:
            if uri in wanted:
                await ctx.session.send_resource_updated(uri)
        if listed:
            await ctx.session.send_resource_list_changed()


def offer_subscriptions(server: MCPServer[Any], subscriptions: Subscriptions) -> None:
    """Register what the earlier era needs; `MCPServer` serves the modern era by itself."""
    low = low_level(server)
    low.add_request_handler("resources/subscribe", SubscribeRequestParams, subscriptions.subscribe)
    low.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, subscriptions.unsubscribe)
    announce_changes_of_resources(server)
