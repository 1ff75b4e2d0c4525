"""Follow-ups on the command line: words that go on with a stored navigation, and what is new by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_server.report_text import status_of
from repo_map.messages import plural
from repo_navigator.context_json import context_data
from repo_navigator.options import PagedOptions
from repo_navigator.printing import show_context, stderr_console
from repo_navigator.stored_navigations import SelectedNavigation
from repo_navigator.terminal_report import closing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from navigator.navigator import Navigator
    from navigator.state.reports import NavigatorOutput, UnreadWords


class FollowUp(NamedTuple):
    """What words have come to."""

    selected: SelectedNavigation
    """The navigation that they were said to."""
    whole: NavigatorOutput
    """The context as it is now."""
    news: NavigatorOutput
    """Of that, what is new since the step before the words."""
    answer: str
    """What was understood, and the answers to what was asked."""
    not_understood: Sequence[UnreadWords]
    """The parts of the words that were not."""

    @property
    def is_answered(self) -> bool:
        """Whether the words took no step: they asked, or were not understood."""
        return self.whole.total_iterations == self.news.since_step


async def follow_up(
    navigator: Navigator, selected: SelectedNavigation, words: str, *, updates: Mapping[str, Any]
) -> FollowUp:
    """Take the step that words ask for, after one by ``updates`` where there are any."""
    navigation_id = selected.navigation_id
    before = (await navigator.report(navigation_id)).step_number
    asked_of = before
    if updates:
        asked_of = (await navigator.step(navigation_id, updates=updates)).step_number
    report = await navigator.step(navigation_id, feedback=words)
    whole = await navigator.context(navigation_id)
    # A question takes no step: what the updates changed before it is new all the same.
    since = before if report.step_number > asked_of else report.step_number
    news = await navigator.context(navigation_id, since_step=since)
    return FollowUp(selected, whole, news, report.answer, report.not_understood or ())


def show_follow_up(found: FollowUp, options: PagedOptions, seconds: float, *, is_whole: bool = False) -> None:
    """Print the answer where no step was taken, else what is new; the report goes to stderr.

    Args:
        found: what the words have come to.
        options: where it is printed, and how.
        seconds: of the whole command.
        is_whole: print the whole context.
    """
    if options.json:
        options.write_json(follow_up_data(found, seconds))
        return
    console = stderr_console()
    if found.selected.message and not options.quiet:
        console.print(found.selected.message, style="dim", markup=False)
    if found.is_answered:
        # Who asks is answered: the context is as it was.
        options.write(found.answer)
        return
    if found.answer and not options.quiet:
        console.print(found.answer, style="green", markup=False)
    below = closing(found.whole, found.whole.seconds.total)
    text = (found.whole if is_whole else found.news).context_string
    if text or options.output:
        show_context(text, options.output, below=below, pages=not options.no_pager)
    if not options.quiet:
        if not is_whole:
            console.print(_news_line(found), markup=False)
        console.print(below, soft_wrap=True)


def _news_line(found: FollowUp) -> str:
    """Return what was printed of the context, what it has lost, and how to get all of it."""
    news = found.news
    new = (
        f"new since step {news.since_step}: {plural(news.token_count, 'token')}"
        if news.context_string
        else ""
    )
    removed = [*news.removed, *(f"{path} (in part)" for path in news.truncated)]
    parts = [new or f"nothing is new since step {news.since_step}"]
    if removed:
        parts.append(f"no longer shown: {', '.join(removed[:_MAX_NAMED])}{_and_more(len(removed))}")
    if news.restored:
        again = news.restored
        parts.append(f"shown again: {', '.join(again[:_MAX_NAMED])}{_and_more(len(again))}")
    summary = "; ".join(parts)
    return f"{summary[0].upper()}{summary[1:]}. The whole: repo-navigator context {found.whole.navigation_id}"


_MAX_NAMED = 5
"""Files that a line names; the others are counted."""


def _and_more(count: int) -> str:
    return f" and {count - _MAX_NAMED} more" if count > _MAX_NAMED else ""


def follow_up_data(found: FollowUp, seconds: float) -> dict[str, Any]:
    """Return what ``--json`` prints where words were said: a context, with the answer and what is new."""
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
