"""What a person picks from an outline."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from mcp_server.navigations import AppContext, Navigations
from mcp_server.report_text import report_text, wire_report

NavigationId = Annotated[str, Field(description="The navigation; left out, the latest")]


def find_code(
    task: Annotated[str, Field(description="What you want to do")],
    repo_path: Annotated[str, Field(description="The repository; left out, the open folder")] = "",
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
        f"My wish: {feedback}\n\nCall step with {which}`show` and `drop` (names, paths, numbers of the "
        "outline) or `ask` (such as callers or tests of a name) as the wish needs. Tell me what came new "
        "into the context and whether it answers the wish."
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
