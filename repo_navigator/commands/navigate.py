"""`navigate`: find the code for a goal and print it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from mcp_server.errors import MODEL_FAILED
from mcp_server.logs import log_to_stderr
from mcp_server.report_text import status_of
from mcp_server.settings import Settings
from navigator.errors import ModelFailedError
from navigator.picture.page import saved_page
from navigator.state.labels import EMBEDDED
from navigator.state.reports import NavigatorOutput, Progress, StopReason
from repo_map.cache import replace_text, require_writable
from repo_navigator.context_json import context_data
from repo_navigator.follow_up import FollowUp, follow_up, show_follow_up
from repo_navigator.index_behind import index_behind
from repo_navigator.interactive import InteractivePrompt
from repo_navigator.navigate_options import Continued, NavigateOptions
from repo_navigator.printing import show_context, stderr_console
from repo_navigator.stored_navigations import select_navigation
from repo_navigator.terminal import CANCELLED
from repo_navigator.terminal_report import TerminalReport, closing, cost_line
from repo_navigator.use_navigator import use_navigator

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.picture.page import PictureData
    from navigator.planner.request import ValidRequest
    from navigator.state.reports import TurnReport


OPTIONS = NavigateOptions


def run(options: NavigateOptions, settings: Settings) -> int:
    """Navigate, and print the context: alone on stdout, or within a JSON object."""
    log_to_stderr(settings.log_level, settings.log_format)
    started = time.perf_counter()
    files = list(options.files())
    asked = options.asked(settings)
    for file in files:
        require_writable(file)
    if isinstance(asked, Continued) and asked.words and not options.interactive:
        return _follow_up(asked, options, settings, started)
    result = NavigationResult()
    try:
        use_navigator(settings, partial(_navigate, asked, options, result))
    except KeyboardInterrupt:
        result.cancelled = True
        if result.output is None:
            raise
    except ModelFailedError as error:
        # What the steps before have found is paid for, and good.
        result.failed = str(error)
        if result.output is None:
            raise
    _print(result, options, time.perf_counter() - started)
    index_behind(result.unread if settings.use_cache else ())
    if result.cancelled and options.interactive:
        # The thread that waits for the user's answer would keep the process until it comes.
        sys.stdout.flush()
        os._exit(CANCELLED)
    return result.exit_code


def _print(result: NavigationResult, options: NavigateOptions, seconds: float) -> None:
    """Print the context with what is to be known of it, and write the files that are asked for beside it."""
    output = result.output
    assert output is not None
    if options.json:
        notes = [*([result.failed] if result.failed else []), *output.notes]
        options.write_json(context_data(output, seconds, result.status, notes))
    else:
        below, console = closing(output, seconds), stderr_console()
        pages = not (options.interactive or options.no_pager)
        show_context(output.context_string, options.output, below=below, pages=pages)
        if note := "Cancelled; this is what was done before." if result.cancelled else result.failed:
            console.print(note, style="bold yellow", markup=False)
        if not options.quiet:
            # Who was asked after each step has seen the rest.
            console.print(cost_line(output, seconds) if options.interactive else below, soft_wrap=True)
    _save(options, output, result.picture)


def _follow_up(asked: Continued, options: NavigateOptions, settings: Settings, started: float) -> int:
    """Do what `context --feedback` does: take the step that words ask for, and print what is new."""

    async def followed_up(navigator: Navigator) -> tuple[FollowUp, PictureData | None]:
        selected = await select_navigation(navigator, asked.named, asked.folder, must_be_here=True)
        found = await follow_up(navigator, selected, asked.words, updates=asked.updates)
        return found, await navigator.picture(selected.navigation_id) if options.html else None

    found, picture = use_navigator(settings, followed_up)
    show_follow_up(found, options, time.perf_counter() - started)
    _save(options, found.whole, picture)
    return 0


def _save(options: NavigateOptions, output: NavigatorOutput, picture: PictureData | None) -> None:
    if options.save_plan:
        replace_text(Path(options.save_plan), output.flight_plan_yaml)
    if options.html and picture is not None:
        replace_text(Path(options.html), saved_page(picture))


@dataclass
class NavigationResult:
    """What a navigation has come to, also when it is interrupted."""

    navigation_id: str = ""
    output: NavigatorOutput | None = field(default=None)
    picture: PictureData | None = field(default=None)
    unread: tuple[str, ...] = ()
    """Repositories of which a first look has answered, and that are not read whole."""
    cancelled: bool = False
    failed: str = ""
    """Why no model answered at the end."""

    @property
    def status(self) -> str:
        """How it ended, as ``--json`` calls it."""
        assert self.output is not None
        return (
            "cancelled" if self.cancelled else "error" if self.failed else status_of(self.output.stop_reason)
        )

    @property
    def exit_code(self) -> int:
        """What the command ends with."""
        reason = None if self.output is None else self.output.stop_reason
        if self.cancelled or reason is StopReason.CANCELLED:
            return CANCELLED
        return MODEL_FAILED if self.failed or reason is StopReason.ERROR else 0


async def _navigate(
    asked: ValidRequest | Continued,
    options: NavigateOptions,
    result: NavigationResult,
    navigator: Navigator,
) -> None:
    """Open a navigation, or take up a stored one, and take its steps."""
    words = ""
    try:
        if isinstance(asked, Continued):
            selected = await select_navigation(navigator, asked.named, asked.folder, must_be_here=True)
            if selected.message and not options.quiet:
                stderr_console().print(selected.message, style="dim", markup=False)
            result.navigation_id, words = selected.navigation_id, asked.words
        else:
            with _spinner("Reading the repository") as progress:
                result.navigation_id = await navigator.open(asked, on_progress=progress)
        try:
            await _steps(navigator, options, result.navigation_id, words)
        finally:
            # Ctrl-C keeps what was done: the last completed step is read back before the end.
            with anyio.CancelScope(shield=True):
                result.output = await navigator.context(result.navigation_id)
                if options.html:
                    result.picture = await navigator.picture(result.navigation_id)
    finally:
        result.unread = navigator.background_indexing()


async def _steps(navigator: Navigator, options: NavigateOptions, navigation_id: str, words: str) -> None:
    """Take steps until the navigation ends; of a conversation ``words`` are the first that are said."""
    is_stored = options.continued is not None
    console = stderr_console()
    conversation = InteractivePrompt(navigator, navigation_id, console) if options.interactive else None
    panels = TerminalReport(is_followed=conversation is None)
    if is_stored and options.updates:
        await navigator.step(navigation_id, updates=options.updates)
    report = await navigator.report(navigation_id) if is_stored else None
    feedback: str | None = None
    # A stored navigation may have ended; a user who resumes it is asked at least once.
    is_taken_up = report is not None and conversation is not None
    if report is not None and (conversation is not None or _shows_steps(options, report)):
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
        if conversation is not None or _shows_steps(options, report):
            console.print(panels.of(report))
        if report.stop_reason is StopReason.USER:
            return


def _shows_steps(options: NavigateOptions, report: TurnReport) -> bool:
    """Whether a step is reported while others follow: one of a model that costs time and money, or any."""
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
