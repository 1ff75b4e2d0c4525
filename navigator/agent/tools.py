"""The two tools by which a model decides: change the plan, or say that the context is good."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from typing import Any

from google.adk.models.llm_request import LlmRequest
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from navigator.agent.recording import record
from navigator.agent.step_context import StepContext, current_step
from navigator.errors import StorageError
from navigator.planner.plan_changes import NUMBERS, amend_by_model
from navigator.planner.record import Decision
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


_TEXT = {"type": "string", "maxLength": 400}
"""A server that holds a model to it ends one that rambles; what is longer is taken as well."""
PARAMETERS: dict[str, dict[str, Any]] = {
    "update_flight_plan": {"reasoning": _TEXT, "updates": {}},
    "finalize_context": {"summary": _TEXT},
}
"""What each tool takes, all of it required; the updates' schema is read when a model is first asked."""
_SCHEMA_PARTS = ("verbosity", "budget")
"""Of a plan's fields, those that a model needs; the others are taken as well."""
_NUMBERS_SCHEMA = {"type": "array", "items": {"type": "integer", "minimum": 1}, "maxItems": 12}


class NavigatorTool(FunctionTool):
    """A tool that steers the navigation whose step runs."""

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Tell a model of the tool: each argument with its type, and nothing twice."""
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        for tool in llm_request.config.tools or []:
            for declared in (tool.function_declarations or []) if isinstance(tool, types.Tool) else []:
                if declared.name == self.name:
                    declared.parameters_json_schema = deepcopy(parameters_of(self.name))

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Run the function; an argument of a wrong type is answered with an error."""
        args = well_formed(self.name, args)
        for name, (kind, words) in _KINDS.items():
            if name in args and not isinstance(args[name], kind):
                return {"status": "error", "error": f"`{name}` is not {words}; correct it and call again."}
        return await super().run_async(args=args, tool_context=tool_context)


@cache
def parameters_of(name: str) -> dict[str, Any]:
    """Return the schema of a tool's arguments, with the typed schema of a partial plan where it takes one."""
    plan = update_schema(*_SCHEMA_PARTS)
    updates = {**plan, "properties": {NUMBERS: _NUMBERS_SCHEMA, **plan["properties"]}}
    given = {each: schema or updates for each, schema in PARAMETERS[name].items()}
    return {"type": "object", "properties": given, "required": list(given)}


async def update_flight_plan(
    reasoning: str, updates: dict[str, Any], tool_context: ToolContext
) -> dict[str, Any]:
    """Change what the map shows.

    Args:
        reasoning: Why, in a sentence that names the evidence.
        updates: What to change. `numbers`: places of the outline to show.
            `verbosity`: rules, each a path or glob with a level, or with sections by symbol names
            such as `Router.dispatch` or lines "10-40". `budget`: tokens, at most the user's.
    """
    step = current_step()
    async with step.deciding:
        if step.result is not None:
            return ONE_DECISION
        before = step.navigation
        outline = (await step.view(before.state.flight_plan)).outline
        try:
            change, message = amend_by_model(before, step.workspace.index, reasoning, updates, outline)
        except RepoMapError as error:
            return {"status": "error", "error": str(error)}
        step.notes.extend(message)
        decision = Decision("update_flight_plan", step.model_name, reasoning, change.plan, change.diff)
        return await _record(step, tool_context, decision) | {"changes": list(change.lines)}


async def finalize_context(summary: str, tool_context: ToolContext) -> dict[str, Any]:
    """Finish: the map holds what the task needs.

    Args:
        summary: For each file that matters, why it is there.
    """
    step = current_step()
    async with step.deciding:
        if step.result is not None:
            return ONE_DECISION
        if not summary.strip():
            return NO_SUMMARY
        plan = step.navigation.state.flight_plan
        decision = Decision("finalize_context", step.model_name, summary, plan)
        return await _record(step, tool_context, decision)


async def _record(step: StepContext, context: ToolContext, decision: Decision) -> dict[str, Any]:
    """Record the decision in the event that the runner stores next, and end the agent with it."""
    try:
        answer = await record(step, context, decision)
    except RepoMapError as error:
        return {"status": "error", "error": str(error)}
    except StorageError as error:
        # Raised here, it would be logged with its traceback at every level of the runner.
        step.error = error
        answer = {"status": "error", "error": str(error)}
    # Without a summary the agent ends at this tool call: the next step starts from the state alone.
    context.actions.skip_summarization = True
    return answer


TOOLS = (NavigatorTool(update_flight_plan), NavigatorTool(finalize_context))
