"""The measurement of first answers: what is counted, which tasks are chosen, that a stopped run goes on."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from benchmarks.__main__ import main
from benchmarks.answer import AnswerRow, chosen
from benchmarks.rows import RowFile
from benchmarks.sent import Listed, outline_of
from benchmarks.tasks import GoldSymbol, Task
from repo_map.ranking.score import default_weights
from tests.support.trees import commit, git

TAX = """def rate_of(country):
    return 25


def round_tax(amount):
    tax = amount * 0.25
    return round(tax)
"""
PATHS = frozenset({"shop/tax.py", "shop/cart.py"})


def task_of(repo: str, number: int, base: str = "0" * 40) -> Task:
    gold = GoldSymbol("shop/tax.py", "round_tax", "function", 5, 7, 5, "round_tax")
    goal = "round_tax rounds the tax of a cart wrongly"
    return Task(f"{repo}-{number}", repo, base, "Python", goal, ["shop/tax.py"], [gold])


def test_an_outline_is_read_as_places_under_their_paths() -> None:
    text = (
        "outline:\nshop/tax.py (3 more)\n1* Tax.round 5-9: called by total, line 3\n2 .rate 11-12\n"
        "3 .whole 14-20: called by total, line 4; same in lib/tax.py:4-10\n4 .part 22-29: same there:12-19\n"
        "shop/cart.py\n3 whole file 1-40\ntests: pytest\n4 stray 1-2"
    )
    assert list(outline_of(text, PATHS)) == [
        Listed("shop/tax.py", 5, 9, is_file=False),
        Listed("shop/tax.py", 11, 12, is_file=False),
        Listed("shop/tax.py", 14, 20, is_file=False),
        Listed("lib/tax.py", 4, 10, is_file=False),
        Listed("shop/tax.py", 22, 29, is_file=False),
        Listed("lib/tax.py", 12, 19, is_file=False),
        Listed("shop/cart.py", 1, 40, is_file=True),
    ]


def test_tasks_come_in_turn_from_each_repository_that_has_a_mirror(tmp_path: Path) -> None:
    for name in ("ada+shop", "bob+mill"):
        commit(tmp_path / name, {"a.py": "a = 1\n"})
    tasks = [task_of("ada/shop", 1), task_of("ada/shop", 2), task_of("bob/mill", 1), task_of("eve/none", 1)]
    assert [task.id for task in chosen(tasks, tmp_path, 2)] == ["ada/shop-1", "bob/mill-1"]
    assert [task.id for task in chosen(tasks, tmp_path, None)][2:] == ["ada/shop-2"]


def test_an_answer_is_judged_as_it_is_sent_and_a_stopped_run_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = commit(
        tmp_path / "mirrors" / "ada+shop", {"shop/tax.py": TAX, "shop/cart.py": "def add():\n    pass\n"}
    )
    task = task_of("ada/shop", 1, git(tree, "rev-parse", "HEAD").strip())
    (tmp_path / "some.jsonl").write_bytes(msgspec.json.encode(task))
    weights = tmp_path / "weights.json"
    weights.write_bytes(msgspec.json.encode({"ada/shop": default_weights()}))
    rows = tmp_path / "rows.jsonl"
    asked = [
        "answer",
        str(tmp_path / "some.jsonl"),
        "--mirrors",
        str(tmp_path / "mirrors"),
        "--out",
        str(rows),
    ]
    asked += ["--trees", str(tmp_path / "trees"), "--weights", str(weights), "--tokens"]
    assert main([*asked, "1000"]) == 0
    first = list(RowFile(rows, AnswerRow))
    assert main([*asked, "400,1000"]) == 0
    both = list(RowFile(rows, AnswerRow))
    assert [(row.most, row.measures["reach"], row.measures["body"]) for row in both] == [
        (1000, 1.0, 1.0),
        (400, 1.0, 1.0),
    ]
    assert both[:1] == first
    assert all(row.measures["tokens"] <= row.most and row.measures["spelt"] == 1.0 for row in both)
    assert "| some (1) | 1,000 | 1.00" in capsys.readouterr().out
