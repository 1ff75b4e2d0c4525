"""Delete stored navigations with their maps and reports: those you name, or all that are old. This can't be
undone.
"""

from __future__ import annotations

import time
from argparse import Namespace
from typing import TYPE_CHECKING, Final

from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from repo_map.messages import plural
from repo_navigator.cli import Parser
from repo_navigator.navigations import use_navigator
from repo_navigator.terminal import print_text

if TYPE_CHECKING:
    from navigator.navigator import Navigator

EXAMPLES = ("nav-6f2c1e0d8a4b5c7f9e3d1a2b", "--older-than 30")
_DAY_S: Final = 86_400.0


def add_arguments(parser: Parser) -> None:
    """Add which navigations are deleted."""
    parser.add_value("ids", "ID", "id of a navigation to delete", nargs="*")
    parser.add_value(
        "--older-than", "DAYS", "delete navigations that were not used for this many days", type=float
    )


def run(args: Namespace, settings: Settings) -> int:
    """Delete what is named, and report each."""
    if not args.ids and args.older_than is None:
        raise InvalidRequestError(
            "No navigation is named; name one by its id, or all that are old: "
            "`repo-navigator forget --older-than 30`."
        )
    if args.older_than is not None and not args.older_than >= 0:
        raise InvalidRequestError(
            f"--older-than is {args.older_than:g}; give it days, 0 or more.", argument="--older-than"
        )

    async def forget(navigator: Navigator) -> None:
        for navigation_id in dict.fromkeys(args.ids):
            await navigator.forget(navigation_id)
            print_text(f"Deleted {navigation_id}.\n")
        if args.older_than is not None:
            before = time.time() - args.older_than * _DAY_S
            uses = await navigator.navigations()
            old = [use for use in uses if max(use.changed_at, use.used_at or 0.0) < before]
            for each in old:
                await navigator.forget(each.navigation_id)
            print_text(f"Deleted {plural(len(old), 'navigation')}.\n")
        await navigator.store.delete_forgotten()

    use_navigator(settings, forget)
    return 0
