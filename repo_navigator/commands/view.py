"""``repo-navigator view``: a picture of a stored navigation or of a saved plan, as a page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.logs import log_to_stderr
from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from navigator.picture.page import saved_page, totals
from repo_map.cache import replace_text, require_writable
from repo_map.messages import one_line
from repo_navigator.commands.replay import replayed
from repo_navigator.options import argument, flag
from repo_navigator.printing import stderr_console
from repo_navigator.repository_arguments import further_repositories
from repo_navigator.stored_navigations import ID_START, select_navigation
from repo_navigator.terminal import is_input, print_text
from repo_navigator.use_navigator import use_navigator

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.picture.page import PictureData


@dataclass(frozen=True, kw_only=True)
class ViewOptions:
    """What is drawn, and where it is written."""

    subject: str | None = argument(
        "ID|PLAN",
        "id of a navigation, or a flight plan file, - for stdin (default: the latest navigation of "
        "this folder)",
    )
    repo: str | None = argument("REPO", "the plan's repository (default: this git work tree)")
    further: tuple[str, ...] = further_repositories()
    html: str | None = flag("--html", "FILE", "write the page to this file instead of stdout")


OPTIONS = ViewOptions


def run(options: ViewOptions, settings: Settings) -> int:
    """Write the picture; what it is of goes to stderr."""
    log_to_stderr(settings.log_level, settings.log_format)
    if options.html:
        require_writable(Path(options.html))
    data = _data(options, settings)
    if options.html:
        replace_text(Path(options.html), saved_page(data))
    else:
        print_text(saved_page(data))
    what = data["navigation_id"] or options.subject
    stderr_console().print(
        f"{what}: {totals(data)} in detail",
        style="bold",
        markup=False,
    )
    return 0


def _data(options: ViewOptions, settings: Settings) -> PictureData:
    subject = options.subject
    if subject is not None and not subject.startswith(ID_START):
        _require_plan(subject)
        from navigator.picture.data import picture_of_plan  # noqa: PLC0415 - only a plan is drawn here

        index, drawn, drift = replayed(subject, options.repo, options.further, None, settings)
        return picture_of_plan(index, drawn, drift)

    async def picture(navigator: Navigator) -> PictureData:
        selected = await select_navigation(navigator, subject, Path.cwd())
        return await navigator.picture(selected.navigation_id)

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
