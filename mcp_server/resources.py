"""What a person or a host can attach without a tool call: the navigations, and what each of them made."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import Resource

from mcp_server.announcements import NAVIGATIONS
from mcp_server.callers import current_caller
from mcp_server.desk import Desk
from mcp_server.errors import TOLD, one_line, storage_sentence
from mcp_server.navigations import Navigations
from mcp_server.reporting import clip, counted, status_of, wire_report
from navigator.errors import UnknownNavigationError

if TYPE_CHECKING:
    from navigator.reports import NavigationSummary

_JSON: Final = "application/json"
_LISTED: Final = 20


def offer_resources(server: MCPServer[Desk], navigations: Navigations) -> None:
    """Register the resource and the templates."""

    @server.resource(NAVIGATIONS, name="navigations", title="Your navigations", mime_type=_JSON)
    async def list_navigations() -> str:
        """Every navigation you can continue, latest first."""
        with _told():
            return _json([_summary(summary) for summary in await navigations.summaries(current_caller())])

    @server.resource(
        "navigator://{navigation_id}/context",
        name="context",
        title="Context of a navigation",
        mime_type="text/plain",
    )
    async def context(navigation_id: str) -> str:
        """The code that the navigation found."""
        with _told():
            found, user = await _found(navigation_id)
            return (await (await navigations.navigator()).context(found, user=user)).context_string

    @server.resource(
        "navigator://{navigation_id}/plan", name="plan", title="Flight plan", mime_type="application/yaml"
    )
    async def plan(navigation_id: str) -> str:
        """The plan that draws the context again, byte for byte."""
        with _told():
            found, user = await _found(navigation_id)
            return (await (await navigations.navigator()).context(found, user=user)).flight_plan_yaml

    @server.resource(
        "navigator://{navigation_id}/report", name="report", title="Latest turn report", mime_type=_JSON
    )
    async def report(navigation_id: str) -> str:
        """What the latest step did and cost, and what a next one could do."""
        with _told():
            found, user = await _found(navigation_id)
            _, holding = await navigations.resolve(current_caller(), navigation_id)
            latest = await (await navigations.navigator()).report(found, user=user)
            return _json(wire_report(latest, holding.token_budget).on_the_wire())

    @server.resource(
        "navigator://{navigation_id}/decisions",
        name="decisions",
        title="Decisions, step by step",
        mime_type=_JSON,
    )
    async def decisions(navigation_id: str) -> str:
        """Every decision with its reason, its change of the plan and its cost."""
        with _told():
            found, user = await _found(navigation_id)
            steps = await (await navigations.navigator()).decisions(found, user=user)
            fields = {"step_number", "last_action", "reasoning", "config_diff", "model", "cost_this_turn"}
            return _json([step.model_dump(mode="json", include=fields) for step in steps])

    @server.resource(
        "navigator://{navigation_id}/maps/{version}",
        name="map",
        title="A map by version",
        mime_type="text/plain",
    )
    async def map_version(navigation_id: str, version: str) -> str:
        """The map as a step drew it."""
        with _told():
            found, user = await _found(navigation_id)
            if not version.isdecimal():
                raise ResourceNotFoundError(
                    f"`{version}` is no map version; versions are whole numbers from 0 on."
                )
            return await (await navigations.navigator()).map_text(found, user=user, version=int(version))

    async def _found(navigation_id: str) -> tuple[str, str]:
        caller = current_caller()
        found, _ = await navigations.resolve(caller, navigation_id)
        return found, caller.user


async def listed(navigations: Navigations) -> list[Resource]:
    """Return the contexts of the caller's latest navigations, to be listed beside the fixed resource."""
    with _told():
        summaries = await navigations.summaries(current_caller())
    return [
        Resource(
            uri=f"navigator://{summary.navigation_id}/context",
            name=f"context-{summary.navigation_id}",
            title=clip(summary.goal, 80),
            description=(
                f"{summary.repo_path}, {status_of(summary.stop_reason)}"
                f" after {counted(summary.steps, 'step')}"
            ),
            mime_type="text/plain",
        )
        for summary in summaries[:_LISTED]
    ]


def _summary(summary: NavigationSummary) -> dict[str, Any]:
    return {
        "navigation_id": summary.navigation_id,
        "goal": summary.goal,
        "repo_path": summary.repo_path,
        "status": status_of(summary.stop_reason),
        "steps": summary.steps,
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except UnknownNavigationError as error:
        raise ResourceNotFoundError(one_line(error)) from error
    except TOLD as error:
        raise ResourceError(one_line(error)) from error
    except OSError as error:
        raise ResourceError(storage_sentence(error)) from error
