"""Navigations on the command line: said in fewer words, gone on with in a conversation, read again later."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from repo_navigator.main import main
from repo_navigator.map_main import main as draw

GOAL = "The discount on an apple must never make its price negative"


def ran(capfd: pytest.CaptureFixture[str], *arguments: Any, code: int = 0) -> tuple[str, str]:
    """Run a command and return what it printed on stdout and on stderr."""
    capfd.readouterr()
    assert main([str(argument) for argument in arguments]) == code
    message = capfd.readouterr()
    return message.out, message.err


def test_a_stored_navigation_is_read_and_gone_on_with(
    shop: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = json.loads(ran(capfd, "navigate", shop, GOAL, "--json")[0])
    key = made["navigation_id"]
    context, message = ran(capfd, "context")
    assert context.rstrip() == made["context"].rstrip()
    assert message.rstrip().endswith(key)
    assert ran(capfd, "context", key, "--plan")[0].rstrip() == made["flight_plan_yaml"].rstrip()
    again = json.loads(ran(capfd, "context", key, "--json", "--feedback", "drop shop/prices.py")[0])
    assert again["navigation_id"] == key
    assert "shop/prices.py" not in {file["path"] for file in again["files"]}
    file = tmp_path / "plan.yaml"
    assert ran(capfd, "context", "--plan", "-o", file)[0] == ""
    assert file.read_text("utf-8").rstrip() == again["flight_plan_yaml"].rstrip()


def test_the_context_goes_to_a_file(shop: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "context.txt"
    assert ran(capfd, "navigate", shop, GOAL, "-o", file)[0] == ""
    assert "def discount" in file.read_text("utf-8")
    assert "no/file" in ran(capfd, "navigate", shop, GOAL, "-o", tmp_path / "no" / "file", code=2)[1]


def test_a_question_does_not_end_a_conversation_and_nothing_is_said_twice(
    shop: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "where is discount defined?\nthanks\ndrop shop/mail.py\nwhere is Cart defined?\nn\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(said))
    message = ran(capfd, "navigate", shop, GOAL, "--interactive")[1]
    answers = ["11 def discount(", "`shop/mail.py`.", "6 class Cart"]
    for answer in answers:
        assert message.count(answer) == 1, (answer, message)


def test_a_map_takes_its_plan_by_the_name_config(
    shop: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text("budget: 500\nverbosity:\n- {pattern: shop/mail.py, level: 0}\n")
    drawn = []
    for flag in ("--config", "--plan", "-C"):
        assert draw(["generate", str(shop), flag, str(plan), "-q", "--no-cache", "--workers", "1"]) == 0
        drawn.append(capfd.readouterr().out)
    assert drawn[0] == drawn[1] == drawn[2]
    assert "mail.py" not in drawn[0]
    assert "prices.py" in drawn[0]


def test_a_plan_file_leaves_out_what_it_leaves_out(
    shop: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "verbosity:\n- {pattern: '**', level: 0}\n- {pattern: 'shop/**', level: 2}\n"
        "- {pattern: shop/prices.py, level: 0}\n"
    )
    monkeypatch.setattr("sys.stdin", io.StringIO("y\nmore about prices\ny\ny\n"))
    for mode in ([], ["--interactive"]):
        made = json.loads(ran(capfd, "navigate", shop, GOAL, "--plan", plan, "--json", *mode)[0])
        assert {file["path"] for file in made["files"]} == {"shop/cart.py", "shop/mail.py"}
        assert "shop/prices.py" not in made["reasoning_summary"]
