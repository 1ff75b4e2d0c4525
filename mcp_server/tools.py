"""The four tools: each converts what the host sent, calls the navigator, and converts what comes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import anyio
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, Resolve
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ListRootsResult, TextContent, ToolAnnotations
from pydantic import Field

from mcp_server import wire
from mcp_server.answers import context_answer, navigate_answer, report_answer, step_answer
from mcp_server.budgets import budgets, with_room_for
from mcp_server.callers import current_caller
from mcp_server.desk import Desk
from mcp_server.fitting import (
    Answer,
    Cursor,
    decode_cursor,
)
from mcp_server.host_model import current_line, require_host
from mcp_server.progress import progress_to
from mcp_server.questions import Direction, StepAction, ask_direction, ask_roots, folders_of
from mcp_server.refusals import told_to_the_host
from mcp_server.repository import choose_repository
from mcp_server.schemas import compact
from navigator.errors import InvalidRequestError
from navigator.host import HOST

if TYPE_CHECKING:
    from navigator.reports import NavigatorOutput
    from navigator.settings import NavigationRequest

NavigationId = Annotated[str | None, Field(description="From navigate; default: this session's latest")]
_READS: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_LEAST_SECONDS: Final = 1.0
_UNSAID: Final = ("description", "$defs")


async def navigate(
    ctx: Context[Desk, Any],
    *,
    roots: Annotated[ListRootsResult, Resolve(ask_roots)],
    goal: Annotated[
        str, Field(description="The task in your own words, with names, errors and paths you know")
    ],
    repo_path: Annotated[
        str | None, Field(description="Absolute path; default: the host's open folder")
    ] = None,
    token_budget: Annotated[
        int | None, Field(description="Most tokens of the whole answer; default 8000")
    ] = None,
    max_cost_usd: Annotated[float | None, Field(description="Default 2")] = None,
    mode: Annotated[
        Literal["autonomous", "interactive"], Field(description="interactive: one turn per call")
    ] = "autonomous",
    model: Annotated[str | None, Field(description="Default `embedded`: needs no key; `host`: yours")] = None,
    flight_plan: Annotated[
        dict[str, Any] | str | None, Field(description="Plan to start from, YAML or object")
    ] = None,
    max_steps: int | None = None,
) -> Annotated[CallToolResult, wire.NavigateResult]:
    """Call this first when a task needs code you have not read, before searching or opening files: it returns
    the source that matters for the goal, within the token budget. One call is enough; step refines it."""
    desk, started = _desk(ctx), anyio.current_time()
    with told_to_the_host():
        folder = choose_repository(repo_path, folders_of(roots), desk.working_folder, desk.settings.allowed)
        # JSON is YAML: an object goes the way of a text, and its faults are told in the same words.
        plan = json.dumps(flight_plan) if isinstance(flight_plan, dict) else flight_plan
        context_tokens, budget = budgets(desk.settings, token_budget, plan)
        from navigator.settings import DEFAULT_MAX_STEPS, NavigationRequest  # noqa: PLC0415

        chosen = model or desk.settings.model
        require_host(chosen)
        request = NavigationRequest(
            goal=_stated(goal),
            repo_path=folder,
            token_budget=context_tokens,
            max_cost_usd=desk.settings.max_cost_usd if max_cost_usd is None else max_cost_usd,
            mode=mode,
            model=chosen,
            flight_plan=plan,
            max_steps=DEFAULT_MAX_STEPS if max_steps is None else max_steps,
        )
        answer = await _flown(ctx, request, budget, started)
        return _result(answer)


async def _flown(ctx: Context[Desk, Any], request: NavigationRequest, budget: int, started: float) -> Answer:
    """Open the navigation and fly it, as far as a call that began at ``started`` has time."""
    desk, caller = _desk(ctx), current_caller()
    navigations = desk.navigations
    with progress_to(ctx) as on_progress:
        navigation_id, holding = await navigations.open(caller, request, budget, on_progress)
        async with navigations.turn(navigation_id):
            navigator = await navigations.navigator()
            left = desk.settings.call_seconds - (anyio.current_time() - started)
            output = await navigator.run(
                navigation_id,
                user=caller.user,
                on_progress=on_progress,
                deadline_s=max(left, _LEAST_SECONDS),
                most_steps=line.most_steps if request.model == HOST and (line := current_line()) else None,
            )
            report = await navigator.report(navigation_id, user=caller.user)
            page = navigate_answer(output, report, budget)
            await navigations.delivered(navigation_id, holding, report, whole=page.last)
    await desk.subscriptions.announce(ctx, navigation_id, opened=True)
    return page.answer


async def step(
    ctx: Context[Desk, Any],
    *,
    answer: Annotated[ElicitationResult[Direction], Resolve(ask_direction)],
    navigation_id: NavigationId = None,
    feedback: Annotated[str | None, Field(description="What is missing or too much, in words")] = None,
    updates: Annotated[
        dict[str, Any] | None,
        Field(
            description='Partial flight plan, e.g. {"verbosity":[{"pattern":"src/auth/**","level":4}]}; '
            "levels: 0 none, 1 path, 2 structure, 3 signatures, 4 source"
        ),
    ] = None,
    action: StepAction = "continue",
) -> Annotated[CallToolResult, wire.StepResult]:
    """Call this after navigate when its context lacks something or its status is `open`: one more turn,
    steered by feedback or by flight plan updates. It returns what is new against what you already hold."""
    from navigator.pilot import asked  # noqa: PLC0415

    navigations, caller = _desk(ctx).navigations, current_caller()
    with told_to_the_host(), progress_to(ctx) as on_progress:
        direction = _direction(answer)
        navigation_id, _ = await navigations.resolve(caller, navigation_id)
        async with navigations.turn(navigation_id):
            _, holding = await navigations.resolve(caller, navigation_id)
            navigator = await navigations.navigator()
            report, delta = await navigator.step_with_news(
                navigation_id,
                asked(feedback or direction.feedback, updates, direction.action),
                user=caller.user,
                since_step=holding.held_step,
                on_progress=on_progress,
            )
            holding = with_room_for(report, holding)
            page = step_answer(delta, report, holding.token_budget)
            await navigations.delivered(navigation_id, holding, report, whole=page.last)
        await _desk(ctx).subscriptions.announce(ctx, navigation_id)
        return _result(page.answer)


async def get_turn_report(
    ctx: Context[Desk, Any],
    navigation_id: NavigationId = None,
    step: Annotated[int | None, Field(description="Default: the latest")] = None,
) -> Annotated[CallToolResult, wire.TurnReport]:
    """Call this to decide on a next step: what a navigation did and cost, what the budget cut, and
    which places it could show next at which price."""
    navigations, caller = _desk(ctx).navigations, current_caller()
    with told_to_the_host():
        navigation_id, holding = await navigations.resolve(caller, navigation_id)
        navigator = await navigations.navigator()
        report = await navigator.report(navigation_id, user=caller.user, step=step)
        return _result(report_answer(report, holding.token_budget))


async def get_context(
    ctx: Context[Desk, Any],
    navigation_id: NavigationId = None,
    since_step: Annotated[int | None, Field(description="Only what is new since this step")] = None,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None,
) -> Annotated[CallToolResult, wire.NavigatorOutput]:
    """Call this to read a navigation's context again, its next page, or only what is new since a step."""
    navigations, caller = _desk(ctx).navigations, current_caller()
    with told_to_the_host():
        navigation_id, holding = await navigations.resolve(caller, navigation_id)
        place = None if cursor is None else decode_cursor(cursor)
        if place is not None:
            since_step = place.since_step
        navigator = await navigations.navigator()
        output = await navigator.context(navigation_id, user=caller.user, since_step=since_step)
        report = await navigator.report(navigation_id, user=caller.user)
        place = _still_valid(place, output, report.step_number) or Cursor(report.step_number, since_step, 0)
        page = context_answer(output, place, holding.token_budget)
        whole = page.last and since_step in (None, holding.held_step)
        await navigations.delivered(navigation_id, holding, report, whole=whole)
        return _result(page.answer)


def tools() -> list[Tool]:
    """Return the four tools, their schemas cut down to what a model needs."""
    return [
        _tool(navigate, "Find the code for a task"),
        _tool(step, "Refine a navigation"),
        _tool(get_turn_report, "Report of a navigation step"),
        _tool(get_context, "Context of a navigation"),
    ]


def _tool(function: Callable[..., Any], title: str) -> Tool:
    description = " ".join((function.__doc__ or "").split())
    tool = Tool.from_function(function, title=title, description=description, annotations=_READS)
    tool.parameters = compact(tool.parameters)
    published = compact(tool.fn_metadata.output_schema or {})
    tool.fn_metadata.output_schema = {name: part for name, part in published.items() if name not in _UNSAID}
    return tool


def _direction(answer: ElicitationResult[Direction]) -> Direction:
    if isinstance(answer, AcceptedElicitation):
        return answer.data
    raise InvalidRequestError(
        "The user was asked how to go on and gave no answer, so nothing was done; "
        "call step with feedback, updates or action `finish`."
    )


def _desk(ctx: Context[Desk, Any]) -> Desk:
    return ctx.request_context.lifespan_context


def _stated(goal: str) -> str:
    if not goal.strip():
        raise InvalidRequestError("`goal` is empty; say in a sentence what you want to do in the code.")
    return goal


def _still_valid(place: Cursor | None, output: NavigatorOutput, step_number: int) -> Cursor | None:
    if place is not None and (place.step != step_number or place.offset > len(output.context_string)):
        raise InvalidRequestError(
            f"`cursor` belongs to step {place.step}, and the navigation is at step {step_number} by now; "
            "call get_context without it for the first page."
        )
    return place


def _result(answer: Answer) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=answer.text)], structured_content=answer.structured
    )
