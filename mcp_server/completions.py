"""What a host offers while a person types an argument: navigation ids, map versions, folders."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from mcp.server.mcpserver import MCPServer
from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from mcp_server.callers import LOCAL, current_caller
from mcp_server.desk import Desk
from mcp_server.errors import TOLD
from mcp_server.navigations import Navigations

MOST: Final = 100
"""The protocol's own limit."""


def offer_completions(server: MCPServer[Desk], navigations: Navigations, allowed: tuple[Path, ...]) -> None:
    """Register the completion handler."""

    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
    async def complete(
        _: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        if argument.name == "navigation_id":
            return _of(navigations.known(current_caller()), argument.value)
        if argument.name == "version":
            chosen = (context.arguments or {}) if context else {}
            return _of(await _versions(navigations, chosen.get("navigation_id")), argument.value)
        if argument.name == "repo_path":
            return _of(_folders(argument.value, allowed), argument.value)
        return None


async def _versions(navigations: Navigations, navigation_id: str | None) -> list[str]:
    caller = current_caller()
    try:
        found, _ = await navigations.resolve(caller, navigation_id)
        steps = await (await navigations.navigator()).decisions(found, user=caller.user)
    except TOLD:
        return []
    return sorted({str(step.map_version) for step in steps}, key=int, reverse=True)


def _folders(typed: str, allowed: tuple[Path, ...]) -> list[str]:
    """Return the folders that ``typed`` may go on to; without an allow-list only for local callers."""
    if not typed:
        return [str(folder) for folder in allowed]
    if not allowed and current_caller().user != LOCAL:
        return []
    parent = Path(typed if typed.endswith("/") else typed.rpartition("/")[0] or "/")
    if not parent.is_absolute() or (
        allowed and not any(parent.resolve().is_relative_to(root) for root in allowed)
    ):
        return []
    try:
        return sorted(
            str(entry) for entry in parent.iterdir() if entry.is_dir() and not entry.name.startswith(".")
        )
    except OSError:
        return []


def _of(values: list[str], typed: str) -> Completion:
    fitting = [value for value in values if value.startswith(typed)]
    return Completion(values=fitting[:MOST], total=len(fitting), has_more=len(fitting) > MOST)
