"""Print a new bearer token on stdout, once, and on stderr its entry for the file that REPO_NAVIGATOR_TOKENS
names, as YAML to append with `2>> tokens.yaml`. Remove the entry to revoke the token.
"""

from __future__ import annotations

import secrets
import sys
from argparse import Namespace
from datetime import UTC, date, datetime

from mcp_server.settings import Settings
from mcp_server.tokens import hash_of, require_user_name
from navigator.errors import InvalidArgumentError
from repo_map.messages import one_line
from repo_navigator.cli import Parser

EXAMPLES = ("alice", "alice --expires 2027-01-31")


def add_arguments(parser: Parser) -> None:
    """Add the user of the token, and its last day."""
    parser.add_value("name", "NAME", "name of the user, as in `readers` of the list of repositories")
    parser.add_value("--expires", "YYYY-MM-DD", "last day on which the token is valid, by UTC")


def run(args: Namespace, settings: Settings) -> int:
    """Print a new token on stdout, and its entry for the file of tokens on stderr."""
    require_user_name(args.name)
    if args.expires is not None:
        _require_date(args.expires)
    token = secrets.token_urlsafe(32)
    where = settings.tokens or "the file that REPO_NAVIGATOR_TOKENS names"
    # Begins with an empty line, so that it can be appended to a file whose last line has no line break.
    entry = [
        "",
        f"# Entry for {one_line(str(where))}; a running server reads it within seconds.",
        f"# The token of {args.name} is printed on stdout, once.",
        f"- name: {args.name}",
        f"  sha256: {hash_of(token)}",
    ]
    if args.expires is not None:
        entry.append(f"  expires: {args.expires}")
    print("\n".join(entry), file=sys.stderr, flush=True)
    print(token, flush=True)
    return 0


def _require_date(text: str) -> None:
    try:
        ends = date.fromisoformat(text)
    except ValueError:
        ends = date.min
    if ends < datetime.now(UTC).date():
        raise InvalidArgumentError("expires", f"is `{text}`; give a later day, such as 2027-01-31.")
