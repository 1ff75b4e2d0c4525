"""The two tools through which a model flies: change the plan, or say that the context is good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext

from navigator.adk import state_store
from navigator.amendments import amend_by_model
from repo_map.errors import RepoMapError

if TYPE_CHECKING:
    from navigator.adk.flight import Flight
    from navigator.turns import Navigation

NO_SUMMARY = "`summary` is empty; say why each focus area is in the context."
ONE_DECISION = {
    "status": "ignored",
    "reason": "This step has its decision already; decide again in the next step.",
}


def tools_of(flight: Flight) -> list[FunctionTool]:
    """Return the tools of one navigation."""

    async def update_flight_plan(
        reasoning: str, updates: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any]:
        """Change the flight plan and redraw the map.

        Args:
            reasoning: Why, in one or two sentences that name the evidence.
            updates: The parts of the plan to change. `verbosity`: list of {pattern, level, sections?};
                pattern is a path or glob; level 0 leaves files out, 1 shows the path, 2 the structure,
                3 signatures and docs, 4 the source; sections is a list of {pattern, level} over symbol names
                such as `Router.dispatch`, or of {lines: "10-40", level}.
                `focus`: {paths: [{pattern, weight}], symbols: [{name, weight}]}.
                `custom_queries`: list of {pattern, query, level} in tree-sitter's query language.
                `budget`: tokens, at most the user's.
        """
        async with flight.turn:
            if flight.decided:
                return ONE_DECISION
            before = state_store.read(tool_context.state)
            try:
                change = amend_by_model(before, reasoning, updates)
            except RepoMapError as error:
                return {"status": "error", "error": str(error)}
            after = await flight.decide(
                before,
                "update_flight_plan",
                reasoning,
                plan=change.plan,
                diff=change.diff,
                by=flight.pilot,
            )
            return _commit(flight, tool_context, after) | {"changes": list(change.lines)}

    async def finalize_context(summary: str, tool_context: ToolContext) -> dict[str, Any]:
        """Finish: the map holds what the goal needs.

        Args:
            summary: For each focus area, why it is there; then what was left out and why.
        """
        async with flight.turn:
            if flight.decided:
                return ONE_DECISION
            if not summary.strip():
                return {
                    "status": "error",
                    "error": "`summary` is empty; say why each focus area is in the context.",
                }
            before = state_store.read(tool_context.state)
            after = await flight.decide(
                before,
                "finalize_context",
                summary,
                plan=before.state.flight_plan,
                diff={},
                by=flight.pilot,
            )
            return _commit(flight, tool_context, after)

    return [FunctionTool(update_flight_plan), FunctionTool(finalize_context)]


def _commit(flight: Flight, context: ToolContext, after: Navigation) -> dict[str, Any]:
    """Put the step into the event that the runner is about to store, and end the invocation with it."""
    state_store.write(context.state, after)
    # Without a summary the invocation ends at this tool call: the next step starts from the state alone.
    context.actions.skip_summarization = True
    return {
        "status": "success",
        "map_tokens": after.state.map_metadata.total_tokens,
        "files_included": after.state.map_metadata.file_count,
        "map_version": after.run.map_version,
        "cost_usd": float(after.run.spent),
    }
