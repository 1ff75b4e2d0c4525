"""What the tools answer: the report and the context in both forms, in as much detail as the budget holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from mcp_server import wire
from mcp_server.fitting import Answer, Cursor, page_end
from mcp_server.reporting import DETAILS, Detail, clip, counted, report_text, status_of, wire_report
from repo_map.quoting import quoted

if TYPE_CHECKING:
    from navigator.reports import NavigatorOutput, TurnReport


class Telling(NamedTuple):
    """How much an answer tells beside the context."""

    detail: Detail
    plan: bool = False


class Page(NamedTuple):
    """The answer, and whether it ends with the context's last character."""

    answer: Answer
    last: bool


_Make = Callable[[Telling, str, str | None], Answer]

# A finished navigation needs its plan more than a choice of next steps; an open one the other way round.
_STOPPED: Final = (
    Telling(DETAILS[2], True),
    Telling(DETAILS[1], True),
    Telling(DETAILS[1]),
    Telling(DETAILS[0]),
)
_OPEN: Final = tuple(Telling(detail) for detail in reversed(DETAILS))


def navigate_answer(output: NavigatorOutput, report: TurnReport, token_budget: int) -> Page:
    """Return the answer of ``navigate``."""

    def make(telling: Telling, context: str, cursor: str | None) -> Answer:
        told = wire_report(report, token_budget, telling.detail)
        result = wire.NavigateResult(
            navigation_id=output.navigation_id,
            status=told.status,
            turn_report=told,
            context=context,
            reasoning_summary=_news(output.reasoning_summary, report.reasoning, telling.detail),
            flight_plan_yaml=output.flight_plan_yaml if telling.plan else None,
            next_cursor=cursor,
        )
        parts = [report_text(told), _summary(result.reasoning_summary), _plan(result.flight_plan_yaml)]
        return Answer(_with_context(parts, context, cursor), result.on_the_wire())

    tellings = _OPEN if report.stop_reason is None else _STOPPED
    return _fitted(make, output, Cursor(report.step_number, None, 0), token_budget, tellings)


def step_answer(delta: NavigatorOutput, report: TurnReport, token_budget: int) -> Page:
    """Return the answer of ``step``: the report, and the context against what the host holds."""

    def make(telling: Telling, context: str, cursor: str | None) -> Answer:
        told = wire_report(report, token_budget, telling.detail)
        result = wire.StepResult(
            navigation_id=report.navigation_id,
            status=told.status,
            turn_report=told,
            context_delta=context,
            removed=list(delta.removed),
            next_cursor=cursor,
        )
        parts = [report_text(told), _since(delta)]
        return Answer(_with_context(parts, context, cursor), result.on_the_wire())

    tellings = _OPEN if report.stop_reason is None else _OPEN[1:]
    return _fitted(make, delta, Cursor(report.step_number, delta.since_step, 0), token_budget, tellings)


def report_answer(report: TurnReport, token_budget: int) -> Answer:
    """Return the answer of ``get_turn_report``, in the most detail that fits."""
    answer = Answer("", {})
    for detail in reversed(DETAILS):
        told = wire_report(report, token_budget, detail)
        answer = Answer(report_text(told), told.on_the_wire())
        if answer.size <= token_budget:
            break
    return answer


def context_answer(output: NavigatorOutput, cursor: Cursor, token_budget: int) -> Page:
    """Return the answer of ``get_context``: the page that starts at ``cursor``."""

    def make(telling: Telling, context: str, following: str | None) -> Answer:
        result = wire.NavigatorOutput(
            navigation_id=output.navigation_id,
            status=status_of(output.stop_reason),
            context_string=context,
            token_count=output.token_count,
            token_budget=token_budget,
            total_iterations=output.total_iterations,
            total_cost=float(output.total_cost),
            since_step=output.since_step,
            removed=list(output.removed),
            reasoning_summary=clip(output.reasoning_summary, telling.detail.characters) or None,
            flight_plan_yaml=output.flight_plan_yaml if telling.plan else None,
            next_cursor=following,
            notes=[clip(note, telling.detail.characters) for note in output.notes],
        )
        head = (
            f"navigation {result.navigation_id}: {result.status}, {result.token_count:,} tokens, "
            f"{counted(result.total_iterations, 'step')}, ${result.total_cost:.4f}"
        )
        notes = "\n".join(f"note: {note}" for note in result.notes)
        parts = [
            head,
            notes,
            _since(output),
            _summary(result.reasoning_summary),
            _plan(result.flight_plan_yaml),
        ]
        return Answer(_with_context(parts, context, following), result.on_the_wire())

    return _fitted(make, output, cursor, token_budget, _STOPPED)


def _fitted(
    make: _Make, output: NavigatorOutput, cursor: Cursor, token_budget: int, tellings: Sequence[Telling]
) -> Page:
    text, start = output.context_string, cursor.offset
    answer = Answer("", {})
    for telling in tellings:
        answer = make(telling, text[start:], None)
        if answer.size <= token_budget:
            return Page(answer, last=True)
    barest = tellings[-1]

    def page(end: int) -> Answer:
        following = cursor._replace(offset=end).encode() if end < len(text) else None
        return make(barest, text[start:end], following)

    paths = [file.path for file in output.files]
    guess = token_budget / answer.size
    end = page_end(text, start, paths, lambda end: page(end).size <= token_budget, guess)
    return Page(page(end), last=end == len(text))


def _with_context(parts: Sequence[str], context: str, cursor: str | None) -> str:
    fenced = quoted(context.removesuffix("\n")) if context else ""
    more = f"(The context goes on: call get_context with cursor {cursor})" if cursor else ""
    return "\n\n".join(part for part in ("\n".join(filter(None, parts)), fenced, more) if part)


def _news(summary: str, reasoning: str, detail: Detail) -> str | None:
    """Return the summary, unless the report that stands beside it has just said the same."""
    return None if summary == reasoning else clip(summary, detail.characters) or None


def _since(delta: NavigatorOutput) -> str:
    if delta.since_step is None:
        return ""
    told = f"context: what is new or shown differently since step {delta.since_step}"
    return f"{told}; no longer shown: {', '.join(delta.removed)}" if delta.removed else told


def _summary(summary: str | None) -> str:
    return f"summary: {summary}" if summary else ""


def _plan(plan: str | None) -> str:
    return f"flight plan:\n{plan.rstrip()}" if plan else ""
