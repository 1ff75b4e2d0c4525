"""Background tasks: a failure is logged, and ends neither the event loop nor what else runs in it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from repo_map.errors import UserError

_Result = TypeVar("_Result")
_RUNNING: Final[set[asyncio.Task[Any]]] = set()
"""The event loop has weak references alone."""
logger = logging.getLogger(__name__)


def supervise(
    work: Coroutine[Any, Any, _Result], name: str, on_end: Callable[[], object] | None = None
) -> asyncio.Task[_Result]:
    """Run ``work`` in the background; the log calls it ``name``, and ``on_end`` is called after it."""
    task = asyncio.create_task(work, name=name)
    _RUNNING.add(task)

    def end(_: asyncio.Task[_Result]) -> None:
        _RUNNING.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, UserError):
            logger.info("Ended early: %s (%s)", name, error.code)
        elif error is not None:
            logger.error("Failed: %s (%s)", name, type(error).__name__, exc_info=error)
        if on_end is not None:
            on_end()

    task.add_done_callback(end)
    return task
