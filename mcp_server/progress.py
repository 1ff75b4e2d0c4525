"""Signs of life that a person reads while a navigation runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from mcp.server.mcpserver import Context

from mcp_server.host_model import current_line
from mcp_server.reporting import clip

if TYPE_CHECKING:
    from navigator.reports import OnProgress, Progress

MESSAGE_CHARACTERS: Final = 200


@contextmanager
def progress_to(ctx: Context[Any, Any]) -> Iterator[OnProgress]:
    """Yield a callback that reports each step to the host that made the call, if it asked to be told."""
    last, answered = 0.0, False

    async def report(progress: Progress) -> None:
        nonlocal last
        if answered:
            # A step that outlives the call's deadline goes on, but nobody listens to this call any more.
            return
        # A step may report more than once, and hosts drop progress that does not grow.
        last = max(float(progress.step), last + 0.01)
        line = current_line()
        listening = ctx if line is None else line.context
        await listening.report_progress(
            last, max(float(progress.max_steps), last), progress_message(progress)
        )

    try:
        yield report
    finally:
        answered = True


def progress_message(progress: Progress) -> str:
    """Return one line of at most ``MESSAGE_CHARACTERS``."""
    size = f" · {progress.tokens:,} tokens" if progress.tokens else ""
    head = f"Step {progress.step} of {progress.max_steps}{size}: " if progress.step else ""
    return head + clip(progress.message, MESSAGE_CHARACTERS - len(head))
