"""``repo-navigator forget``: delete stored navigations."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import anyio

from mcp_server.loading import load_navigator
from mcp_server.logs import log_to_stderr
from mcp_server.settings import Settings
from mcp_server.tenancy.callers import LOCAL
from navigator.errors import InvalidRequestError
from repo_map.messages import counted
from repo_navigator.options import argument, flag, number
from repo_navigator.terminal import ending_at_once, print_text

if TYPE_CHECKING:
    from navigator.navigator import Navigator

_DAY_S: Final = 86_400.0


@dataclass(frozen=True, kw_only=True)
class ForgetOptions:
    """Which navigations are deleted."""

    ids: tuple[str, ...] = argument("ID", "the id of a navigation that is deleted", nargs="*")
    older_than: float | None = flag(
        "--older-than", "DAYS", "delete every navigation that nobody used for so long", read=number
    )


OPTIONS = ForgetOptions


def run(options: ForgetOptions, settings: Settings) -> int:
    """Delete what is named, and tell of each."""
    log_to_stderr(settings.log_level, settings.log_format)
    if not options.ids and options.older_than is None:
        raise InvalidRequestError(
            "No navigation is named; name one by its id, or all that are old: "
            "`repo-navigator forget --older-than 30`."
        )
    if options.older_than is not None and not options.older_than >= 0:
        raise InvalidRequestError(f"--older-than is {options.older_than:g}; give it days, 0 or more.")
    with ending_at_once("repo-navigator"):
        navigator = load_navigator(settings)
    anyio.run(_forget, navigator, tuple(dict.fromkeys(options.ids)), options.older_than)
    return 0


async def _forget(navigator: Navigator, ids: tuple[str, ...], older_than: float | None) -> None:
    try:
        for navigation_id in ids:
            await navigator.forget(navigation_id)
            print_text(f"Deleted {navigation_id}.\n")
        if older_than is not None:
            before = time.time() - older_than * _DAY_S
            uses = await navigator.store.uses(LOCAL)
            old = [use for use in uses if max(use.changed_at, use.used_at or 0.0) < before]
            for each in old:
                await navigator.forget(each.navigation_id)
            print_text(f"Deleted {counted(len(old), 'navigation')}.\n")
        await navigator.store.delete_forgotten()
    finally:
        with anyio.CancelScope(shield=True):
            await navigator.aclose()
