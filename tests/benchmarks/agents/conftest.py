"""A task that is quick to run, and a scripted model that knows it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.agents.model import SCRIPTED_NAME, Endpoint
from benchmarks.agents.scripted_model import ScriptedModel
from benchmarks.agents.task import Task, read_tasks
from tests.support.providers.gemini import GeminiServer, gemini


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def tasks() -> dict[str, Task]:
    return {task.id: task for task in read_tasks()}


@pytest.fixture
def server(tasks: dict[str, Task]) -> Iterator[GeminiServer]:
    with gemini(ScriptedModel(list(tasks.values()))) as running:
        yield running


def endpoint_of(server: GeminiServer) -> Endpoint:
    return Endpoint(SCRIPTED_NAME, server.url, "key-of-the-user")
