"""The structured workflow: the graph of its stages, and the generators that differ in how they retrieve."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.context import Context
from google.adk.apps import App
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.workflow import START, BaseNode, Node, Workflow

# The only way to the error of a node that was run dynamically; ADK's minor version is pinned.
from google.adk.workflow._errors import DynamicNodeFailError
from google.genai import types

from benchmarks.agents.job import Job, Meter, Options
from benchmarks.agents.model import Endpoint, usage_of
from benchmarks.agents.schemas import WorkflowState
from benchmarks.agents.stages.base import CodeBasedTeardownAgent, SetupAgentCodeBased
from benchmarks.agents.stages.implementation import (
    CodeBasedFinalVerifier,
    CodeBasedRunner,
    LoopGate,
    candidate_creator,
    planner,
    run_analysis,
)
from benchmarks.agents.stages.knowledge import (
    DocstringFetcherAgent,
    ModuleIndexer,
    NavigatorSelector,
    prompt_sanitizer,
    select_by_index,
    select_by_tools,
)
from benchmarks.agents.task import Task

_FAILURE_KEPT = 2_000
_APP, _USER = "benchmark", "benchmark"


class Retrieval(StrEnum):
    """How the workflow finds out what to read."""

    INDEX = "index"
    """A model chooses from an index of modules."""
    TOOLS = "tools"
    """A model searches and reads with tools: the baseline."""
    NAVIGATOR = "navigator"
    """The navigator hands over its context; no model is asked."""
    NONE = "none"
    """Nothing is read: what the other ways add to."""


class Guarded(Node):
    """Runs the solving part; a failure there is written down, and the teardown follows all the same."""

    rerun_on_resume: bool = True
    inner: Workflow

    async def run_node_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        """Run the inner workflow, and write ``failure`` when it breaks off."""
        try:
            await ctx.run_node(self.inner)
        except Exception as error:
            ctx.state["failure"] = _innermost(error)
        yield None


def _innermost(error: Exception) -> str:
    """Return what failed in the first place: a workflow wraps the error of its node, once for each level."""
    path = ""
    while isinstance(error, DynamicNodeFailError):
        path, error = error.error_node_path, error.error
    return f"{path.rpartition('/')[2].partition('@')[0]}: {type(error).__name__}: {error}"[:_FAILURE_KEPT]


def create_structured_adk_agent(job: Job, retrieval: Retrieval) -> Workflow:
    """Assemble the pipeline for one job."""
    creator = candidate_creator(job)
    solving = Workflow(
        name="solving",
        state_schema=WorkflowState,
        edges=[
            (
                START,
                SetupAgentCodeBased(name="setup", job=job),
                prompt_sanitizer(job),
                *_retrieval_stages(job, retrieval),
                planner(job),
                creator,
                CodeBasedRunner(name="code_based_runner", job=job),
                run_analysis(job),
                LoopGate(name="loop_gate", job=job),
                {"again": creator, "done": CodeBasedFinalVerifier(name="final_verifier", job=job)},
            )
        ],
    )
    teardown = CodeBasedTeardownAgent(name="teardown", job=job)
    guarded = Guarded(name="guarded", inner=solving)
    return Workflow(
        name="structured_workflow", state_schema=WorkflowState, edges=[(START, guarded, teardown)]
    )


def _retrieval_stages(job: Job, retrieval: Retrieval) -> tuple[BaseNode, ...]:
    fetcher = DocstringFetcherAgent(name="docstring_fetcher", job=job)
    match retrieval:
        case Retrieval.INDEX:
            return ModuleIndexer(name="module_indexer", job=job), select_by_index(job), fetcher
        case Retrieval.TOOLS:
            return select_by_tools(job), fetcher
        case Retrieval.NAVIGATOR:
            return (NavigatorSelector(name="module_selector", job=job),)
        case Retrieval.NONE:
            return ()


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


create_structured_workflow_adk_generator = partial(WorkflowGenerator, Retrieval.INDEX)
create_baseline_workflow_adk_generator = partial(WorkflowGenerator, Retrieval.TOOLS)
create_navigator_workflow_adk_generator = partial(WorkflowGenerator, Retrieval.NAVIGATOR)
create_blind_workflow_adk_generator = partial(WorkflowGenerator, Retrieval.NONE)

FACTORIES: dict[str, Callable[[Endpoint, Options], WorkflowGenerator]] = {
    Retrieval.INDEX.value: create_structured_workflow_adk_generator,
    Retrieval.TOOLS.value: create_baseline_workflow_adk_generator,
    Retrieval.NAVIGATOR.value: create_navigator_workflow_adk_generator,
    Retrieval.NONE.value: create_blind_workflow_adk_generator,
}
"""The variants by name; each takes an endpoint and options."""


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
