"""Whether a server can take calls: it has loaded, and its stores answer."""

from __future__ import annotations

import asyncio
import logging
from enum import StrEnum
from time import monotonic
from typing import TYPE_CHECKING, Final

from mcp_server.errors import one_line

if TYPE_CHECKING:
    from mcp_server.protocol.navigations import Navigations


class State(StrEnum):
    """What a server can do."""

    READY = "ok"
    EARLIER_LIST = "ok, with an earlier list of repositories"
    """It takes calls; rights that were taken away since are still given."""
    NOT_READY = "not ready"


SECONDS: Final = 3.0
"""How long an answer is waited for; probes wait little longer. The look itself goes on."""
_AGAIN_SECONDS: Final = 5.0
"""Between two looks at the start, while nothing answers."""
_FRESH_SECONDS: Final = 1.0
"""How long an answer holds: whoever asks without a token makes a store work once in that time."""
_WATCHED_SECONDS: Final = 30.0
"""Between two looks while all is well."""
_TOLD: Final = {
    State.NOT_READY: "Not ready",
    State.EARLIER_LIST: "An earlier list of repositories is used, and rights removed since still apply",
}
logger = logging.getLogger(__name__)


class Readiness:
    """Looks once at a time, for all who ask; each change is logged."""

    def __init__(self, navigations: Navigations) -> None:
        self._navigations = navigations
        self._looking: asyncio.Task[State] | None = None
        self._looked_at = 0.0
        self._fault = ""
        """What was logged last; ``""`` where nothing was wrong."""

    async def look(self) -> State:
        """Return whether calls can be taken; what is not known in time is no yes. The log tells why not."""
        is_over = self._looking is not None and self._looking.done()
        if self._looking is None or (is_over and monotonic() - self._looked_at > _FRESH_SECONDS):
            self._looking = asyncio.create_task(self._reached())
        done, _ = await asyncio.wait({self._looking}, timeout=SECONDS)
        return self._looking.result() if done else State.NOT_READY

    async def watch(self) -> None:
        """Look now and then, whoever asks: an operator reads the log, and a proxy may never ask."""
        while True:
            state = await self.look()
            await asyncio.sleep(_AGAIN_SECONDS if state is State.NOT_READY else _WATCHED_SECONDS)

    async def _reached(self) -> State:
        state = State.READY
        try:
            await self._navigations.reach_stores()
            if fault := self._navigations.access.fault():
                state = State.EARLIER_LIST
        except Exception as error:
            state, fault = State.NOT_READY, one_line(error)
        finally:
            self._looked_at = monotonic()
        if fault != self._fault:
            self._fault = fault
            if state is State.READY:
                # At the level of what it ends, so that whoever has read the one reads the other.
                logger.warning("Ready again")
            else:
                logger.warning("%s: %s", _TOLD[state], fault)
        return state
