"""``repo-navigator token``: make a bearer token for a user of an HTTP server."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime

from mcp_server.settings import Settings
from mcp_server.tokens import hash_of, new_token, require_user_name
from navigator.errors import InvalidArgumentError
from repo_navigator.options import argument, flag


@dataclass(frozen=True, kw_only=True)
class TokenOptions:
    """Whom the token admits, and until when."""

    name: str = argument("NAME", "name of the user, as lists of readers have it", nargs=None)
    expires: str | None = flag("--expires", "YYYY-MM-DD", "last day on which the token admits, by UTC")


OPTIONS = TokenOptions


def run(options: TokenOptions, settings: Settings) -> int:
    """Print a new token, and the entry to add to the file of tokens."""
    require_user_name(options.name)
    if options.expires is not None:
        _require_date(options.expires)
    token = new_token()
    where = settings.tokens or "the file that REPO_NAVIGATOR_TOKENS names"
    print(f"Token of {options.name}, shown this once:", file=sys.stderr, flush=True)
    print(token, flush=True)
    print(
        f"Add this entry to {where}; a running server reads it within seconds:", file=sys.stderr, flush=True
    )
    print(f"- name: {options.name}\n  sha256: {hash_of(token)}")
    if options.expires is not None:
        print(f"  expires: {options.expires}")
    return 0


def _require_date(text: str) -> None:
    try:
        ends = date.fromisoformat(text)
    except ValueError:
        ends = date.min
    if ends < datetime.now(UTC).date():
        raise InvalidArgumentError("expires", f"is `{text}`; give a day to come, such as 2027-01-31.")
