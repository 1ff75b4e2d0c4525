"""The steps of one `navigate`, and what its user is asked between them."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import anyio.to_thread
from rich.syntax import Syntax

from navigator.state.labels import EMBEDDED
from navigator.state.reports import Progress, StopReason
from repo_navigator.report import TerminalReport, budget_line, cost_table, stderr_console

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.state.reports import TurnReport

_PROMPT: Final = (
    "[y] next step  [n] stop here  [show] map  [plan] flight plan  [cost] costs  "
    "or a name, drop X, callers of X, …"
)
_YES: Final = frozenset({"", "y", "yes"})
_NO: Final = frozenset({"n", "no", "q", "quit"})


async def take_steps(
    navigator: Navigator, navigation_id: str, args: Namespace, max_tokens: int | None = None
) -> None:
    """Take steps until the navigation ends; with ``--interactive`` the user is asked after each."""
    console, panels = (
        stderr_console(),
        TerminalReport(is_followed=not args.interactive, max_tokens=max_tokens),
    )
    report: TurnReport | None = None
    feedback: str | None = None
    # Who has just said something is asked again, also where the planner has nothing more to improve.
    while report is None or report.stop_reason is None or feedback:
        if args.interactive and report is not None:
            feedback = await _ask(navigator, navigation_id)
            if feedback is None:
                await navigator.step(navigation_id, action="finish")
                return
            if not feedback and report.stop_reason is not None:
                return
        with spinner("Deciding the next step") as progress:
            report = await navigator.step(
                navigation_id,
                feedback=feedback or None,
                refresh=bool(feedback),
                on_progress=progress,
            )
        if _shows(args, report):
            console.print(panels.of(report))
        if report.stop_reason is StopReason.USER:
            return


def _shows(args: Namespace, report: TurnReport) -> bool:
    """Return whether a step is reported: where users are asked, those of a model, which cost, or all."""
    is_wanted = args.verbose or report.model != EMBEDDED
    return args.interactive or (is_wanted and not args.json and not args.quiet)


async def _ask(navigator: Navigator, navigation_id: str) -> str | None:
    """Return the user's feedback, empty to just go on, None to stop here."""
    console = stderr_console()
    while True:
        console.print(_PROMPT, style="dim", markup=False)
        console.print("> ", end="")
        line: str = await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
        answer = line.strip()
        match answer.lower():
            case word if not line or word in _NO:
                return None
            case word if word in _YES:
                return ""
            case "cost":
                reports = await navigator.decisions(navigation_id)
                console.print(budget_line(reports[-1]))
                console.print(cost_table(reports))
            case "plan":
                plan = (await navigator.context(navigation_id)).flight_plan_yaml
                console.print(Syntax(plan, "yaml", background_color="default", word_wrap=True))
            case "show":
                context = (await navigator.context(navigation_id)).context_string
                console.print(context, markup=False, soft_wrap=True)
            case _:
                return answer.removeprefix("feedback").lstrip(": ").strip()


@contextmanager
def spinner(doing: str) -> Iterator[Any]:
    """Show on a terminal what is done; yields what takes the progress of the work."""
    console = stderr_console()

    async def ignore(_: Progress) -> None: ...

    if not console.is_terminal:
        yield ignore
        return
    with console.status(doing) as status:

        async def show(progress: Progress) -> None:
            status.update(progress.message)

        yield show
