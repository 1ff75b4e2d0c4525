"""The tools of a model: four that look at the code, one that changes the plan, and one that finishes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from typing import Any, Final

from google.adk.models.llm_request import LlmRequest
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from navigator.agent.recording import record
from navigator.agent.step_context import StepContext, current_step
from navigator.errors import StorageError
from navigator.planner.plan_changes import NUMBERS, ModelUpdate, amend_by_model
from navigator.planner.prompt import fenced
from navigator.planner.record import Decision
from navigator.planner.selection import MAX_PLACES
from repo_map.errors import RepoMapError
from repo_map.lookup.operations import answer
from repo_map.lookup.read import MAX_TARGETS
from repo_map.lookup.requests import KINDS, parse_request
from repo_map.outline.exclusions import excluded_by
from repo_map.plan.update import update_schema
from repo_map.text.tokens import count

NO_SUMMARY: Final = {"status": "error", "error": "`summary` is empty; say in a sentence what was found."}
_KINDS: Final = {"reasoning": (str, "a text"), "summary": (str, "a text"), "updates": (dict, "an object")}
"""What each argument must be; ADK checks no such thing."""
UPDATES: Final = frozenset({NUMBERS, "verbosity", "focus", "custom_queries", "budget"})
"""The parts that updates may have."""
ONE_DECISION: Final = {
    "status": "ignored",
    "reason": "This step has its decision already; decide again in the next step.",
}
NO_CHANGE: Final = {
    "status": "error",
    "error": "This changes nothing; give `select`, `drop` or `updates`, or call finalize_context.",
}
LIMIT_REACHED: Final = {
    "status": "error",
    "error": "The limit of this step is reached; call finalize_context with the places that you are sure of.",
}


def well_formed(tool: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's arguments as they were meant: small models put parts one level too high, or as text."""
    found = dict(args)
    for name in ("select", "drop", "targets", "updates"):
        if isinstance(text := found.get(name), str) and text.lstrip()[:1] in ("[", "{"):
            try:
                found[name] = json.loads(text)
            except ValueError:
                continue
    if tool != "update_flight_plan":
        return found
    parts = {name: found.pop(name) for name in list(found) if name in UPDATES}
    if parts and isinstance(found.get("updates", {}), dict):
        found["updates"] = {**parts, **found.get("updates", {})}
    return found


_TEXT: Final = {"type": "string"}
_SENTENCE: Final = {"type": "string", "maxLength": 400}
"""A server that holds a model to it ends one that rambles; what is longer is taken as well."""
_FLAG: Final = {"type": "boolean"}
_SELECT: Final = {
    "type": "array",
    "maxItems": MAX_PLACES,
    "items": {
        "type": "object",
        "properties": {"target": _TEXT, "reason": {"type": "string", "maxLength": 160}},
        "required": ["target", "reason"],
    },
}
_TARGETS: Final = {"type": "array", "items": _TEXT}
_SCHEMAS: Final[dict[str, tuple[dict[str, Any], tuple[str, ...]]]] = {
    "search": (
        {
            "pattern": _TEXT,
            "literal": _FLAG,
            "paths": _TEXT,
            "include_tests": _FLAG,
            "ignore_case": _FLAG,
            "cursor": _TEXT,
        },
        ("pattern",),
    ),
    "read": ({"targets": {**_TARGETS, "maxItems": MAX_TARGETS}}, ("targets",)),
    "references": (
        {
            "symbol": _TEXT,
            "kind": {"type": "string", "enum": [*KINDS]},
            "include_tests": _FLAG,
            "cursor": _TEXT,
        },
        ("symbol", "kind"),
    ),
    "outline": ({"path": _TEXT, "cursor": _TEXT}, ("path",)),
    "update_flight_plan": (
        {"reasoning": _SENTENCE, "select": _SELECT, "drop": _TARGETS, "updates": {}},
        ("reasoning",),
    ),
    "finalize_context": ({"summary": _SENTENCE, "select": _SELECT}, ("summary", "select")),
}
"""The arguments of each tool, and which it requires; the updates' schema is read when it is first sent."""
_UPDATED_PARTS: Final = ("verbosity", "budget")
"""Of a plan's fields, those that a model is told of; the others are taken as well."""


@cache
def parameters_of(name: str) -> dict[str, Any]:
    """Return the schema of a tool's arguments, with the typed schema of a partial plan where it takes one."""
    properties, required = _SCHEMAS[name]
    given = {each: schema or update_schema(*_UPDATED_PARTS) for each, schema in properties.items()}
    return {"type": "object", "properties": given, "required": list(required)}


class NavigatorTool(FunctionTool):
    """A tool of the navigation whose step runs."""

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Declare the tool to a model: each argument with its type, and nothing twice."""
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


async def search(  # noqa: PLR0917 - as models call it
    pattern: str,
    literal: Any = False,
    paths: str = "",
    include_tests: Any = False,
    ignore_case: Any = False,
    cursor: str = "",
) -> dict[str, Any]:
    """Search the text of all files; hits are grouped by definition, the best three shown whole if short.

    Args:
        pattern: Regular expression (RE2); `a|b|c` finds several at once, those that match most first.
        literal: Take it as plain text.
        paths: File, folder or glob to search in; default all.
        include_tests: Search tests too.
        ignore_case: Ignore case.
        cursor: Of an earlier answer, for the rest.
    """
    given = {"pattern": pattern, "literal": literal, "paths": paths, "cursor": cursor}
    return await _look_up("search", {**given, "include_tests": include_tests, "ignore_case": ignore_case})


async def read(targets: Any) -> dict[str, Any]:
    """Read source with line numbers: up to 4 targets share 3,000 tokens.

    Args:
        targets: Each `path:first-last`, `path:name`, a name, a path, or a number of the outline.
    """
    return await _look_up("read", {"targets": targets})


async def references(
    symbol: str,
    kind: str = "callers",
    include_tests: Any = False,
    cursor: str = "",
) -> dict[str, Any]:
    """List the definitions that refer to a symbol, or that it refers to, with the lines.

    Args:
        symbol: Name or `path:name` of a function, type, field, constant, variant or macro.
        kind: `uses` is where it is used, `callees` what it calls, `similar` its namesakes in other files.
        include_tests: List tests too.
        cursor: Of an earlier answer, for the rest.
    """
    given = {"symbol": symbol, "kind": kind, "include_tests": include_tests, "cursor": cursor}
    return await _look_up("references", given)


async def outline(path: str = "", cursor: str = "") -> dict[str, Any]:
    """List the definitions of a file with their lines, or the files of a folder.

    Args:
        path: File or folder; "" for the root.
        cursor: Of an earlier answer, for the rest.
    """
    return await _look_up("outline", {"path": path, "cursor": cursor})


async def _look_up(operation: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a question about the code, fenced; what the user excludes is not shown."""
    step = current_step()
    if step.is_finishing:
        return LIMIT_REACHED
    run = step.navigation.run
    try:
        request = parse_request(operation, {name: value for name, value in given.items() if value != ""})
        if operation == "read":
            request = step.with_numbers(request)
        found = await step.computing.run(
            answer,
            step.workspace.index,
            request,
            [place.path for place in run.selection],
            lambda path: bool(excluded_by(run.user_plan, path)),
        )
    except RepoMapError as error:
        return {"status": "error", "error": fenced(str(error))}
    step.tokens_read += count(found.text)
    return {"result": fenced(found.text)}


async def update_flight_plan(
    reasoning: str,
    tool_context: ToolContext,
    updates: dict[str, Any] | None = None,
    select: Any = None,
    drop: Any = None,
) -> dict[str, Any]:
    """Record places, or change what the map shows, and end the step; the next one looks further.

    Args:
        reasoning: Why, in a sentence that names the evidence.
        updates: `verbosity`: rules, each a path or glob with a level: 0 none, 1 path, 2 structure,
            3 signatures, 4 source. `budget`: tokens, at most the user's.
        select: Places to add, each a target with a reason of one line.
        drop: Selected places to take out: numbers, names or paths.
    """
    step = current_step()
    async with step.deciding:
        if step.result is not None:
            return ONE_DECISION
        if not (updates or select or drop):
            return NO_CHANGE
        asked = ModelUpdate(reasoning, updates or {}, select, drop)
        before = step.navigation
        try:
            amended = await step.computing.run(
                amend_by_model, before, step.workspace.index, asked, step.outline
            )
        except RepoMapError as error:
            return {"status": "error", "error": fenced(str(error))}
        change = amended.change
        step.notes.extend(amended.notes)
        decision = Decision(
            "update_flight_plan",
            step.model_name,
            reasoning,
            change.plan,
            change.diff,
            selection=amended.selection,
        )
        response = await _record(step, tool_context, decision)
        return response | {"changes": list(change.lines), "notes": list(amended.notes)}


async def finalize_context(summary: str, tool_context: ToolContext, select: Any = None) -> dict[str, Any]:
    """Finish: the places that the task needs are found.

    Args:
        summary: What was found, in a sentence.
        select: The places, the best first, at most 8, each a target with a reason of one line.
    """
    step = current_step()
    async with step.deciding:
        if step.result is not None:
            return ONE_DECISION
        if not summary.strip():
            return NO_SUMMARY
        before = step.navigation
        state, run = before
        plan, diff, selection = state.flight_plan, {}, None
        if select:
            asked = ModelUpdate(summary, {}, select)
            try:
                amended = await step.computing.run(
                    amend_by_model, before, step.workspace.index, asked, step.outline
                )
            except RepoMapError as error:
                return {"status": "error", "error": fenced(str(error))}
            step.notes.extend(amended.notes)
            plan, diff, selection = amended.change.plan, amended.change.diff, amended.selection
        elif not run.selection and not state.decision_log:
            step.give_up(f"{step.model_name} selected no place")
            tool_context.actions.skip_summarization = True
            return {"status": "success"}
        decision = Decision("finalize_context", step.model_name, summary, plan, diff, selection=selection)
        return await _record(step, tool_context, decision)


async def _record(step: StepContext, context: ToolContext, decision: Decision) -> dict[str, Any]:
    """Record the decision in the event that the runner stores next, and end the agent with it."""
    try:
        response = await record(step, context, decision)
    except RepoMapError as error:
        return {"status": "error", "error": str(error)}
    except StorageError as error:
        # Raised here, it would be logged with its traceback at every level of the runner.
        step.error = error
        response = {"status": "error", "error": str(error)}
    # Without a summary the agent ends at this tool call: the next step starts from the state alone.
    context.actions.skip_summarization = True
    return response


TOOLS: Final = (
    *(NavigatorTool(each) for each in (search, read, references, outline)),
    NavigatorTool(update_flight_plan),
    NavigatorTool(finalize_context),
)
