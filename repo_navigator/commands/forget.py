"""``repo-navigator forget``: delete stored navigations."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mcp_server.logs import log_to_stderr
from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from navigator.settings import LOCAL_USER
from repo_map.messages import plural
from repo_navigator.options import argument, flag, number
from repo_navigator.terminal import print_text
from repo_navigator.use_navigator import use_navigator

if TYPE_CHECKING:
    from navigator.navigator import Navigator

_DAY_S: Final = 86_400.0


@dataclass(frozen=True, kw_only=True)
class ForgetOptions:
    """Which navigations are deleted."""

    ids: tuple[str, ...] = argument("ID", "id of a navigation to delete", nargs="*")
    older_than: float | None = flag(
        "--older-than", "DAYS", "delete navigations that were not used for this many days", read=number
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
        raise InvalidRequestError(
            f"--older-than is {options.older_than:g}; give it days, 0 or more.", argument="--older-than"
        )

    async def forget(navigator: Navigator) -> None:
        for navigation_id in dict.fromkeys(options.ids):
            await navigator.forget(navigation_id)
            print_text(f"Deleted {navigation_id}.\n")
        if options.older_than is not None:
            before = time.time() - options.older_than * _DAY_S
            uses = await navigator.store.index.uses(LOCAL_USER)
            old = [use for use in uses if max(use.changed_at, use.used_at or 0.0) < before]
            for each in old:
                await navigator.forget(each.navigation_id)
            print_text(f"Deleted {plural(len(old), 'navigation')}.\n")
        await navigator.store.delete_forgotten()

    use_navigator(settings, forget)
    return 0
