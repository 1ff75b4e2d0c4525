"""Wherever a number meets a noun, one file is no files: ``repo_map.messages`` owns the rule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from repo_map.messages import agreed, counted

ROOT = Path(__file__).parents[2]
NOUNS = (
    "files|tokens|steps|lines|tests|places|definitions|names|tools|commits|navigations|secrets|parts|callers"
    "|symbols|characters|problems"
)
_MEETING = re.compile(rf"\{{(?P<number>[^{{}}]+)\}} (?:more |past |last )?(?P<noun>{NOUNS})\b")
_ALWAYS_SEVERAL = re.compile(
    # Limits and the like are numbers that the program knows to be large, or compares with a larger one.
    r"^(?:[A-Z_.]+(?::,)?|most|many|limit|_?[A-Z_]+"
    r"|len\((?:words|text|given|goal|roots|known|called|entries|untracked|names)\)(?::,)?"
    r"|(?:most|many|kept|limit|longest|tried|room|total|count|quota|size|asked|account\.initial|number):?,?|prices)$"
)


def test_a_number_and_its_noun_agree() -> None:
    assert [counted(number, "more file") for number in (0, 1, 2, 1_000)] == [
        "0 more files",
        "1 more file",
        "2 more files",
        "1,000 more files",
    ]
    assert [agreed(number, "file", "was", "were") for number in (1, 2)] == ["1 file was", "2 files were"]


@pytest.mark.parametrize("package", ["repo_map", "navigator", "mcp_server", "repo_navigator"])
def test_no_text_puts_a_number_before_a_plural_by_itself(package: str) -> None:
    found = [
        f"{file.relative_to(ROOT)}: {match[0]}"
        for file in sorted((ROOT / package).rglob("*.py"))
        for match in _MEETING.finditer(file.read_text("utf-8"))
        if not _ALWAYS_SEVERAL.match(match["number"])
    ]
    assert found == []
