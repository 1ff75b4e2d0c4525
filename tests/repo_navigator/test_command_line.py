"""``repo-navigator navigate`` and ``replay`` as a shell runs them."""

from __future__ import annotations

import importlib
import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from repo_map.text.tokens import count
from repo_navigator.main import main
from repo_navigator.map_main import main as repo_map
from tests.repo_navigator.running import navigate
from tests.support.errors import refusal_of_command
from tests.support.providers.gemini import gemini
from tests.support.providers.minds import Refuse, Thought, call
from tests.support.signals import heeding_ctrl_c
from tests.support.trees import commit

GOAL = "The discount on an apple must never make its price negative"
COMMAND = (sys.executable, "-m", "repo_navigator.main")


def test_json_has_every_promised_field_and_the_tokens_are_true(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = navigate(capsys, shop, "--goal", GOAL, "--tokens", 600)
    assert answer.keys() == {
        "navigation_id",
        "status",
        "repository",
        "context",
        "tokens",
        "token_budget",
        "files",
        "menu",
        "outline",
        "flight_plan_yaml",
        "confidence",
        "sufficiency",
        "findings",
        "impact",
        "reasoning_summary",
        "total_iterations",
        "total_cost_usd",
        "seconds",
        "notes",
    }
    assert answer["tokens"] == count(answer["context"]) <= answer["token_budget"] == 600
    assert answer["confidence"] in {"high", "medium", "low"}
    assert answer["confidence"] in answer["sufficiency"]
    assert answer["files"][0]["path"] == "shop/prices.py"
    assert answer["files"][0].keys() == {"path", "level", "tokens", "reasons"}
    assert answer["seconds"].keys() == {"index", "navigate", "total"}
    assert answer["total_cost_usd"] == 0


def test_a_goal_comes_from_a_file_or_from_stdin(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "goal.txt").write_text(GOAL)
    from_file = navigate(capsys, shop, "--goal-file", tmp_path / "goal.txt")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOAL.encode())))
    assert navigate(capsys, shop, "--goal-file", "-")["context"] == from_file["context"]


def test_a_saved_plan_replays_to_the_same_bytes(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.yaml"
    answer = navigate(capsys, shop, "--goal", GOAL, "--save-plan", plan)
    assert plan.read_text() == answer["flight_plan_yaml"]
    assert main(["replay", str(plan), str(shop), "--json"]) == 0
    replayed = json.loads(capsys.readouterr().out)
    assert replayed["context"] == answer["context"]
    assert replayed["drift"]["same_tree"]


def test_a_closed_pipe_ends_in_silence(shop: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    process = subprocess.run(
        [*COMMAND, "navigate", shop, "--goal", GOAL],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert process.returncode == 0
    assert "Error" not in process.stderr
    assert "Traceback" not in process.stderr


def conversed(shop: Path, said: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run an interactive navigation that is told these lines."""
    command = [*COMMAND, "navigate", shop, "--goal", GOAL, "--interactive", *flags]
    process = subprocess.run(command, input=said, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return process


def test_an_interactive_user_steers_looks_and_stops(shop: Path) -> None:
    process = conversed(shop, "show\nplan\ncost\nalso show shop/mail.py\nn\n")
    assert "[y] next step" in process.stderr
    assert "$0.00 spent" in process.stderr
    assert "verbosity:" in process.stderr
    assert "def price_of" in process.stdout


def test_the_end_of_input_accepts_the_context(shop: Path) -> None:
    assert json.loads(conversed(shop, "", "--json").stdout)["status"] == "user"


def test_ctrl_c_ends_with_5_and_keeps_what_was_done(shop: Path) -> None:
    with heeding_ctrl_c():
        process = subprocess.Popen(
            [*COMMAND, "navigate", shop, "--goal", GOAL, "--interactive", "--json"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    assert process.stderr is not None
    try:
        while b"[y] next step" not in (line := process.stderr.readline()):
            assert line, "the first step was never reported"
        while process.stderr.read(1) != b">":
            pass
        process.send_signal(signal.SIGINT)
        # The input stays open until the end, as a terminal's does: its end would accept the context.
        code = process.wait(timeout=30)
    finally:
        process.kill()
        out, _ = process.communicate()
    assert code == 5
    answer = json.loads(out)
    assert answer["status"] == "cancelled"
    assert "def price_of" in answer["context"]


@pytest.mark.parametrize("command", ["repo_navigator.main", "repo_navigator.map_main"])
def test_the_version_is_told(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(command).main(["--version"])
    assert ended.value.code == 0
    assert re.fullmatch(r"repo-(navigator|map) \d[\w.]*\n", capsys.readouterr().out)


MISTAKES = (
    ("repo-navigator navigate . --gaol x", "--gaol", "did you mean --goal?"),
    ("repo-navigator navigate . --token-budget 9", "--token-budget", "did you mean --tokens?"),
    ("repo-navigator navigate . --token 9", "--token", "did you mean --tokens?"),
    ("repo-navigator navigate --tokesn 9", "--tokesn", "did you mean --tokens?"),
    ("repo-navigator navigate --repo . --goal x", "--repo", "`repo-navigator navigate --help`"),
    ("repo-navigator navigate . --temperature 1", "--temperature", "`repo-navigator navigate --help`"),
    ("repo-navigator navigate . --goal x --tokens y", "--tokens", "'y'"),
    ("repo-navigator navigate . --goal x two", "GOAL", "--goal"),
    ("repo-navigator navigate . x --goal-file y", "GOAL", "--goal-file"),
    ("repo-navigator navigate . --since=", "--since", "`repo-navigator navigate --help`"),
    ("repo-navigator navigate . --since HEAD --diff", "--diff", "--since"),
    ("repo-navigator naviagte .", "", "did you mean navigate?"),
    ("repo-navigator install --dryrun", "--dryrun", "did you mean --dry-run?"),
    ("repo-navigator tokne alice", "", "did you mean token?"),
    ("repo-navigator --verson", "--verson", "did you mean --version?"),
    ("repo-navigator serve --port 80", "--port", "`repo-navigator serve --help`"),
    ("repo-map generate . --tokesn=9", "--tokesn", "did you mean --tokens?"),
    ("repo-map generate --repo .", "--repo", "`repo-map generate --help`"),
    ("repo-map generate", "", "PATH"),
    ("repo-map draw .", "", "generate"),
    ("repo-map generate . --tokens 0", "--tokens", "`0`"),
)


@pytest.mark.parametrize(("line", "argument", "hint"), MISTAKES, ids=[line for line, *_ in MISTAKES])
def test_a_wrong_command_line_names_the_argument_and_a_way_on(
    line: str, argument: str, hint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    program, *arguments = line.split()
    command = {"repo-navigator": main, "repo-map": repo_map}[program]
    assert command(arguments) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert hint in err
    assert refusal_of_command(arguments, capfd, main=command) == ("invalid_command_line", argument)


def test_a_model_that_the_environment_names_falls_back_where_its_key_is_missing(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPO_NAVIGATOR_MODEL", "gemini-2.5-flash")
    answer = navigate(capsys, shop, "--goal", GOAL)
    assert answer["status"] == "finished"
    assert any("GOOGLE_API_KEY" in note for note in answer["notes"])


@pytest.mark.parametrize("form", ["text", "json"])
def test_what_was_found_before_the_last_model_failed_is_printed_and_its_plan_saved(
    shop: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    def mind(request: dict[str, Any], number: int) -> Thought:
        if number > 1:
            return Refuse(403)
        rule = {"pattern": "shop/prices.py", "level": 4 - number}
        return call("update_flight_plan", {"reasoning": "Prices.", "updates": {"verbosity": [rule]}})

    plan = tmp_path / "kept.yaml"
    with gemini(mind) as server:
        monkeypatch.setenv("GOOGLE_API_KEY", "a-key")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        monkeypatch.setenv("REPO_NAVIGATOR_EMBEDDED_FALLBACK", "off")
        flags = [
            "--model",
            "gemini-2.0-flash",
            "--save-plan",
            str(plan),
            *(["--json"] if form == "json" else []),
        ]
        assert main(["navigate", str(shop), "--goal", GOAL, *flags]) == 4
    out, err = capfd.readouterr()
    context = out
    if form == "json":
        answer = json.loads(out)
        context = answer["context"]
        assert answer["status"] == "error"
        assert answer["total_iterations"] == 2
        assert "(HTTP 403)" in answer["notes"][0]
    else:
        assert "(HTTP 403)" in " ".join(err.split())
    assert "shop/prices.py" in context
    assert "shop/prices.py" in plan.read_text()
    assert "Traceback" not in err


STREAMING = ("repo_navigator.map_main generate . --no-cache", "repo_navigator.main replay plan.yaml .")


@pytest.mark.skipif(sys.platform == "win32", reason="a shell that can close streams")
@pytest.mark.parametrize(
    ("command", "closed"),
    [*((STREAMING[0], closed) for closed in ("<&-", ">&-", "2>&-")), (STREAMING[1], ">&-")],
)
def test_a_closed_stream_is_no_failure(command: str, closed: str, shop: Path) -> None:
    (shop / "plan.yaml").write_text("budget: 200\n")
    line = f"{sys.executable} -m {command} {closed}"
    done = subprocess.run(["sh", "-c", line], cwd=shop, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert ("shop/cart.py" in done.stdout) == (closed != ">&-")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals")
def test_ctrl_c_while_a_command_still_imports_ends_it_with_one_line(shop: Path) -> None:
    # The import of a module, in the midst of all others, is where the signal comes.
    program = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'pydantic_core': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from repo_navigator.main import main\n"
        f"sys.exit(main(['navigate', {str(shop)!r}, '--goal', 'x']))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (5, "", "repo-navigator: cancelled\n")


def test_uncommitted_changes_are_a_goal_of_their_own_and_the_plan_replays_without_git(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(shop, {})
    prices = shop / "shop" / "prices.py"
    prices.write_text(prices.read_text().replace('return 5 if item == "apple"', "return 6 if item"))
    plan = tmp_path / "plan.yaml"
    answer = navigate(capsys, shop, "--diff", "--tokens", 900, "--save-plan", plan)
    assert "`discount` (shop/prices.py:11)" in answer["impact"][0]
    assert "`price_of` (shop/prices.py:8) for `discount`" in answer["impact"][1]
    assert answer["files"][0]["reasons"][0] == "changed: `discount`"
    commit(shop, {})
    assert main(["replay", str(plan), str(shop)]) == 0
    assert capsys.readouterr().out == answer["context"]
    assert navigate(capsys, shop, "--since", "HEAD~1", "--tokens", 900)["impact"] == answer["impact"]


def test_a_note_that_holds_for_every_step_is_told_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    (tmp_path / "discount.py").write_text("def discount():\n    return 1\n")
    plan = tmp_path.parent / "plan.yaml"
    plan.write_text("verbosity: [{pattern: 'nowhere/**', level: 4}]\n")
    assert main(["navigate", str(tmp_path), "--goal", "the discount", "--plan", str(plan)]) == 0
    assert capfd.readouterr().err.count("No file matches `nowhere/**`.") == 1


def test_a_navigation_ends_with_how_sure_it_is_and_what_can_be_added_below_the_context(
    shop: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["navigate", str(shop), "the discount on an apple", "--tokens", "15"]) == 0
    shown, message = capfd.readouterr()
    assert "--tokens" in message or shown.strip()
    assert main(["navigate", str(shop), "the discount on an apple", "--tokens", "200"]) == 0
    _, message = capfd.readouterr()
    assert "repo-navigator show 1 3" in message
    assert re.search(r"^1\*? \w+ \d+-\d+$", message, re.MULTILINE), message
    last = message.rstrip().splitlines()[-1]
    assert re.fullmatch(r"\d+ of 200 tokens, \d files?, \d steps?, \$0\.00, [\d.]+ s  nav-\w+", last)
