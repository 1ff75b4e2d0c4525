"""The two tools through which a model flies: change the plan, or say that the context is good."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext

from navigator.adk import state_store
from navigator.adk.active_navigation import ActiveNavigation, Step
from navigator.errors import StorageError
from navigator.turn import Navigation, amend_by_model
from repo_map.errors import RepoMapError

NO_SUMMARY = {
    "status": "error",
    "error": "`summary` is empty; say why each focus area is in the context.",
}
_KINDS = {"reasoning": (str, "a text"), "summary": (str, "a text"), "updates": (dict, "an object")}
"""What each argument must be; ADK checks no such thing."""
ONE_DECISION = {
    "status": "ignored",
    "reason": "This step has its decision already; decide again in the next step.",
}


_active_navigation: ContextVar[ActiveNavigation] = ContextVar("flying")


class NavigatorTool(FunctionTool):
    """A tool of one navigation: a function that all navigations share, and the navigation that it steers.

    ADK caches a thousand functions of tools with their declarations. Functions of each navigation's own would
    fill that cache, keep their navigations alive in it, and be declared anew each time.
    """

    def __init__(self, function: Callable[..., Any], active: ActiveNavigation) -> None:
        super().__init__(function)
        self._active = active

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Run the function on the navigation; a model whose arguments are of another kind is told so."""
        for name, (kind, words) in _KINDS.items():
            if name in args and not isinstance(args[name], kind):
                return {"status": "error", "error": f"`{name}` is not {words}; correct it and call again."}
        token = _active_navigation.set(self._active)
        try:
            return await super().run_async(args=args, tool_context=tool_context)
        finally:
            _active_navigation.reset(token)


def tools_of(active: ActiveNavigation) -> list[FunctionTool]:
    """Return the tools of one navigation."""
    return [NavigatorTool(update_flight_plan, active), NavigatorTool(finalize_context, active)]


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
    active = _active_navigation.get()
    async with active.deciding:
        if active.decided:
            return ONE_DECISION
        before = state_store.read(tool_context.state)
        try:
            change, message = amend_by_model(before, active.workspace.index, reasoning, updates)
        except RepoMapError as error:
            return {"status": "error", "error": str(error)}
        active.notes.extend(message)
        step = Step("update_flight_plan", reasoning, change.plan, change.diff, active.model_name)
        answer = await _take(active, tool_context, before, step)
        return answer | {"changes": list(change.lines)}


async def finalize_context(summary: str, tool_context: ToolContext) -> dict[str, Any]:
    """Finish: the map holds what the goal needs.

    Args:
        summary: For each focus area, why it is there; then what was left out and why.
    """
    active = _active_navigation.get()
    async with active.deciding:
        if active.decided:
            return ONE_DECISION
        if not summary.strip():
            return NO_SUMMARY
        before = state_store.read(tool_context.state)
        step = Step("finalize_context", summary, before.state.flight_plan, {}, active.model_name)
        return await _take(active, tool_context, before, step)


async def _take(
    active: ActiveNavigation, context: ToolContext, before: Navigation, step: Step
) -> dict[str, Any]:
    """Take the step, put it into the event that the runner stores next, and end the invocation with it."""
    try:
        after = await active.decide(before, step)
    except RepoMapError as error:
        return {"status": "error", "error": str(error)}
    except StorageError as error:
        # Raised here, it would be logged with its traceback at every level of the runner.
        active.unsaved = error
        context.actions.skip_summarization = True
        return {"status": "error", "error": str(error)}
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
