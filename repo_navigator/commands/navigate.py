"""Find the code for a goal and print it, with the steps that led there on stderr."""

from __future__ import annotations

import os
import sys
import time
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from mcp_server.errors import MODEL_FAILED
from mcp_server.report_text import status_of
from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError, ModelFailedError
from navigator.planner.arguments import require_goal
from navigator.settings import DEFAULT_MAX_STEPS, DEFAULT_TOKEN_BUDGET, FIRST_ANSWER, NavigationRequest
from navigator.state.reports import NavigatorOutput, StopReason
from repo_map.cache import replace_text, require_writable
from repo_map.errors import RepositoryNotFoundError
from repo_navigator.arguments import (
    add_further,
    add_line_numbers,
    add_output,
    find_repositories,
    require_repository,
    write_json,
)
from repo_navigator.cli import CommandLineError, Parser, nonempty
from repo_navigator.commands.context import context_data
from repo_navigator.conversation import spinner, take_steps
from repo_navigator.detached import start_detached
from repo_navigator.navigations import use_navigator
from repo_navigator.report import closing, cost_line, show_context, stderr_console
from repo_navigator.terminal import CANCELLED, read_input, read_plan

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.planner.request import ValidRequest

EXAMPLES = (
    '. "A discount of 100 % makes the total negative"',
    ". --goal-file issue.md --tokens 4000 --save-plan plan.yaml",
    ". --since main",
    ". --goal-file issue.md --json > packet.json",
)


def add_arguments(parser: Parser) -> None:
    """Add what is asked, and how the answer is printed."""
    parser.add_value(
        "repo",
        "REPO",
        "the repository's folder, or its name; FOLDER@REF reads a commit (default: this git work tree)",
        nargs="?",
        type=nonempty,
    )
    parser.add_value("words", "GOAL", "the task, in your own words", nargs="?")
    add_further(parser)
    goals = parser.add_mutually_exclusive_group()
    goals.add_argument("--goal", metavar="TEXT", help="the task as a flag, for a text that begins with -")
    goals.add_argument("--goal-file", metavar="FILE", help="file with the task; - reads stdin")
    parser.add_value(
        "--names", "A,B,…", "identifiers that you expect in the code, 4 to 10; guesses are welcome"
    )
    changes = parser.add_mutually_exclusive_group()
    changes.add_argument(
        "--since",
        dest="changes",
        metavar="REF",
        type=nonempty,
        help="show the code that depends on the changes since the merge base with a commit or branch (main), "
        "or in a range (v1..v2); needs no goal",
    )
    changes.add_argument(
        "--diff",
        dest="changes",
        action="store_const",
        const="worktree",
        help="the same for uncommitted changes",
    )
    parser.add_value(
        "--tokens",
        "N",
        f"maximum tokens of code (default: {FIRST_ANSWER:,} with the outline, then {DEFAULT_TOKEN_BUDGET:,})",
        dest="token_budget",
        type=int,
    )
    parser.add_switch("--fill", "fill the budget, even with less relevant code")
    parser.add_value(
        "--model", "M", "the model that decides, such as gemini-2.5-flash (embedded: no key, no network)"
    )
    parser.add_value(
        "--max-cost",
        "USD",
        "maximum US dollars for the model; then the embedded planner continues",
        dest="max_cost_usd",
        type=float,
    )
    parser.add_value("--max-steps", "N", f"maximum steps ({DEFAULT_MAX_STEPS})", type=int)
    parser.add_value("--plan", "FILE", "flight plan to start from, in YAML; - reads stdin")
    parser.add_value("--save-plan", "FILE", "write the flight plan to this file; `replay` draws it again")
    parser.add_switch("--interactive", "ask after each step whether to continue, change something or stop")
    parser.add_switch("--verbose", "print on stderr what each step decided, and why")
    parser.add_switch(
        "--wait",
        "wait for the full index of a large repository instead of answering from a first look",
    )
    add_line_numbers(parser)
    add_output(parser)


def run(args: Namespace, settings: Settings) -> int:
    """Navigate, and print the context: alone on stdout, or within a JSON object."""
    started = time.perf_counter()
    if args.save_plan == "-":
        raise InvalidRequestError(
            "--save-plan is -, which would mix it with the context; name a file.", argument="--save-plan"
        )
    request = _request(args, settings)
    for file in filter(None, (args.save_plan, args.output)):
        require_writable(Path(file))
    result = NavigationResult(first_answer=request.task.first_answer)
    try:
        use_navigator(settings, lambda navigator: _navigate(navigator, request, args, result))
    except (KeyboardInterrupt, ModelFailedError) as error:
        # What the steps before have found is paid for, and good.
        if result.output is None:
            raise
        result.cancelled = isinstance(error, KeyboardInterrupt)
        result.failed = str(error)
    output = result.output
    assert output is not None
    _print(result, output, args, time.perf_counter() - started)
    if result.unread and settings.use_cache:
        start_detached("repo_navigator.background", "index", *result.unread)
    if result.cancelled and args.interactive:
        # The thread that waits for the user's answer would keep the process until it comes.
        sys.stdout.flush()
        os._exit(CANCELLED)
    if result.cancelled or output.stop_reason is StopReason.CANCELLED:
        return CANCELLED
    return MODEL_FAILED if result.failed or output.stop_reason is StopReason.ERROR else 0


@dataclass
class NavigationResult:
    """The result of a navigation, also of an interrupted one."""

    output: NavigatorOutput | None = None
    unread: tuple[str, ...] = ()
    """Repositories that a first look has answered and that are not fully indexed."""
    first_answer: int | None = None
    """Maximum tokens of this answer, if it is smaller than those of later ones."""
    cancelled: bool = False
    failed: str = ""
    """Why no model answered at the end."""


async def _navigate(
    navigator: Navigator, request: ValidRequest, args: Namespace, result: NavigationResult
) -> None:
    """Open a navigation and take its steps."""
    try:
        with spinner("Reading the repository") as progress:
            navigation_id = await navigator.open(request, on_progress=progress)
        try:
            await take_steps(navigator, navigation_id, args, result.first_answer)
        finally:
            # Ctrl-C keeps what was done: the last completed step is read back before the end.
            with anyio.CancelScope(shield=True):
                result.output = await navigator.context(navigation_id)
    finally:
        result.unread = navigator.background_indexing()


def _print(result: NavigationResult, output: NavigatorOutput, args: Namespace, seconds: float) -> None:
    """Print the context with what is to be known of it, and write the files that are asked for beside it."""
    if args.json:
        ended = "cancelled" if result.cancelled else "error" if result.failed else None
        notes = [*([result.failed] if result.failed else []), *output.notes]
        write_json(args, context_data(output, seconds, ended or status_of(output.stop_reason), notes))
    else:
        limit = result.first_answer or output.map_token_budget
        output = output.model_copy(update={"map_token_budget": min(limit, output.map_token_budget)})
        below, console = closing(output, seconds), stderr_console()
        show_context(output.context_string, args.output)
        cancelled = "Cancelled; this is the result of the steps before."
        if note := cancelled if result.cancelled else result.failed:
            console.print(note, style="bold yellow", markup=False)
        if not args.quiet:
            # Who was asked after each step has seen the rest.
            console.print(cost_line(output, seconds) if args.interactive else below, soft_wrap=True)
    if args.save_plan:
        replace_text(Path(args.save_plan), output.flight_plan_yaml)


def _request(args: Namespace, settings: Settings) -> ValidRequest:
    """Return the request for a navigation.

    Raises:
        InvalidRequestError: something of it can't be used.
        FlightPlanError: the plan can't be read.
        RepositoryNotFoundError: there is no such repository.
    """
    from navigator.planner.request import validate  # noqa: PLC0415 - help and wrong flags wait for no request

    repo, goal = _repository_and_goal(args, settings)
    if goal is not None:
        # A command line that is not UTF-8 comes with characters that no text can hold.
        goal = os.fsencode(goal).decode("utf-8", "replace")
    elif args.goal_file is not None:
        goal = _read_goal(args.goal_file, required=not args.changes)
    repo_path = require_repository(repo, args.further, settings, "before the goal")
    plan = None if args.plan is None else read_plan(Path(args.plan))
    tokens = settings.token_budget if args.token_budget is None and plan is None else args.token_budget
    is_usual = tokens is None and plan is None and not args.fill and not args.interactive
    request = NavigationRequest(
        goal=goal or "" if args.changes else require_goal(goal or ""),
        repo_path=repo_path,
        token_budget=tokens,
        first_answer=FIRST_ANSWER if is_usual else None,
        max_cost_usd=settings.max_cost_usd if args.max_cost_usd is None else args.max_cost_usd,
        mode="interactive" if args.interactive else "autonomous",
        model=args.model,
        flight_plan=plan,
        max_steps=DEFAULT_MAX_STEPS if args.max_steps is None else args.max_steps,
        fill=args.fill,
        line_numbers=args.line_numbers or None,
        names=(args.names or "").split(","),
        changes=args.changes,
        may_look_first=not args.wait,
    )
    return validate(request, settings, environ=os.environ)


def _repository_and_goal(args: Namespace, settings: Settings) -> tuple[str | None, str | None]:
    """Return REPO and the goal: one argument alone that has white space, and names no folder, is the goal."""
    flags = {"--goal": args.goal, "--goal-file": args.goal_file}
    flag = next((name for name, value in flags.items() if value is not None), None)
    if args.words is not None and flag:
        raise CommandLineError(f"GOAL is not allowed with {flag}; leave one of them out.", argument="GOAL")
    if args.repo is None or args.words is not None or flag or len(args.repo.split()) < 2:
        return args.repo, args.words if args.goal is None else args.goal
    try:
        find_repositories([args.repo], settings)
    except RepositoryNotFoundError:
        return None, args.repo
    return args.repo, None


def _read_goal(name: str, *, required: bool) -> str:
    try:
        goal = read_input(Path(name)).decode("utf-8", "replace")
    except OSError as error:
        raise InvalidRequestError(
            f"The goal can't be read from `{name}`: {error.strerror}; check the path.", argument="--goal-file"
        ) from error
    if required and not goal.strip():
        raise InvalidRequestError(
            "--goal-file names a goal that is empty; check what it is read from.", argument="--goal-file"
        )
    return goal
