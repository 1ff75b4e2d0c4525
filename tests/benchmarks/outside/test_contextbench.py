"""ContextBench's rule on a repository made on the spot: what is shown, what is named, and what goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.kept_rows import KeptRows
from benchmarks.outside.blocks import Overlap, blocks_of, overlaps
from benchmarks.outside.contextbench import NAMED, SHOWN, ContextRow, shown_lines, together
from benchmarks.outside.gold import read_gold
from tests.support.trees import commit, git

TAX = """RATES = {"no": 25}


class Rate:
    def of(self, country):
        return RATES[country]


def round_tax(amount, country):
    cents = amount * Rate().of(country)

    return round(cents) / 100
"""
FILES = {
    "shop/tax.py": TAX,
    "shop/mail.py": "def send(to):\n    return deliver(to)\n",
    "README.md": "# Shop\n",
}
CONTEXT = """context0：
file: /workspace/ada__shop__0.1/shop/tax.py
start_line: 9
end_line: 12
def round_tax(amount, country):

context1：
file: /workspace/ada__shop__0.1/shop/gone.py
start_line: 1
end_line: 2
"""


def published(number: int, commit_id: str, repo: str = "shop") -> dict[str, Any]:
    return {
        "instance_id": f"Multi-{number}",
        "original_inst_id": f"ada__shop-{number}",
        "repo": repo,
        "language": "python",
        "base_commit": commit_id,
        "gold_context": CONTEXT,
        "problem_statement": "round_tax rounds the tax of a cart wrongly",
    }


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    tree = commit(tmp_path / "mirrors" / "ada+shop", FILES)
    rows = [published(1, git(tree, "rev-parse", "HEAD").strip()), published(2, "0" * 40, "eve/none")]
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path / "gold.jsonl"


def test_a_gold_context_is_read_without_the_folder_of_its_container(gold: Path) -> None:
    task, spans = read_gold(gold)[0]
    assert (task.repo, task.id) == ("ada/shop", "ada__shop-1")
    assert spans == {"shop/tax.py": [(9, 12)], "shop/gone.py": [(1, 2)]}


def test_blocks_are_the_definitions_that_any_line_touches_and_files_that_are_gone_count_as_wanted() -> None:
    assert [(block.first, block.last) for block in blocks_of("shop/tax.py", TAX)] == [(9, 12), (4, 6), (5, 6)]
    wanted = {"shop/tax.py": frozenset({9, 10}), "shop/gone.py": frozenset({1})}
    shown = {"shop/tax.py": frozenset({6, 9})}
    found = overlaps(wanted, shown, shown, {"shop/tax.py": TAX})
    assert found == {"file": Overlap(1, 2, 1), "block": Overlap(1, 1, 3), "line": Overlap(1, 3, 2)}


def test_a_blank_line_is_shown_where_the_lines_around_it_are() -> None:
    text = "### shop/tax.py\n" + "\n".join(TAX.split("\n")[8:12])
    assert shown_lines(text, frozenset(FILES), FILES.__getitem__) == {"shop/tax.py": {9, 10, 11, 12}}


def test_tasks_count_together_and_nothing_shown_is_precise_but_recalls_nothing() -> None:
    whole = together([Overlap(1, 2, 4), Overlap(0, 2, 0)])
    assert (whole.recall, whole.precision) == (0.25, 0.25)
    assert (Overlap(0, 2, 0).recall, Overlap(0, 2, 0).precision) == (0.0, 1.0)


def test_answers_are_measured_as_they_are_sent_and_a_task_without_a_mirror_is_named(
    gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    asked = ["contextbench", str(gold), "--mirrors", str(tmp_path / "mirrors"), "--out", str(rows)]
    asked += ["--trees", str(tmp_path / "trees"), "--tokens"]
    assert main([*asked, "1000"]) == 0
    said = capsys.readouterr()
    assert "ada__shop-2 is left out: No mirror of `eve/none`" in said.err
    (row,) = KeptRows(rows, ContextRow)
    assert row.counts[SHOWN]["line"][:2] == (4, 6)
    assert row.counts[NAMED]["file"][:2] == (1, 2)
    assert f"| {SHOWN}, 1,000 tokens | 1 | 50.0 % ±0" in said.out
    assert main([*asked, "400,1000"]) == 0
    again = list(KeptRows(rows, ContextRow))
    assert [each.most for each in again] == [1000, 400]
    both = capsys.readouterr().out
    assert main(["contextbench", "--rows", str(rows)]) == 0
    assert capsys.readouterr().out == both


@pytest.mark.parametrize(("name", "what"), [("none.jsonl", "No such file"), ("rows.jsonl", "gold_context")])
def test_a_file_that_holds_no_gold_context_is_refused_in_a_sentence(
    name: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.jsonl").write_text('{"instance_id": "a"}\n')
    assert main(["contextbench", str(tmp_path / name), "--mirrors", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert what in said
    assert "name its data/test.parquet" in said
