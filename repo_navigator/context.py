"""``repo-navigator context``: print what a stored navigation found, or its plan; go on with it in words."""

from __future__ import annotations

import argparse
import json
import time
from typing import TYPE_CHECKING

import anyio

from mcp_server.loading import load_navigator
from mcp_server.logs import log_to_stderr
from mcp_server.report_text import status_of
from mcp_server.settings import Settings
from navigator.errors import UnknownNavigationError
from repo_navigator.navigate import NUMBERED, add_line_numbers, add_quiet, output_object
from repo_navigator.printing import show_context, stderr_console, write_or_print
from repo_navigator.terminal import FlagParser, ending_at_once
from repo_navigator.terminal_report import closing

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.reports import NavigatorOutput


def add_arguments(parser: FlagParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "navigation",
        metavar="ID",
        nargs="?",
        help="which navigation, by the id that `navigate` ends with (the latest)",
    )
    parser.add_argument("--feedback", metavar="TEXT", help="take one more step first, steered by these words")
    add_line_numbers(parser)
    parser.add_argument("--plan", action="store_true", help="print the flight plan in place of the context")
    parser.add_argument("-o", "--output", metavar="FILE", help="write there, not to stdout")
    add_quiet(parser)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object, with all that is known, in place of text"
    )


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Print the stored context, plan or JSON object; what else there is to say goes to stderr."""
    log_to_stderr(settings.log_level, settings.log_format)
    started = time.perf_counter()
    with ending_at_once("repo-navigator"):
        navigator = load_navigator(settings, takes_steps=bool(options.feedback or options.line_numbers))
    output, answer, is_question = anyio.run(_read, navigator, options)
    if options.json:
        seconds = time.perf_counter() - started
        message = output_object(output, seconds, status_of(output.stop_reason), output.notes)
        write_or_print(json.dumps({**message, "answer": answer}, ensure_ascii=False), options.output)
        return 0
    if is_question and not options.plan:
        # Who asks is answered: the context is as it was.
        write_or_print(answer, options.output)
        return 0
    if answer and not options.quiet:
        stderr_console().print(answer, style="green", markup=False)
    if options.plan:
        write_or_print(output.flight_plan_yaml, options.output)
    else:
        show_context(output.context_string, options.output)
    if not options.quiet:
        stderr_console().print(closing(output, output.seconds.total))
    return 0


async def _read(navigator: Navigator, options: argparse.Namespace) -> tuple[NavigatorOutput, str, bool]:
    """Return the context, what was understood of the words, and whether they took no step."""
    answer, is_question = "", False
    try:
        navigation_id = options.navigation or await latest_navigation(navigator)
        if options.line_numbers:
            await navigator.step(navigation_id, updates=NUMBERED)
        if options.feedback:
            before = (await navigator.report(navigation_id)).step_number
            report = await navigator.step(navigation_id, feedback=options.feedback)
            answer, is_question = report.answer, report.step_number == before
        return await navigator.context(navigation_id), answer, is_question
    finally:
        with anyio.CancelScope(shield=True):
            await navigator.aclose()


async def latest_navigation(navigator: Navigator) -> str:
    """Return the id of the latest stored navigation.

    Raises:
        UnknownNavigationError: there is none yet.
    """
    stored = await navigator.navigations(most=1)
    if not stored:
        raise UnknownNavigationError(
            "There is no stored navigation yet; `repo-navigator navigate` makes one."
        )
    return stored[0].navigation_id
