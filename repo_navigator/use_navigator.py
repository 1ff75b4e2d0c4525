"""A navigator for as long as a command has work for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import anyio

from mcp_server.loading import load_navigator
from mcp_server.settings import Settings
from repo_navigator.terminal import ending_at_once

if TYPE_CHECKING:
    from navigator.navigator import Navigator

_Result = TypeVar("_Result")


def use_navigator(
    settings: Settings, work: Callable[[Navigator], Awaitable[_Result]], *, takes_steps: bool = True
) -> _Result:
    """Load a navigator, return what ``work`` makes with it, and close it whatever happens.

    ``takes_steps`` is False where stored navigations are only read, which needs half of the imports.
    """
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
