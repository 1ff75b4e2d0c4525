"""``repo-navigator ask``: the lookups of ``step``'s ``ask`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repo_map.steering.commands import QUESTIONS
from repo_navigator.main import main
from tests.support.trees import write

FILES = {
    "tax.py": "RATE = 0.2\n\n\ndef tax(price):\n    return price * RATE\n",
    "shop.py": "from tax import tax\n\n\ndef total(price):\n    return price + tax(price)\n",
    "tests/test_tax.py": "from tax import tax\n\n\ndef test_tax():\n    assert tax(10) == 2\n",
}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REPO_NAVIGATOR_CACHE", str(tmp_path / "cache"))
    return write(tmp_path / "shop", FILES)


@pytest.mark.parametrize(
    ("arguments", "found", "missing"),
    [
        (["search", "RATE"], "tax.py:4-5 tax [function]", "tests/test_tax.py"),
        (["search", r"tax\(", "--tests"], "tests/test_tax.py:4-5 test_tax", "RATE = 0.2"),
        (["search", r"tax\(", "--paths", "shop.py"], "shop.py:4-5 total", "tax.py:4"),
        (["search", '{"pattern": "tax(", "literal": true}'], "shop.py:4-5 total", "test_tax"),
        (["read", "total", "tax.py:1-1"], "return price + tax(price)", "def tax("),
        (["callers", "tax"], "shop.py:4-5 total", "test_tax.py:4"),
        (["outline", "tax.py"], "4-5 def tax(price):", "total"),
    ],
)
def test_a_question_is_answered(
    shop: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], found: str, missing: str
) -> None:
    assert main(["ask", *arguments, "--repo", str(shop)]) == 0
    answer = capsys.readouterr().out
    assert found in answer
    assert missing not in answer


def test_an_answer_is_json_on_request(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "definition", "tax", "--repo", str(shop), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["question"] == "definition"
    assert data["answer"].startswith("tax.py:4-5 tax [function]")


@pytest.mark.parametrize("arguments", [["callers", "no_such_name"], ["search", "(a"], ["frobnicate", "x"]])
def test_what_cannot_be_answered_is_refused_in_one_line(
    shop: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(["ask", *arguments, "--repo", str(shop)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("repo-navigator: ")
    assert printed.err.count("\n") == 1


def test_the_refusal_of_an_unknown_question_lists_all_questions(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", "importer", "tax.py", "--repo", str(shop)]) == 2
    refusal = capsys.readouterr().err
    assert all(each in refusal for each in QUESTIONS)
    assert "Nearest: `importers`" in refusal


def test_the_refusal_of_an_unknown_member_lists_the_members(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    methods = "".join(
        f"    def {name}(self):\n        return 1\n\n" for name in ("_hidden", "begin", "finish")
    )
    write(shop, {"task.py": f"class Task:\n{methods}"})
    assert main(["ask", "callers", "Task.nothere", "--repo", str(shop)]) == 2
    assert "`Task`: `begin`, `finish`, `_hidden`." in capsys.readouterr().err
