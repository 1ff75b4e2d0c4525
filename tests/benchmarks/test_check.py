"""The measurement of the check, on a small repository with a commit that renames a function."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from tests.support.trees import commit, git

BEFORE = {
    "price.py": "def gross(amount):\n    return amount * 2\n\n\ndef net(amount):\n    return amount\n",
    "cart.py": "import price\n\n\ndef total(a):\n    return price.gross(a)\n",
    "tests/test_price.py": "from price import gross\n\n\ndef test_gross():\n    assert gross(1)\n",
}
AFTER = {path: text.replace("gross", "with_tax") for path, text in BEFORE.items()}


@pytest.fixture
def mirrors(tmp_path: Path) -> Path:
    shop = commit(tmp_path / "shop", BEFORE)
    commit(shop, AFTER, message="Rename gross")
    target = tmp_path / "mirrors" / "a+shop" / "repo"
    target.parent.mkdir(parents=True)
    git(tmp_path, "clone", "-q", "--bare", str(shop), str(target))
    return tmp_path / "mirrors"


def rows_of(mirrors: Path, *further: str) -> list[dict[str, object]]:
    out = mirrors.parent / "rows.jsonl"
    arguments = ["check", "a/shop", "--mirrors", str(mirrors), "--trees", str(mirrors.parent / "trees")]
    assert main([*arguments, "--out", str(out), *further]) == 0
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_a_use_that_a_commit_forgot_is_found_and_nothing_is_told_of_the_commit(mirrors: Path) -> None:
    (row,) = rows_of(mirrors)
    assert (row["repo"], row["language"], row["kind"]) == ("a/shop", "python", "gone")
    assert row["found"] is True
    assert row["alarms"] == []


def test_nothing_is_told_of_a_commit_as_it_was_made(mirrors: Path) -> None:
    (row,) = rows_of(mirrors, "--made")
    assert (row["language"], row["alarms"]) == ("python", [])


def test_the_tests_that_a_commit_edits_are_counted(mirrors: Path) -> None:
    (row,) = rows_of(mirrors, "--tests")
    assert (row["edited"], row["found"], row["named"]) == (1, 1, 1)
