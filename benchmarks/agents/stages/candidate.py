"""The implementation loop: write a candidate, run it, look at the log, leave or go round again."""

from __future__ import annotations

from pathlib import Path

from google.adk.agents.context import Context

from benchmarks.agents.blocks import CandidateError, apply_edits, edits_of, program_of
from benchmarks.agents.job import Job
from benchmarks.agents.stages.base import ModelStage, Stage, State, model_stage, section
from benchmarks.agents.stages.workspace import repository_of
from benchmarks.agents.tools.plans import exit_loop
from benchmarks.agents.trial import fresh_room, run_tests, try_agent

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
            code = extract(ctx.state.get("candidate_response", ""), self.job)
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
        ended, usage = await try_agent(task, prompt, room, self.job.endpoint, options.agent_limits)
        self.job.meter.count(self.name, usage)
        return ended.log()


def extract(response: str, job: Job) -> str:
    """Return the clean code of an answer: an agent's program, or the edits of a fix."""
    return edits_of(response) if job.task.kind == "fix" else program_of(response)


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
