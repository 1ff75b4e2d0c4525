"""Search the code of a repository, read it, and follow its references, without a navigation."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any

from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from navigator.planner.arguments import turn_request
from repo_map.plan.model import FlightPlan
from repo_map.steering.apply import steer
from repo_navigator.arguments import add_output, open_index, require_repository, write, write_json
from repo_navigator.cli import Parser, nonempty

EXAMPLES = (
    "search 'def \\w+_total|LIFETIME'",
    "read Router.dispatch src/tokens.py:3-40",
    "callers Session.send --tests",
    "outline src/",
)


def add_arguments(parser: Parser) -> None:
    """Add what is asked, and of which repository."""
    parser.add_value(
        "question", "QUESTION", "search, read, outline, callers, uses, tests, history, …", type=nonempty
    )
    parser.add_value("values", "VALUE", "a pattern, name, path, path:3-90, or a JSON object", nargs="+")
    parser.add_value("--repo", "REPO", "the repository (default: this git work tree)", type=nonempty)
    parser.add_value("--paths", "GLOB", "search only these files")
    parser.add_switch("--tests", "include uses in tests")
    parser.add_value("--cursor", "N", "continue a list that was cut")
    add_output(parser)


def run(args: Namespace, settings: Settings) -> int:
    """Print the answer; one that can't be given is refused with the reason."""
    request = turn_request(ask={args.question: _value(args)})
    index, _ = open_index(require_repository(args.repo, (), settings, "with --repo"), settings)
    found = steer(index, FlightPlan(), "", typed=request.wishes)
    if found.not_understood:
        raise InvalidRequestError(" ".join(found.lines))
    if args.json:
        write_json(args, {"question": args.question, "answer": found.answer})
    else:
        write(args, f"{found.answer}\n")
    return 0


def _value(args: Namespace) -> Any:
    """Return what is asked as it goes over the wire: a text, a list, or an object with the flags in it."""
    first, *others = args.values
    flags: dict[str, Any] = {"paths": args.paths, "cursor": args.cursor}
    given = {name: value for name, value in flags.items() if value is not None}
    if args.tests:
        given["include_tests"] = True
    if first.lstrip().startswith("{") and not others:
        try:
            value = json.loads(first)
        except ValueError:
            # A pattern may begin so, too.
            value = None
        if isinstance(value, dict):
            return {**value, **given}
    if args.question == "read":
        return [*args.values]
    if others:
        raise InvalidRequestError(
            f"`{args.question}` takes one value; quote it if it has blanks.", argument="VALUE"
        )
    field = {"search": "pattern", "outline": "path"}.get(args.question, "symbol")
    return {field: first, **given} if given else first
