"""`navigate`, with panels and the prompt between steps."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.to_thread
from rich.console import Console, Group
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from mcp_server.errors import MODEL_FAILED
from mcp_server.loading import load_navigator
from mcp_server.logs import log_to_stderr
from mcp_server.report_text import status_of
from mcp_server.settings import Settings
from navigator.arguments import require_goal
from navigator.errors import InvalidRequestError, ModelFailedError
from navigator.money import dollars
from navigator.picture.page import saved_page
from navigator.reports import NavigatorOutput, Progress, StopReason, TurnReport
from navigator.settings import DEFAULT_MAX_STEPS, DEFAULT_TOKEN_BUDGET, NavigationRequest
from repo_map.atomic_files import replace_text, require_writable
from repo_map.messages import counted
from repo_map.plan.levels import level_word
from repo_navigator.repository_arguments import add_further, named_here
from repo_navigator.terminal import (
    CANCELLED,
    FlagParser,
    ending_at_once,
    nonempty,
    number,
    print_text,
    read_input,
    read_plan,
    whole_number,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from navigator.navigator import Navigator
    from navigator.picture.text import PictureData
    from navigator.reports import NavigatorOutput, TurnReport
    from navigator.token_usage import TokenAccount


HELP: Final = (
    "[y] next step  [n] stop here  [show] map  [plan] flight plan  [cost] costs  or say what is missing"
)
NO_CALLS: Final = "No model was called: the embedded planner costs nothing."
_SHOWN: Final = 8


def stderr_console() -> Console:
    """Return a console on stderr."""
    return Console(stderr=True, highlight=False)


class TerminalReport:
    """The panels of one navigation's steps; what one has told, the next does not repeat."""

    def __init__(self) -> None:
        self._files: set[tuple[str, int]] = set()
        """Paths that a panel has listed, each with the level that it was shown at then."""
        self._notes: set[str] = set()
        self._step = -1

    def of(self, report: TurnReport) -> Panel:
        """Return the panel of the next step, or of the answer where no step was taken."""
        if report.step_number == self._step:
            return Panel(Text(report.answer, style="green"), title="No step taken", title_align="left")
        self._step = report.step_number
        lines = [Text(report.answer, style="green")] if report.answer else []
        lines += [Text(each) for each in report.impact if each not in self._notes]
        # The last step's reasoning sums the map up already.
        is_summed_up = bool(report.sufficiency) and report.sufficiency in report.reasoning
        lines.append(Text(self._summary(report) if is_summed_up else report.reasoning))
        if report.focus and not is_summed_up:
            lines += _focus_lines(report)
        lines += _cut_lines(report)
        if aside := _aside(report, excluded=0 if is_summed_up else report.excluded_count):
            lines.append(Text(aside, style="dim"))
        if report.sufficiency and not is_summed_up:
            lines.append(Text(report.sufficiency, style="dim"))
        if report.ended:
            lines.append(Text(report.ended, style="bold"))
            lines += _menu_lines(report)
        lines += [Text(f"Note: {note}", style="yellow") for note in report.notes if note not in self._notes]
        self._files.update((file.path, file.level) for file in report.focus[:_SHOWN])
        self._notes.update((*report.notes, *report.impact))
        return _panel(report, lines)

    def _summary(self, report: TurnReport) -> str:
        """Return the last step's words without the files that a panel before has listed."""
        from navigator.planner import without_files  # noqa: PLC0415 - a replay shows no panel

        return without_files(report.reasoning, self._files)


def _panel(report: TurnReport, lines: Sequence[Text]) -> Panel:
    files = counted(report.file_count, "file")
    size = f"{report.map_size_tokens:,} of {counted(report.map_token_budget, 'token')} in {files}"
    cost = f"{dollars(report.cost_this_turn)} this step, {dollars(report.total_cost)} in all"
    return Panel(
        Group(*lines),
        title=f"Step {report.step_number} · {report.last_action} · {report.model}",
        title_align="left",
        subtitle=f"{size} · {cost}",
        subtitle_align="left",
    )


def budget_line(report: TurnReport) -> str:
    """Return what is left of the limits."""
    return (
        f"{dollars(report.total_cost)} spent, {dollars(report.budget_remaining)} left; the map takes "
        f"{report.map_size_tokens:,} of {counted(report.map_token_budget, 'token')}."
    )


def cost_table(reports: Sequence[TurnReport]) -> Table | Text:
    """Return what each step sent, was answered and cost, and what sessions of one step would have sent."""
    *_, last = reports
    account = last.account
    if not account.calls:
        return Text(NO_CALLS)
    table = Table(box=None, header_style="bold", caption=_saving(account), caption_justify="left")
    table.add_column("step")
    table.add_column("model")
    for name in ("calls", "sent new", "repeated", "cached", "answered", "US dollars"):
        table.add_column(name, justify="right")
    before = reports[0].account
    for report in reports[1:]:
        _add_row(
            table, str(report.step_number), report.model, report.account.minus(before), report.cost_this_turn
        )
        before = report.account
    table.add_section()
    _add_row(table, "all", "", account, last.total_cost)
    return table


def cost_line(output: NavigatorOutput, total_seconds: float) -> str:
    """Return what a whole navigation took."""
    usage = output.total_usage
    # The embedded planner reads and writes no tokens, and of the host's own model nobody tells.
    calls = (
        f", {counted(usage.calls, 'model call')} ({counted(usage.input, 'token')} in, {usage.output:,} out)"
        if usage.input or usage.output
        else ""
    )
    size = f"{output.token_count:,} of {counted(output.map_token_budget, 'token')}"
    return (
        f"{size}, {counted(len(output.files), 'file')}, {counted(output.total_iterations, 'step')}, "
        f"{dollars(output.total_cost)}{calls}, {total_seconds:.1f} s"
    )


def write_or_print(text: str, file: str | None) -> None:
    """Write ``text`` to ``file`` as a whole, or print it on stdout where there is none."""
    if file is None:
        print_text(text if text.endswith("\n") else f"{text}\n")
    else:
        replace_text(Path(file), text if text.endswith("\n") else f"{text}\n")


def _menu_lines(report: TurnReport) -> list[Text]:
    """Return the first places of the menu, and how to ask for them."""
    if not report.menu:
        return []
    shown = report.menu[:_SHOWN]
    lines = [
        Text('Not shown (`repo-navigator context --feedback "1, 3"` adds their source, +N tokens each):'),
        *(
            Text(f"  {place.number} {place.path}:{place.first} {place.head} +{place.tokens:,}")
            for place in shown
        ),
    ]
    if len(report.menu) > len(shown):
        lines.append(Text(f"  and {counted(len(report.menu) - len(shown), 'more place')}, listed by --json"))
    return lines


def _focus_lines(report: TurnReport) -> list[Text]:
    shown = [_file_line(file.path, file.level, file.tokens, file.reasons) for file in report.focus[:_SHOWN]]
    more = len(report.focus) - _SHOWN
    rest = [Text(f"  and {more} more", style="dim")] if more > 0 else []
    return [Text("In focus", style="bold"), *shown, *rest]


def _cut_lines(report: TurnReport) -> list[Text]:
    if not report.cuts:
        return []
    message = ", ".join(f"{cut.path} (about +{cut.tokens_to_add:,})" for cut in report.cuts[:3])
    more = f" and {len(report.cuts) - 3} more" if len(report.cuts) > 3 else ""
    return [Text(f"Shown in less detail for lack of tokens: {message}{more}", style="yellow")]


def _file_line(path: str, level: int, tokens: int, reasons: tuple[str, ...]) -> Text:
    line = Text(f"  {path}", style="cyan")
    line.append(f"  {level_word(level)}, {counted(tokens, 'token')}", style="default")
    if reasons:
        line.append(f"  {'; '.join(reasons)}", style="dim")
    return line


def _add_row(table: Table, step: str, model: str, account: TokenAccount, cost: Decimal) -> None:
    numbers = (account.calls, account.fresh, account.repeated, account.cached, account.output)
    table.add_row(step, model, *(f"{number:,}" for number in numbers), dollars(cost))


def _saving(account: TokenAccount) -> str:
    return (
        f"Role, rules, tools and goal are {account.initial:,} tokens. Sessions of one step would have sent "
        f"{account.step_scoped:,}; this one sent {account.sent:,}, {abs(account.saved):.0%} "
        f"{'less' if account.saved >= 0 else 'more'}. "
        f"{account.wasted:.0%} of all tokens said nothing new."
    )


def _aside(report: TurnReport, excluded: int) -> str:
    """Return how many files the map does not show, and why; those excluded where nothing else tells it."""
    by_plan = f"{counted(excluded, 'file')} excluded by the plan" if excluded else ""
    left_out = f"{counted(report.left_out, 'file')} left out for lack of tokens" if report.left_out else ""
    return ", ".join(filter(None, (by_plan, left_out)))


_YES: Final = frozenset({"", "y", "yes"})
_NO: Final = frozenset({"n", "no", "q", "quit"})


class InteractivePrompt:
    """Asks how to go on, and shows what the user wants to see first."""

    def __init__(self, navigator: Navigator, navigation_id: str, console: Console) -> None:
        self._navigator = navigator
        self._navigation_id = navigation_id
        self._console = console

    async def ask(self) -> str | None:
        """Return the user's feedback, empty for just going on, None for stopping here."""
        while True:
            self._console.print(HELP, style="dim", markup=False)
            self._console.print("> ", end="")
            answer = await anyio.to_thread.run_sync(_line, abandon_on_cancel=True)
            if answer is None or answer.lower() in _NO:
                return None
            if answer.lower() in _YES:
                return ""
            if answer.lower() in ("show", "plan", "cost"):
                await self._show(answer.lower())
            else:
                return answer.removeprefix("feedback").lstrip(": ").strip()

    async def _show(self, what: str) -> None:
        if what == "cost":
            reports = await self._navigator.decisions(self._navigation_id)
            self._console.print(budget_line(reports[-1]))
            self._console.print(cost_table(reports))
            return
        output = await self._navigator.context(self._navigation_id)
        if what == "plan":
            self._console.print(
                Syntax(output.flight_plan_yaml, "yaml", background_color="default", word_wrap=True)
            )
        else:
            self._console.print(output.context_string, markup=False, soft_wrap=True)


def _line() -> str | None:
    line = sys.stdin.readline()
    return line.strip() if line else None


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
        help="the repository's folder, or its name; FOLDER@REF reads a commit",
    )
    add_further(parser)
    goal = parser.add_alternatives(required=False)
    goal.add_argument("words", metavar="GOAL", nargs="?", help="the task, in your own words")
    goal.add_argument("--goal", metavar="TEXT", help="the task, by a flag; it may then look like one")
    goal.add_argument("--goal-file", metavar="FILE", help="file with the task; - reads stdin")
    goal.add_argument(
        "--continue",
        dest="continued",
        metavar="ID",
        type=nonempty,
        help="go on with a stored navigation, by the id that it ended with; no REPO then",
    )
    changes = parser.add_alternatives(required=False)
    changes.add_argument(
        "--since",
        dest="changes",
        metavar="REF",
        type=nonempty,
        help="show what relies on all changes since a commit, or a range (main..HEAD); no goal is needed",
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
        help=f"most tokens of the context ({DEFAULT_TOKEN_BUDGET})",
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
    parser.add_argument("-o", "--output", metavar="FILE", help="write the context there, not to stdout")
    parser.add_argument("--html", metavar="FILE", help="write a picture of the map there, as a page")
    parser.add_argument(
        "--interactive",
        action="store_true",
        help="ask after every step how to go on: further, in words, or stop",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object, with all that is known, in place of text"
    )


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Navigate, and print the context: alone on stdout, or within a JSON object."""
    log_to_stderr(settings.log_level, settings.log_format)
    started = time.perf_counter()
    request = None if options.continued else _checked_request(options, settings)
    for file in filter(None, (options.save_plan, options.output, options.html)):
        require_writable(Path(file))
    # Outside the event loop, where Ctrl-C interrupts at once.
    with ending_at_once("repo-navigator"):
        navigator = load_navigator(settings)
    flight = NavigationResult()
    cancelled, failed = False, ""
    try:
        anyio.run(_fly, navigator, request, options, flight)
    except KeyboardInterrupt:
        cancelled = True
        if flight.output is None:
            raise
    except ModelFailedError as error:
        # What the steps before have found is paid for, and good.
        failed = str(error)
        if flight.output is None:
            raise
    assert flight.output is not None
    seconds = time.perf_counter() - started
    status = "cancelled" if cancelled else "error" if failed else status_of(flight.output.stop_reason)
    if options.json:
        notes = [*([failed] if failed else []), *flight.output.notes]
        message = output_object(flight.output, seconds, status, notes)
        write_or_print(json.dumps(message, ensure_ascii=False), options.output)
    else:
        write_or_print(flight.output.context_string, options.output)
        note = "Cancelled; this is what was done before. " if cancelled else f"{failed} " if failed else ""
        stderr_console().print(f"{note}{cost_line(flight.output, seconds)}", style="bold")
    _save(options, flight.output, flight.picture)
    if cancelled and options.interactive:
        # The thread that waits for the user's answer would keep the process until it comes.
        sys.stdout.flush()
        os._exit(CANCELLED)
    if cancelled or flight.output.stop_reason is StopReason.CANCELLED:
        return CANCELLED
    return MODEL_FAILED if failed or flight.output.stop_reason is StopReason.ERROR else 0


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


async def _fly(
    navigator: Navigator,
    request: NavigationRequest | None,
    options: argparse.Namespace,
    flight: NavigationResult,
) -> None:
    """Open a navigation, or take up the stored one where there is no request, and take its steps."""
    try:
        if request is None:
            flight.navigation_id = options.continued
        else:
            with _spinner("Reading the repository") as progress:
                flight.navigation_id = await navigator.open(request, on_progress=progress)
        try:
            await _steps(navigator, options, flight.navigation_id)
        finally:
            # Ctrl-C keeps what was done: the last completed step is read back before the end.
            with anyio.CancelScope(shield=True):
                flight.output = await navigator.context(flight.navigation_id)
                if options.html:
                    flight.picture = await navigator.picture(flight.navigation_id)
    finally:
        with anyio.CancelScope(shield=True):
            await navigator.aclose()


async def _steps(navigator: Navigator, options: argparse.Namespace, navigation_id: str) -> None:
    console = stderr_console()
    conversation = InteractivePrompt(navigator, navigation_id, console) if options.interactive else None
    panels = TerminalReport()
    if options.continued and options.line_numbers:
        await navigator.step(navigation_id, updates=NUMBERED)
    report = await navigator.report(navigation_id) if options.continued else None
    feedback: str | None = None
    # A stored navigation may have ended; whoever takes it up to talk is asked at least once.
    is_taken_up = report is not None and conversation is not None
    if report is not None and not options.json:
        console.print(panels.of(report))
    # Who has just said something is asked again, also where the planner has nothing more to improve.
    while report is None or report.stop_reason is None or feedback or is_taken_up:
        is_taken_up = False
        if conversation is not None and report is not None:
            feedback = await conversation.ask()
            if feedback is None:
                await navigator.step(navigation_id, action="finish")
                return
            if not feedback and report.stop_reason is not None:
                return
        with _spinner("Deciding the next step") as progress:
            report = await navigator.step(navigation_id, feedback=feedback or None, on_progress=progress)
        # Who talks is answered, whatever stdout is to hold.
        if not options.json or conversation is not None:
            console.print(panels.of(report))
        if report.stop_reason is StopReason.USER:
            return


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
    if options.repo is None:
        raise InvalidRequestError("REPO is missing: name the repository's folder before the goal.")
    stated = options.words if options.goal is None else options.goal
    goal = stated or ""
    if stated is None and options.goal_file is not None:
        goal = _read_goal(options.goal_file)
    plan = None if options.plan is None else read_plan(Path(options.plan))
    tokens = settings.token_budget if options.token_budget is None and plan is None else options.token_budget
    return NavigationRequest(
        goal=goal if options.changes else require_goal(goal),
        repo_path=named_here([options.repo, *options.further], settings),
        token_budget=tokens,
        max_cost_usd=settings.max_cost_usd if options.max_cost_usd is None else options.max_cost_usd,
        mode="interactive" if options.interactive else "autonomous",
        model=options.model,
        flight_plan=plan,
        max_steps=DEFAULT_MAX_STEPS if options.max_steps is None else options.max_steps,
        fill=options.fill,
        line_numbers=options.line_numbers,
        changes=options.changes,
    )


def _checked_request(options: argparse.Namespace, settings: Settings) -> NavigationRequest:
    """Return what is asked for; what can't be used is refused before anything takes time."""
    from navigator.model_names import require_key  # noqa: PLC0415 - nothing else of this module needs them
    from navigator.request import checked  # noqa: PLC0415 - as above

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
        "flight_plan_yaml": output.flight_plan_yaml,
        "sufficiency": output.sufficiency,
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
