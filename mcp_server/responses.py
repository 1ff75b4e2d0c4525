"""Tool results, cut into pages that fit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcp_server.report_text import (
    DETAILS,
    SHORT_OUTLINES,
    STATUS_WORDS,
    DetailLevel,
    as_object,
    clip,
    report_lines,
    report_text,
    status_of,
    step_text,
    wire_report,
    without_repeated_fields,
)
from navigator.errors import InvalidArgumentError
from navigator.state.labels import dollars
from repo_map.messages import plural, quoted
from repo_map.text import tokens

if TYPE_CHECKING:
    from navigator.state.reports import NavigatorOutput, TurnReport


_PAGE: Final = re.compile(r"(\d{1,9}):(\d{0,9}|plan):(\d{1,10})", re.ASCII)
_MAX_NOTES: Final = 5
_REPORT_TOKENS: Final = 260
_REPORT_SHARE: Final = 0.04
_JSON_NAMES: Final = 110
"""Tokens of the names and figures that an answer has as an object alone."""
_JSON_GROWTH: Final = 1.14
"""Source code takes 9 to 20 % more tokens as a JSON string: quotes and line ends are escaped;"""
_MAX_JSON_GROWTH: Final = 1.5
"""with tabs and many short lines up to half. A first answer is measured by its text: its object has room."""


class Answer(NamedTuple):
    """One answer in both forms: hosts pass on the text or the object, rarely both."""

    text: str
    structured: dict[str, Any]
    unread: tuple[str, ...] = ()
    """The cursor of the next page, where there is one."""
    outline: bool = True

    @property
    def size(self) -> int:
        """Tokens of the longer form, the object as the costlier of the ways in which hosts write JSON."""
        spaced = json.dumps(self.structured, ensure_ascii=False)
        forms = [self.text, spaced]
        if not spaced.isascii() or "\x7f" in spaced:
            forms.append(json.dumps(self.structured))
        return max(map(tokens.count, forms))


PLAN: Final = "plan"


class Cursor(NamedTuple):
    """Where the next page of a context, or of a flight plan, starts."""

    step: int
    since_step: int | None
    offset: int
    is_plan: bool = False

    def encode(self) -> str:
        since = "" if self.since_step is None else self.since_step
        return f"{self.step}:{PLAN if self.is_plan else since}:{self.offset}"


def decode_cursor(text: str) -> Cursor:
    """Return the cursor that ``text`` encodes; raise ``InvalidRequestError`` if it is no cursor of ours."""
    if (page := _PAGE.fullmatch(text)) is None:
        raise InvalidArgumentError(
            "cursor", "was not issued by this server; call get_context without it for the first page."
        )
    since = int(page[2]) if page[2].isdigit() else None
    return Cursor(int(page[1]), since, int(page[3]), is_plan=page[2] == PLAN)


def map_token_budget_in(response_token_budget: int) -> int:
    """Return the tokens that are left for the map where the whole answer may take so many."""
    return int((response_token_budget * (1 - _REPORT_SHARE) - _REPORT_TOKENS) / _JSON_GROWTH)


def text_tokens_in(response_token_budget: int) -> int:
    """Return the tokens of an answer's text that take as many as an object, names and escapes included."""
    return int((response_token_budget - _JSON_NAMES) / _JSON_GROWTH)


def response_token_budget_for(map_token_budget: int, minimum: int) -> int:
    """Return the tokens of a whole answer, ``minimum`` or more, with room for a map of that size."""
    if map_token_budget <= map_token_budget_in(minimum):
        return minimum
    grown = int((map_token_budget + 1) * _JSON_GROWTH + _REPORT_TOKENS)
    return grown * 100 // int(100 * (1 - _REPORT_SHARE)) + 1


def page_end(text: str, start: int, files: Sequence[int], fits: Callable[[int], bool], guess: float) -> int:
    """Return the end of the longest page from ``start`` that fits, at a file's first line where there is one.

    Files begin at the offsets ``files``, ascending; ``guess`` is the share of the rest that should fit.
    """
    if fits(len(text)):
        return len(text)
    files = [offset for offset in files if offset > start]
    lines = [offset for offset in accumulate(map(len, text.splitlines(keepends=True))) if offset > start]
    end = start + int((len(text) - start) * min(guess, 0.98))
    while end > start:
        for boundaries in (files, lines):
            # A page that would be mostly empty is cut within the file instead.
            near = [offset for offset in boundaries if start + (end - start) // 2 < offset <= end]
            if near and fits(near[-1]):
                return near[-1]
        end -= max((end - start) // 12, 1)
    return next(iter(lines), len(text))


_Make = Callable[[DetailLevel, str, str | None], Answer]

_FOUND: Final = (DETAILS[3], DETAILS[2], DETAILS[1], *SHORT_OUTLINES, DETAILS[0])
_UNCHANGED: Final = (DETAILS[0]._replace(characters=DETAILS[-1].characters), DETAILS[0])
_OPEN: Final = (*reversed(DETAILS[1:]), *SHORT_OUTLINES, DETAILS[0])


def navigate_answer(
    output: NavigatorOutput,
    report: TurnReport,
    response_token_budget: int,
    first_answer: int | None = None,
    *,
    explores: bool = False,
) -> Answer:
    """Return the answer of ``navigate``, of at most ``first_answer`` tokens where that is given.

    Where the client ``explores`` by ``step``, as it has no file tools, that is offered first.
    """
    is_bare = first_answer is not None or any(rule.why for rule in output.flight_plan.verbosity)
    reported = without_repeated_fields(report) if is_bare else report
    # The report beside it has just said the same.
    summary = None if output.reasoning_summary == report.reasoning else output.reasoning_summary or None

    def make(detail: DetailLevel, context: str, cursor: str | None) -> Answer:
        message = wire_report(reported, response_token_budget, detail, with_costs=False)
        short_summary = summary and clip(summary, detail.characters)
        result = as_object(
            navigation_id=output.navigation_id,
            status=message.status,
            turn_report=message.on_the_wire(is_nested=True),
            context=context,
            reasoning_summary=short_summary,
            next_cursor=cursor,
        )
        ours, report_parts = report_lines(message, is_first_answer=is_bare, explores=explores)
        report_parts += [f"summary: {short_summary}"] if summary else []
        if context:
            report_parts += ["", context.removesuffix("\n")]
        fenced = "\n".join([*ours, quoted("\n".join(report_parts))])
        return Answer("\n\n".join(filter(None, (fenced, _more(cursor)))), result)

    details = _OPEN if report.stop_reason is None else _FOUND
    limit = response_token_budget
    if first_answer is not None:
        limit = min(limit, int(first_answer * _MAX_JSON_GROWTH) + _JSON_NAMES)
    start = Cursor(report.step_number, None, 0)
    return _fitted(make, output, start, limit, details, text_tokens=first_answer)


def step_answer(
    delta: NavigatorOutput, report: TurnReport, response_token_budget: int, unread: Sequence[str] = ()
) -> Answer:
    """Return the answer of ``step``: what happened, and the context against what the host holds.

    The outline that was sent first stays valid; ``unread`` are cursors of pages that were offered before.
    """
    is_first = delta.since_step is None
    took_none = delta.since_step == report.step_number
    outline = bool(report.outline) and is_first

    def make(detail: DetailLevel, context: str, cursor: str | None) -> Answer:
        message = wire_report(report, response_token_budget, detail, with_costs=False)
        if not is_first:
            notes = [clip(each, detail.characters) for each in delta.notes[-_MAX_NOTES:]]
            notes += [f"not read yet: get_context with cursor {each}" for each in unread]
            # What was sent before is not sent again.
            changes: dict[str, Any] = {"cuts": [], "notes": notes}
            changes |= dict.fromkeys(("usage", "sufficiency", "outline"))
            if message.answer:
                changes["reasoning"] = ""
            if took_none and message.status != "running":
                changes["next"] = ""
            message = message.model_copy(update=changes)
        result = as_object(
            navigation_id=report.navigation_id,
            status=message.status,
            turn_report=message.on_the_wire(is_nested=True),
            context_delta=context,
            removed=_removed(delta),
            next_cursor=cursor,
        )
        parts = [report_text(message)] if is_first else [step_text(message)]
        parts.append("" if took_none else _since(delta))
        return Answer(_with_context(parts, context, cursor), result)

    details = _UNCHANGED if took_none else _OPEN if report.stop_reason is None else _OPEN[1:]
    start = Cursor(report.step_number, delta.since_step, 0)
    return _fitted(make, delta, start, response_token_budget, details)._replace(outline=outline)


def forgotten_answer(navigation_id: str) -> Answer:
    text = f"navigation {navigation_id}: deleted with its maps and reports; no call reads it any more"
    return Answer(text, as_object(navigation_id=navigation_id, status="deleted"))


def report_answer(report: TurnReport, response_token_budget: int) -> Answer:
    """Return the answer of ``get_turn_report``, in the most detail that fits."""
    answer = Answer("", {})
    for detail in reversed(DETAILS):
        message = wire_report(report, response_token_budget, detail)
        answer = Answer(report_text(message), message.on_the_wire())
        if answer.size <= response_token_budget:
            break
    return answer


def context_answer(output: NavigatorOutput, cursor: Cursor, response_token_budget: int) -> Answer:
    """Return the answer of ``get_context``: the page that starts at ``cursor``."""

    def make(detail: DetailLevel, context: str, following: str | None) -> Answer:
        summary = clip(output.reasoning_summary, detail.characters)
        notes = [clip(note, detail.characters) for note in output.notes]
        result = _output_object(
            output,
            response_token_budget,
            context_string=context,
            next_cursor=following,
            since_step=output.since_step,
            removed=_removed(output),
            reasoning_summary=summary or None,
            notes=notes,
        )
        lines = [*(f"note: {note}" for note in notes), *([f"summary: {summary}"] if summary else [])]
        parts = [_output_head(output), _since(output), quoted("\n".join(lines)) if lines else ""]
        return Answer(_with_context(parts, context, following), result)

    return _fitted(make, output, cursor, response_token_budget, DETAILS[2::-1])


def plan_answer(output: NavigatorOutput, cursor: Cursor, response_token_budget: int) -> Answer:
    """Return the answer of ``get_context`` if the flight plan is requested: the page at ``cursor``."""
    plan = output.model_copy(update={"context_string": output.flight_plan_yaml, "file_starts": ()})

    def make(_: DetailLevel, part: str, following: str | None) -> Answer:
        result = _output_object(
            output, response_token_budget, context_string="", flight_plan_yaml=part, next_cursor=following
        )
        start = f", from character {cursor.offset:,} on" if cursor.offset else ""
        parts = [_output_head(output), f"flight plan{start}:\n{quoted(part.rstrip())}", _more(following)]
        return Answer("\n\n".join(filter(None, parts)), result)

    return _fitted(make, plan, cursor, response_token_budget, DETAILS[:1])


def _output_object(output: NavigatorOutput, response_token_budget: int, **fields: Any) -> dict[str, Any]:
    """Return the object of ``get_context``, with ``fields`` for what an answer takes of the output."""
    return as_object(
        navigation_id=output.navigation_id,
        status=status_of(output.stop_reason),
        token_count=output.token_count,
        token_budget=response_token_budget,
        total_iterations=output.total_iterations,
        total_cost=float(output.total_cost),
        **fields,
    )


def _output_head(output: NavigatorOutput) -> str:
    size, steps = plural(output.token_count, "token"), plural(output.total_iterations, "step")
    words = STATUS_WORDS[status_of(output.stop_reason)]
    return f"navigation {output.navigation_id}: {words}, {size}, {steps}, {dollars(output.total_cost)}"


def _fitted(
    make: _Make,
    output: NavigatorOutput,
    cursor: Cursor,
    response_token_budget: int,
    details: Sequence[DetailLevel],
    *,
    text_tokens: int | None = None,
) -> Answer:
    """Return the fullest answer that fits, as an object and, where ``text_tokens`` are given, as a text."""

    def fits(answer: Answer) -> bool:
        has_room = text_tokens is None or tokens.count(answer.text) <= text_tokens
        return has_room and answer.size <= response_token_budget

    text, start = output.context_string, cursor.offset
    answer = Answer("", {})
    for detail in details:
        answer = make(detail, text[start:], None)
        if fits(answer):
            return answer
    barest = details[-1]

    def page(end: int) -> Answer:
        following = cursor._replace(offset=end).encode() if end < len(text) else None
        return make(barest, text[start:end], following)

    guess = response_token_budget / answer.size
    end = page_end(text, start, output.file_starts, lambda end: fits(page(end)), guess)
    unread = () if end == len(text) else (cursor._replace(offset=end).encode(),)
    return page(end)._replace(unread=unread)


def _with_context(parts: Sequence[str], context: str, cursor: str | None) -> str:
    fenced = quoted(context.removesuffix("\n")) if context else ""
    return "\n\n".join(part for part in ("\n".join(filter(None, parts)), fenced, _more(cursor)) if part)


def _more(cursor: str | None) -> str:
    return f"(It goes on: call get_context with cursor {cursor})" if cursor else ""


def _removed(output: NavigatorOutput) -> list[str]:
    return [*output.removed, *(f"{path} (in part)" for path in output.truncated)]


def _since(delta: NavigatorOutput) -> str:
    """Return what is new against what the host holds, before it is shown; what it has or lost is one line."""
    if delta.since_step is None:
        return ""
    new = "what is new" if delta.context_string else "nothing is new"
    lines = [f"context: {new} since step {delta.since_step}"]
    for label, paths in (
        ("shown again, as you have it", delta.restored),
        ("no longer shown", _removed(delta)),
    ):
        if paths:
            lines.append(f"{label}:\n{quoted(', '.join(paths))}")
    return "\n".join(lines)
