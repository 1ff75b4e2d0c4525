"""``repo-navigator hook`` as the command line lists it; ``main`` starts ``run`` before it reads this."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_server.settings import Settings
from repo_navigator.hook import EVENTS, run_hook
from repo_navigator.options import argument


@dataclass(frozen=True, kw_only=True)
class HookOptions:
    """Which event is answered."""

    event: str = argument(
        "EVENT",
        f"what happened: {', '.join(EVENTS)} (the user wrote, a tool was called)",
        nargs=None,
    )


OPTIONS = HookOptions


def run(options: HookOptions, settings: Settings) -> int:
    """Answer the event; what is set is read where it is needed, as a hook waits for nothing."""
    del settings
    return run_hook(options.event, exits=False)
