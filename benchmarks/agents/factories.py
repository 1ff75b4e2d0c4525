"""The generators that are compared: one workflow, four ways of finding out what to read."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from google.adk.agents.callback_context import CallbackContext
from google.adk.apps import App
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

from benchmarks.agents.job import Job, Options
from benchmarks.agents.meter import Meter, usage_of
from benchmarks.agents.model import Endpoint
from benchmarks.agents.task import Task
from benchmarks.agents.workflow import Retrieval, create_structured_adk_agent

_APP, _USER = "benchmark", "benchmark"


class Outcome(NamedTuple):
    """What came of one run."""

    solution: dict[str, str]
    """The files that it wrote, by path."""
    state: dict[str, Any]
    """The session's state at the end."""
    meter: Meter
    seconds: float


class WorkflowGenerator(NamedTuple):
    """Solves tasks with one way of retrieving."""

    retrieval: Retrieval
    endpoint: Endpoint
    options: Options = Options()

    async def generate(self, task: Task, scratch: Path, meter: Meter) -> Outcome:
        """Run the workflow on a task in the folder ``scratch``; ``failure`` in the state tells of a break.

        What it takes is booked on ``meter`` as it happens, so that it is known also where this never returns.
        """
        job = Job(task, self.endpoint, scratch, scratch / "out", self.options, meter)
        app = App(
            name=_APP,
            root_agent=create_structured_adk_agent(job, self.retrieval),
            plugins=[_MeterPlugin(job)],
        )
        sessions = InMemorySessionService()
        session = await sessions.create_session(app_name=_APP, user_id=_USER)
        message = types.Content(role="user", parts=[types.Part(text=task.goal)])
        started = time.perf_counter()
        async with Runner(app=app, session_service=sessions) as runner:
            async for _ in runner.run_async(user_id=_USER, session_id=session.id, new_message=message):
                pass
        seconds = time.perf_counter() - started
        stored = await sessions.get_session(app_name=_APP, user_id=_USER, session_id=session.id)
        assert stored is not None
        return Outcome(_files_below(job.out), dict(stored.state), job.meter, seconds)


Factory = Callable[[Endpoint, Options], WorkflowGenerator]


def create_structured_workflow_adk_generator(
    endpoint: Endpoint,
    options: Options = Options(),  # noqa: B008
) -> WorkflowGenerator:
    """Return the generator with index-based retrieval."""
    return WorkflowGenerator(Retrieval.INDEX, endpoint, options)


def create_baseline_workflow_adk_generator(
    endpoint: Endpoint,
    options: Options = Options(),  # noqa: B008
) -> WorkflowGenerator:
    """Return the same generator with tool-based retrieval."""
    return WorkflowGenerator(Retrieval.TOOLS, endpoint, options)


def create_navigator_workflow_adk_generator(
    endpoint: Endpoint,
    options: Options = Options(),  # noqa: B008
) -> WorkflowGenerator:
    """Return the same generator with the navigator's context."""
    return WorkflowGenerator(Retrieval.NAVIGATOR, endpoint, options)


def create_blind_workflow_adk_generator(
    endpoint: Endpoint,
    options: Options = Options(),  # noqa: B008
) -> WorkflowGenerator:
    """Return the same generator without retrieval."""
    return WorkflowGenerator(Retrieval.NONE, endpoint, options)


FACTORIES: dict[str, Factory] = {
    Retrieval.INDEX.value: create_structured_workflow_adk_generator,
    Retrieval.TOOLS.value: create_baseline_workflow_adk_generator,
    Retrieval.NAVIGATOR.value: create_navigator_workflow_adk_generator,
    Retrieval.NONE.value: create_blind_workflow_adk_generator,
}
"""The variants by name."""


class _MeterPlugin(BasePlugin):
    """Counts every model call towards the stage of its agent."""

    def __init__(self, job: Job) -> None:
        super().__init__(name="meter")
        self._job = job

    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Count one call."""
        if not llm_response.partial:
            stage = self._job.agents[callback_context.agent_name]
            self._job.meter.count(stage, usage_of(llm_response.usage_metadata))
        return None


def _files_below(folder: Path) -> dict[str, str]:
    files = sorted(file for file in folder.rglob("*") if file.is_file()) if folder.is_dir() else []
    return {file.relative_to(folder).as_posix(): file.read_text("utf-8") for file in files}
