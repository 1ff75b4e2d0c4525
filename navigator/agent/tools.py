"""The tools of a model: four that look for code, one that records what it found, and one that finishes."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from functools import partial
from typing import Any, Final

from google.adk.agents.context import Context
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from navigator.agent.step_context import StepContext, current_step
from navigator.errors import NavigationBusyError, StorageError
from navigator.planner.context import StepResult
from navigator.planner.plan_changes import amend_by_model
from navigator.planner.prompt import fenced
from navigator.planner.record import Decision, apply_decision, finish_after_step
from navigator.planner.selection import MAX_PLACES
from navigator.state.run_state import Navigation
from navigator.state.state import Action
from navigator.storage import state
from navigator.storage.storage import MAP_NAME, record_name
from repo_map.errors import RepoMapError
from repo_map.lookup.operations import answer
from repo_map.lookup.read import MAX_TARGETS
from repo_map.lookup.requests import KINDS, parse_request
from repo_map.outline.exclusions import excluded_by
from repo_map.text.tokens import count

Arguments = Mapping[str, Any]
ToolFunction = Callable[[Arguments, ToolContext], Awaitable[dict[str, Any]]]
_KINDS: Final = {"reasoning": (str, "a text"), "summary": (str, "a text"), "updates": (dict, "an object")}
"""What each argument must be; ADK checks no such thing."""
UPDATES: Final = frozenset({"verbosity", "focus", "custom_queries", "budget"})
ONE_DECISION: Final = {
    "status": "ignored",
    "reason": "This step has its decision already; decide again in the next step.",
}


def _error(message: str) -> dict[str, Any]:
    return {"status": "error", "error": message}


def well_formed(tool: str, args: Arguments) -> dict[str, Any]:
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


class NavigatorTool(BaseTool):
    """A tool of the navigation whose step runs."""

    def __init__(
        self,
        name: str,
        description: str,
        properties: dict[str, Any],
        required: list[str],
        function: ToolFunction | None = None,
    ) -> None:
        super().__init__(name=name, description=description)
        self._properties = properties
        self._required = required
        self._function = function or partial(_look_up, name)

    def _get_declaration(self) -> types.FunctionDeclaration:
        schema = {"type": "object", "properties": self._properties, "required": self._required}
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=deepcopy(schema)
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> dict[str, Any]:
        """Run the function with the arguments that the tool has; a wrong one is answered with an error."""
        args = well_formed(self.name, args)
        args = {name: each for name, each in args.items() if name in self._properties}
        for name, (kind, words) in _KINDS.items():
            if name in args and not isinstance(args[name], kind):
                return _error(f"`{name}` is not {words}; correct it and call again.")
        return await self._function(args, tool_context)


async def _look_up(operation: str, args: Arguments, _context: ToolContext) -> dict[str, Any]:
    """Answer a question about the code, fenced; what the user excludes is not shown."""
    step = current_step()
    if step.is_finishing:
        return _error(
            "The limit of this step is reached; call finalize_context with the places that you are sure of."
        )
    run = step.navigation.run
    try:
        request = parse_request(operation, {name: value for name, value in args.items() if value != ""})
        if operation == "read":
            request = step.with_numbers(request)
        if request in step.asked:
            # A small model asks the same again and again, and would read the answer each time.
            return _error(
                "You asked this before and have the answer; ask something else, or call finalize_context."
            )
        step.asked.add(request)
        found = await step.computing.run(
            answer,
            step.workspace.index,
            request,
            [place.path for place in run.selection],
            lambda path: bool(excluded_by(run.user_plan, path)),
        )
    except RepoMapError as error:
        return _error(fenced(str(error)))
    step.tokens_read += count(found.text)
    # Under this name a provider passes the text on as it is, without JSON around it.
    return {"output": fenced(found.text)}


async def _update_flight_plan(args: Arguments, context: ToolContext) -> dict[str, Any]:
    step = current_step()
    async with step.deciding:
        if step.result is not None:
            return ONE_DECISION
        if not (args.get("updates") or args.get("select") or args.get("drop")):
            return _error(
                "This changes nothing; give `select`, `drop` or `updates`, or call finalize_context."
            )
        return await _amend(step, context, "update_flight_plan", args.get("reasoning", ""), args)


async def _finalize_context(args: Arguments, context: ToolContext) -> dict[str, Any]:
    step, summary = current_step(), args.get("summary", "")
    async with step.deciding:
        if step.result is not None:
            return ONE_DECISION
        if not summary.strip():
            return _error("`summary` is empty; say in a sentence what was found.")
        if select := args.get("select"):
            return await _amend(step, context, "finalize_context", summary, {"select": select})
        if not step.navigation.run.selection and not step.navigation.state.decision_log:
            step.give_up(f"{step.model_name} selected no place")
            context.actions.skip_summarization = True
            return {"status": "success"}
        plan = step.navigation.state.flight_plan
        return await _decide(step, context, Decision("finalize_context", step.model_name, summary, plan))


async def _amend(
    step: StepContext, context: ToolContext, action: Action, reasoning: str, asked: Arguments
) -> dict[str, Any]:
    try:
        change, selection, notes = await step.computing.run(
            amend_by_model, step.navigation, step.workspace.index, reasoning, asked, step.outline
        )
    except RepoMapError as error:
        return _error(fenced(str(error)))
    step.notes.extend(notes)
    decision = Decision(action, step.model_name, reasoning, change.plan, change.diff, selection=selection)
    response = await _decide(step, context, decision)
    if action == "update_flight_plan":
        response |= {"changes": list(change.lines), "notes": list(notes)}
    return response


async def _decide(step: StepContext, context: ToolContext, decision: Decision) -> dict[str, Any]:
    """Record the decision in the event that the runner stores next, and end the agent with it."""
    try:
        response = await record(step, context, decision)
    except RepoMapError as error:
        return _error(str(error))
    except (NavigationBusyError, StorageError) as error:
        # Raised here, it would be logged with its traceback at every level of the runner.
        step.error = error
        response = _error(str(error))
    # Without a summary the agent ends at this tool call: the next step starts from the state alone.
    context.actions.skip_summarization = True
    return response


async def record(step: StepContext, context: Context, decision: Decision) -> dict[str, Any]:
    """Save the map and the record of a decision, write its state, and return what a tool answers.

    Until the event of ``context`` is stored, the step has not happened.
    """
    before, view = step.navigation, await step.view(decision.plan, decision.selection)
    # Another replica may have gone on with the navigation since.
    step.storage.locks.require_held(before.run.navigation_id)
    with step.storage.faults.raised(before.run.navigation_id, writes=True):
        if step.drawn.saved_map is None or step.drawn.saved_map[0] != view.map.text:
            version = await context.save_artifact(MAP_NAME, types.Part(text=view.map.text))
            step.drawn.saved_map = view.map.text, version
        timed = step.timed(step.booked(before))
        after, found = apply_decision(timed, decision, step.clock(), view, step.drawn.saved_map[1])
        number = after.run.step
        version = await context.save_artifact(record_name(number), types.Part(text=found.model_dump_json()))
    after = Navigation(after.state, after.run.recorded(number, version))
    if step.gave_up:
        after = finish_after_step(after, f"{step.gave_up}.")
    elif step.settles and not step.asks_models:
        after = finish_after_step(after)
    context.state.update(state.delta(after))
    step.navigation, step.result = after, StepResult(found, view.map.map_text)
    return {
        "status": "success",
        "selected": [f"{each.path}:{each.first}-{each.last}" for each in after.run.selection],
        "map_tokens": after.state.map_metadata.total_tokens,
        "tokens_left": max(after.run.map_token_budget - after.state.map_metadata.total_tokens, 0),
        "files_included": after.state.map_metadata.file_count,
        "map_version": after.run.map_version,
        "cost_usd": float(after.run.spent),
    }


def tools() -> list[NavigatorTool]:
    """Return the tools: what a model is told of each, its arguments, and which of them it requires."""
    text, flag = {"type": "string"}, {"type": "boolean"}
    # A server that holds a model to it ends one that rambles; what is longer is taken as well.
    sentence, reason = {"type": "string", "maxLength": 400}, {"type": "string", "maxLength": 160}
    targets = {"type": "array", "items": text}
    place = {"type": "object", "properties": {"target": text, "reason": reason}}
    select = {
        "type": "array",
        "maxItems": MAX_PLACES,
        "items": {**place, "required": ["target", "reason"]},
    }
    more = {"include_tests": flag, "cursor": text}
    kind = {"type": "string", "enum": [*KINDS]}
    search = {"pattern": text, "literal": flag, "paths": text, "ignore_case": flag, **more}
    # What an update may hold is in the description: its whole schema takes more than all other tools.
    update = {
        "reasoning": sentence,
        "select": {"type": "array", "items": place},
        "drop": targets,
        "updates": {"type": "object"},
    }
    return [
        NavigatorTool("search", _SEARCH, search, ["pattern"]),
        NavigatorTool("read", _READ, {"targets": {**targets, "maxItems": MAX_TARGETS}}, ["targets"]),
        NavigatorTool("references", _REFERENCES, {"symbol": text, "kind": kind, **more}, ["symbol", "kind"]),
        NavigatorTool("outline", _OUTLINE, {"path": text, "cursor": text}, ["path"]),
        NavigatorTool("update_flight_plan", _UPDATE, update, ["reasoning"], _update_flight_plan),
        NavigatorTool(
            "finalize_context",
            _FINALIZE,
            {"summary": sentence, "select": select},
            ["summary", "select"],
            _finalize_context,
        ),
    ]


_SEARCH: Final = """\
Search the text of all files. Hits are grouped by definition; the best three are shown whole if short.

pattern: RE2 regular expression; `a|b|c` finds several at once, definitions that match most first.
literal: pattern is plain text.
paths: file, folder or glob; default all.
cursor: of an earlier answer, for the rest."""
_READ: Final = """\
Read source with line numbers; up to 4 targets share 3,000 tokens.

targets: `path:first-last`, `path:name`, a name, a path, or a number of the outline."""
_REFERENCES: Final = """\
List what refers to a symbol, or what it refers to, with the lines.

symbol: name or `path:name` of a function, type, field, constant, variant or macro.
kind: `uses`: where it is used; `callees`: what it calls; `similar`: its namesakes in other files."""
_OUTLINE: Final = """\
List the definitions of a file with their lines, or the files of a folder.

path: "" for the root."""
_UPDATE: Final = """\
End this step and look further in another one; finalize_context is enough otherwise.

reasoning: why, with the evidence.
select, drop: places to add, or to take out.
updates: `{"verbosity": [{"pattern": GLOB, "level": N}], "budget": TOKENS}`; levels: 0 none, 1 path, \
2 structure, 3 signatures, 4 source."""
_FINALIZE: Final = """\
Finish with the places that the task needs.

summary: what was found, in a sentence.
select: the best first, at most 8."""
