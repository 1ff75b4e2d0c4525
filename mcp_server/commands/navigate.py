"""``repo-navigator navigate``: find the code for a goal and print it."""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio

from mcp_server.conversation import Conversation
from mcp_server.errors import MODEL_FAILED
from mcp_server.loading import load_navigator, navigator_settings
from mcp_server.logs import log_to_stderr
from mcp_server.panels import Panels, cost_line, print_context, stderr_console
from mcp_server.reporting import status_of
from mcp_server.repository import choose_repository
from mcp_server.settings import DEFAULT_TOKEN_BUDGET, Settings
from navigator.errors import InvalidRequestError
from navigator.reports import NavigatorOutput, Progress, StopReason, TurnReport
from navigator.settings import DEFAULT_MAX_STEPS, NavigationRequest
from repo_map.commands.inputs import read_plan
from repo_map.flags import nonempty, number, whole_number
from repo_map.interrupts import CANCELLED, ending_at_once
from repo_map.whole_files import replace_text, require_writable

if TYPE_CHECKING:
    from navigator.service import Navigator

_FLAGS: Final = {"token_budget": "--tokens", "max_cost_usd": "--max-cost", "max_steps": "--max-steps"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("repo", metavar="REPO", type=nonempty, help="the repository's folder")
    goal = parser.add_mutually_exclusive_group(required=True)
    goal.add_argument("--goal", metavar="TEXT", help="the task, in your own words")
    goal.add_argument("--goal-file", metavar="FILE", help="file with the task; - reads stdin")
    parser.add_argument(
        "--tokens",
        type=whole_number,
        metavar="N",
        help=f"most tokens of the context ({DEFAULT_TOKEN_BUDGET})",
    )
    parser.add_argument("--model", metavar="M", help="the model that decides (embedded: no key, no network)")
    parser.add_argument("--max-cost", type=number, metavar="USD", help="most dollars to spend")
    parser.add_argument(
        "--max-steps", type=whole_number, metavar="N", help=f"most steps ({DEFAULT_MAX_STEPS})"
    )
    parser.add_argument("--plan", metavar="FILE", help="flight plan to start from")
    parser.add_argument("--save-plan", metavar="FILE", help="write the flight plan there")
    parser.add_argument("--interactive", action="store_true", help="ask after every step how to go on")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Navigate, and print the context: alone on stdout, or within a JSON object."""
    log_to_stderr(settings.log_level, settings.log_format)
    started = time.perf_counter()
    # A short-lived process that builds large tables: collecting garbage costs more than it frees.
    gc.disable()
    request = _request(options, settings)
    _check(request, settings)
    if options.save_plan:
        require_writable(Path(options.save_plan))
    # Outside the event loop, where Ctrl-C interrupts at once.
    with ending_at_once("repo-navigator"):
        navigator = load_navigator(settings)
    flight = Flight()
    cancelled = False
    try:
        anyio.run(_fly, navigator, request, options, flight)
    except KeyboardInterrupt:
        cancelled = True
        if flight.output is None:
            raise
    assert flight.output is not None
    seconds = time.perf_counter() - started
    if options.json:
        print_context(json.dumps(_object(flight.output, seconds, cancelled), ensure_ascii=False))
    else:
        print_context(flight.output.context_string)
        note = "Cancelled; this is what was done before. " if cancelled else ""
        stderr_console().print(f"{note}{cost_line(flight.output, seconds)}", style="bold")
    if options.save_plan:
        replace_text(Path(options.save_plan), flight.output.flight_plan_yaml)
    if cancelled and options.interactive:
        # The thread that waits for the user's answer would keep the process until it comes.
        sys.stdout.flush()
        os._exit(CANCELLED)
    if cancelled or flight.output.stop_reason is StopReason.CANCELLED:
        return CANCELLED
    return MODEL_FAILED if flight.output.stop_reason is StopReason.ERROR else 0


@dataclass
class Flight:
    """What a navigation has come to, also when it is interrupted."""

    navigation_id: str = ""
    output: NavigatorOutput | None = field(default=None)


async def _fly(
    navigator: Navigator, request: NavigationRequest, options: argparse.Namespace, flight: Flight
) -> None:
    try:
        with _spinner("Reading the repository") as progress:
            flight.navigation_id = await navigator.open(request, on_progress=progress)
        try:
            await _steps(navigator, options, flight.navigation_id)
        finally:
            # Ctrl-C keeps what was done: the last completed step is read back before the end.
            with anyio.CancelScope(shield=True):
                flight.output = await navigator.context(flight.navigation_id)
    finally:
        with anyio.CancelScope(shield=True):
            await navigator.aclose()


async def _steps(navigator: Navigator, options: argparse.Namespace, navigation_id: str) -> None:
    console = stderr_console()
    conversation = Conversation(navigator, navigation_id, console) if options.interactive else None
    panels = Panels()
    report: TurnReport | None = None
    while report is None or report.stop_reason is None:
        feedback = None
        if conversation is not None and report is not None:
            feedback = await conversation.ask()
            if feedback is None:
                await navigator.step(navigation_id, action="finish")
                return
        with _spinner("Deciding the next step") as progress:
            report = await navigator.step(navigation_id, feedback=feedback or None, on_progress=progress)
        if not options.json:
            console.print(panels.of(report))


@contextmanager
def _spinner(doing: str) -> Iterator[Any]:
    console = stderr_console()

    async def ignore(_: Progress) -> None: ...

    if not console.is_terminal:
        yield ignore
        return
    with console.status(doing) as status:

        async def show(progress: Progress) -> None:
            status.update(progress.message)

        yield show


def _request(options: argparse.Namespace, settings: Settings) -> NavigationRequest:
    goal = options.goal if options.goal is not None else _read_goal(options.goal_file)
    if not goal.strip():
        raise InvalidRequestError("The goal is empty; say in a sentence what you want to do in the code.")
    plan = None if options.plan is None else read_plan(Path(options.plan))
    if options.tokens is not None and options.tokens < 1:
        raise InvalidRequestError(
            f"--tokens is {options.tokens}; give a number above zero, 8000 is a good start."
        )
    tokens = settings.token_budget if options.tokens is None and plan is None else options.tokens
    return NavigationRequest(
        goal=goal,
        repo_path=choose_repository(options.repo, (), Path.cwd(), settings.allowed),
        token_budget=tokens,
        max_cost_usd=settings.max_cost_usd if options.max_cost is None else options.max_cost,
        mode="interactive" if options.interactive else "autonomous",
        model=options.model,
        flight_plan=plan,
        max_steps=DEFAULT_MAX_STEPS if options.max_steps is None else options.max_steps,
    )


def _check(request: NavigationRequest, settings: Settings) -> None:
    """Refuse what can't be used, by the names of the flags, before anything takes time."""
    from navigator.model_names import missing_key  # noqa: PLC0415 - nothing else of this module needs them
    from navigator.tasks import checked  # noqa: PLC0415

    chosen = navigator_settings(settings)
    try:
        checked(request, chosen)
    except InvalidRequestError as error:
        told = str(error)
        for argument, flag in _FLAGS.items():
            told = told.replace(f"`{argument}`", flag)
        raise InvalidRequestError(told) from error
    # Who names a model in a flag means that one; a model of the settings gives way to the next.
    if request.model is not None and (variable := missing_key(request.model, chosen, os.environ)):
        raise InvalidRequestError(
            f"`{request.model}` can't be asked because its key is missing; set {variable}, or leave --model "
            "out: the embedded planner needs none."
        )


def _read_goal(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise InvalidRequestError(
            f"The goal can't be read from `{name}`: {error.strerror}; check the path."
        ) from error
    return data.decode("utf-8", "replace")


def _object(output: NavigatorOutput, seconds: float, cancelled: bool) -> dict[str, Any]:
    return {
        "navigation_id": output.navigation_id,
        "status": "cancelled" if cancelled else status_of(output.stop_reason),
        "context": output.context_string,
        "tokens": output.token_count,
        "token_budget": output.token_budget,
        "files": [file.model_dump(mode="json") for file in output.files],
        "flight_plan_yaml": output.flight_plan_yaml,
        "sufficiency": output.sufficiency,
        "reasoning_summary": output.reasoning_summary,
        "total_iterations": output.total_iterations,
        "total_cost_usd": float(output.total_cost),
        "seconds": {
            "index": round(output.seconds.index, 3),
            "navigate": round(output.seconds.navigate, 3),
            "total": round(seconds, 3),
        },
        "notes": list(output.notes),
    }
