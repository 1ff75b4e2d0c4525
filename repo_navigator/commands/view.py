"""Draw a picture of a stored navigation, or of a saved flight plan, as a page for a browser."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from navigator.picture.page import saved_page, totals
from repo_map.cache import replace_text, require_writable
from repo_map.messages import one_line
from repo_navigator.arguments import add_further
from repo_navigator.cli import Parser
from repo_navigator.commands.replay import replayed
from repo_navigator.navigations import ID_START, select_navigation, use_navigator
from repo_navigator.report import stderr_console
from repo_navigator.terminal import is_input, print_text

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.picture.page import PictureData


EXAMPLES = ("--html map.html", "plan.yaml . --html map.html")


def add_arguments(parser: Parser) -> None:
    """Add what is drawn, and where it is written."""
    parser.add_value(
        "subject",
        "ID|PLAN",
        "id of a navigation, or a flight plan file, - for stdin (default: the latest navigation of this "
        "folder)",
        nargs="?",
    )
    parser.add_value("repo", "REPO", "the plan's repository (default: this git work tree)", nargs="?")
    add_further(parser)
    parser.add_value("--html", "FILE", "write the page to this file instead of stdout")


def run(args: Namespace, settings: Settings) -> int:
    """Write the picture; what it is of goes to stderr."""
    if args.html:
        require_writable(Path(args.html))
    data = _data(args, settings)
    if args.html:
        replace_text(Path(args.html), saved_page(data))
    else:
        print_text(saved_page(data))
    what = data["navigation_id"] or args.subject
    stderr_console().print(
        f"{what}: {totals(data)} in detail",
        style="bold",
        markup=False,
    )
    return 0


def _data(args: Namespace, settings: Settings) -> PictureData:
    subject = args.subject
    if subject is not None and not subject.startswith(ID_START):
        _require_plan(subject)
        from navigator.picture.data import picture_of_plan  # noqa: PLC0415 - only a plan is drawn here

        index, drawn, drift = replayed(subject, args.repo, args.further, None, settings)
        return picture_of_plan(index, drawn, drift)

    async def picture(navigator: Navigator) -> PictureData:
        return await navigator.picture(await select_navigation(navigator, subject, Path.cwd(), quiet=True))

    return use_navigator(settings, picture)


def _require_plan(subject: str) -> None:
    """Make sure that what names no navigation names a file at least.

    Raises:
        InvalidRequestError: it names neither.
    """
    if not is_input(Path(subject)):
        raise InvalidRequestError(
            f"`{one_line(subject)}` is neither the id of a navigation, which begins with `{ID_START}`, nor "
            "the file of a flight plan; name one of them, or nothing for the latest navigation."
        )
