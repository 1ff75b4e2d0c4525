"""Steps that outlive the call that began them: a deadline ends the wait, not the step."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from time import monotonic
from typing import Any

from navigator.reports import TurnReport
from navigator.turns import Navigation

Turn = tuple[TurnReport, Navigation]
"""A step's report, and the navigation after it."""


class StepsUnderWay:
    """The steps that run at present."""

    def __init__(self) -> None:
        self._steps: set[asyncio.Task[Turn]] = set()

    def start(self, step: Coroutine[Any, Any, Turn]) -> asyncio.Task[Turn]:
        """Begin a step."""
        task = asyncio.create_task(step)
        self._steps.add(task)
        task.add_done_callback(self._landed)
        return task

    async def aclose(self) -> None:
        """Cancel what runs, and wait until it has ended."""
        steps = tuple(self._steps)
        for step in steps:
            step.cancel()
        await asyncio.gather(*steps, return_exceptions=True)

    def _landed(self, step: asyncio.Task[Turn]) -> None:
        """Forget a step that has ended; a fault of one that nobody waits for was told to the store."""
        self._steps.discard(step)
        if not step.cancelled():
            step.exception()


async def finished_by(step: asyncio.Task[Turn], ends: float | None) -> bool:
    """Tell whether ``step`` is done before the clock shows ``ends``; cancelling the wait cancels the step."""
    try:
        done, _ = await asyncio.wait({step}, timeout=None if ends is None else max(0.0, ends - monotonic()))
    except asyncio.CancelledError:
        step.cancel()
        raise
    return bool(done)
