"""The stage that leaves of a request what is wanted, not by which tool."""

from __future__ import annotations

from benchmarks.agents.job import Job
from benchmarks.agents.stages.base import ModelStage, model_stage, section

INSTRUCTION = """You are the prompt sanitiser.
Rewrite the user's request so that only its goal is left: what should work in the end, with every fact, name,
number and message that it gives. Leave out instructions about which tools to call or how to work. Answer with
the request alone."""


def prompt_sanitizer(job: Job) -> ModelStage:
    """Return the stage ``PromptSanitizerAgent``; it writes ``sanitized_request``."""
    return model_stage(
        "prompt_sanitizer",
        "PromptSanitizerAgent",
        INSTRUCTION,
        lambda state: section("Request", state["user_request"]),
        job,
        output_key="sanitized_request",
    )
