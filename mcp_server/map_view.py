"""The map as a view within the host, by MCP Apps: its page, its tools, and to whom they are offered."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID, Apps, client_supports_apps
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict, ValidationError

from mcp_server.logs import about
from mcp_server.navigations import AppContext
from mcp_server.sampling import require_host
from mcp_server.settings import Views
from mcp_server.tools import READS, compact, progress_to
from navigator.errors import InvalidArgumentError
from navigator.picture.page import view_page


class _Steer(BaseModel):
    """What the user of a view wants of a navigation: arguments of ``step``."""

    model_config = ConfigDict(extra="forbid", strict=True)

    show: Any = None
    drop: Any = None
    ask: Any = None
    feedback: str | None = None
    updates: dict[str, Any] | None = None
    at_step: int | None = None


async def show_map(ctx: Context[AppContext, Any], *, navigation_id: str | None = None) -> CallToolResult:
    """Show the user the map of a navigation."""
    selected = await ctx.request_context.lifespan_context.navigations.resolve(navigation_id)
    # Hosts hand on to the model what a tool answers, whole: the data are fetched by the view itself.
    return _result(
        "The user sees the map. What they change there comes with your next step.",
        {"navigation_id": selected.navigation_id},
    )


async def map_data(
    ctx: Context[AppContext, Any],
    *,
    navigation_id: str | None = None,
    steer: dict[str, Any] | None = None,
    within: str = "",
) -> CallToolResult:
    """For the map."""
    wish, answer = _read_steer(steer or {}), ""
    selected = await ctx.request_context.lifespan_context.navigations.resolve(navigation_id)
    key, user, navigator = selected.navigation_id, selected.user, selected.navigator
    with about(key), progress_to(ctx) as on_progress:
        if steer is not None:
            # What the model was given stays as it is noted: it was given nothing of this step.
            fields = wish.model_dump(exclude={"at_step"})
            report = await navigator.step(
                key, user=user, **fields, outline_step=wish.at_step, on_progress=on_progress
            )
            answer = report.answer
        picture = await navigator.picture(key, user=user, within=within)
    return _result("This is for the map.", {"said": answer, "picture": picture})


def _read_steer(steer: dict[str, Any]) -> _Steer:
    """Read it apart from the tool's schema, which models that have no use for it would be sent."""
    try:
        wish = _Steer.model_validate(steer)
    except ValidationError as error:
        raise InvalidArgumentError(
            "steer", "can't be read; give what `step` takes, and `at_step` as a number."
        ) from error
    require_host((wish.updates or {}).get("model"))
    return wish


def _result(text: str, structured: dict[str, Any]) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structured)


def map_tools() -> list[Tool]:
    """Return the tools of the map; ``navigate`` and ``step`` are bound to no view."""
    # Hosts of the first drafts read the flat key. One host shows no view of a tool that has annotations.
    bound = {"ui": {"resourceUri": view_uri()}, "ui/resourceUri": view_uri()}
    shown = Tool.from_function(show_map, title="Show the map", meta=bound)
    data = Tool.from_function(map_data, annotations=READS, meta={"ui": {"visibility": ["app"]}})
    for each in (shown, data):
        each.parameters = compact(each.parameters)
    return [shown, data]


_TOOLS: Final = (show_map.__name__, map_data.__name__)


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
        """Serve a call, and take views out of its answer where they are not offered."""
        result = await call_next(ctx)
        if not isinstance(result, dict):
            return result
        is_offered = self._is_offered(ctx)
        if ctx.method in ("initialize", "server/discover"):
            return _declared(result, is_offered=is_offered)
        if ctx.method == "tools/list" and not is_offered:
            return {**result, "tools": [each for each in result["tools"] if each["name"] not in _TOOLS]}
        if ctx.method == "resources/list" and not is_offered:
            listed = [each for each in result["resources"] if each.get("mimeType") != APP_MIME_TYPE]
            return {**result, "resources": listed}
        return result

    def _is_offered(self, ctx: ServerRequestContext[Any, Any]) -> bool:
        if self._views != "auto":
            return self._views == "on"
        if ctx.method != "initialize":
            return client_supports_apps(ctx)
        # What the client says in it is kept once it has been answered.
        found: Any = ctx.params
        for name in ("capabilities", "extensions", EXTENSION_ID, "mimeTypes"):
            found = found.get(name) if isinstance(found, Mapping) else None
        return isinstance(found, list) and APP_MIME_TYPE in found


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
