"""The measurement of navigators: what counts as found, and its table."""

from __future__ import annotations

from pathlib import Path

import pytest

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
