"""The four tools."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple

import anyio
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, Resolve
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ListRootsResult, TextContent, ToolAnnotations
from pydantic import Field, WithJsonSchema

from mcp_server.auth import current_principal
from mcp_server.client import (
    Direction,
    ToolAction,
    ask_direction,
    ask_roots,
    first_answer_for,
    folders_of,
    is_assistant,
)
from mcp_server.logs import about
from mcp_server.navigations import AppContext
from mcp_server.report_text import clip
from mcp_server.responses import (
    PLAN,
    Answer,
    Cursor,
    context_answer,
    decode_cursor,
    forgotten_answer,
    map_token_budget_in,
    navigate_answer,
    plan_answer,
    report_answer,
    response_token_budget_for,
    step_answer,
    text_tokens_in,
)
from mcp_server.sampling import current_channel, require_host
from mcp_server.settings import Settings
from navigator.errors import InvalidArgumentError, InvalidRequestError
from navigator.models.sampling import HOST
from navigator.planner.arguments import require_goal, require_token_budget, turn_request
from navigator.settings import (
    DEFAULT_MAX_STEPS,
    DEFAULT_TOKEN_BUDGET,
    FIRST_ANSWER,
    MIN_TOKEN_BUDGET,
    NavigationRequest,
    Timeouts,
)
from navigator.state.client_state import ClientState
from navigator.workspaces.address import read_address
from repo_map.messages import plural
from repo_map.steering.commands import QUESTIONS

if TYPE_CHECKING:
    from navigator.state.reports import NavigatorOutput, OnProgress, Progress, TurnReport


class Budgets(NamedTuple):
    """What a navigation's answers may take, in tokens; None for what the plan itself draws."""

    map: int | None
    response: int
    first: int | None


def budgets(
    settings: Settings, token_budget: int | None, flight_plan: str | None, first_answer: int
) -> Budgets:
    """Return the token budgets of a navigation.

    A plan's own budget is that of its map, to the token, so that it replays; an answer around it is larger.
    Who names no number gets a first answer of ``first_answer`` tokens, and room for what is asked for next.
    """
    if token_budget is None and flight_plan is not None:
        from repo_map.plan.yaml import parse_plan  # noqa: PLC0415 - YAML loads only for plans that are text

        minimum = settings.token_budget or DEFAULT_TOKEN_BUDGET
        return Budgets(None, response_token_budget_for(parse_plan(flight_plan).budget, minimum), None)
    asked = settings.token_budget if token_budget is None else token_budget
    if asked is None:
        return Budgets(map_token_budget_in(DEFAULT_TOKEN_BUDGET), DEFAULT_TOKEN_BUDGET, first_answer)
    require_token_budget(asked, MIN_TOKEN_BUDGET)
    return Budgets(map_token_budget_in(asked), asked, text_tokens_in(asked))


def compact(schema: dict[str, Any]) -> dict[str, Any]:
    """Return ``schema`` without titles, null alternatives and defaults, which say nothing to a model."""
    kept = {name: value for name, value in schema.items() if name not in ("title", "default")}
    choices = [compact(choice) for choice in kept.pop("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        kept = {**choices[0], **kept}
    elif choices:
        kept["anyOf"] = choices
    for name in {"properties", "$defs"}.intersection(kept):
        kept[name] = {field: compact(part) for field, part in kept[name].items()}
    if isinstance(kept.get("items"), dict):
        kept["items"] = compact(kept["items"])
    return kept


_MESSAGE_CHARACTERS: Final = 200


@contextmanager
def progress_to(ctx: Context[Any, Any]) -> Iterator[OnProgress]:
    """Yield a callback that reports each step to the host that made the call, if it asked for that."""
    last, answered = 0.0, False

    async def report(progress: Progress) -> None:
        nonlocal last
        if answered:
            # A step that outlives the call's deadline goes on, but this call is no longer answered.
            return
        # A step may report more than once, and hosts drop progress that does not grow.
        last = max(float(progress.step), last + 0.01)
        line = current_channel()
        listening = ctx if line is None else line.context
        size = f" · {plural(progress.tokens, 'token')}" if progress.tokens else ""
        head = f"Step {progress.step} of {progress.max_steps}{size}: " if progress.step else ""
        message = head + clip(progress.message, _MESSAGE_CHARACTERS - len(head))
        await listening.report_progress(last, max(float(progress.max_steps), last), message)

    try:
        yield report
    finally:
        answered = True


NavigationId = Annotated[str | None, Field(description="Default: the latest")]
READS: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_OPENING_SECONDS: Final = 10.0
"""On top of a call's seconds: a navigation just opened is worth the wait, a host's timeouts ends at 60 s."""
_LOADED: Final = {"anthropic/alwaysLoad": True}
"""Claude Code else shows a tool to its model only where the model searches for it."""
_WHOLE: Final = {"anthropic/maxResultSizeChars": 500_000}
"""Claude Code else cuts an answer of more than 25,000 tokens, though a call asks for as many."""


_Names = Annotated[Any, WithJsonSchema({"type": "array", "items": {"type": "string"}})]
_NAMES: Final = "4 to 10 identifiers or code words that you expect in the code; guesses are welcome"


async def navigate(
    ctx: Context[AppContext, Any],
    *,
    roots: Annotated[ListRootsResult, Resolve(ask_roots)],
    goal: Annotated[str, Field(description="The task in English, with names, errors, paths you know")],
    names: Annotated[_Names, Field(description=_NAMES)] = None,
    repo_path: Annotated[
        str | list[str] | None,
        Field(
            description="Absolute path or name, also with `@ref`; default: open folders, else the likeliest"
        ),
    ] = None,
    token_budget: Annotated[int | None, Field(description="Maximum tokens of the answer")] = None,
    fill: Annotated[bool | None, Field(description="Fill the budget")] = None,
    line_numbers: bool | None = None,
    changes: Annotated[
        str | None,
        Field(description="Find what a change breaks: `worktree`, a git commit, range or patch"),
    ] = None,
    max_cost_usd: float | None = None,
    mode: Annotated[
        Literal["autonomous", "interactive"] | None, Field(description="interactive: one turn per call")
    ] = None,
    model: Annotated[str | None, Field(description="Default `embedded`: needs no key; `host`: yours")] = None,
    flight_plan: Annotated[dict[str, Any] | str | None, Field(description="Plan to start from")] = None,
    max_steps: int | None = None,
) -> CallToolResult:
    """Find the code for a task: a bug, stack trace, issue, feature, refactoring, or a question about how the
    code works. Call it first, before grep, search or opening files, where you don't know the place: it
    returns the likely places with their lines, and the surest source. Not for one file or name that you
    know."""
    app, started = _app(ctx), anyio.current_time()
    user, access = current_principal().user, app.navigations.access
    subject = await anyio.to_thread.run_sync(
        access.choose, repo_path, folders_of(roots), app.working_folder, user
    )
    # JSON is YAML: an object goes the way of a text, and its errors are the same.
    plan = json.dumps(flight_plan) if isinstance(flight_plan, dict) else flight_plan
    if plan is not None and not plan.strip():
        # Models fill in an empty text for what they leave out.
        plan = None
    is_elsewhere = any(each.name for each in read_address(subject))
    usual = first_answer_for(ctx, is_elsewhere=is_elsewhere)
    if line_numbers is None and usual != FIRST_ANSWER and not app.settings.line_numbers:
        # Whoever reads no files asks for lines by their numbers.
        line_numbers = True
    budget = await anyio.to_thread.run_sync(budgets, app.settings, token_budget, plan, usual)
    if fill and token_budget is None and budget.first == usual:
        budget = budget._replace(first=text_tokens_in(budget.response))
    chosen = model or app.settings.model
    require_host(chosen)
    request = NavigationRequest(
        goal=goal if changes else require_goal(goal),
        repo_path=subject,
        token_budget=budget.map,
        first_answer=budget.first,
        max_cost_usd=app.settings.max_cost_usd if max_cost_usd is None else max_cost_usd,
        mode=mode or "autonomous",
        model=chosen,
        flight_plan=plan,
        max_steps=DEFAULT_MAX_STEPS if max_steps is None else max_steps,
        fill=bool(fill),
        line_numbers=line_numbers,
        names=names or (),
        changes=changes,
        may_look_first=True,
    )
    line = current_channel() if chosen == HOST else None
    client = ClientState(token_budget=budget.response)

    def build_response(
        report: TurnReport, output: NavigatorOutput, _: ClientState | None
    ) -> tuple[Answer, ClientState]:
        page = navigate_answer(output, report, budget.response, budget.first, explores=usual != FIRST_ANSWER)
        at = report.step_number
        sent = {"held_step": at, "held_steps": (at,), "unread": page.unread, "outline_step": at}
        return page, client.model_copy(update={**sent, "used_at": time.time()})

    seconds = app.settings.call_seconds
    with progress_to(ctx) as on_progress:
        page = await app.navigations.start(
            request,
            build_response,
            client=client,
            timeouts=Timeouts(seconds + _OPENING_SECONDS, seconds - (anyio.current_time() - started)),
            step_limit=None if line is None else line.max_steps,
            on_progress=on_progress,
        )
    return _result(ctx, page)


_Questions = Annotated[Any, WithJsonSchema({"type": "object"})]
"""What ``parse_wishes`` reads, numbers and single values too: its refusals say more than a schema's."""


_ASKED: Final = 'Any of {"search": REGEX, "read": [NAME, "path:3-90"], "callers": NAME}; ' + ", ".join(
    each for each in QUESTIONS if each not in ("search", "read", "callers", "references")
)


async def step(
    ctx: Context[AppContext, Any],
    *,
    answer: Annotated[ElicitationResult[Direction], Resolve(ask_direction)],
    navigation_id: NavigationId = None,
    show: Annotated[_Names, Field(description="Numbers, names, paths, `path:3-9`")] = None,
    drop: Annotated[_Names, Field(description="The same")] = None,
    ask: Annotated[_Questions, Field(description=_ASKED)] = None,
    names: _Names = None,
    feedback: Annotated[str | None, Field(description="`undo`, `budget 4000`; for a model, words")] = None,
    updates: Annotated[
        dict[str, Any] | None,
        Field(
            description='Partial flight plan, e.g. {"verbosity":[{"pattern":"src/**","level":2}]}; '
            "0 none, 1 path, 2 structure, 3 signatures, 4 source"
        ),
    ] = None,
    action: ToolAction | None = None,
) -> CallToolResult:
    """Explore the code with ask: search its text, read source, list callers, uses and tests; if you have no
    file tools, do so first. Or refine what navigate found. Returns only what is new to you."""
    navigations = _app(ctx).navigations
    if action == "forget":
        return _result(ctx, forgotten_answer(await navigations.forget(navigation_id)))
    direction = _direction(answer)
    require_host((updates or {}).get("model"))
    selected = await navigations.resolve(navigation_id)

    def build_response(
        report: TurnReport, delta: NavigatorOutput, before: ClientState | None
    ) -> tuple[Answer, ClientState]:
        client, at = before or selected.client, report.step_number
        budget = response_token_budget_for(report.map_token_budget, minimum=client.token_budget)
        page = step_answer(delta, report, budget, client.unread)
        sent: dict[str, Any] = {"used_at": time.time()}
        if delta.since_step != at:
            sent |= {
                "token_budget": budget,
                "held_step": at,
                "held_steps": (*client.held_steps, at),
                "unread": (*client.unread, *page.unread),
                "outline_step": at if page.outline else client.outline_step,
            }
        return page, client.model_copy(update=sent)

    request = turn_request(
        feedback or direction.feedback,
        updates if names is None else {**(updates or {}), "names": names},
        direction.action,
        selected.client.outline_step,
        show=show,
        drop=drop,
        ask=ask,
    )
    with about(selected.navigation_id), progress_to(ctx) as on_progress:
        page = await selected.navigator.step_and_respond(
            selected.navigation_id, request, build_response, user=selected.user, on_progress=on_progress
        )
    return _result(ctx, page)


async def get_turn_report(
    ctx: Context[AppContext, Any],
    navigation_id: str | None = None,
    step: int | None = None,
) -> CallToolResult:
    """Explain a navigation: what it did, cost and cut, and what more it could show, with its tokens."""
    selected = await _app(ctx).navigations.resolve(navigation_id)
    report = await selected.navigator.report(selected.navigation_id, user=selected.user, step=step)
    await selected.note_sent(outline_step=report.step_number)
    return _result(ctx, report_answer(report, selected.client.token_budget))


async def get_context(
    ctx: Context[AppContext, Any],
    navigation_id: str | None = None,
    since_step: int | None = None,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before, or `plan`")] = None,
) -> CallToolResult:
    """Read the code that navigate found again: all, the next page, or only what is new since a step."""
    selected = await _app(ctx).navigations.resolve(navigation_id)
    client, navigator, key = selected.client, selected.navigator, selected.navigation_id
    place = None if cursor in (None, PLAN) else decode_cursor(cursor)
    if cursor == PLAN or (place is not None and place.is_plan):
        # What the host has of the context stays as it is noted.
        output = await navigator.context(key, user=selected.user, step=None if place is None else place.step)
        place = place or Cursor(output.total_iterations, None, 0, is_plan=True)
        return _result(ctx, plan_answer(output, place, client.token_budget))
    if place is not None:
        since_step = place.since_step
    output = await navigator.context(
        key,
        user=selected.user,
        since_step=since_step,
        step=None if place is None else place.step,
        held=() if since_step is None else client.held_steps,
    )
    at = output.total_iterations
    if place is not None and place.offset > len(output.context_string):
        raise InvalidArgumentError(
            "cursor",
            f"goes beyond the context of step {place.step}; call get_context without it for the first page.",
        )
    page = context_answer(output, place or Cursor(at, since_step, 0), client.token_budget)
    if place is None and since_step in (None, client.held_step):
        steps = tuple(dict.fromkeys((*client.held_steps, at)))
        await selected.note_sent(held_step=at, held_steps=steps, unread=page.unread)
    else:
        unread = (each for each in client.unread if each != cursor)
        await selected.note_sent(unread=(*page.unread, *unread))
    return _result(ctx, page)


def tools() -> list[Tool]:
    return [
        _tool(navigate, "Find the code for a task", _LOADED | _WHOLE),
        _tool(step, "Refine a navigation", _WHOLE),
        _tool(get_turn_report, "Report of a step"),
        _tool(get_context, "Read the context", _WHOLE),
    ]


def _tool(function: Callable[..., Any], title: str, meta: dict[str, Any] | None = None) -> Tool:
    # A server may change its own; what is said of the functions is read once a process.
    return _described(function, title).model_copy(update={"meta": meta})


@cache
def _described(function: Callable[..., Any], title: str) -> Tool:
    description = " ".join((function.__doc__ or "").split())
    tool = Tool.from_function(function, title=title, description=description, annotations=READS)
    tool.parameters = compact(tool.parameters)
    return tool


def _direction(answer: ElicitationResult[Direction]) -> Direction:
    if isinstance(answer, AcceptedElicitation):
        return answer.data
    raise InvalidRequestError(
        "The user was asked how to continue and did not answer, so nothing was done; "
        "call step with show, drop, ask, updates or action `finish`.",
        code="no_decision",
    )


def _app(ctx: Context[AppContext, Any]) -> AppContext:
    return ctx.request_context.lifespan_context


def _result(ctx: Context[AppContext, Any], answer: Answer) -> CallToolResult:
    structured = None if is_assistant(ctx) else answer.structured
    return CallToolResult(content=[TextContent(type="text", text=answer.text)], structured_content=structured)
