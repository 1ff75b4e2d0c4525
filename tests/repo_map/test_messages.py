"""Parts that messages are built from."""

from __future__ import annotations

from repo_map.messages import plural, plural_verb


def test_a_number_and_its_noun_agree() -> None:
    assert [plural(number, "more file") for number in (0, 1, 2, 1_000)] == [
        "0 more files",
        "1 more file",
        "2 more files",
        "1,000 more files",
    ]
    assert [plural_verb(number, "file", "was", "were") for number in (1, 2)] == ["1 file was", "2 files were"]
