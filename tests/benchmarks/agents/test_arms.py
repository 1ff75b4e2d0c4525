"""Agents with a shell in three arms: through the command, on loopback, and with programs that stand in."""

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
from benchmarks.agents.arms.comparing import changes
from benchmarks.agents.arms.mind import ShellMind
from benchmarks.agents.task import Task
from navigator.records.pricing import TokenUsage, load_prices
from tests.support.providers.gemini import GeminiServer, gemini
from tests.support.providers.minds import call, say

pytestmark = pytest.mark.slow

TASK = "python-voucher"
ARMS = ("without", "installed", "always")


def attempts(out: Path) -> dict[str, dict[str, Any]]:
    rows = [json.loads(line) for line in (out / "attempts.jsonl").read_bytes().splitlines() if line.strip()]
    return {row["key"]["arm"]: row for row in rows}


def trajectory(out: Path, arm: str, agent: str = "shell") -> list[dict[str, Any]]:
    text = (out / "trajectories" / f"{TASK}.{agent}.{arm}.0.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_three_arms_are_run_judged_kept_and_taken_up_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["agents", "compare", "--only", TASK, "--out", str(tmp_path)]
    assert main(arguments) == 0
    first = capsys.readouterr()
    found = attempts(tmp_path)
    assert not any(row["failure"] for row in found.values())
    assert found["without"]["navigator_calls"] == 0
    assert found["installed"]["navigator_calls"] == found["always loaded"]["navigator_calls"] == 1
    assert found["installed"]["calls"] == found["always loaded"]["calls"] + 1
    assert found["always loaded"]["solved"]
    assert "| shell | always loaded | 1 | 1 of 1 | 1 of 1 | 1 |" in first.out
    assert "**shell**, installed against without, 1 tasks" in first.out
    for arm in ARMS:
        assert trajectory(tmp_path, arm)[0]["role"] == "user"
    tools = [event["name"] for event in trajectory(tmp_path, "installed") if event["role"] == "tool"]
    assert tools[:2] == ["find_tools", "navigate"]
    assert main(arguments) == 0
    again = capsys.readouterr()
    assert again.out == first.out
    assert again.err.count("(known)") == 3


@pytest.fixture
def provider(tasks: dict[str, Task], monkeypatch: pytest.MonkeyPatch) -> Iterator[GeminiServer]:
    """Stand in for the provider of a real model, on loopback."""
    with gemini(ShellMind(list(tasks.values()))) as server:
        monkeypatch.setenv("GOOGLE_API_KEY", "key-of-the-user")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        yield server


@pytest.mark.usefixtures("provider")
def test_no_attempt_starts_once_the_money_is_spent_and_a_higher_limit_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["agents", "compare", "--only", TASK, "--out", str(tmp_path), "--model", "gemini-2.0-flash"]
    assert main([*arguments, "--max-cost", "0.0000001"]) == 2
    assert "2 attempts are left, and the same command with a higher --max-cost" in capsys.readouterr().err
    (row,) = attempts(tmp_path).values()
    assert row["usd"] > 0
    assert row["failure"].startswith("no end within $")
    assert main([*arguments, "--max-cost", "0.0000001"]) == 2
    assert "3/3" not in capsys.readouterr().err
    assert main([*arguments, "--max-cost", "1"]) == 0
    assert len(attempts(tmp_path)) == 3


def test_an_agent_that_never_ends_is_stopped_and_what_it_took_is_booked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def asks(request: dict[str, Any], number: int) -> Any:
        del request, number
        return call("shell", {"command": "true"}, prompt=1_000)

    with gemini(asks) as server:
        monkeypatch.setenv("GOOGLE_API_KEY", "key-of-the-user")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        arguments = ["agents", "compare", "--only", TASK, "--arms", "without", "--model", "gemini-2.0-flash"]
        assert main([*arguments, "--max-calls", "3", "--out", str(tmp_path)]) == 0
    (row,) = attempts(tmp_path).values()
    assert (row["calls"], row["fresh"], row["failure"]) == (3, 3_000, "no end within 3 calls")
    assert "Broke off: python-voucher without: no end within 3 calls" in capsys.readouterr().out


def test_a_shell_cannot_touch_the_judge_and_only_changed_code_is_judged(
    tasks: dict[str, Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cheat = (
        "printf 'raise SystemExit(0)' > tests/test_discounts.py; echo 'import os; os._exit(0)' > conftest.py;"
        "mkdir -p ../home/.local; ln -s /etc/passwd orderdesk/link.py; echo 'x = 1' > orderdesk/new.py"
    )

    def cheats(request: dict[str, Any], number: int) -> Any:
        del request
        return say("Done.") if number else call("shell", {"command": cheat})

    with gemini(cheats) as server:
        monkeypatch.setenv("GOOGLE_API_KEY", "key-of-the-user")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        arguments = ["agents", "compare", "--only", TASK, "--arms", "without", "--model", "gemini-2.0-flash"]
        assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    (row,) = attempts(tmp_path / "out").values()
    assert not row["solved"]
    before, after = tmp_path / "before", tmp_path / "after"
    tasks[TASK].lay_out(before)
    tasks[TASK].lay_out(after)
    (after / "orderdesk" / "new.py").write_text("x = 1\n")
    (after / "orderdesk" / "link.py").symlink_to("/etc/hostname")
    (after / "orderdesk" / "blob.py").write_bytes(b"\xff\xfe\x00")
    (after / "conftest.py").write_text("x = 1\n")
    assert changes(before, after, tasks[TASK].tests) == {"orderdesk/new.py": "x = 1\n"}


CLAUDE = """
import json, pathlib, sys
arguments = sys.argv[1:]
config = json.loads(pathlib.Path(arguments[arguments.index("--mcp-config") + 1]).read_text())
file = pathlib.Path({path!r})
file.write_text(file.read_text().replace({wrong!r}, {right!r}))
for block in ({{"type": "text"}}, {{"type": "tool_use", "name": "mcp__repo-navigator__navigate"}}):
    message = {{"id": "m1", "content": [block], "usage": {{"input_tokens": 5}}}}
    print(json.dumps({{"type": "assistant", "message": message}}))
usage = {{"input_tokens": 100, "cache_creation_input_tokens": 200, "output_tokens": 50}}
usage["cache_read_input_tokens"] = 700
print(json.dumps({{"type": "asked", "arguments": arguments, "config": config}}))
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
def programs(tasks: dict[str, Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put programs on the ``PATH`` that answer as the agents do."""
    (bug,) = tasks[TASK].bugs
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
def test_claude_code_is_run_in_three_arms_and_believed_about_its_cost(tmp_path: Path) -> None:
    arguments = ["agents", "compare", "--only", TASK, "--agents", "claude-code", "--uncontained"]
    out = tmp_path / "out"
    assert main([*arguments, "--model", "gemini-2.0-flash", "--out", str(out)]) == 0
    rows = attempts(out)
    assert all(row["solved"] for row in rows.values())
    row = rows["installed"]
    assert (row["usd"], row["calls"], row["navigator_calls"]) == (0.25, 4, 1)
    assert (row["fresh"], row["cached"], row["out"]) == (300, 700, 50)
    asked = {
        arm: next(e for e in trajectory(out, arm, "claude-code") if e["type"] == "asked") for arm in ARMS
    }
    servers = {arm: each["config"]["mcpServers"] for arm, each in asked.items()}
    assert servers["without"] == {}
    assert "alwaysLoad" not in servers["installed"]["repo-navigator"]
    assert servers["always"]["repo-navigator"]["alwaysLoad"] is True
    assert "--strict-mcp-config" in asked["without"]["arguments"]


@pytest.mark.usefixtures("programs")
def test_codex_is_run_in_the_two_arms_that_it_has_and_priced_by_the_table(tmp_path: Path) -> None:
    arguments = ["agents", "compare", "--only", TASK, "--agents", "codex", "--uncontained"]
    out = tmp_path / "out"
    assert main([*arguments, "--model", "gemini-2.0-flash", "--out", str(out)]) == 0
    rows = attempts(out)
    assert set(rows) == {"without", "installed"}
    row = rows["installed"]
    assert (row["navigator_calls"], row["fresh"], row["cached"], row["solved"]) == (1, 600, 400, False)
    price = load_prices(None).price_of("gemini-2.0-flash")
    assert row["usd"] == float(price.cost(TokenUsage(1_000, 400, 50)))
    asked = [next(e for e in trajectory(out, arm, "codex") if e["type"] == "asked") for arm in ARMS[:2]]
    assert not any("mcp_servers" in word for word in asked[0]["arguments"])
    assert any("mcp_servers.repo-navigator.command" in word for word in asked[1]["arguments"])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--agents", "codex"], "codex runs with your rights, in no cell"),
        (["--agents", "codex", "--uncontained"], "codex needs a model of its own; name it by --model."),
        (["--agents", "nobody"], "There is no agent nobody; choose of shell, claude-code, codex."),
        (["--arms", "some"], "There is no arm some; choose of without, installed, always."),
    ],
)
@pytest.mark.usefixtures("programs")
def test_what_cannot_be_run_is_told_in_a_sentence(
    more: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["agents", "compare", "--only", TASK, "--out", str(tmp_path), *more]) == 2
    assert message in capsys.readouterr().err


def test_a_program_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchmarks.agents.arms.command.is_installed", lambda _: False)
    assert main(["agents", "compare", "--only", TASK, "--out", str(tmp_path), "--agents", "claude-code"]) == 2
    assert "claude-code is not installed: there is no program claude on the PATH." in capsys.readouterr().err
