"""Handle one event of a client's hooks: after an edit start a check, and report what it found at the next
event. The client writes the event to stdin. `install --hooks` sets this up. The exit code is always 0.
"""

from __future__ import annotations

from argparse import Namespace

from mcp_server.settings import Settings
from repo_navigator.cli import Parser
from repo_navigator.hook import EVENTS, run_hook

EXAMPLES = ("prompt < event.json", "tool < event.json")


def add_arguments(parser: Parser) -> None:
    """Add which event is handled."""
    events = " or ".join(EVENTS)
    parser.add_value("event", "EVENT", f"{events}: the user sent a prompt, or a tool was called")


def run(args: Namespace, settings: Settings) -> int:
    """Handle the event; ``main`` does so without parsing, as a client waits for each hook."""
    del settings
    return run_hook(args.event, exits=False)
