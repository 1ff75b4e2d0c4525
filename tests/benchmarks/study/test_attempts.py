"""Attempts of the study: through the command, on loopback, and with programs that stand in."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.agents.task import Task, read_tasks
from benchmarks.study import command
from benchmarks.study.attempts import changes
from benchmarks.study.desk import FILES_HOST, SHELL_HOST
from benchmarks.study.mind import ShellMind
from benchmarks.study.registration import NAMED, StudyTask
from navigator.records.pricing import TokenUsage, load_prices
from tests.support.providers.gemini import GeminiServer, gemini
from tests.support.providers.minds import call, say
from tests.support.providers.openai import openai

pytestmark = pytest.mark.slow

TASK = "python-voucher"
ARMS = ("none", "tool", "both", "hooks")
MODEL = "gemini-2.0-flash"


@pytest.fixture
def task() -> Task:
    return next(task for task in read_tasks() if task.id == TASK)


@pytest.fixture(autouse=True)
def one_task(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the study have one small task; which ones it has is the registration's matter."""
    study_task = StudyTask(task, "orderdesk", (NAMED,), (SHELL_HOST, FILES_HOST))
    monkeypatch.setattr(command, "dry_tasks", lambda _: [study_task])
    monkeypatch.setattr(command, "registered_tasks", lambda *_: [study_task])
    monkeypatch.setattr(command, "clone_missing", lambda *_: [])


def rows_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "attempts.jsonl").read_bytes().splitlines() if line.strip()]


def attempts(out: Path, host: str) -> dict[str, dict[str, Any]]:
    return {row["key"]["arm"]: row for row in rows_of(out) if row["key"]["host"] == host}


def trajectory(out: Path, arm: str, host: str = "shell") -> list[dict[str, Any]]:
    text = (out / "trajectories" / f"{TASK}.{host}.{arm}.0.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_a_dry_run_tries_every_arm_with_and_without_a_shell_and_is_taken_up_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["study", "--dry-run", "--out", str(tmp_path)]
    assert main(arguments) == 0
    first = capsys.readouterr()
    for host in (SHELL_HOST, FILES_HOST):
        found = attempts(tmp_path / "dry", host)
        assert not any(row["failure"] for row in found.values())
        assert found["tool"]["solved"]
        assert [found[arm]["navigator_calls"] > 0 for arm in ("none", "tool", "tool and hooks")] == [
            False,
            True,
            True,
        ]
        assert found["none"]["told"] == found["tool"]["told"] == 0
        assert found["hooks alone"]["told"] == 1
        assert f"## Host: {host}" in first.out
    # What a hook says when a session begins stands beside the prompt.
    assert "Repo Navigator" in trajectory(tmp_path / "dry", "hooks")[0]["text"]
    assert "Repo Navigator" not in trajectory(tmp_path / "dry", "none")[0]["text"]
    assert main(arguments) == 0
    again = capsys.readouterr()
    assert again.out == first.out
    assert again.err.count("(known)") == 8


@pytest.fixture
def provider(task: Task, monkeypatch: pytest.MonkeyPatch) -> Iterator[GeminiServer]:
    """Stand in for the provider of a real model, on loopback."""
    with gemini(ShellMind([task])) as server:
        monkeypatch.setenv("GOOGLE_API_KEY", "key-of-the-user")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        yield server


@pytest.mark.usefixtures("provider")
def test_no_attempt_starts_once_the_money_is_spent_and_a_higher_limit_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["study", "--hosts", "shell", "--out", str(tmp_path), "--model", MODEL]
    assert main([*arguments, "--max-cost", "0.0000001"]) == 2
    assert "11 attempts are left, and the same command with a higher --max-cost" in capsys.readouterr().err
    (row,) = rows_of(tmp_path)
    assert row["usd"] > 0
    assert row["failure"].startswith("no end within $")
    assert main([*arguments, "--max-cost", "0.0000001"]) == 2
    assert len(rows_of(tmp_path)) == 1


def test_an_agent_that_never_ends_is_stopped_and_what_it_took_is_booked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def asks(request: dict[str, Any], number: int) -> Any:
        del request, number
        return call("shell", {"command": "true"}, prompt=1_000)

    with gemini(asks) as server:
        monkeypatch.setenv("GOOGLE_API_KEY", "key-of-the-user")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        arguments = ["study", "--dry-run", "--hosts", "shell", "--model", MODEL, "--out", str(tmp_path)]
        assert main(arguments) == 0
    row = attempts(tmp_path / "dry", "shell")["none"]
    assert (row["calls"], row["fresh"], row["failure"]) == (4, 4_000, "no end within 4 calls")
    assert f"Broke off: {TASK} shell none: no end within 4 calls" in capsys.readouterr().out


def test_a_small_model_on_this_machine_is_asked_over_its_own_wire_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looks(request: dict[str, Any], number: int) -> Any:
        del number
        seen = [message for message in request["messages"] if message["role"] == "tool"]
        assert all("billing" in str(message["content"]) for message in seen)
        return say("Done.") if seen else call("shell", {"command": "ls orderdesk"})

    with openai(looks) as server:
        monkeypatch.setenv("REPO_NAVIGATOR_OPENAI_URL", server.base_url)
        arguments = ["study", "--dry-run", "--hosts", "shell", "--model", "openai/tiny"]
        assert main([*arguments, "--out", str(tmp_path)]) == 0
    rows = rows_of(tmp_path / "dry")
    assert [(row["calls"], row["usd"], row["failure"]) for row in rows] == [(2, 0.0, "")] * 4


def test_a_shell_cannot_touch_the_judge_and_only_changed_code_is_judged(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cheat = (
        "printf 'raise SystemExit(0)' > tests/test_discounts.py; echo 'import os; os._exit(0)' > conftest.py;"
        "mkdir -p ../home/.local; ln -s /etc/passwd orderdesk/link.py; echo 'x = 1' > orderdesk/new.py"
    )

    def cheats(request: dict[str, Any], number: int) -> Any:
        del number
        return say("Done.") if len(request["contents"]) > 1 else call("shell", {"command": cheat})

    with gemini(cheats) as server:
        monkeypatch.setenv("GOOGLE_API_KEY", "key-of-the-user")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        arguments = ["study", "--dry-run", "--hosts", "shell", "--model", MODEL]
        assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    assert not any(row["solved"] for row in rows_of(tmp_path / "out" / "dry"))
    before, after = tmp_path / "before", tmp_path / "after"
    task.lay_out(before)
    task.lay_out(after)
    (after / "orderdesk" / "new.py").write_text("x = 1\n")
    (after / "orderdesk" / "link.py").symlink_to("/etc/hostname")
    (after / "orderdesk" / "blob.py").write_bytes(b"\xff\xfe\x00")
    (after / "conftest.py").write_text("x = 1\n")
    assert changes(before, after, task.tests) == {"orderdesk/new.py": "x = 1\n"}


CLAUDE = """
import json, pathlib, sys
arguments = sys.argv[1:]
def told(flag):
    return json.loads(pathlib.Path(arguments[arguments.index(flag) + 1]).read_text())
config, settings = told("--mcp-config"), told("--settings")
file = pathlib.Path({path!r})
file.write_text(file.read_text().replace({wrong!r}, {right!r}))
for block in ({{"type": "text"}}, {{"type": "tool_use", "name": "mcp__repo-navigator__navigate"}}):
    message = {{"id": "m1", "content": [block], "usage": {{"input_tokens": 5}}}}
    print(json.dumps({{"type": "assistant", "message": message}}))
usage = {{"input_tokens": 100, "cache_creation_input_tokens": 200, "output_tokens": 50}}
usage["cache_read_input_tokens"] = 700
print(json.dumps({{"type": "asked", "arguments": arguments, "config": config, "settings": settings}}))
print("no json")
print(json.dumps({{"type": "result", "subtype": "success", "is_error": False, "num_turns": 4,
                  "total_cost_usd": 0.25, "usage": usage}}))
"""
CODEX = """
import json, sys
print(json.dumps({"type": "asked", "arguments": sys.argv[1:]}))
print(json.dumps({"type": "item.completed", "item": {"type": "mcp_tool_call", "server": "repo-navigator"}}))
usage = {"input_tokens": 1000, "cached_input_tokens": 400, "output_tokens": 50}
print(json.dumps({"type": "turn.completed", "usage": usage}))
"""


@pytest.fixture
def programs(task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put programs on the ``PATH`` that answer as the hosts do."""
    (bug,) = task.bugs
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, code in (
        ("claude", CLAUDE.format(path=bug.path, wrong=bug.wrong, right=bug.right)),
        ("codex", CODEX),
    ):
        (folder / name).write_text(f"#!{sys.executable}\n{code}")
        (folder / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


@pytest.mark.usefixtures("programs")
def test_claude_code_is_run_in_four_arms_and_believed_about_its_cost(tmp_path: Path) -> None:
    arguments = ["study", "--hosts", "claude-code", "--uncontained", "--max-cost", "100"]
    out = tmp_path / "out"
    assert main([*arguments, "--model", MODEL, "--out", str(out)]) == 0
    rows = attempts(out, "claude-code")
    assert all(row["solved"] for row in rows.values())
    row = rows["tool"]
    assert (row["usd"], row["calls"], row["navigator_calls"]) == (0.25, 4, 1)
    assert (row["fresh"], row["cached"], row["out"]) == (300, 700, 50)
    asked = {
        arm: next(e for e in trajectory(out, arm, "claude-code") if e["type"] == "asked") for arm in ARMS
    }
    servers = {arm: each["config"]["mcpServers"] for arm, each in asked.items()}
    assert servers["none"] == servers["hooks"] == {}
    assert servers["tool"]["repo-navigator"]["alwaysLoad"] is True
    hooks = {arm: set(each["settings"]["hooks"]) for arm, each in asked.items()}
    assert hooks["none"] == hooks["tool"] == set()
    assert {"SessionStart", "UserPromptSubmit", "PostToolUse"} <= hooks["both"] == hooks["hooks"]
    assert "--strict-mcp-config" in asked["none"]["arguments"]


@pytest.mark.usefixtures("programs")
def test_codex_is_run_in_the_two_arms_that_it_has_and_priced_by_the_table(tmp_path: Path) -> None:
    arguments = ["study", "--hosts", "codex", "--uncontained", "--max-cost", "100"]
    out = tmp_path / "out"
    assert main([*arguments, "--model", MODEL, "--out", str(out)]) == 0
    rows = attempts(out, "codex")
    assert set(rows) == {"none", "tool"}
    row = rows["tool"]
    assert (row["navigator_calls"], row["fresh"], row["cached"], row["solved"]) == (1, 600, 400, False)
    price = load_prices(None).price_of(MODEL)
    assert row["usd"] == float(price.cost(TokenUsage(1_000, 400, 50)))
    asked = [next(e for e in trajectory(out, arm, "codex") if e["type"] == "asked") for arm in ARMS[:2]]
    assert not any("mcp_servers" in word for word in asked[0]["arguments"])
    assert any("mcp_servers.repo-navigator.command" in word for word in asked[1]["arguments"])


@pytest.mark.usefixtures("programs")
def test_a_task_whose_tests_decide_nothing_here_is_left_out_before_any_attempt(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spoilt = task.model_copy(update={"id": "spoilt", "test": ("python", "-c", "")})
    both = [StudyTask(each, "orderdesk", (NAMED,), (SHELL_HOST,)) for each in (spoilt, task)]
    monkeypatch.setattr(command, "registered_tasks", lambda *_: both)
    assert main(["study", "--check", "--out", str(tmp_path)]) == 1
    assert "spoilt: left out (passes before: True, after: True)" in capsys.readouterr().err
    arguments = ["study", "--hosts", "codex", "--uncontained", "--max-cost", "100", "--model", MODEL]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert "6 of 6 attempts were made" in said.out
    assert "Left out, as their tests decide nothing here: spoilt." in said.out
    assert f"{TASK}: ok" not in said.err


def test_a_program_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "is_installed", lambda _: False)
    assert main(["study", "--dry-run", "--out", str(tmp_path), "--hosts", "claude-code"]) == 2
    assert "claude-code is not installed: there is no program claude on the PATH." in capsys.readouterr().err
