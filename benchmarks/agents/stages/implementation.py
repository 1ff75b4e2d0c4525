"""Solving the task: plan, write a candidate, run it, analyze the run, repeat or write the solution."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from google.adk.agents.context import Context
from google.adk.tools.tool_context import ToolContext

from benchmarks.agents.agent_process import run_adk_agent
from benchmarks.agents.blocks import CandidateError, apply_edits, edits_of, program_of
from benchmarks.agents.job import Job
from benchmarks.agents.schemas import Plan, VerificationPlan
from benchmarks.agents.stages.base import ModelStage, Stage, State, model_stage, repository_of, section
from benchmarks.agents.trial import fresh_room, run_tests

PLAN = """You are the planner.
Read the request and the code or documentation below it. Then call both tools, in one answer:
- save_implementation_plan: which file and function to change or write, and how, step by step;
- save_verification_plan: how to see that it works. For an ADK agent, this is the exact prompt to try it with,
  and nothing else."""
FIX = """You are the candidate creator.
Mend the code by the plan. Say in a sentence why, then give one fenced block for each file, with its path
behind the language, holding edits whose old lines stand exactly so in the file:
```python src/area.py
<<<<<<< SEARCH
    return width + height
=======
    return width * height
>>>>>>> REPLACE
```
Tests may not be changed."""
AGENT = """You are the candidate creator.
Write the ADK agent by the plan. Say in a sentence why, then give the complete program in one ```python block.
It defines `root_agent` and imports what it needs from the repository's modules and from google.adk."""
ANALYSIS = """You are the run analyst.
Read the log of the candidate's run. If it shows that the request is fulfilled, call exit_loop. If not, say in
a few sentences what failed and what the next candidate has to do otherwise."""


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


def planner(job: Job) -> ModelStage:
    """Return the stage ``Planner``; its tools write ``implementation_plan`` and ``verification_plan``."""
    return model_stage(
        "planner",
        "Planner",
        PLAN,
        lambda state: (
            section("Request", state["sanitized_request"]) + section("Knowledge", state.get("knowledge", ""))
        ),
        job,
        tools=(save_implementation_plan, save_verification_plan),
    )


def candidate_creator(job: Job) -> ModelStage:
    """Return the stage ``CandidateCreator``; it writes ``candidate_response``."""

    model = job.endpoint.model if job.task.kind == "agent" else ""

    def brief(state: State) -> str:
        return (
            section("Request", state["sanitized_request"])
            + section("Model that the agent uses", model)
            + section("Knowledge", state.get("knowledge", ""))
            + section("Plan", state.get("implementation_plan", ""))
            + section(f"Candidate of round {state.get('round', 0)}", state.get("agent_code", ""))
            + section("Its log", state.get("run_output", ""))
            + section("Analysis of its run", state.get("run_analysis", ""))
        )

    instruction = FIX if job.task.kind == "fix" else AGENT
    return model_stage(
        "candidate_creator", "CandidateCreator", instruction, brief, job, output_key="candidate_response"
    )


class CodeBasedRunner(Stage):
    """Extracts the code of the candidate, saves it and runs it in a cell."""

    async def work(self, ctx: Context) -> None:
        """Read ``candidate_response``; write ``round``, ``agent_code``, ``run_output``."""
        number = ctx.state.get("round", 0) + 1
        ctx.state["round"] = number
        ctx.state["run_analysis"] = ""
        try:
            response = ctx.state.get("candidate_response", "")
            code = edits_of(response) if self.job.task.kind == "fix" else program_of(response)
            ctx.state["agent_code"] = code
            folder = Path(ctx.state["workspace_dir"]) / f"round-{number}"
            ctx.state["run_output"] = await self._run(code, folder, ctx.state)
        except CandidateError as error:
            ctx.state["run_output"] = f"{error}\n[not run]"

    async def _run(self, code: str, folder: Path, state: State) -> str:
        task, options = self.job.task, self.job.options
        room = fresh_room(repository_of(state), folder)
        write_candidate(code, room.work, self.job)
        if task.kind == "fix":
            return (await run_tests(task, room, options.test_limits)).log
        prompt = state.get("verification_plan") or task.goal
        ended, usage = await run_adk_agent(task.output, prompt, room, self.job.endpoint, options.agent_limits)
        self.job.meter.count(self.name, usage)
        return ended.log()


def write_candidate(code: str, folder: Path, job: Job) -> list[str]:
    """Write a candidate's code into a copy of the repository; return the files that it changed."""
    if job.task.kind == "fix":
        return apply_edits(code, folder, tuple(job.task.tests))
    (folder / job.task.output).write_text(code, encoding="utf-8")
    return [job.task.output]


def run_analysis(job: Job) -> ModelStage:
    """Return the stage ``RunAnalysisAgent``; it writes ``run_analysis`` or calls ``exit_loop``."""
    return model_stage(
        "run_analysis",
        "RunAnalysisAgent",
        ANALYSIS,
        lambda state: (
            section("Request", state["sanitized_request"])
            + section("Verification plan", state.get("verification_plan", ""))
            + section("Log", state.get("run_output", ""))
        ),
        job,
        tools=(exit_loop,),
        output_key="run_analysis",
    )


class LoopGate(Stage):
    """Leaves the loop when the analysis said so or the rounds are used up."""

    async def work(self, ctx: Context) -> None:
        """Choose the route ``again`` or ``done``."""
        over = ctx.state.get("round", 0) >= self.job.options.max_rounds
        ctx.route = "done" if over or ctx.state.get("loop_exited") else "again"


class CodeBasedFinalVerifier(Stage):
    """Write the files of the latest candidate to the output folder."""

    async def work(self, ctx: Context) -> None:
        """Read ``agent_code``; write the files, and ``final_response``."""
        code, paths = ctx.state.get("agent_code", ""), list[str]()
        room = fresh_room(repository_of(ctx.state), Path(ctx.state["workspace_dir"]) / "final")
        with contextlib.suppress(CandidateError):
            paths = write_candidate(code, room.work, self.job) if code else []
        for path in paths:
            target = self.job.out / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(room.work / path, target)
        done = f"Wrote {', '.join(paths)}." if paths else "No candidate could be used; nothing was written."
        ctx.state["final_response"] = f"{done} Rounds: {ctx.state.get('round', 0)}."
