"""A navigator for one command, and the stored navigation that a command line means."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path, PurePath
from textwrap import shorten
from typing import TYPE_CHECKING, Final, TypeVar

import anyio

from mcp_server.loading import load_navigator
from mcp_server.logs import log_to_stderr
from mcp_server.settings import Settings
from navigator.errors import UnknownNavigationError
from navigator.workspaces.address import read_address
from repo_navigator.report import stderr_console
from repo_navigator.terminal import ending_at_once

if TYPE_CHECKING:
    from navigator.navigator import Navigator

_Result = TypeVar("_Result")
ID_START: Final = "nav-"
"""What the id of a navigation begins with."""
_LATEST: Final = 200
"""Navigations among which one of a folder is looked for: each one's state is read to learn its folder."""
_MAX_GOAL_CHARS: Final = 60


def use_navigator(
    settings: Settings, work: Callable[[Navigator], Awaitable[_Result]], *, takes_steps: bool = True
) -> _Result:
    """Load a navigator, return what ``work`` makes with it, and close it whatever happens.

    ``takes_steps`` is False where stored navigations are only read, which needs half of the imports.
    """
    log_to_stderr(settings.log_level, settings.log_format)
    # Outside the event loop, where Ctrl-C interrupts at once.
    with ending_at_once("repo-navigator"):
        navigator = load_navigator(settings, takes_steps=takes_steps)

    async def used() -> _Result:
        try:
            return await work(navigator)
        finally:
            with anyio.CancelScope(shield=True):
                await navigator.aclose()

    return anyio.run(used)


async def select_navigation(
    navigator: Navigator, named: str | None, folder: Path, *, quiet: bool = False
) -> str:
    """Return the id of the named navigation, else of the latest of the repository that ``folder`` lies in.

    Where it has none, that is the latest of all. The folder has no links in it. Where others could have been
    meant, a line on stderr tells which one is taken, unless it is to be quiet.

    Raises:
        UnknownNavigationError: There is none yet.
    """
    if named:
        return named
    stored = await navigator.navigations(limit=_LATEST)
    if not stored:
        raise UnknownNavigationError(
            "There is no stored navigation yet; `repo-navigator navigate` makes one."
        )
    here = [each for each in stored if _is_about(each.repo_path, folder)]
    latest = (here or stored)[0]
    if quiet or len(stored) == 1:
        return latest.navigation_id
    which = "the latest of this folder" if here else "the latest"
    goal = shorten(latest.goal, _MAX_GOAL_CHARS, placeholder="…")
    message = f"Using navigation {latest.navigation_id}, {which}: “{goal}”. Name another by its id."
    stderr_console().print(message, style="dim", markup=False)
    return latest.navigation_id


def _is_about(repositories: str, folder: PurePath) -> bool:
    """Return whether the address of repositories names one that holds a folder."""
    folders = [PurePath(each.folder) for each in read_address(repositories) if each.folder]
    return any(each in (folder, *folder.parents) for each in folders)
