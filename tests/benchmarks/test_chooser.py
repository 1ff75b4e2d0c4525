"""What a model chooses from the menu, on a repository made on the spot and with a mind that we script."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks.__main__ import main
from benchmarks.kept_rows import KeptRows
from benchmarks.small_model.chooser import Chosen, Measures, Shown, table
from benchmarks.tasks import GoldSpan, GoldSymbol, Task
from tests.support.providers.minds import Mind, Say, call
from tests.support.providers.openai import messages_of, openai
from tests.support.trees import commit, git

TAX = "".join(
    f"def tax_{name}(cart):\n    total = sum(cart) * {rate}\n    return total\n\n\n"
    for rate, name in enumerate(("food", "books", "wine", "tools", "toys", "fuel"), 3)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    mirror = commit(tmp_path / "mirrors" / "ada+shop", {"shop/tax.py": TAX})
    first = next(number for number, line in enumerate(TAX.split("\n"), 1) if "tax_fuel" in line)
    task = Task(
        id="ada__shop-1",
        repo="ada/shop",
        base_commit=git(mirror, "rev-parse", "HEAD").strip(),
        language="Python",
        goal="the tax of a cart is wrong",
        gold_files=["shop/tax.py"],
        gold_symbols=[GoldSymbol("shop/tax.py", "tax_fuel", "function", first, first + 2, first, "tax_fuel")],
        gold_spans=[GoldSpan("shop/tax.py", first + 1, first + 1, insert=False)],
    )
    (tmp_path / "tasks.jsonl").write_bytes(msgspec.json.encode(task))
    return tmp_path


def takes_fuel(request: dict[str, Any], number: int) -> Say:
    found = re.search(r"^(\d+) .*tax_fuel", messages_of(request), re.M)
    if found is None:
        return call("finalize_context", {"summary": "tax_fuel is shown"})
    choice = {"reasoning": "fuel", "updates": {"numbers": [int(found[1])]}}
    return call("update_flight_plan", choice)


def measure(folder: Path, mind: Mind, *more: str) -> tuple[list[Chosen], int]:
    with openai(mind) as server:
        asked = [
            *("chooser", str(folder / "tasks.jsonl"), "--out", str(folder / "rows.jsonl"), "--tokens", "120"),
            *("--url", server.base_url, "--mirrors", str(folder / "mirrors")),
            *("--trees", str(folder / "trees")),
        ]
        assert main([*asked, *more]) == 0
        return list(KeptRows(folder / "rows.jsonl", Chosen)), len(server.requests)


def test_a_choice_is_scored_against_no_choice_and_asked_for_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (row,), asked = measure(folder, takes_fuel)
    assert asked == row.calls == 2
    assert (row.picks, row.right) == (["shop/tax.py tax_fuel"], 1)
    assert (row.steps, row.at_once, row.model) == (2, 2, "openai/local")
    assert (row.before.body, row.after.body, row.before.reach) == (0, 1, 1)
    first = capsys.readouterr().out
    assert "2 of 2 decisions valid at once; 1 picks" in first
    assert measure(folder, takes_fuel) == ([row], 0)
    assert capsys.readouterr().out == first


def test_a_model_that_never_decides_is_told_and_counts_as_no_choice(folder: Path) -> None:
    (row,), _ = measure(folder, lambda request, number: Say(text="I would rather talk."))
    assert (row.steps, row.picks) == (0, [])
    assert "answered without calling a tool" in row.ended


def test_the_table_pairs_each_task_with_itself() -> None:
    def of(body: float, tokens: float) -> Measures:
        return Measures(tokens=tokens, span=body, body=body, reach=1.0)

    rows = [
        Chosen(
            id=str(at),
            language="Go",
            model="m",
            budget=500,
            shown=Shown(goal=4_000),
            before=of(0.5, 400),
            after=of(1.0, 480),
            filled=of(0.5, 470),
            menu=20,
            picks=["a b", "a c"],
            right=1,
            steps=1,
            at_once=1,
            calls=1,
            read=2_000,
            written=60,
            seconds=9.0,
            ended="max_steps",
        )
        for at in range(4)
    ]
    text = table(rows)
    assert (
        "4 tasks; 4 of 4 decisions valid at once; 8 picks of 80 places, 4 of them edited by the fix." in text
    )
    assert "| body | 0.500 | 1.000 | 0.500 | +0.500 [+0.500, +0.500] |" in text
    assert "| tokens | 400 | 480 | 470 | +80 [+80, +80] |" in text
    assert table([]) == "No task was measured."
