"""A model on this machine in place of the scripted one: it answers chat completions, and may be weak."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.agents.journal import Journal
from benchmarks.agents.mind import ScriptedMind
from benchmarks.agents.task import Task
from tests.support.providers.minds import Say
from tests.support.providers.openai import openai

pytestmark = pytest.mark.slow


def run(url: str, out: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> int:
    monkeypatch.setenv("REPO_NAVIGATOR_OPENAI_URL", url)
    return main(["agents", "run", "--models", "openai/tiny", "--rounds", "1", "--out", str(out), *more])


def test_a_model_on_this_machine_solves_a_task_for_nothing(
    tasks: dict[str, Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted = ScriptedMind(list(tasks.values()))

    def mind(request: dict[str, Any], number: int) -> Say:
        role, brief = (str(message["content"]) for message in request["messages"][:2])
        asked = {
            "systemInstruction": {"parts": [{"text": role}]},
            "contents": [{"role": "user", "parts": [{"text": brief}]}],
        }
        return scripted(asked, number)

    out = tmp_path / "results.jsonl"
    with openai(mind) as server:
        code = run(server.base_url, out, monkeypatch, "--only", "python-voucher", "--variants", "navigator")
        assert {request["model"] for request in server.requests} == {"tiny"}
        # A weak model may write on without end.
        assert {request["max_tokens"] for request in server.requests} == {1_500}
    assert code == 0
    (row,) = Journal(out).rows()
    assert (row.solved, row.failure, row.usd) == (True, "", 0.0)
    assert row.key.model == "openai/tiny"
    assert sum(stage.calls for stage in row.stages) == 4


def test_a_model_that_only_talks_solves_nothing_and_breaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "results.jsonl"
    with openai(lambda _request, _number: Say(text='Sure! {"modules": ["src')) as server:
        assert run(server.base_url, out, monkeypatch, "--only", "python-voucher") == 0
        most = len(server.requests)
    rows = Journal(out).rows()
    assert [(row.solved, row.failure) for row in rows] == [(False, "")] * 4
    assert most <= 5 * 4


def test_tasks_whose_agents_would_ask_gemini_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--only", "agent-freight")
    assert run("http://127.0.0.1:9/v1", tmp_path / "results.jsonl", monkeypatch, *arguments) == 2
    said = capsys.readouterr().err
    assert "agent-freight is left out: an agent that is written asks Gemini alone, not `openai/tiny`." in said
    assert "No task is left that these models can try" in said


def test_a_model_elsewhere_needs_a_price_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--only", "python-voucher")
    assert run("https://models.example/v1", tmp_path / "results.jsonl", monkeypatch, *arguments) == 2
    assert "openai/tiny" in capsys.readouterr().err
