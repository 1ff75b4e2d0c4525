"""Published figures and the rows that they come from: they agree, and where they part it is told."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.claims import CLAIMS, ROOT, differences

ROWS = "benchmarks/small_model/results"


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Return a copy of the pages and of the rows behind them."""
    shutil.copy(ROOT / "README.md", tmp_path)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copytree(ROOT / ROWS, tmp_path / ROWS)
    return tmp_path


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.page}: {claim.words or claim.command}")
def test_a_page_says_what_its_rows_give(claim: object) -> None:
    assert list(differences(claim, ROOT)) == []  # type: ignore[arg-type]


def test_a_figure_that_is_changed_in_a_page_is_told_with_its_command(
    published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = published / "README.md"
    text = readme.read_text("utf-8")
    (figure,) = re.findall(r"the cost changes by (\S+ %) \(", text)
    readme.write_text(text.replace(f"changes by {figure}", "changes by +99 %"), encoding="utf-8")
    assert main(["claims", "--root", str(published)]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "| NO: " in line]
    assert line.startswith("| README.md | the cost changes by {}. |")
    assert "`python -m benchmarks replay --rows docs/laboratory/benchmark-replay.jsonl`" in line
    assert f"changes by {figure} (" in line


def test_a_row_that_is_lost_is_told(published: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = published / "docs" / "laboratory" / "check-fresh.jsonl"
    rows.write_bytes(b"\n".join(rows.read_bytes().splitlines()[1:]))
    assert main(["claims", "--root", str(published)]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "| NO: " in line]
    assert "check --out docs/laboratory/check-fresh.jsonl" in line
