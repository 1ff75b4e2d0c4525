"""The tools of the map: one that the model calls, and one that the view alone may call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations

from mcp_server.auth import current_principal
from mcp_server.logs import about
from mcp_server.navigations import AppContext, Navigations
from mcp_server.sampling import require_host
from mcp_server.tool_errors import raised_as_tool_errors
from mcp_server.tools import READS, compact, progress_to
from mcp_server.views import view_uri
from navigator.errors import InvalidArgumentError

_STEERS: Final = ("show", "drop", "ask", "feedback", "updates", "at_step")


async def show_map(ctx: Context[AppContext, Any], *, navigation_id: str | None = None) -> CallToolResult:
    """Show the user the map of a navigation."""
    navigations = _navigations(ctx)
    with raised_as_tool_errors():
        selected = await navigations.resolve(current_principal(), navigation_id)
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
    navigations, principal = _navigations(ctx), current_principal()
    answer = ""
    with raised_as_tool_errors(), progress_to(ctx) as on_progress:
        wish = _wish(steer)
        selected = await navigations.resolve(principal, navigation_id)
        navigator = await navigations.navigator()
        with about(selected.navigation_id):
            if steer is not None:
                # What the model was given stays as it is noted: it was given nothing of this step.
                report = await navigator.step(
                    selected.navigation_id, user=principal.user, on_progress=on_progress, **wish._asdict()
                )
                answer = report.answer
            picture = await navigator.picture(selected.navigation_id, user=principal.user, within=within)
    return _result("This is for the map.", {"said": answer, "picture": picture})


class _Wish(NamedTuple):
    """What the user of a view wants of a navigation."""

    show: object = None
    drop: object = None
    ask: object = None
    feedback: str | None = None
    updates: dict[str, Any] | None = None
    outline_step: int | None = None


def _wish(steer: dict[str, Any] | None) -> _Wish:
    """Read it by hand: a schema of it would be told to models that have no use for it.

    Raises:
        InvalidArgumentError: it is not to be understood.
    """
    show, drop, ask, feedback, updates, at_step = ((steer or {}).get(name) for name in _STEERS)
    is_right = (
        (steer or {}).keys() <= set(_STEERS)
        and isinstance(feedback, str | None)
        and isinstance(updates, dict | None)
        and isinstance(at_step, int | None)
    )
    if not is_right:
        raise InvalidArgumentError(
            "steer", "can't be read; give what `step` takes, and `at_step` as a number."
        )
    require_host((updates or {}).get("model"))
    return _Wish(show, drop, ask, feedback, updates, at_step)


def map_tools() -> list[Tool]:
    """Return the tools of the map; ``navigate`` and ``step`` are bound to no view."""
    app_only = {"ui": {"visibility": ["app"]}}
    # Hosts of the first drafts read the flat key. One host shows no view of a tool that has annotations.
    bound = {"ui": {"resourceUri": view_uri()}, "ui/resourceUri": view_uri()}
    return [
        _tool(show_map, "Show the map", bound, None),
        _tool(map_data, None, app_only, READS),
    ]


def _tool(
    function: Callable[..., Any], title: str | None, meta: dict[str, Any], annotations: ToolAnnotations | None
) -> Tool:
    tool = Tool.from_function(function, title=title, annotations=annotations, meta=meta)
    tool.parameters = compact(tool.parameters)
    return tool


def _navigations(ctx: Context[AppContext, Any]) -> Navigations:
    return ctx.request_context.lifespan_context.navigations


def _result(text: str, structured: dict[str, Any]) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structured)
