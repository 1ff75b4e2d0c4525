"""How a command line names several repositories."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mcp_server.callers import Here
from mcp_server.repository_access import RepositoryAccess
from mcp_server.settings import Settings
from repo_navigator.terminal import FlagParser, nonempty


def add_further(parser: FlagParser) -> None:
    """Add the flag for repositories beside the first."""
    parser.add_argument(
        "--with",
        dest="further",
        metavar="REPO",
        type=nonempty,
        action="append",
        default=[],
        help="one more repository, in the same budget; may be repeated",
    )


def named_here(names: Sequence[str], settings: Settings) -> str:
    """Return the address of the repositories that somebody on this machine names; none for where we stand.

    Raises:
        RepositoryNotFoundError: one of them is none.
    """
    access = RepositoryAccess(settings, settings.allowed)
    return access.choose(names, (), Path.cwd(), Here())
