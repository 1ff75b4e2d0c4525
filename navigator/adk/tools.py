"""The two tools by which a model decides: change the plan, or say that the context is good."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from copy import deepcopy
from functools import cache
from typing import Any

from google.adk.models.llm_request import LlmRequest
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from navigator.adk.active_navigation import ActiveNavigation
from navigator.errors import StorageError
from navigator.records.bookkeeping import Navigation
from navigator.steps.menu_choice import NUMBERS
from navigator.steps.turn import Decision, amend_by_model
from navigator.stores import navigation_state
from repo_map.errors import RepoMapError
from repo_map.plan.schema import update_schema

NO_SUMMARY = {
    "status": "error",
    "error": "`summary` is empty; say why each focus area is in the context.",
}
_KINDS = {"reasoning": (str, "a text"), "summary": (str, "a text"), "updates": (dict, "an object")}
"""What each argument must be; ADK checks no such thing."""
UPDATES = frozenset({NUMBERS, "verbosity", "focus", "custom_queries", "budget"})
"""The parts that updates may have."""
ONE_DECISION = {
    "status": "ignored",
    "reason": "This step has its decision already; decide again in the next step.",
}


def well_formed(tool: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's arguments as they were meant: small models put parts one level too high, or as text."""
    found = dict(args)
    if tool != "update_flight_plan":
        return found
    if isinstance(updates := found.get("updates"), str):
        try:
            found["updates"] = json.loads(updates)
        except ValueError:
            return found
    parts = {name: found.pop(name) for name in list(found) if name in UPDATES}
    if parts and isinstance(found.get("updates", {}), dict):
        found["updates"] = {**parts, **found.get("updates", {})}
    return found


_active_navigation: ContextVar[ActiveNavigation] = ContextVar("active_navigation")


_TEXT = {"type": "string", "maxLength": 400}
"""A server that holds a model to it ends one that rambles; what is longer is taken as well."""
PARAMETERS: dict[str, dict[str, Any]] = {
    "update_flight_plan": {"reasoning": _TEXT, "updates": {}},
    "finalize_context": {"summary": _TEXT},
}
"""What each tool takes, all of it required; the updates' schema is read when a model is first asked."""
_TOLD = ("verbosity", "budget")
"""Of a plan's fields, those that a model needs; the others are taken as well."""
_NUMBERS_SCHEMA = {"type": "array", "items": {"type": "integer", "minimum": 1}, "maxItems": 12}


class NavigatorTool(FunctionTool):
    """A tool of one navigation: a function that all navigations share, and the navigation that it steers.

    ADK caches a thousand functions of tools with their declarations. Functions of each navigation's own would
    fill that cache, keep their navigations alive in it, and be declared anew each time.
    """

    def __init__(self, function: Callable[..., Any], active: ActiveNavigation) -> None:
        super().__init__(function)
        self._active = active

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Tell a model of the tool: each argument with its type, and nothing twice."""
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        for tool in llm_request.config.tools or []:
            for declared in (tool.function_declarations or []) if isinstance(tool, types.Tool) else []:
                if declared.name == self.name:
                    declared.parameters_json_schema = deepcopy(parameters_of(self.name))

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Run the function on the navigation; a model whose arguments are of another kind is told so."""
        args = well_formed(self.name, args)
        for name, (kind, words) in _KINDS.items():
            if name in args and not isinstance(args[name], kind):
                return {"status": "error", "error": f"`{name}` is not {words}; correct it and call again."}
        token = _active_navigation.set(self._active)
        try:
            return await super().run_async(args=args, tool_context=tool_context)
        finally:
            _active_navigation.reset(token)


@cache
def parameters_of(name: str) -> dict[str, Any]:
    """Return the schema of a tool's arguments, with the typed schema of a partial plan where it takes one."""
    plan = update_schema(*_TOLD)
    updates = {**plan, "properties": {NUMBERS: _NUMBERS_SCHEMA, **plan["properties"]}}
    given = {each: schema or updates for each, schema in PARAMETERS[name].items()}
    return {"type": "object", "properties": given, "required": list(given)}


def tools_of(active: ActiveNavigation) -> list[FunctionTool]:
    """Return the tools of one navigation."""
    return [NavigatorTool(update_flight_plan, active), NavigatorTool(finalize_context, active)]


async def update_flight_plan(
    reasoning: str, updates: dict[str, Any], tool_context: ToolContext
) -> dict[str, Any]:
    """Change what the map shows.

    Args:
        reasoning: Why, in a sentence that names the evidence.
        updates: What to change. `numbers`: places of the menu to show.
            `verbosity`: rules, each a path or glob with a level, or with sections by symbol names
            such as `Router.dispatch` or lines "10-40". `budget`: tokens, at most the user's.
    """
    active = _active_navigation.get()
    async with active.deciding:
        if active.decided:
            return ONE_DECISION
        before = navigation_state.read(tool_context.state.to_dict())
        menu = (await active.view(before.state.flight_plan)).menu
        try:
            change, message = amend_by_model(before, active.workspace.index, reasoning, updates, menu)
        except RepoMapError as error:
            return {"status": "error", "error": str(error)}
        active.notes.extend(message)
        decision = Decision("update_flight_plan", active.model_name, reasoning, change.plan, change.diff)
        answer = await _record(active, tool_context, before, decision)
        return answer | {"changes": list(change.lines)}


async def finalize_context(summary: str, tool_context: ToolContext) -> dict[str, Any]:
    """Finish: the map holds what the task needs.

    Args:
        summary: For each file that matters, why it is there.
    """
    active = _active_navigation.get()
    async with active.deciding:
        if active.decided:
            return ONE_DECISION
        if not summary.strip():
            return NO_SUMMARY
        before = navigation_state.read(tool_context.state.to_dict())
        decision = Decision("finalize_context", active.model_name, summary, before.state.flight_plan)
        return await _record(active, tool_context, before, decision)


async def _record(
    active: ActiveNavigation, context: ToolContext, before: Navigation, decision: Decision
) -> dict[str, Any]:
    """Record the decision in the event that the runner stores next, and end the invocation with it."""
    try:
        after = await active.record(before, decision)
    except RepoMapError as error:
        return {"status": "error", "error": str(error)}
    except StorageError as error:
        # Raised here, it would be logged with its traceback at every level of the runner.
        active.unsaved = error
        context.actions.skip_summarization = True
        return {"status": "error", "error": str(error)}
    navigation_state.write(context.state, after)
    # Without a summary the invocation ends at this tool call: the next step starts from the state alone.
    context.actions.skip_summarization = True
    return {
        "status": "success",
        "map_tokens": after.state.map_metadata.total_tokens,
        "files_included": after.state.map_metadata.file_count,
        "map_version": after.run.map_version,
        "cost_usd": float(after.run.spent),
    }
