"""A judge that a candidate can't fool, whose model calls are booked, and tasks that are checked or told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from benchmarks.__main__ import main
from benchmarks.agents.agent_process import Relay
from benchmarks.agents.job import Meter, Options
from benchmarks.agents.matrix import JUDGE, Matrix, run_matrix
from benchmarks.agents.model import Endpoint
from benchmarks.agents.report import Journal
from benchmarks.agents.selector_tools import IndexEntry, index_text
from benchmarks.agents.task import Task
from benchmarks.agents.trial import Verdict, judge
from benchmarks.agents.workflow import FACTORIES, Outcome
from navigator.state.pricing import load_prices
from navigator.state.usage import TokenUsage
from tests.benchmarks.agents.conftest import endpoint_of
from tests.support.providers.gemini import GeminiServer, gemini
from tests.support.providers.minds import say

pytestmark = pytest.mark.anyio

PASS = "raise SystemExit(0)\n"
FOOLING = {
    "python-tax": [
        {"unittest.py": PASS},
        {"unittest/__init__.py": PASS, "unittest/__main__.py": PASS},
        {"Unittest.py": PASS},
        {"tests/__init__.py": PASS},
        {"tests/test_money.py": PASS},
        {"sitecustomize.py": PASS},
        {"json.py": PASS},
        {"tests/../unittest.py": PASS},
    ],
    "bash-retry-status": [{"tests/run.sh": "exit 0\n"}, {"tests/check.sh": "exit 0\n"}],
    "javascript-weekday": [{"package.json": "{}"}, {"node_modules/node:test/index.js": ""}],
}


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, each in FOOLING.items() for number in range(len(each))]
)
async def test_a_candidate_that_replaces_the_tests_or_their_runner_solves_nothing(
    name: str, number: int, tasks: dict[str, Task], server: GeminiServer, tmp_path: Path
) -> None:
    verdict = await judge(tasks[name], FOOLING[name][number], tmp_path, endpoint_of(server))
    assert not verdict.solved
    assert "test" in verdict.log


async def test_what_an_agent_asks_while_it_is_judged_is_booked(
    tasks: dict[str, Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = TokenUsage(input=70_000, output=9_000, calls=3)

    async def judged(*_: object) -> Verdict:
        return Verdict(True, "asked", used)

    monkeypatch.setattr("benchmarks.agents.matrix.judge", judged)
    price = load_prices(None).price_of("gemini-2.0-flash")
    matrix = Matrix([tasks["python-tax"]], ["navigator"], ["scripted"], 1, Options(), {"scripted": price})
    (row,) = await run_matrix(matrix, Journal(tmp_path / "r.jsonl"), lambda *_: None)
    (stage,) = [stage for stage in row.stages if stage.stage == JUDGE]
    assert (stage.calls, stage.fresh, stage.out) == (3, 70_000, 9_000)
    assert row.usd > float(price.cost(used))


async def test_what_a_run_took_before_it_broke_off_is_booked(
    tasks: dict[str, Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Breaks:
        async def generate(self, task: Task, scratch: Path, meter: Meter) -> Outcome:
            del task, scratch
            meter.count("planner", TokenUsage(input=1_000, output=10, calls=1))
            raise TimeoutError

    monkeypatch.setitem(FACTORIES, "none", lambda *_: Breaks())
    price = load_prices(None).price_of("gemini-2.0-flash")
    matrix = Matrix([tasks["python-tax"]], ["none"], ["scripted"], 1, Options(), {"scripted": price})
    (row,) = await run_matrix(matrix, Journal(tmp_path / "r.jsonl"), lambda *_: None)
    assert row.failure.startswith("no end within")
    assert row.usd == float(price.cost(TokenUsage(input=1_000, output=10)))


async def test_an_agent_that_takes_too_many_tokens_is_refused(tmp_path: Path) -> None:
    with gemini(lambda *_: say("Done.", prompt=300_000)) as server:
        relay = Relay(endpoint_of(server), most_calls=20, most_tokens=200_000)
        path, body = (
            "/v1beta/models/gemini-2.0-flash:generateContent",
            json.dumps({"contents": [{"role": "user", "parts": [{"text": "x"}]}]}).encode(),
        )
        assert [relay.forward(path, body)[0] for _ in range(3)] == [200, 403, 403]
        relay.client.close()
    assert relay.usage.input == 300_000


def test_the_index_of_modules_is_yaml() -> None:
    entries = [
        IndexEntry("src/a.py", "Prices: what a parcel costs: in cents", ("Price", "of")),
        IndexEntry("src/b: c.py", '"quoted" # and a mark', ()),
        IndexEntry(f"src/{'long' * 60}.py", "- a dash, {a brace} and 'more'", ("x",)),
        IndexEntry("google.adk.agents", "installed library", ()),
    ]
    read = yaml.safe_load(index_text(entries))
    assert list(read) == [entry.module for entry in entries]
    assert read["src/a.py"] == "Prices: what a parcel costs: in cents [Price, of]"


def test_an_agent_task_is_checked_with_and_without_its_solution(
    tasks: dict[str, Task], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    task = tasks["agent-freight"]

    async def judged(_: Task, solution: Mapping[str, str], folder: Path, endpoint: Endpoint) -> Verdict:
        assert endpoint.url.startswith("http://127.0.0.1:")
        return Verdict(solution == {task.output: task.script.code}, "")

    monkeypatch.setattr("benchmarks.agents.scripted_model.judge", judged)
    assert main(["agents", "tasks", "--check", "--only", task.id]) == 0
    assert capsys.readouterr().out == f"{task.id}: ok (passes before: False, after: True)\n"


def test_a_task_whose_program_is_missing_is_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "id: absent\nlanguage: Python\ngoal: x\nrepository: orderdesk\n"
    (tmp_path / "absent.yaml").write_text(f"{text}test: [none-such]\nneeds: [none-such]\n")
    monkeypatch.setattr("benchmarks.agents.task.TASKS_FOLDER", tmp_path)
    assert main(["agents", "tasks", "--check"]) == 0
    assert capsys.readouterr().out == "absent: not checked, none-such is not installed\n"
