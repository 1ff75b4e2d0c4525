"""Print a navigation on a terminal: its context, a panel for each step, and a summary at the end."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from navigator.planner.outline_text import STAR, SUREST, outline_text
from navigator.state.labels import action_word, decider_word, dollars
from repo_map.messages import first_three, plural
from repo_map.outline.rendering import ELISION, MARK, path_in_header
from repo_map.plan.levels import level_label
from repo_navigator.terminal import print_text, write_or_print

if TYPE_CHECKING:
    from navigator.state.reports import CutReport, NavigatorOutput, OutlineEntry, TurnReport

_BY_NUMBER: Final = "repo-navigator show 1 3 prints source"
_SHOWN: Final = 8
"""Files that are listed at most; `--json` lists all."""


def stderr_console() -> Console:
    """Return a console on stderr."""
    return Console(stderr=True, highlight=False)


def show_context(text: str, file: str | None) -> None:
    """Write a context to ``file``, or print it, with headers that stand out on a terminal."""
    if file is not None or not sys.stdout.isatty():
        write_or_print(text, file)
        return
    console = Console(highlight=False)
    with console.capture() as captured:
        console.print(_highlighted(text), soft_wrap=True, end="" if text.endswith("\n") else "\n")
    print_text(captured.get())


def _highlighted(text: str) -> Text:
    shown, start = Text(text), 0
    for line in text.split("\n"):
        end = start + len(line)
        if (path := path_in_header(line)) is not None:
            named = start + len(f"{MARK} {path}")
            shown.stylize("bold cyan", start, named)
            shown.stylize("dim", named, end)
        elif line.startswith(ELISION):
            shown.stylize("dim", start, end)
        start = end + 1
    return shown


class TerminalReport:
    """The panels of one navigation's steps; what one has told, the next does not repeat."""

    def __init__(self, *, is_followed: bool = False, max_tokens: int | None = None) -> None:
        self._max_tokens = max_tokens
        """Of a first answer, if it is smaller than later ones."""
        self._is_followed = is_followed
        """Whether ``closing`` follows, which tells how the navigation ended."""
        self._told: set[str] = set()
        self._step = -1

    def of(self, report: TurnReport) -> Panel:
        """Return the panel of the next step, or of the answer where no step was taken."""
        if report.step_number == self._step:
            return Panel(Text(report.answer, style="green"), title="No step taken", title_align="left")
        self._step = report.step_number
        lines = [Text(report.answer, style="green")] if report.answer else []
        lines += [Text(each) for each in report.impact if each not in self._told]
        lines.append(Text(report.reasoning))
        if report.sufficiency not in report.reasoning:
            # Else the reasoning sums the map up.
            lines += _focus_lines(report)
            lines += [] if self._is_followed else [Text(report.sufficiency, style="dim")]
        lines += _cut_lines(report.cuts)
        if report.ended and not self._is_followed:
            lines += [Text(report.ended, style="bold"), *_outline_lines(report.outline, report.tests)]
        lines += _note_lines(note for note in report.notes if note not in self._told)
        self._told.update((*report.notes, *report.impact))
        limit = min(self._max_tokens or report.map_token_budget, report.map_token_budget)
        size = f"{report.map_size_tokens:,} of {plural(limit, 'token')}"
        cost = f"{dollars(report.cost_this_turn)} this step, {dollars(report.total_cost)} in all"
        title = (
            f"Step {report.step_number} · {action_word(report.last_action)} · {decider_word(report.model)}"
        )
        return Panel(
            Group(*lines),
            title=title,
            title_align="left",
            subtitle=f"{size} in {plural(report.file_count, 'file')} · {cost}",
            subtitle_align="left",
        )


def closing(output: NavigatorOutput, total_seconds: float) -> Group:
    """Return the lines below a context: confidence, outline, notes and cost."""
    took = Text(cost_line(output, total_seconds), style="bold")
    budget = plural(output.map_token_budget, "token")
    is_empty = bool(output.outline) and not output.context_string.strip()
    empty = f"No source fits into {budget}; navigate with larger --tokens, or without." if is_empty else ""
    return Group(
        *(Text(each) for each in (*output.impact, output.sufficiency, output.ended, empty) if each),
        *_cut_lines(output.cuts),
        *_outline_lines(output.outline, output.tests),
        *_note_lines(output.notes),
        took.append(f"  {output.navigation_id}", style="dim not bold"),
    )


def budget_line(report: TurnReport) -> str:
    """Return what is left of the limits."""
    return (
        f"{dollars(report.total_cost)} spent, {dollars(report.budget_remaining)} left; the map takes "
        f"{report.map_size_tokens:,} of {plural(report.map_token_budget, 'token')}."
    )


def cost_table(reports: Sequence[TurnReport]) -> Table | Text:
    """Return what each step sent, was answered and cost."""
    *_, last = reports
    total = last.total_usage
    if not total.calls:
        return Text("No model was called, so nothing was spent.")
    cached = total.cached / total.input if total.input else 0
    caption = f"{cached:.0%} of what was sent came from a cache."
    table = Table(box=None, header_style="bold", caption=caption, caption_justify="left")
    for name in ("step", "model", "calls", "sent", "cached", "answered", "US dollars"):
        table.add_column(name)
    rows = [(str(each.step_number), each.model, each.usage, each.cost_this_turn) for each in reports[1:]]
    for step, model, usage, cost in (*rows, ("all", "", total, last.total_cost)):
        numbers = (usage.calls, usage.input, usage.cached, usage.output + usage.thinking)
        table.add_row(step, model, *(f"{number:,}" for number in numbers), dollars(cost))
    return table


def cost_line(output: NavigatorOutput, total_seconds: float) -> str:
    """Return size, steps, cost and time of a navigation in one line."""
    usage = output.total_usage
    # The embedded planner reads and writes no tokens, and the client's own model reports none.
    calls = (
        f", {plural(usage.calls, 'model call')} ({plural(usage.input, 'token')} in, {usage.output:,} out)"
        if usage.input or usage.output
        else ""
    )
    size = f"{output.token_count:,} of {plural(output.map_token_budget, 'token')}"
    return (
        f"{size}, {plural(len(output.files), 'file')}, {plural(output.total_iterations, 'step')}, "
        f"{dollars(output.total_cost)}{calls}, {total_seconds:.1f} s"
    )


def _outline_lines(outline: Sequence[OutlineEntry], tests: str) -> list[Text]:
    """Return the outline, headed by the use of its numbers."""
    lines = outline_text(outline, tests)
    head = f"{_BY_NUMBER}; {SUREST}" if STAR.search(lines) else _BY_NUMBER
    return [Text(f"Outline ({head}):"), Text(lines)] if outline else []


def _note_lines(notes: Iterable[str]) -> list[Text]:
    return [Text(f"Note: {note}", style="yellow") for note in notes]


def _focus_lines(report: TurnReport) -> Iterator[Text]:
    if report.focus:
        yield Text("In focus", style="bold")
    for file in report.focus[:_SHOWN]:
        line = Text(f"  {file.path}", style="cyan")
        line.append(f"  {level_label(file.level)}, {plural(file.tokens, 'token')}", style="default")
        if file.reasons:
            line.append(f"  {'; '.join(file.reasons)}", style="dim")
        yield line
    if (more := len(report.focus) - _SHOWN) > 0:
        yield Text(f"  and {more} more", style="dim")


def _cut_lines(cuts: Sequence[CutReport]) -> list[Text]:
    listed = first_three([f"{cut.path} (about +{cut.tokens_to_add:,})" for cut in cuts])
    return [Text(f"Shown in less detail for lack of tokens: {listed}", style="yellow")] if cuts else []
