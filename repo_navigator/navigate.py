"""`navigate`: find the code for a goal and print it."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio

from mcp_server.errors import MODEL_FAILED
from mcp_server.loading import load_navigator
from mcp_server.logs import log_to_stderr
from mcp_server.protocol.report_text import status_of
from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError, ModelFailedError
from navigator.picture.page import saved_page
from navigator.records.decisions import EMBEDDED
from navigator.records.reports import NavigatorOutput, Progress, StopReason
from navigator.settings import DEFAULT_MAX_STEPS, FIRST_ANSWER, NavigationRequest
from navigator.steps.arguments import require_goal
from navigator.steps.menu_text import menu_text
from repo_map.atomic_files import replace_text, require_writable
from repo_map.errors import RepositoryNotFoundError
from repo_map.impact.findings import finding_data
from repo_navigator.continuing import Continued, add_continue, continued
from repo_navigator.follow_up import FollowUp, follow_up, follow_up_object, show_follow_up
from repo_navigator.index_behind import index_behind
from repo_navigator.interactive import InteractivePrompt
from repo_navigator.printing import add_no_pager, show_context, stderr_console
from repo_navigator.repository_arguments import add_further, named_here, require_repository
from repo_navigator.stored_navigations import Meant, meant_navigation
from repo_navigator.terminal import (
    CANCELLED,
    FlagParser,
    add_quiet,
    ending_at_once,
    nonempty,
    number,
    output_file,
    read_input,
    read_plan,
    whole_number,
    write_or_print,
)
from repo_navigator.terminal_report import TerminalReport, closing, cost_line

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.picture.text import PictureData
    from navigator.records.reports import TurnReport


NUMBERED: Final = {"line_numbers": True}
"""The updates that number the lines of a stored navigation."""


def add_line_numbers(parser: FlagParser) -> None:
    """Add the flag that numbers lines."""
    parser.add_argument(
        "--line-numbers",
        action="store_true",
        default=None,
        help="tell the numbers of lines: 55│ before the source of line 55",
    )


def add_arguments(parser: FlagParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "repo",
        metavar="REPO",
        type=nonempty,
        nargs="?",
        help="the repository's folder, or its name; FOLDER@REF reads a commit (the work tree here)",
    )
    add_further(parser)
    goal = parser.add_alternatives(required=False)
    goal.add_argument("words", metavar="GOAL", nargs="?", help="the task, in your own words")
    goal.add_argument("--goal", metavar="TEXT", help="the task, by a flag; it may then look like one")
    goal.add_argument("--goal-file", metavar="FILE", help="file with the task; - reads stdin")
    add_continue(parser)
    changes = parser.add_alternatives(required=False)
    changes.add_argument(
        "--since",
        dest="changes",
        metavar="REF",
        type=nonempty,
        help="show what relies on all changes since this work left a commit or a branch (main), or on those "
        "of a range (v1..v2); no goal is needed",
    )
    changes.add_argument(
        "--diff",
        dest="changes",
        action="store_const",
        const="worktree",
        help="the same for what is not committed yet",
    )
    parser.add_argument(
        "--tokens",
        dest="token_budget",
        type=whole_number,
        metavar="N",
        help=f"most tokens of the code; by default {FIRST_ANSWER} with the outline, more as you ask for it",
    )
    parser.add_argument(
        "--fill",
        action="store_true",
        help="fill the budget, also where more is not worth its tokens",
    )
    add_line_numbers(parser)
    parser.add_argument(
        "--model",
        metavar="M",
        help="the model that decides, such as gemini-2.5-flash (embedded: no key, no network)",
    )
    parser.add_argument(
        "--max-cost",
        dest="max_cost_usd",
        type=number,
        metavar="USD",
        help="most dollars that a model may cost before the embedded planner goes on",
    )
    parser.add_argument(
        "--max-steps", type=whole_number, metavar="N", help=f"most steps ({DEFAULT_MAX_STEPS})"
    )
    parser.add_argument("--plan", metavar="FILE", help="flight plan to start from, in YAML; - reads stdin")
    parser.add_argument(
        "--save-plan", metavar="FILE", help="write the flight plan there, for `replay` to draw again"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=output_file, help="write the context there, not to stdout"
    )
    add_no_pager(parser)
    parser.add_argument("--html", metavar="FILE", help="write a picture of the map there, as a page")
    parser.add_argument(
        "--interactive",
        action="store_true",
        help="ask after every step how to go on: further, in words, or stop",
    )
    parser.add_argument(
        "--verbose", action="store_true", help="tell on stderr what each step decided, and why"
    )
    parser.add_argument(
        "--wait",
        action="store_true",
        help="wait for the index of a large repository, where a first look at it would answer",
    )
    add_quiet(parser)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object, with all that is known, in place of text"
    )


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Navigate, and print the context: alone on stdout, or within a JSON object."""
    log_to_stderr(settings.log_level, settings.log_format)
    started = time.perf_counter()
    _require_files(options)
    going_on = continued(options)
    request = going_on or _checked_request(options, settings)
    for file in filter(None, (options.save_plan, options.output, options.html)):
        require_writable(Path(file))
    # Outside the event loop, where Ctrl-C interrupts at once.
    with ending_at_once("repo-navigator"):
        navigator = load_navigator(settings)
    if going_on is not None and going_on.words and not options.interactive:
        return _follow_up(navigator, going_on, options, started)
    result = NavigationResult()
    cancelled, failed = False, ""
    try:
        anyio.run(_navigate, navigator, request, options, result)
    except KeyboardInterrupt:
        cancelled = True
        if result.output is None:
            raise
    except ModelFailedError as error:
        # What the steps before have found is paid for, and good.
        failed = str(error)
        if result.output is None:
            raise
    assert result.output is not None
    seconds = time.perf_counter() - started
    status = "cancelled" if cancelled else "error" if failed else status_of(result.output.stop_reason)
    if options.json:
        notes = [*([failed] if failed else []), *result.output.notes]
        message = output_object(result.output, seconds, status, notes)
        write_or_print(json.dumps(message, ensure_ascii=False), options.output)
    else:
        show_context(
            result.output.context_string,
            options.output,
            below=closing(result.output, seconds),
            pages=not (options.interactive or options.no_pager),
        )
        note = "Cancelled; this is what was done before." if cancelled else failed
        _close(options, result.output, seconds, note)
    _save(options, result.output, result.picture)
    index_behind(result.unread if settings.use_cache else ())
    if cancelled and options.interactive:
        # The thread that waits for the user's answer would keep the process until it comes.
        sys.stdout.flush()
        os._exit(CANCELLED)
    if cancelled or result.output.stop_reason is StopReason.CANCELLED:
        return CANCELLED
    return MODEL_FAILED if failed or result.output.stop_reason is StopReason.ERROR else 0


def _require_files(options: argparse.Namespace) -> None:
    """Raise ``InvalidRequestError`` where something beside the context would go to stdout too."""
    for flag, file in (("--save-plan", options.save_plan), ("--html", options.html)):
        if file == "-":
            raise InvalidRequestError(f"{flag} is -, which would mix it with the context; name a file.")


def _follow_up(navigator: Navigator, going_on: Continued, options: argparse.Namespace, started: float) -> int:
    """Do what `context --feedback` does: take the step that words ask for, and print what is new."""
    meant, found, picture = anyio.run(_followed_up, navigator, going_on, options)
    output = found.whole
    if options.json:
        seconds = time.perf_counter() - started
        message = output_object(output, seconds, status_of(output.stop_reason), output.notes)
        write_or_print(json.dumps(follow_up_object(message, found), ensure_ascii=False), options.output)
    else:
        show_follow_up(found, options, meant.told)
    _save(options, output, picture)
    return 0


async def _followed_up(
    navigator: Navigator, going_on: Continued, options: argparse.Namespace
) -> tuple[Meant, FollowUp, PictureData | None]:
    try:
        meant = await meant_navigation(navigator, going_on.named, going_on.folder, must_be_here=True)
        updates = NUMBERED if options.line_numbers else None
        found = await follow_up(navigator, meant.navigation_id, going_on.words, updates=updates)
        picture = await navigator.picture(meant.navigation_id) if options.html else None
        return meant, found, picture
    finally:
        with anyio.CancelScope(shield=True):
            await navigator.aclose()


def _close(options: argparse.Namespace, output: NavigatorOutput, seconds: float, note: str) -> None:
    """Tell below the context what comes next, as far as no panel has told it."""
    if options.quiet and not note:
        return
    console = stderr_console()
    if note:
        console.print(note, style="bold yellow", markup=False)
    if not options.quiet:
        console.print(
            cost_line(output, seconds) if options.interactive else closing(output, seconds), soft_wrap=True
        )


def _save(options: argparse.Namespace, output: NavigatorOutput, picture: PictureData | None) -> None:
    if options.save_plan:
        replace_text(Path(options.save_plan), output.flight_plan_yaml)
    if picture is not None:
        replace_text(Path(options.html), saved_page(picture))


@dataclass
class NavigationResult:
    """What a navigation has come to, also when it is interrupted."""

    navigation_id: str = ""
    output: NavigatorOutput | None = field(default=None)
    picture: PictureData | None = field(default=None)
    unread: tuple[str, ...] = ()
    """Repositories of which a first look has answered, and that are not read whole."""


async def _navigate(
    navigator: Navigator,
    request: NavigationRequest | Continued,
    options: argparse.Namespace,
    result: NavigationResult,
) -> None:
    """Open a navigation, or take up a stored one, and take its steps."""
    words = ""
    try:
        if isinstance(request, Continued):
            meant = await meant_navigation(navigator, request.named, request.folder, must_be_here=True)
            if meant.told and not options.quiet:
                stderr_console().print(meant.told, style="dim", markup=False)
            result.navigation_id, words = meant.navigation_id, request.words
        else:
            with _spinner("Reading the repository") as progress:
                result.navigation_id = await navigator.open(request, on_progress=progress)
        try:
            await _steps(navigator, options, result.navigation_id, words)
        finally:
            # Ctrl-C keeps what was done: the last completed step is read back before the end.
            with anyio.CancelScope(shield=True):
                result.output = await navigator.context(result.navigation_id)
                if options.html:
                    result.picture = await navigator.picture(result.navigation_id)
    finally:
        result.unread = navigator.being_read()
        with anyio.CancelScope(shield=True):
            await navigator.aclose()


async def _steps(navigator: Navigator, options: argparse.Namespace, navigation_id: str, words: str) -> None:
    """Take steps until the navigation ends; of a conversation ``words`` are the first that are said."""
    is_stored = options.continued is not None
    console = stderr_console()
    conversation = InteractivePrompt(navigator, navigation_id, console) if options.interactive else None
    panels = TerminalReport(is_followed=conversation is None)
    if is_stored and options.line_numbers:
        await navigator.step(navigation_id, updates=NUMBERED)
    report = await navigator.report(navigation_id) if is_stored else None
    feedback: str | None = None
    # A stored navigation may have ended; whoever takes it up to talk is asked at least once.
    is_taken_up = report is not None and conversation is not None
    if report is not None and (conversation is not None or _tells_steps(options, report)):
        console.print(panels.of(report))
    # Who has just said something is asked again, also where the planner has nothing more to improve.
    while report is None or report.stop_reason is None or feedback or is_taken_up:
        is_taken_up = False
        if conversation is not None and report is not None:
            feedback, words = words or await conversation.ask(), ""
            if feedback is None:
                await navigator.step(navigation_id, action="finish")
                return
            if not feedback and report.stop_reason is not None:
                return
        with _spinner("Deciding the next step") as progress:
            report = await navigator.step(
                navigation_id,
                feedback=feedback or None,
                refresh=is_stored or bool(feedback),
                on_progress=progress,
            )
        if conversation is not None or _tells_steps(options, report):
            console.print(panels.of(report))
        if report.stop_reason is StopReason.USER:
            return


def _tells_steps(options: argparse.Namespace, report: TurnReport) -> bool:
    """Whether a step is told while others follow: one of a model that costs time and money, or any."""
    is_wanted = options.verbose or report.model != EMBEDDED
    return is_wanted and not options.json and not options.quiet


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
    repo, words = _repository_and_goal(options, settings)
    stated = words if options.goal is None else options.goal
    goal = stated or ""
    if stated is None and options.goal_file is not None:
        goal = _read_goal(options.goal_file)
        if not goal.strip() and not options.changes:
            raise InvalidRequestError("--goal-file names a goal that is empty; check what it is read from.")
    repository = require_repository(repo, options.further, settings, "before the goal")
    plan = None if options.plan is None else read_plan(Path(options.plan))
    tokens = settings.token_budget if options.token_budget is None and plan is None else options.token_budget
    is_usual = tokens is None and plan is None and not options.fill and not options.interactive
    return NavigationRequest(
        goal=goal if options.changes else require_goal(goal),
        repo_path=repository,
        token_budget=tokens,
        first_answer=FIRST_ANSWER if is_usual else None,
        max_cost_usd=settings.max_cost_usd if options.max_cost_usd is None else options.max_cost_usd,
        mode="interactive" if options.interactive else "autonomous",
        model=options.model,
        flight_plan=plan,
        max_steps=DEFAULT_MAX_STEPS if options.max_steps is None else options.max_steps,
        fill=options.fill,
        line_numbers=options.line_numbers,
        changes=options.changes,
        may_look_first=not options.wait,
    )


def _repository_and_goal(options: argparse.Namespace, settings: Settings) -> tuple[str | None, str | None]:
    """Return REPO and GOAL: one argument alone that has white space, and names no folder, is the goal."""
    is_alone = options.words is None and options.goal is None and options.goal_file is None
    if options.repo is None or not is_alone or len(options.repo.split()) < 2:
        return options.repo, options.words
    try:
        named_here([options.repo], settings)
    except RepositoryNotFoundError:
        return None, options.repo
    return options.repo, None


def _checked_request(options: argparse.Namespace, settings: Settings) -> NavigationRequest:
    """Return what is asked for; what can't be used is refused before anything takes time."""
    from navigator.models.model_names import require_key  # noqa: PLC0415 - nothing else of this module needs them
    from navigator.steps.request import checked  # noqa: PLC0415 - as above

    request = _request(options, settings)
    checked(request, settings)
    if request.model is not None:
        require_key(request.model, settings, os.environ)
    return request


def _read_goal(name: str) -> str:
    try:
        data = read_input(Path(name))
    except OSError as error:
        raise InvalidRequestError(
            f"The goal can't be read from `{name}`: {error.strerror}; check the path."
        ) from error
    return data.decode("utf-8", "replace")


def output_object(
    output: NavigatorOutput, seconds: float, status: str, notes: Sequence[str]
) -> dict[str, Any]:
    """Return what ``--json`` prints; ``seconds`` is the time of the whole command."""
    return {
        "navigation_id": output.navigation_id,
        "status": status,
        "context": output.context_string,
        "tokens": output.token_count,
        "token_budget": output.map_token_budget,
        "files": [file.model_dump(mode="json") for file in output.files],
        "menu": [place.model_dump(mode="json") for place in output.menu],
        "outline": menu_text(output.menu, output.tests),
        "flight_plan_yaml": output.flight_plan_yaml,
        "evidence": output.evidence,
        "sufficiency": output.sufficiency,
        "findings": [finding_data(each) for each in output.findings],
        "impact": list(output.impact),
        "reasoning_summary": output.reasoning_summary,
        "total_iterations": output.total_iterations,
        "total_cost_usd": float(output.total_cost),
        "seconds": {
            "index": round(output.seconds.index, 3),
            "navigate": round(output.seconds.navigate, 3),
            "total": round(seconds, 3),
        },
        "notes": list(notes),
    }
