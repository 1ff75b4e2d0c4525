"""Background tasks: what fails in one ends nothing else, and is logged once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

import pytest

from navigator.errors import InvalidRequestError
from navigator.supervision import supervise


async def fail(error: BaseException) -> None:
    await asyncio.sleep(0)
    raise error


@pytest.mark.parametrize(
    ("error", "level"),
    [
        (KeyError("gone"), logging.ERROR),
        (InvalidRequestError("The plan is empty."), logging.INFO),
        (asyncio.CancelledError(), None),
    ],
)
def test_a_failed_task_is_logged_and_the_loop_goes_on(
    error: BaseException, level: int | None, caplog: pytest.LogCaptureFixture
) -> None:
    ended: list[bool] = []
    unhandled: list[Any] = []

    async def serve() -> str:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: unhandled.append(context))
        task = supervise(fail(error), "a test", lambda: ended.append(True))
        await asyncio.wait({task})
        await asyncio.sleep(0)
        return await other()

    async def other() -> str:
        return "served"

    caplog.set_level(logging.INFO, "navigator")
    work: Coroutine[Any, Any, str] = serve()
    assert asyncio.run(work) == "served"
    assert ended == [True]
    assert not unhandled
    assert [record.levelno for record in caplog.records] == ([] if level is None else [level])
