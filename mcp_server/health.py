"""Whether a server can take calls: the navigator is loaded, and its stores answer."""

from __future__ import annotations

import asyncio
import logging
from time import monotonic
from typing import TYPE_CHECKING, Final

from mcp_server.errors import one_line

if TYPE_CHECKING:
    from mcp_server.navigations import Navigations

TIMEOUT_S: Final = 3.0
"""How long an answer is waited for; probes wait little longer."""
_FRESH_S: Final = 1.0
"""How long a result holds: an unauthenticated probe reaches a store once in that time."""
logger = logging.getLogger(__name__)


class Readiness:
    """Checks the stores once at a time, for all who ask; each change is logged."""

    def __init__(self, navigations: Navigations) -> None:
        self._navigations = navigations
        self._check: asyncio.Task[bool] | None = None
        self._checked_at = 0.0
        self._fault = ""
        """What was logged last; ``""`` where nothing was wrong."""

    async def is_ready(self) -> bool:
        """Return True if calls can be taken; what is not known within ``TIMEOUT_S`` is no yes."""
        is_over = self._check is not None and self._check.done()
        if self._check is None or (is_over and monotonic() - self._checked_at > _FRESH_S):
            self._check = asyncio.create_task(self._reach())
        done, _ = await asyncio.wait({self._check}, timeout=TIMEOUT_S)
        return bool(done) and self._check.result()

    async def _reach(self) -> bool:
        fault = ""
        try:
            await self._navigations.reach_stores()
        except Exception as error:
            fault = one_line(error)
        self._checked_at = monotonic()
        if fault != self._fault:
            self._fault = fault
            if fault:
                logger.warning("Not ready: %s", fault)
            else:
                # At the level of what it ends, so that both reach the same readers.
                logger.warning("Ready again")
        return not fault
