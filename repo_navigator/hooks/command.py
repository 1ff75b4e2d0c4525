"""``repo-navigator hook`` as the command line lists it; ``main`` starts ``run`` before it reads this."""

from __future__ import annotations

import argparse

from mcp_server.settings import Settings
from repo_navigator.hooks.program import EVENTS
from repo_navigator.hooks.run import run_hook
from repo_navigator.terminal import FlagParser


def add_arguments(parser: FlagParser) -> None:
    """Add the command's argument."""
    parser.add_argument(
        "event",
        metavar="EVENT",
        help=f"what happened: {', '.join(EVENTS)} (a session begins, the user writes, a tool was called)",
    )


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Answer the event; what is set is read where it is needed, as a hook waits for nothing."""
    del settings
    return run_hook(options.event, ends=False)
