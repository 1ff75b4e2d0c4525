"""The whole workflow on ADK's real runner, against a loopback server that speaks the real wire."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.agents.isolation.sandbox import Limits, use_of
from benchmarks.agents.job import Meter, Options
from benchmarks.agents.scripted_model import ScriptedModel
from benchmarks.agents.task import Script, Task
from benchmarks.agents.trial import judge
from benchmarks.agents.workflow import (
    FACTORIES,
    Outcome,
    create_baseline_workflow_adk_generator,
    create_navigator_workflow_adk_generator,
    create_structured_workflow_adk_generator,
)
from tests.benchmarks.agents.conftest import endpoint_of
from tests.support.providers.gemini import GeminiServer, gemini
from tests.support.providers.minds import Call, Refuse, Say, Thought, say

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

FIXED = "orderdesk/shipping/zones.py"


async def generate(variant: str, task: Task, server: GeminiServer, folder: Path, **options: Any) -> Outcome:
    return await FACTORIES[variant](endpoint_of(server), Options(**options)).generate(task, folder, Meter())


def roles(server: GeminiServer) -> list[str]:
    """Return which agent asked, request by request."""
    texts = [request["systemInstruction"]["parts"][0]["text"] for request in server.requests]
    return [text.partition(".")[0].removeprefix("You are the ") for text in texts]


async def test_the_workflow_mends_a_bug_in_the_second_round_after_its_first_try_failed(
    tasks: dict[str, Task], server: GeminiServer, tmp_path: Path
) -> None:
    task = tasks["python-freight"]
    outcome = await generate("navigator", task, server, tmp_path)
    assert list(outcome.meter.stages) == [
        *(
            "setup",
            "prompt_sanitizer",
            "module_selector",
            "planner",
            "candidate_creator",
            "code_based_runner",
        ),
        *("run_analysis", "loop_gate", "final_verifier", "teardown"),
    ]
    state = outcome.state
    assert "grep" in state["user_request"]
    assert "grep" not in state["sanitized_request"]
    assert "def freight" in state["knowledge"]
    assert state["implementation_plan"]
    assert state["verification_plan"]
    assert "<<<<<<< SEARCH" in state["candidate_response"]
    assert state["agent_code"].startswith(f"```python {FIXED}\n")
    assert state["run_output"].endswith("OK\n[exit status 0]")
    assert (state["round"], state["loop_exited"]) == (2, True)
    assert state["final_response"] == f"Wrote {FIXED}. Rounds: 2."
    assert list(outcome.solution) == [FIXED]
    assert (await judge(task, outcome.solution, tmp_path / "judge", endpoint_of(server))).solved


async def test_index_and_tools_and_no_retrieval_differ_in_calls_and_in_what_they_solve(
    tasks: dict[str, Task], server: GeminiServer, tmp_path: Path
) -> None:
    task = tasks["python-freight"].model_copy(update={"script": Script()})
    asked: dict[str, list[str]] = {}
    counted: dict[str, list[int]] = {}
    solved: dict[str, bool] = {}
    for variant in ("index", "tools", "none"):
        outcome = await generate(variant, task, server, tmp_path / variant, max_rounds=1)
        asked[variant], solved[variant] = roles(server), bool(outcome.solution)
        counted[variant] = [use.usage.calls for use in outcome.meter.stages.values() if use.usage.calls]
        _check_briefs(server.requests)
        server.requests.clear()
    loop = ["planner", "candidate creator", "run analyst"]
    assert asked["index"] == ["prompt sanitiser", "module selector", *loop]
    assert asked["tools"] == ["prompt sanitiser", *["module selector"] * 3, *loop]
    assert asked["none"] == ["prompt sanitiser", *loop]
    assert counted == {"index": [1, 1, 1, 1, 1], "tools": [1, 3, 1, 1, 1], "none": [1, 1, 1, 1]}
    assert solved == {"index": True, "tools": True, "none": False}


def _check_briefs(requests: list[dict[str, Any]]) -> None:
    """Each stage sees its brief and its own tool calls, and nothing of what the others said."""
    for request in requests:
        brief, *own = request["contents"]
        assert brief["parts"][0]["text"].startswith("## Request\n")
        assert all(
            "functionCall" in part or "functionResponse" in part for turn in own for part in turn["parts"]
        )


async def test_a_variant_whose_context_lacks_the_function_fails(
    tasks: dict[str, Task], server: GeminiServer, tmp_path: Path
) -> None:
    outcome = await generate("navigator", tasks["python-tax"], server, tmp_path, knowledge_tokens=20)
    assert "def tax" not in outcome.state["knowledge"]
    assert outcome.solution == {}
    assert outcome.state["round"] == 3
    assert outcome.state["final_response"].startswith("No candidate could be used")


async def test_the_workspace_goes_also_when_a_model_call_fails(
    tasks: dict[str, Task], tmp_path: Path
) -> None:
    mind = ScriptedModel(list(tasks.values()))

    def failing(request: dict[str, Any], number: int) -> Thought:
        return Refuse(400, "scripted fault") if number == 2 else mind(request, number)

    with gemini(failing) as server:
        outcome = await generate("index", tasks["python-freight"], server, tmp_path)
    assert "scripted fault" in outcome.state["failure"]
    assert outcome.solution == {}
    assert list(outcome.meter.stages)[-1] == "teardown"
    assert use_of(tmp_path).entries == 0


async def test_a_candidate_that_never_ends_is_a_failed_round_with_its_log(
    tasks: dict[str, Task], tmp_path: Path
) -> None:
    mind = ScriptedModel(list(tasks.values()))
    endless = f"```python {FIXED}\nprint('about to hang', flush=True)\nwhile True: pass\n```"

    def hanging(request: dict[str, Any], number: int) -> Thought:
        creating = "candidate creator" in request["systemInstruction"]["parts"][0]["text"]
        return say(endless) if creating else mind(request, number)

    with gemini(hanging) as server:
        options = {"max_rounds": 2, "test_limits": Limits(seconds=1)}
        outcome = await generate("index", tasks["python-freight"], server, tmp_path, **options)
    assert outcome.state["run_output"].endswith("[stopped: time limit]")
    assert "about to hang" in outcome.state["run_output"]
    assert outcome.state["round"] == 2
    assert not outcome.state.get("loop_exited")
    assert not outcome.state.get("failure")


async def test_an_adk_agent_is_written_tried_and_judged(
    tasks: dict[str, Task], server: GeminiServer, tmp_path: Path
) -> None:
    task = tasks["agent-invoice-number"]
    outcome = await generate("navigator", task, server, tmp_path)
    assert list(outcome.solution) == ["my_agent.py"]
    assert outcome.state["agent_code"] == task.script.code
    assert 'answer next_number {"result": "2024-0100"}' in outcome.state["run_output"]
    assert outcome.meter.stages["code_based_runner"].usage.calls == 2


async def test_a_selector_can_run_commands_and_ask_for_help_without_changing_the_repository(
    tasks: dict[str, Task], tmp_path: Path
) -> None:
    mind = ScriptedModel(list(tasks.values()))
    seen: list[str] = []

    def exploring(request: dict[str, Any], number: int) -> Thought:
        if number == 1:
            module = "orderdesk/billing/money.py"
            command = {"command": "rm -r orderdesk; ls"}
            return Say((Call("run_shell_command", command), Call("get_module_help", {"module": module})))
        if number == 2:
            answers = [part["functionResponse"] for part in request["contents"][-1]["parts"]]
            seen.extend(answer["response"]["result"] for answer in answers)
            return say('{"modules": ["orderdesk/shipping/zones.py"]}')
        return mind(request, number)

    with gemini(exploring) as server:
        outcome = await generate("tools", tasks["python-freight"], server, tmp_path)
    assert seen[0] == "README.md\ntests\n[exit status 0]"
    assert "def percent(cents: int, rate: float) -> int:" in seen[1]
    assert "return" not in seen[1].replace("Return", "")
    assert list(outcome.solution) == [FIXED]


def test_the_factories_of_the_seed_differ_in_how_they_retrieve_alone(server: GeminiServer) -> None:
    made = [
        create(endpoint_of(server))
        for create in (
            create_structured_workflow_adk_generator,
            create_baseline_workflow_adk_generator,
            create_navigator_workflow_adk_generator,
        )
    ]
    assert [generator.retrieval.value for generator in made] == ["index", "tools", "navigator"]
    assert len({generator._replace(retrieval=made[0].retrieval) for generator in made}) == 1
