"""Print the context, or the plan, of a stored navigation."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_server.errors import BAD_INPUT
from mcp_server.report_text import status_of
from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from navigator.planner.outline_text import outline_text
from repo_map.check.model import finding_data
from repo_map.lookup.read import MAX_TARGETS
from repo_map.messages import plural
from repo_navigator.arguments import add_line_numbers, add_output, plan_updates, write, write_json
from repo_navigator.cli import Parser
from repo_navigator.navigations import select_navigation, use_navigator
from repo_navigator.report import closing, show_context, stderr_console

if TYPE_CHECKING:
    from navigator.navigator import Navigator
    from navigator.state.reports import NavigatorOutput, OutlineEntry, UnreadWords

EXAMPLES = ("", "--plan -o plan.yaml")
_MAX_NAMED = 5
"""Files that a line names; the others are counted."""


def add_arguments(parser: Parser) -> None:
    """Add which navigation is shown."""
    parser.add_value(
        "navigation",
        "ID",
        "id of the navigation, which `navigate` prints last (default: the latest of this folder, else "
        "of all)",
        nargs="?",
    )
    parser.add_value("--id", "ID", "the same, as a flag", dest="navigation_id")
    parser.add_switch("--plan", "print the flight plan instead of the context")
    add_line_numbers(parser)
    add_output(parser)


def run(args: Namespace, settings: Settings) -> int:
    """Print the stored context, its plan or a JSON object."""
    if args.navigation and args.navigation_id not in (None, args.navigation):
        raise InvalidRequestError("ID and --id name different navigations; give one.", argument="--id")
    named, updates = args.navigation or args.navigation_id, plan_updates(args)
    started = time.perf_counter()

    async def read(navigator: Navigator) -> NavigatorOutput:
        navigation_id = await select_navigation(navigator, named, Path.cwd(), quiet=args.quiet or args.json)
        if updates:
            await navigator.step(navigation_id, updates=updates)
        return await navigator.context(navigation_id)

    output = use_navigator(settings, read, takes_steps=bool(updates))
    seconds = time.perf_counter() - started
    if args.json:
        data = context_data(output, seconds, status_of(output.stop_reason), output.notes)
        write_json(args, {**data, "answer": "", "understood": None})
        return 0
    below = closing(output, output.seconds.total)
    if args.plan:
        write(args, output.flight_plan_yaml)
    else:
        show_context(output.context_string, args.output)
    if not args.quiet:
        stderr_console().print(below, soft_wrap=True)
    return 0


def context_data(
    output: NavigatorOutput, seconds: float, status: str, notes: Sequence[str]
) -> dict[str, Any]:
    """Return what ``--json`` prints of a navigation; ``seconds`` is the time of the whole command."""
    return {
        "navigation_id": output.navigation_id,
        "status": status,
        "context": output.context_string,
        "tokens": output.token_count,
        "token_budget": output.map_token_budget,
        "files": [file.model_dump(mode="json") for file in output.files],
        "menu": [place.model_dump(mode="json") for place in output.outline],
        "outline": outline_text(output.outline, output.tests),
        "flight_plan_yaml": output.flight_plan_yaml,
        "confidence": output.confidence,
        "sufficiency": output.sufficiency,
        "findings": [finding_data(each) for each in output.findings],
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
        **({"repository": output.repository} if output.repository else {}),
        **({"also_listed": output.also_listed} if output.also_listed else {}),
    }


class FollowUp(NamedTuple):
    """What feedback to a stored navigation has come to."""

    whole: NavigatorOutput
    """The context as it is now."""
    news: NavigatorOutput
    """Of that, what is new since the step before the feedback."""
    answer: str
    """What was understood, and the answers to what was asked."""
    not_understood: Sequence[UnreadWords]
    again: str = ""
    """The source of what was asked for and had been printed in an earlier step."""

    @property
    def is_answered(self) -> bool:
        """Whether the feedback took no step: it asked, or was not understood."""
        return self.whole.total_iterations == self.news.since_step


def take_step(args: Namespace, settings: Settings, **wishes: Any) -> int:
    """Take the step that ``wishes`` ask for, and print what is new; the report goes to stderr."""
    started = time.perf_counter()

    async def step(navigator: Navigator) -> FollowUp:
        key = await select_navigation(navigator, args.navigation, Path.cwd(), quiet=args.quiet or args.json)
        latest = await navigator.report(key)
        before = latest.step_number
        report = await navigator.step(key, updates=plan_updates(args) or None, **wishes)
        whole = await navigator.context(key)
        news = await navigator.context(key, since_step=before)
        unread = report.not_understood or ()
        targets = [] if unread else _sent_before(wishes.get("show") or (), latest.outline, news)
        again = []
        for at in range(0, len(targets), MAX_TARGETS):
            some = {"targets": targets[at : at + MAX_TARGETS], "line_numbers": bool(args.line_numbers)}
            again.append((await navigator.step(key, ask={"read": some})).answer)
        return FollowUp(whole, news, report.answer, unread, "\n\n".join(again))

    found = use_navigator(settings, step)
    code = _code_of(found, wishes)
    if args.json:
        write_json(args, _follow_up_data(found, time.perf_counter() - started))
        return code
    if found.is_answered:
        write(args, found.answer)
        return code
    console = stderr_console()
    if found.answer and not args.quiet:
        console.print(found.answer, style="green", markup=False)
    # A note that the step before has printed is not repeated.
    shown = found.whole if args.all else found.whole.model_copy(update={"notes": found.news.notes})
    below = closing(shown, found.whole.seconds.total)
    text = (found.whole if args.all else found.news).context_string
    if found.again and not args.all:
        text = "\n\n".join(filter(None, (text, found.again)))
    if text or args.output:
        show_context(text, args.output)
    if not args.quiet:
        if not args.all:
            console.print(_news_line(found), markup=False)
        console.print(below, soft_wrap=True)
    return code


def _code_of(found: FollowUp, wishes: Mapping[str, Any]) -> int:
    """Return the exit code; raise if nothing was done because all that is named is unknown."""
    if not found.not_understood or not (wishes.get("show") or wishes.get("drop")):
        return 0
    if found.is_answered and not wishes.get("feedback"):
        raise InvalidRequestError(" ".join(found.answer.split("\n")))
    return BAD_INPUT


def _sent_before(
    wanted: Sequence[int | str], outline: Sequence[OutlineEntry], news: NavigatorOutput
) -> list[str]:
    """Return what of ``wanted`` was printed before, so that it is not among the news."""
    entries = {each.number: each for each in outline}
    found: list[str] = []
    for each in wanted:
        if isinstance(each, str):
            found += [] if news.context_string else [each]
        elif (entry := entries.get(each)) is not None and not entry.tokens:
            found.append(f"{entry.path}:{entry.first}-{entry.last}")
    return found


def _news_line(found: FollowUp) -> str:
    """Return what was printed of the context, what it has lost, and how to get all of it."""
    news = found.news
    is_new = f"New since step {news.since_step}: {plural(news.token_count, 'token')}"
    nothing = "Printed again" if found.again else f"Nothing is new since step {news.since_step}"
    parts = [is_new if news.context_string else nothing]
    removed = [*news.removed, *(f"{path} (in part)" for path in news.truncated)]
    for what, paths in (("no longer shown", removed), ("shown again", news.restored)):
        if paths:
            more = len(paths) - _MAX_NAMED
            parts.append(f"{what}: {', '.join(paths[:_MAX_NAMED])}{f' and {more} more' if more > 0 else ''}")
    return f"{'; '.join(parts)}. The whole: repo-navigator context {found.whole.navigation_id}"


def _follow_up_data(found: FollowUp, seconds: float) -> dict[str, Any]:
    """Return what ``--json`` prints after feedback: a context, with the answer and what is new."""
    whole, news = found.whole, found.news
    return {
        **context_data(whole, seconds, status_of(whole.stop_reason), whole.notes),
        "answer": found.answer,
        "understood": not found.not_understood,
        "not_understood": [each.model_dump(mode="json") for each in found.not_understood],
        "since_step": news.since_step,
        "context_delta": news.context_string,
        "delta_tokens": news.token_count,
        "removed": list(news.removed),
        "truncated": list(news.truncated),
    }
