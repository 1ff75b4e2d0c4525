"""Whether a server can take calls: it has loaded, and its stores answer."""

from __future__ import annotations

import asyncio
import logging
from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mcp_server.navigations import Navigations

SECONDS: Final = 3.0
"""How long an answer is waited for; probes wait little longer. The look itself goes on."""
_FRESH_SECONDS: Final = 1.0
"""How long an answer holds: whoever asks without a token makes a store work once in that time."""
logger = logging.getLogger(__name__)


class Readiness:
    """Looks once at a time, for all who ask."""

    def __init__(self, navigations: Navigations) -> None:
        self._navigations = navigations
        self._looking: asyncio.Task[bool] | None = None
        self._looked_at = 0.0

    async def look(self) -> bool:
        """Return whether calls can be taken; what is not known in time is no yes. The log tells why not."""
        is_over = self._looking is not None and self._looking.done()
        if self._looking is None or (is_over and monotonic() - self._looked_at > _FRESH_SECONDS):
            self._looking = asyncio.create_task(self._reached())
        done, _ = await asyncio.wait({self._looking}, timeout=SECONDS)
        return bool(done) and self._looking.result()

    async def _reached(self) -> bool:
        try:
            await self._navigations.reach_stores()
        except Exception as error:
            logger.warning("Not ready: %s", error)
            return False
        finally:
            self._looked_at = monotonic()
        return True
