"""The stage that decides what to change, and how to find out whether it worked."""

from __future__ import annotations

from benchmarks.agents.job import Job
from benchmarks.agents.stages.base import ModelStage, model_stage, section
from benchmarks.agents.tools.plans import save_implementation_plan, save_verification_plan

INSTRUCTION = """You are the planner.
Read the request and the code or documentation below it. Then call both tools, in one answer:
- save_implementation_plan: which file and function to change or write, and how, step by step;
- save_verification_plan: how to see that it works. For an ADK agent, this is the exact prompt to try it with,
  and nothing else."""


def planner(job: Job) -> ModelStage:
    """Return the stage ``Planner``; its tools write ``implementation_plan`` and ``verification_plan``."""
    return model_stage(
        "planner",
        "Planner",
        INSTRUCTION,
        lambda state: (
            section("Request", state["sanitized_request"]) + section("Knowledge", state.get("knowledge", ""))
        ),
        job,
        tools=(save_implementation_plan, save_verification_plan),
    )
