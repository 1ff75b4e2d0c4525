"""The page for a team: whatever may be gone has a test that shows what is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_SECTION = (ROOT / "docs" / "team.md").read_text("utf-8").partition("## When something is gone\n")[2]
_ROWS = [
    line.strip("| ").split(" | ") for line in _SECTION.partition("\n## ")[0].splitlines() if line[:2] == "| "
]


def test_there_are_rows() -> None:
    assert len(_ROWS) > 8


@pytest.mark.parametrize("row", _ROWS[1:], ids=lambda row: row[0])
def test_what_is_gone_names_a_test_that_there_is(row: list[str]) -> None:
    path, _, name = row[3].strip("`").partition("::")
    if row[3] == "the same":
        assert _ROWS[_ROWS.index(row) - 1][3].startswith("`tests/")
    else:
        assert re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE)
