"""``repo-navigator context``: print what a stored navigation found, or its plan; go on with it in words."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import anyio

from mcp_server.loading import load_navigator
from mcp_server.logs import log_to_stderr
from mcp_server.protocol.report_text import status_of
from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from repo_navigator.follow_up import FollowUp, follow_up, follow_up_object, show_follow_up
from repo_navigator.navigate import NUMBERED, add_line_numbers, output_object
from repo_navigator.printing import add_no_pager, show_context, stderr_console
from repo_navigator.stored_navigations import ID_START, Meant, meant_navigation
from repo_navigator.terminal import FlagParser, add_quiet, ending_at_once, output_file, write_or_print
from repo_navigator.terminal_report import closing

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.records.reports import NavigatorOutput


def add_arguments(parser: FlagParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "navigation",
        metavar="ID",
        nargs="?",
        help="which navigation, by the id that `navigate` ends with (the latest of this folder, else of all)",
    )
    parser.add_argument(
        "--feedback", metavar="TEXT", help="take one more step by these words, and print what is new"
    )
    parser.add_argument(
        "--all", action="store_true", help="after --feedback, print the whole context, not only what is new"
    )
    add_line_numbers(parser)
    parser.add_argument("--plan", action="store_true", help="print the flight plan in place of the context")
    parser.add_argument("-o", "--output", metavar="FILE", type=output_file, help="write there, not to stdout")
    add_no_pager(parser)
    add_quiet(parser)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object, with all that is known, in place of text"
    )


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Print the stored context, what words add to it, its plan or a JSON object; the rest goes to stderr."""
    log_to_stderr(settings.log_level, settings.log_format)
    _require_id(options.navigation)
    started = time.perf_counter()
    with ending_at_once("repo-navigator"):
        navigator = load_navigator(settings, takes_steps=bool(options.feedback or options.line_numbers))
    meant, output, found = anyio.run(_read, navigator, options)
    if options.json:
        seconds = time.perf_counter() - started
        message = {
            **output_object(output, seconds, status_of(output.stop_reason), output.notes),
            "answer": "",
            "understood": None,
        }
        if found is not None:
            message = follow_up_object(message, found)
        write_or_print(json.dumps(message, ensure_ascii=False), options.output)
    elif options.plan:
        write_or_print(output.flight_plan_yaml, options.output)
        if found is not None and not options.quiet:
            stderr_console().print(found.answer, style="green", markup=False)
        _close(options, meant, output)
    elif found is not None:
        show_follow_up(found, options, meant.told, is_whole=options.all)
    else:
        below = closing(output, output.seconds.total)
        show_context(output.context_string, options.output, below=below, pages=not options.no_pager)
        _close(options, meant, output)
    return 0


def _close(options: argparse.Namespace, meant: Meant, output: NavigatorOutput) -> None:
    if not options.quiet:
        console = stderr_console()
        if meant.told:
            console.print(meant.told, style="dim", markup=False)
        console.print(closing(output, output.seconds.total), soft_wrap=True)


def _require_id(named: str | None) -> None:
    """Refuse words in the place of an id."""
    if named and not named.startswith(ID_START) and len(named.split()) > 1:
        raise InvalidRequestError(
            f"`{named}` is no navigation's id; words for the latest one go behind --feedback: "
            f'`repo-navigator context --feedback "{named}"`.'
        )


class _Found(NamedTuple):
    meant: Meant
    output: NavigatorOutput
    follow_up: FollowUp | None


async def _read(navigator: Navigator, options: argparse.Namespace) -> _Found:
    """Return the navigation that is meant, its context, and what words have come to where there are any."""
    updates = NUMBERED if options.line_numbers else None
    try:
        meant = await meant_navigation(navigator, options.navigation, Path.cwd())
        if options.feedback:
            found = await follow_up(navigator, meant.navigation_id, options.feedback, updates=updates)
            return _Found(meant, found.whole, found)
        if updates:
            await navigator.step(meant.navigation_id, updates=updates)
        return _Found(meant, await navigator.context(meant.navigation_id), None)
    finally:
        with anyio.CancelScope(shield=True):
            await navigator.aclose()
