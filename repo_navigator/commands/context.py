"""``repo-navigator context``: print what a stored navigation found, or its plan; go on with it in words."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.logs import log_to_stderr
from mcp_server.report_text import status_of
from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from repo_navigator.context_json import context_data
from repo_navigator.follow_up import FollowUp, follow_up, show_follow_up
from repo_navigator.options import PagedOptions, argument, flag, switch
from repo_navigator.printing import show_context, stderr_console
from repo_navigator.stored_navigations import ID_START, SelectedNavigation, select_navigation
from repo_navigator.terminal_report import closing
from repo_navigator.use_navigator import use_navigator

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.state.reports import NavigatorOutput


@dataclass(frozen=True, kw_only=True)
class ContextOptions(PagedOptions):
    """Which navigation is shown, and what is said to it."""

    navigation: str | None = argument(
        "ID",
        "id of the navigation, which `navigate` prints last (default: the latest of this folder, "
        "else of all)",
    )
    feedback: str | None = flag(
        "--feedback",
        "TEXT",
        "take one more step: `3, 7`, a name, `drop X`, `callers of X`; print what is new",
    )
    all: bool = switch("--all", "after --feedback, print the whole context, not only what is new")
    plan: bool = switch("--plan", "print the flight plan instead of the context")


OPTIONS = ContextOptions


def run(options: ContextOptions, settings: Settings) -> int:
    """Print the stored context, what words add to it, its plan or a JSON object; the rest goes to stderr."""
    log_to_stderr(settings.log_level, settings.log_format)
    _require_id(options.navigation)
    started = time.perf_counter()

    async def read(navigator: Navigator) -> tuple[SelectedNavigation, NavigatorOutput, FollowUp | None]:
        selected = await select_navigation(navigator, options.navigation, Path.cwd())
        if options.feedback:
            found = await follow_up(navigator, selected, options.feedback, updates=options.updates)
            return selected, found.whole, found
        if options.updates:
            await navigator.step(selected.navigation_id, updates=options.updates)
        return selected, await navigator.context(selected.navigation_id), None

    takes_steps = bool(options.feedback or options.updates)
    selected, output, found = use_navigator(settings, read, takes_steps=takes_steps)
    seconds = time.perf_counter() - started
    if found is not None and (options.json or not options.plan):
        show_follow_up(found, options, seconds, is_whole=options.all)
    elif options.json:
        data = context_data(output, seconds, status_of(output.stop_reason), output.notes)
        options.write_json({**data, "answer": "", "understood": None})
    elif options.plan:
        options.write(output.flight_plan_yaml)
        if found is not None and not options.quiet:
            stderr_console().print(found.answer, style="green", markup=False)
        _close(options, selected, output)
    else:
        below = closing(output, output.seconds.total)
        show_context(output.context_string, options.output, below=below, pages=not options.no_pager)
        _close(options, selected, output)
    return 0


def _close(options: ContextOptions, selected: SelectedNavigation, output: NavigatorOutput) -> None:
    if not options.quiet:
        console = stderr_console()
        if selected.message:
            console.print(selected.message, style="dim", markup=False)
        console.print(closing(output, output.seconds.total), soft_wrap=True)


def _require_id(named: str | None) -> None:
    """Refuse words in the place of an id."""
    if named and not named.startswith(ID_START) and len(named.split()) > 1:
        raise InvalidRequestError(
            f"`{named}` is not a navigation's id; words for the latest one go behind --feedback: "
            f'`repo-navigator context --feedback "{named}"`.',
            argument="navigation_id",
        )
