"""The planner's tools: a plan is saved by a call, not read out of an answer."""

from __future__ import annotations

from google.adk.tools.tool_context import ToolContext

from benchmarks.agents.schemas import Plan, VerificationPlan


def save_implementation_plan(plan: str, tool_context: ToolContext) -> str:
    """Save how the task is to be solved, step by step: which file, which function, which change."""
    tool_context.state["implementation_plan"] = Plan(steps=plan).steps
    return _saved(tool_context)


def save_verification_plan(test_prompt: str, tool_context: ToolContext) -> str:
    """Save how to find out that it is solved: for an agent, the prompt that it is to be tried with."""
    tool_context.state["verification_plan"] = VerificationPlan(test_prompt=test_prompt).test_prompt
    return _saved(tool_context)


def exit_loop(tool_context: ToolContext) -> str:
    """Leave the implementation loop. Call it only when the log shows that the candidate works."""
    tool_context.state["loop_exited"] = True
    tool_context.actions.skip_summarization = True
    return "The loop ends."


def _saved(tool_context: ToolContext) -> str:
    """Answer, and spare the model another turn once both plans are there."""
    if tool_context.state.get("implementation_plan") and tool_context.state.get("verification_plan"):
        tool_context.actions.skip_summarization = True
    return "Saved."
