"""Abstention on a repository made on the spot: what is said of a goal that has nothing there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.kept_rows import KeptRows
from benchmarks.outside.abstention import (
    NATURAL,
    POSITIVE,
    RULES,
    WRONG,
    AbstentionRow,
    balanced,
    is_right,
    read_samples,
    told_apart,
)
from tests.support.trees import commit, git

FILES = {
    f"shop/{name}.py": f"def {name}_total(cart):\n    return cart.{name}\n"
    for name in ("tax", "mail", "cart")
}
ALWAYS, NOTHING, UNSURE = RULES.values()


def sample(number: int, base: str, **fields: Any) -> dict[str, Any]:
    return {"id": f"s{number}", "repo": "ada/shop", "base_commit": base, **fields}


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    base = git(commit(tmp_path / "mirrors" / "ada+shop", FILES), "rev-parse", "HEAD").strip()
    none = {"files": [], "no_gold": True, "reason": "upstream_dependency"}
    said = [
        sample(1, base, task_type="abstention", gold=none, query={"source": "issue", "text": "Qwzx vbnm"}),
        sample(2, base, task_type="abstention", gold=none, query={"source": "other", "text": "tax_total"}),
        sample(
            3,
            base,
            task_type="code2test",
            gold={"related_tests": ["shop/tax.py"]},
            query={"pr_title": "`tax_total` is wrong", "line": 3, "pr_body": ""},
        ),
    ]
    (tmp_path / "samples.jsonl").write_text("\n".join(map(json.dumps, said)))
    return tmp_path / "samples.jsonl"


def test_a_query_becomes_a_goal_and_its_kind_is_told(samples: Path) -> None:
    found = [(task.goal, task.gold_files, kind) for task, kind in read_samples(samples)]
    assert found == [
        ("Qwzx vbnm", [], NATURAL),
        ("tax_total", [], WRONG),
        ("`tax_total` is wrong", ["shop/tax.py"], POSITIVE),
    ]


def test_a_goal_without_a_word_in_common_is_answered_with_nothing(
    samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    asked = ["abstention", str(samples), "--mirrors", str(tmp_path / "mirrors"), "--tokens", "400,1000"]
    asked += ["--trees", str(tmp_path / "trees"), "--out", str(rows)]
    assert main(asked) == 0
    first = capsys.readouterr()
    found = {row.id: row for row in KeptRows(rows, AbstentionRow)}
    assert set(found["s1"].evidence.values()) == {"nothing"}
    assert found["s3"].found
    assert not found["s3"].abstains("1000", NOTHING)
    assert "| 1,000 | says `nothing` | 1 of 1 | 0 of 1 | 0 of 1 | 2 of 3 | 0.75 |" in first.out
    assert main(asked) == 0
    again = capsys.readouterr()
    assert (again.out, again.err) == (first.out, "")


def test_right_is_to_abstain_where_nothing_is_and_to_find_a_file_elsewhere() -> None:
    def row(kind: str, word: str, confidence: float, *, found: bool = False) -> AbstentionRow:
        return AbstentionRow("i", "r", kind, {"400": word}, confidence, found)

    nothing, lost, kept = (
        row(NATURAL, "unsure", 0.2),
        row(POSITIVE, "unsure", 0.1, found=True),
        row(POSITIVE, "sure", 0.9, found=True),
    )
    assert [is_right(each, "400", UNSURE) for each in (nothing, lost, kept)] == [True, False, True]
    assert not is_right(row(POSITIVE, "sure", 0.9), "400", UNSURE)
    assert balanced([nothing, lost, kept], "400", UNSURE) == 0.75
    assert balanced([nothing, lost, kept], "400", ALWAYS) == 0.5
    assert told_apart([nothing, lost, kept]) == 0.5
