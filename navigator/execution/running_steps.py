"""What runs at present: few steps compute at once, and one that nobody waits for goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager, nullcontext
from time import monotonic
from typing import Any, TypeVar

from navigator.execution.step_places import StepPlace, StepPlaces
from navigator.records.decisions import EMBEDDED

Result = TypeVar("Result")


class RunningSteps:
    """The steps, and what precedes the first of them, that run at present."""

    def __init__(self) -> None:
        self._steps: set[asyncio.Task[Any]] = set()
        self._places = StepPlaces()

    def computing_slot(self, model: str, user: str) -> AbstractAsyncContextManager[StepPlace | None]:
        """Hold one of the few places for steps that compute, the principals in turn.

        A step that waits for a model elsewhere takes none: it computes little, and may wait long.
        A place may be left before the step has ended, once nothing is left to compute.
        """
        return self._places.hold(user) if model == EMBEDDED else nullcontext()

    def counts(self) -> tuple[int, int]:
        """Return how many steps compute, and how many wait for a place."""
        return self._places.held, self._places.waiting

    def start(self, step: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Begin a step."""
        task = asyncio.create_task(step)
        self._steps.add(task)
        task.add_done_callback(self._ended)
        return task

    async def aclose(self) -> None:
        """Cancel what runs, and wait until it has ended."""
        steps = tuple(self._steps)
        for step in steps:
            step.cancel()
        await asyncio.gather(*steps, return_exceptions=True)

    def _ended(self, step: asyncio.Task[Any]) -> None:
        """Forget a step that has ended; a fault of one that nobody waits for was told to the store."""
        self._steps.discard(step)
        if not step.cancelled():
            step.exception()


async def finished_by(step: asyncio.Task[Any], ends: float | None) -> bool:
    """Tell whether ``step`` is done before the clock shows ``ends``; cancelling the wait cancels the step."""
    try:
        done, _ = await asyncio.wait({step}, timeout=None if ends is None else max(0.0, ends - monotonic()))
    except asyncio.CancelledError:
        step.cancel()
        raise
    return bool(done)
