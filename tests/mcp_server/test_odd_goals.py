"""Goals and repositories out of the ordinary, through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from repo_map.text.tokens import count
from repo_navigator.main import main
from tests.support.trees import write

BUDGET = 400
TRACE = """Traceback (most recent call last):
  File "run.py", line 3, in <module>
    checkout()
  File "/srv/venv/lib/python3.11/site-packages/shop/prices.py", line 3, in discount
    return 5 if item == "apple" else 0
TypeError: unsupported operand type(s) for *: 'int' and 'NoneType'
"""


def packet(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], goal: str
) -> tuple[dict[str, Any], str]:
    """Return the answer of ``navigate`` and its last words."""
    file = tmp_path / "goal.txt"
    file.write_text(goal, encoding="utf-8")
    assert main(["navigate", str(root), "--goal-file", str(file), "--tokens", str(BUDGET), "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert answer["tokens"] == count(answer["context"]) <= BUDGET
    return answer, answer["reasoning_summary"]


@pytest.mark.parametrize(
    "goal",
    ["Der Rabatt soll nie zu hoch ausfallen, siehe discount", "折扣 不应 使 价格 变成 负数，见 discount"],
    ids=["German", "Chinese"],
)
def test_a_goal_in_another_language_follows_its_identifiers_and_is_never_sure(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], goal: str
) -> None:
    answer, _ = packet(shop, tmp_path, capsys, goal)
    assert answer["files"][0]["path"] == "shop/prices.py"
    assert answer["confidence"] == "low"


def test_a_goal_without_a_word_of_the_repository_says_so(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer, _ = packet(shop, tmp_path, capsys, "修复内存泄漏")
    assert answer["confidence"] == "none"
    assert answer["files"]


def test_an_empty_repository_says_that_it_is_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    answer, _ = packet(tmp_path / "empty", tmp_path, capsys, "Round the tax")
    assert (answer["context"], answer["files"], answer["confidence"]) == ("", [], "none")


def test_a_single_file_without_history_is_shown_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write(tmp_path / "one", {"tax.py": "RATE = 25\n\n\ndef tax(amount):\n    return amount * RATE\n"})
    answer, _ = packet(root, tmp_path, capsys, "The tax of an amount is wrong")
    assert "return amount * RATE" in answer["context"]
    answer, _ = packet(root, tmp_path, capsys, "xyzzy plugh")
    assert "return amount * RATE" in answer["context"]
    assert answer["confidence"] == "none"


def test_a_stack_trace_alone_leads_to_its_frames(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer, _ = packet(shop, tmp_path, capsys, TRACE)
    assert answer["files"][0]["path"] == "shop/prices.py"
    assert any("stack trace" in reason for reason in answer["files"][0]["reasons"])
    assert "def discount" in answer["context"]
