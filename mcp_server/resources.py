"""Resources: what can be attached without a tool call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import Resource

from mcp_server.auth import current_principal
from mcp_server.errors import one_line, storage_sentence
from mcp_server.navigations import AppContext, Navigations
from mcp_server.report_text import clip, status_of, wire_report
from mcp_server.wire import NAVIGATIONS, address
from navigator.errors import InvalidRequestError, UnknownNavigationError
from navigator.workspaces.address import address_title
from repo_map.errors import RepositoryNotFoundError, UserError
from repo_map.messages import plural, quoted

if TYPE_CHECKING:
    from mcp_server.navigations import DeliveryTarget
    from navigator.navigator import Navigator
    from navigator.state.reports import NavigationSummary, NavigatorOutput


_JSON: Final = "application/json"
_TEXT: Final = "text/plain"
_LISTED: Final = 20
_MAX_VERSION_CHARS: Final = 9
"""Digits of a map's number; no navigation has so many maps."""


def offer_resources(server: MCPServer[AppContext], navigations: Navigations) -> None:
    """Register the resource and the templates."""
    shelf = _NavigationResources(navigations)
    one = "{navigation_id}"
    for uri, name, title, mime_type, read in (
        (NAVIGATIONS, "navigations", "Your navigations", _JSON, shelf.navigations),
        (address(one, "context"), "context", "Context of a navigation", _TEXT, shelf.context),
        (address(one, "plan"), "plan", "Flight plan", "application/yaml", shelf.plan),
        (address(one, "report"), "report", "Latest turn report", _JSON, shelf.report),
        (address(one, "decisions"), "decisions", "Decisions, step by step", _JSON, shelf.decisions),
        (address(one, "maps/{version}"), "map", "A map by version", _TEXT, shelf.map_version),
    ):
        server.resource(uri, name=name, title=title, mime_type=mime_type)(read)


class _NavigationResources:
    """What can be read of the principal's navigations; clients see the docstring of each method."""

    def __init__(self, navigations: Navigations) -> None:
        self._navigations = navigations

    async def navigations(self) -> str:
        """Every navigation you can continue, latest first."""
        with _raised_as_resource_errors():
            found = await self._navigations.summaries(current_principal())
            return _json([_summary(summary) for summary in found])

    async def context(self, navigation_id: str) -> str:
        """The code that the navigation found."""
        return quoted((await self._output(navigation_id)).context_string.removesuffix("\n"))

    async def plan(self, navigation_id: str) -> str:
        """The plan that draws the context again, byte for byte; its markers are comments of YAML."""
        plan = (await self._output(navigation_id)).flight_plan_yaml
        return quoted(plan.removesuffix("\n"), before_lines="# ")

    async def report(self, navigation_id: str) -> str:
        """What the latest step did and cost, and what a next one could do."""
        with _raised_as_resource_errors():
            navigator, selected = await self._found(navigation_id)
            latest = await navigator.report(selected.navigation_id, user=selected.user)
            return _json(wire_report(latest, selected.token_budget).on_the_wire())

    async def decisions(self, navigation_id: str) -> str:
        """Every decision with its reason, its change of the plan and its cost."""
        with _raised_as_resource_errors():
            navigator, selected = await self._found(navigation_id)
            steps = await navigator.decisions(selected.navigation_id, user=selected.user)
            fields = {"step_number", "last_action", "reasoning", "config_diff", "model", "cost_this_turn"}
            return _json([step.model_dump(mode="json", include=fields) for step in steps])

    async def map_version(self, navigation_id: str, version: str) -> str:
        """The map as a step drew it."""
        with _raised_as_resource_errors():
            navigator, selected = await self._found(navigation_id)
            if not version.isdecimal() or len(version) > _MAX_VERSION_CHARS:
                raise InvalidRequestError(
                    f"`{version}` is not a map version; versions are whole numbers from 0 on.",
                    code="invalid_argument",
                    argument="version",
                )
            drawn = await navigator.map_text(selected.navigation_id, user=selected.user, version=int(version))
            return quoted(drawn.removesuffix("\n"))

    async def _output(self, navigation_id: str) -> NavigatorOutput:
        with _raised_as_resource_errors():
            navigator, selected = await self._found(navigation_id)
            return await navigator.context(selected.navigation_id, user=selected.user)

    async def _found(self, navigation_id: str) -> tuple[Navigator, DeliveryTarget]:
        selected = await self._navigations.resolve(current_principal(), navigation_id)
        return await self._navigations.navigator(), selected


async def listed(navigations: Navigations) -> list[Resource]:
    """Return the contexts of the caller's latest navigations, to be listed beside the fixed resource."""
    with _raised_as_resource_errors():
        summaries = await navigations.summaries(current_principal(), limit=_LISTED)
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
        for summary in summaries
    ]


def _summary(summary: NavigationSummary) -> dict[str, Any]:
    return {
        "navigation_id": summary.navigation_id,
        "goal": summary.goal,
        "repo_path": address_title(summary.repo_path),
        "status": status_of(summary.stop_reason),
        "steps": summary.steps,
    }


def _json(value: Any) -> str:
    """Return JSON, whose strings are data by their form."""
    return json.dumps(value, ensure_ascii=False, indent=1)


@contextmanager
def _raised_as_resource_errors() -> Iterator[None]:
    try:
        yield
    except (InvalidRequestError, UnknownNavigationError, RepositoryNotFoundError) as error:
        # A right that was taken away reads as a repository that is not there.
        raise ResourceNotFoundError(one_line(error)) from error
    except UserError as error:
        raise ResourceError(one_line(error)) from error
    except OSError as error:
        raise ResourceError(storage_sentence(error)) from error
