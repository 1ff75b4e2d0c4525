"""The map as a view within the host, by MCP Apps: what offers it, and to whom."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID, Apps, client_supports_apps
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from mcp_server.settings import Views
from navigator.picture.page import view_page

TOOLS: Final = ("show_map", "map_data")


def view_uri() -> str:
    """Return the view's address; another page has another one, as hosts keep what they have read."""
    return f"ui://repo-navigator/map-{sha256(view_page().encode()).hexdigest()[:8]}.html"


def view_extension() -> Apps:
    """Return the extension that holds the page and says that there are views."""
    apps = Apps()
    apps.add_html_resource(view_uri(), view_page(), name="map", title="Map", prefers_border=True)
    return apps


class OfferViews:
    """Middleware: only clients that show views are sent them."""

    def __init__(self, views: Views) -> None:
        self._views = views

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if not isinstance(result, dict):
            return result
        is_offered = self._is_offered(ctx)
        if ctx.method in ("initialize", "server/discover"):
            return _declared(result, is_offered=is_offered)
        if ctx.method == "tools/list" and not is_offered:
            return {**result, "tools": [each for each in result["tools"] if each["name"] not in TOOLS]}
        if ctx.method == "resources/list" and not is_offered:
            listed = [each for each in result["resources"] if each.get("mimeType") != APP_MIME_TYPE]
            return {**result, "resources": listed}
        return result

    def _is_offered(self, ctx: ServerRequestContext[Any, Any]) -> bool:
        if self._views != "auto":
            return self._views == "on"
        if ctx.method == "initialize":
            # What the client says in it is kept once it has been answered.
            return _supports_views((ctx.params or {}).get("capabilities"))
        return client_supports_apps(ctx)


def _supports_views(capabilities: Any) -> bool:
    extensions = capabilities.get("extensions") if isinstance(capabilities, Mapping) else None
    settings = extensions.get(EXTENSION_ID) if isinstance(extensions, Mapping) else None
    types = settings.get("mimeTypes") if isinstance(settings, Mapping) else None
    return isinstance(types, list) and APP_MIME_TYPE in types


def _declared(result: dict[str, Any], *, is_offered: bool) -> dict[str, Any]:
    """Return what a server says of itself, with the extension where it is offered.

    The SDK drops extensions from the answer of the earlier era, and hosts show no view without it.
    """
    capabilities = dict(result.get("capabilities") or {})
    extensions = {**(capabilities.pop("extensions", None) or {})}
    extensions.pop(EXTENSION_ID, None)
    if is_offered:
        extensions[EXTENSION_ID] = {}
    if extensions:
        capabilities["extensions"] = extensions
    return {**result, "capabilities": capabilities}
