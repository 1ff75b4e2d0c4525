"""A task that is quick to run, and a scripted mind that knows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from benchmarks.agents.loopback import GeminiServer, gemini
from benchmarks.agents.mind import ScriptedMind
from benchmarks.agents.model import SCRIPTED_NAME, Endpoint
from benchmarks.agents.task import Task, read_tasks


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def tasks() -> dict[str, Task]:
    return {task.id: task for task in read_tasks()}


@pytest.fixture
def server(tasks: dict[str, Task]) -> Iterator[GeminiServer]:
    with gemini(ScriptedMind(list(tasks.values()))) as running:
        yield running


def endpoint_of(server: GeminiServer) -> Endpoint:
    return Endpoint(SCRIPTED_NAME, server.url, "key-of-the-user")


MindOf = Callable[[dict[str, Any], int], Any]
