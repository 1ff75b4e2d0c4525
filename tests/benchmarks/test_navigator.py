"""The measurement of navigators: what counts as found, and its table."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from benchmarks.__main__ import main
from benchmarks.navigator import NavigatorRow, key_functions, score, table
from benchmarks.tasks import GoldSymbol, Task
from navigator.navigator import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings

CODE = "def total(lines):\n    def add(a, b):\n        return a + b\n    return add(*lines)\n"
GOLD = [
    GoldSymbol("total.py", "total", "function", 1, 4, 1, "total"),
    GoldSymbol("total.py", "total.add", "function", 2, 3, 2, "add"),
    GoldSymbol("gone.py", "other", "function", 1, 2, 1, "other"),
]


def test_of_nested_functions_the_outermost_counts() -> None:
    task = Task("one", "shop/shop", "abc", goal="total", gold_symbols=GOLD)
    assert [each.name for each in key_functions(task)] == ["total", "other"]


@pytest.mark.anyio
async def test_an_answer_is_scored_by_the_functions_that_its_places_overlap(tmp_path: Path) -> None:
    (tmp_path / "total.py").write_text(CODE)
    navigator = Navigator(NavigatorSettings(use_cache=False, workers=1))
    output = await navigator.run(await navigator.open(NavigationRequest("total is wrong", tmp_path)))
    await navigator.aclose()
    task = Task("one", "shop/shop", "abc", goal="total", gold_symbols=GOLD)
    measures = score(task, output)
    assert (measures["functions"], measures["shown"], measures["turns"]) == (0.5, 0.5, 0)
    row = NavigatorRow("one", "shop/shop", "python", "embedded", measures, [], [])
    assert table([row])[2].startswith("| embedded (1) | 0.50 [0.50, 0.50] |")


def test_answers_found_elsewhere_are_scored_and_stand_in_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks, answers, rows = (tmp_path / name for name in ("tasks.jsonl", "answers.jsonl", "rows.jsonl"))
    tasks.write_bytes(msgspec.json.encode(Task("one", "shop/shop", "abc", goal="total", gold_symbols=GOLD)))
    found = {"id": "one", "arm": "grep", "places": ["total.py:4-4 shop::total", "other.py:1-2"]}
    answers.write_bytes(msgspec.json.encode({**found, "calls": 3, "characters": 1200}))
    command = ["navigator", str(tasks), "--answers", str(answers), "--out", str(rows)]
    for _ in range(2):
        assert main(command) == 0
        assert "| grep (1) | 0.50 [0.50, 0.50] | 0.50 [0.50, 0.50] | 2.0 |" in capsys.readouterr().out
    (row,) = rows.read_text().splitlines()
    assert msgspec.json.decode(row)["measures"]["characters"] == 1200
