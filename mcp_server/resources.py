"""Resources, which can be attached without a tool call, and prompts, which a person picks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Final

from mcp.server.mcpserver import MCPServer
from mcp_types import Resource
from pydantic import Field

from mcp_server.navigations import AppContext, Navigations
from mcp_server.report_text import NAVIGATIONS, address, clip, report_text, status_of, wire_report
from navigator.errors import InvalidRequestError
from navigator.workspaces.address import address_title
from repo_map.messages import plural, quoted

if TYPE_CHECKING:
    from navigator.state.reports import NavigatorOutput

_TEXT: Final = "text/plain"
_LISTED: Final = 20
_MAX_VERSION_CHARS: Final = 9
"""Digits of a map's number; no navigation has so many maps."""


def offer_resources(server: MCPServer[AppContext], navigations: Navigations) -> None:
    shelf = _NavigationResources(navigations)
    one = "{navigation_id}"
    for uri, name, title, mime_type, read in (
        (NAVIGATIONS, "navigations", "Your navigations", "application/json", shelf.navigations),
        (address(one, "context"), "context", "Context of a navigation", _TEXT, shelf.context),
        (address(one, "plan"), "plan", "Flight plan", "application/yaml", shelf.plan),
        (address(one, "report"), "report", "Latest turn report", _TEXT, shelf.report),
        (address(one, "decisions"), "decisions", "Decisions, step by step", _TEXT, shelf.decisions),
        (address(one, "maps/{version}"), "map", "A map by version", _TEXT, shelf.map_version),
    ):
        server.resource(uri, name=name, title=title, mime_type=mime_type)(read)


class _NavigationResources:
    """What can be read of the principal's navigations; clients see the docstring of each method."""

    def __init__(self, navigations: Navigations) -> None:
        self._navigations = navigations

    async def navigations(self) -> str:
        """Every navigation you can continue, latest first."""
        return _json(
            [
                {
                    "navigation_id": each.navigation_id,
                    "goal": each.goal,
                    "repo_path": address_title(each.repo_path),
                    "status": status_of(each.stop_reason),
                    "steps": each.steps,
                }
                for each in await self._navigations.readable()
            ]
        )

    async def context(self, navigation_id: str) -> str:
        """The code that the navigation found."""
        return quoted((await self._output(navigation_id)).context_string.removesuffix("\n"))

    async def plan(self, navigation_id: str) -> str:
        """The plan that draws the context again, byte for byte; its markers are YAML comments."""
        plan = (await self._output(navigation_id)).flight_plan_yaml
        return quoted(plan.removesuffix("\n"), before_lines="# ")

    async def report(self, navigation_id: str) -> str:
        """What the latest step did and cost, and what the next one could do."""
        selected = await self._navigations.resolve(navigation_id)
        latest = await selected.navigator.report(selected.navigation_id, user=selected.user)
        return quoted(_json(wire_report(latest, selected.client.token_budget).on_the_wire()))

    async def decisions(self, navigation_id: str) -> str:
        """Every decision with its reason, its change of the plan and its cost."""
        selected = await self._navigations.resolve(navigation_id)
        steps = await selected.navigator.decisions(selected.navigation_id, user=selected.user)
        fields = {"step_number", "last_action", "reasoning", "config_diff", "model", "cost_this_turn"}
        return quoted(_json([step.model_dump(mode="json", include=fields) for step in steps]))

    async def map_version(self, navigation_id: str, version: str) -> str:
        """The map as a step drew it."""
        selected = await self._navigations.resolve(navigation_id)
        if not version.isdecimal() or len(version) > _MAX_VERSION_CHARS:
            raise InvalidRequestError(
                f"`{version}` is not a map version; versions are whole numbers from 0 on.",
                code="invalid_argument",
                argument="version",
            )
        drawn = await selected.navigator.map_text(
            selected.navigation_id, user=selected.user, version=int(version)
        )
        return quoted(drawn.removesuffix("\n"))

    async def _output(self, navigation_id: str) -> NavigatorOutput:
        selected = await self._navigations.resolve(navigation_id)
        return await selected.navigator.context(selected.navigation_id, user=selected.user)


async def listed(navigations: Navigations) -> list[Resource]:
    """Return the contexts of the caller's latest navigations, to be listed beside the fixed resource."""
    return [
        Resource(
            uri=address(summary.navigation_id, "context"),
            name=f"context-{summary.navigation_id}",
            title=clip(summary.goal, 80),
            description=(
                f"{address_title(summary.repo_path)}, {status_of(summary.stop_reason)}"
                f" after {plural(summary.steps, 'step')}"
            ),
            mime_type="text/plain",
        )
        for summary in (await navigations.readable())[:_LISTED]
    ]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


NavigationId = Annotated[str, Field(description="The navigation (default: the latest)")]


def find_code(
    task: Annotated[str, Field(description="What you want to do")],
    repo_path: Annotated[str, Field(description="The repository (default: the open folder)")] = "",
) -> str:
    """Let the navigator choose the code that matters for a task, then start on it."""
    where = f" and repo_path {repo_path!r}" if repo_path else ""
    return (
        f"My task: {task}\n\nCall navigate with this task as the goal{where}. Read the context it returns "
        "before anything else, say in three sentences which places matter and why, and then start on the "
        "task."
    )


def continue_navigation(
    feedback: Annotated[str, Field(description="What is missing or too much")],
    navigation_id: NavigationId = "",
) -> str:
    """Steer a navigation with a few words."""
    which = f"navigation_id {navigation_id!r} and " if navigation_id else ""
    return (
        f"My request: {feedback}\n\nCall step with {which}`show` and `drop` (names, paths, numbers of the "
        "outline) or `ask` (such as callers or tests of a name) as the request needs. Tell me what is new "
        "in the context and whether it meets the request."
    )


def offer_prompts(server: MCPServer[AppContext], navigations: Navigations) -> None:

    server.prompt(title="Find the code for a task")(find_code)
    server.prompt(title="Continue a navigation")(continue_navigation)

    @server.prompt(title="Explain this context")
    async def explain_context(navigation_id: NavigationId = "") -> str:
        """Explain why the navigator chose what it chose."""
        return (
            f"{await _report(navigation_id)}\n\nThis is the report of a navigation. Call get_context for it, "
            "then explain to me how the chosen places work together for the goal, and which of them I should "
            "read first."
        )

    @server.prompt(title="Review what was cut")
    async def review_cuts(navigation_id: NavigationId = "") -> str:
        """Judge whether the token budget left out something that matters."""
        return (
            f"{await _report(navigation_id)}\n\nThis is the report of a navigation. Judge for each cut and "
            "each place of the outline whether the goal needs it. If it does, call step with updates that "
            "raise its level and lower something else; if nothing is missing, say so and why."
        )

    async def _report(navigation_id: str) -> str:
        selected = await navigations.resolve(navigation_id or None)
        report = await selected.navigator.report(selected.navigation_id, user=selected.user)
        return report_text(wire_report(report, selected.client.token_budget))
