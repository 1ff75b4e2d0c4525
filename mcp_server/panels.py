"""Turn reports on a terminal: a panel per step on stderr, so that stdout carries the context alone."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from mcp_server.reporting import counted
from navigator.errors import StorageError
from repo_map.streams import drop_stdout, unwritten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from navigator.account import TokenAccount
    from navigator.reports import NavigatorOutput, TurnReport

HELP: Final = (
    "[y] next step  [n] stop here  [show] map  [plan] flight plan  [cost] costs  or say what is missing"
)
NO_CALLS: Final = "No model was called: the embedded planner costs nothing."
_SHOWN: Final = 8


def stderr_console() -> Console:
    """Return a console on stderr."""
    return Console(stderr=True, highlight=False)


class Panels:
    """The panels of one navigation's steps; what one has told, the next does not repeat."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._notes: set[str] = set()

    def of(self, report: TurnReport) -> Panel:
        """Return the panel of the next step."""
        lines = [Text(report.answer, style="green")] if report.answer else []
        # The last step's reasoning sums the map up already.
        is_summed_up = bool(report.sufficiency) and report.sufficiency in report.reasoning
        lines.append(Text(self._unsaid(report) if is_summed_up else report.reasoning))
        if report.focus and not is_summed_up:
            lines += _focus_lines(report)
        lines += _cut_lines(report)
        if aside := _aside(report, excluded=0 if is_summed_up else report.excluded_count):
            lines.append(Text(aside, style="dim"))
        if report.sufficiency and not is_summed_up:
            lines.append(Text(report.sufficiency, style="dim"))
        if report.ended:
            lines.append(Text(report.ended, style="bold"))
        lines += [Text(f"Note: {note}", style="yellow") for note in report.notes if note not in self._notes]
        self._files.update(f"- `{file.path}` (level {file.level}," for file in report.focus[:_SHOWN])
        self._notes.update(report.notes)
        return _panel(report, lines)

    def _unsaid(self, report: TurnReport) -> str:
        """Return the last step's words without the files that the panel before has just listed."""
        from navigator.planning import FOCUS_HEAD  # noqa: PLC0415 - a replay shows no panel

        told = tuple(self._files)
        lines = report.reasoning.split("\n")
        kept = [line for line in lines if not line.startswith(told)] if told else lines
        if len(kept) < len(lines) and not any(line.startswith("- ") for line in kept):
            kept = [line for line in kept if line != FOCUS_HEAD]
        return "\n".join(kept)


def _panel(report: TurnReport, lines: Sequence[Text]) -> Panel:
    files = counted(report.file_count, "file")
    size = f"{report.map_size_tokens:,} of {report.token_budget:,} tokens in {files}"
    cost = f"${report.cost_this_turn:.4f} this step, ${report.total_cost:.4f} in all"
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
        f"${report.total_cost:.4f} spent, ${report.budget_remaining:.4f} left; the map takes "
        f"{report.map_size_tokens:,} of {report.token_budget:,} tokens."
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
        f", {counted(usage.calls, 'model call')} ({usage.input:,} tokens in, {usage.output:,} out)"
        if usage.input or usage.output
        else ""
    )
    return (
        f"{output.token_count:,} of {output.token_budget:,} tokens, {counted(len(output.files), 'file')}, "
        f"{counted(output.total_iterations, 'step')}, ${output.total_cost:.4f}{calls}, {total_seconds:.1f} s"
    )


def print_context(text: str) -> None:
    """Print ``text`` on stdout as UTF-8, whatever the terminal's encoding."""
    data = text.encode("utf-8", "replace")
    try:
        sys.stdout.buffer.write(data if data.endswith(b"\n") else data + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_stdout()
        raise StorageError(unwritten(error)) from error


def _focus_lines(report: TurnReport) -> list[Text]:
    shown = [_file_line(file.path, file.level, file.tokens, file.reasons) for file in report.focus[:_SHOWN]]
    more = len(report.focus) - _SHOWN
    rest = [Text(f"  and {more} more", style="dim")] if more > 0 else []
    return [Text("In focus", style="bold"), *shown, *rest]


def _cut_lines(report: TurnReport) -> list[Text]:
    if not report.cuts:
        return []
    told = ", ".join(f"{cut.path} (+{cut.tokens_to_add:,})" for cut in report.cuts[:3])
    more = f" and {len(report.cuts) - 3} more" if len(report.cuts) > 3 else ""
    return [Text(f"Shown in less detail for lack of tokens: {told}{more}", style="yellow")]


def _file_line(path: str, level: int, tokens: int, reasons: tuple[str, ...]) -> Text:
    line = Text(f"  {path}", style="cyan")
    line.append(f"  level {level}, {tokens:,} tokens", style="default")
    if reasons:
        line.append(f"  {'; '.join(reasons)}", style="dim")
    return line


def _add_row(table: Table, step: str, model: str, account: TokenAccount, cost: Decimal) -> None:
    numbers = (account.calls, account.fresh, account.repeated, account.cached, account.output)
    table.add_row(step, model, *(f"{number:,}" for number in numbers), f"{cost:.6f}")


def _saving(account: TokenAccount) -> str:
    return (
        f"Role, rules, tools and goal are {account.initial:,} tokens. Sessions of one step would have sent "
        f"{account.step_scoped:,}; this one sent {account.sent:,}, {account.saved:.0%} less. "
        f"{account.wasted:.0%} of all tokens said nothing new."
    )


def _aside(report: TurnReport, excluded: int) -> str:
    """Return how many files the map does not show, and why; those excluded where nothing else tells it."""
    by_plan = f"{counted(excluded, 'file')} excluded by the plan" if excluded else ""
    left_out = f"{counted(report.left_out, 'file')} left out for lack of tokens" if report.left_out else ""
    return ", ".join(filter(None, (by_plan, left_out)))
