"""Take one more step of a navigation: print the source of numbers of its outline, names and paths."""

from __future__ import annotations

from argparse import Namespace

from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from repo_navigator.arguments import add_line_numbers, add_output
from repo_navigator.cli import Parser
from repo_navigator.commands.context import take_step

EXAMPLES = (
    "2 4 10",
    "Session.send src/tokens.py:3-40",
    "--drop tests",
    '--feedback "callers of Session.send"',
    "--undo",
)


def add_arguments(parser: Parser) -> None:
    """Add what is shown, and of which navigation."""
    parser.add_value("wanted", "WHAT", "a number, a name, a path, or path:3-9", nargs="*")
    parser.add_values("--drop", "WHAT", "leave this out; may be repeated")
    parser.add_value("--feedback", "TEXT", "apply a phrase: `drop X`, `callers of X`")
    parser.add_switch("--undo", "undo the latest step")
    parser.add_value(
        "--id", "ID", "id of the navigation (default: the latest of this folder)", dest="navigation"
    )
    parser.add_switch("--all", "print the whole context, not only what is new")
    add_line_numbers(parser)
    add_output(parser)


def run(args: Namespace, settings: Settings) -> int:
    """Print what is new in the context."""
    feedback = "undo" if args.undo else args.feedback
    if not (args.wanted or args.drop or feedback):
        raise InvalidRequestError("Nothing is named; name what to show, such as `2 4`.", argument="WHAT")
    show = [int(each) if each.isdecimal() else each for each in args.wanted]
    return take_step(args, settings, show=show or None, drop=args.drop or None, feedback=feedback)
