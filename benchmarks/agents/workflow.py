"""The structured workflow: the graph of its stages, for each way of retrieving."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from enum import StrEnum
from typing import Any

from google.adk.agents.context import Context
from google.adk.workflow import START, BaseNode, Node, Workflow

from benchmarks.agents.job import Job
from benchmarks.agents.schemas import WorkflowState
from benchmarks.agents.sdk_private import DynamicNodeFailError
from benchmarks.agents.stages.candidate import CodeBasedRunner, LoopGate, candidate_creator, run_analysis
from benchmarks.agents.stages.docstrings import DocstringFetcherAgent
from benchmarks.agents.stages.planner import planner
from benchmarks.agents.stages.sanitizer import prompt_sanitizer
from benchmarks.agents.stages.selection import (
    ModuleIndexer,
    NavigatorSelector,
    select_by_index,
    select_by_tools,
)
from benchmarks.agents.stages.verifier import CodeBasedFinalVerifier
from benchmarks.agents.stages.workspace import CodeBasedTeardownAgent, SetupAgentCodeBased

_FAILURE_KEPT = 2_000


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
