"""The checker of the documents' English, on made-up pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs import prose

LONGEST = " ".join(["word"] * prose.MOST_WORDS)
TOO_LONG = f"{LONGEST} more"
PRIVATE, PLAIN = next(iter(prose.private_words().items()))


def problems(markdown: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the checker says of a page."""
    monkeypatch.setattr(prose, "ROOT", folder)
    page = folder / "page.md"
    page.write_text(markdown, encoding="utf-8")
    return list(prose.problems(page))


@pytest.mark.parametrize(
    "markdown",
    [
        f"{LONGEST}.",
        f"{LONGEST}. {LONGEST.capitalize()}.",
        f"{LONGEST}; {LONGEST.capitalize()}.",
        f"{LONGEST}\n\n{LONGEST}",
        f"```sh\n{TOO_LONG} {PRIVATE}\n```",
        f"`{TOO_LONG} {PRIVATE}` is code.",
        f"<!-- {TOO_LONG} {PRIVATE} -->",
        f"| {LONGEST} | {LONGEST} |\n| --- | --- |\n| {LONGEST} | {LONGEST} |",
        f"| Text | Cause |\n| --- | --- |\n| {TOO_LONG} {PRIVATE} | {LONGEST} |",
        f"A longer word, such as x{PRIVATE}x.",
    ],
    ids=[
        "a sentence of the longest",
        "two sentences",
        "a semicolon before a capital",
        "two paragraphs",
        "a block of code",
        "code between backticks",
        "a comment",
        "the cells of a table",
        "a quoted error",
        "within another word",
    ],
)
def test_a_page_that_is_read_once_has_no_problem(
    markdown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert problems(markdown, tmp_path, monkeypatch) == []


@pytest.mark.parametrize(
    ("markdown", "line"),
    [
        (f"# A page\n\nShort.\n\n{TOO_LONG}.", 5),
        (f"# A page\n\n- short\n- {TOO_LONG}", 4),
        (f"| a | b |\n| --- | --- |\n| short | {TOO_LONG} |", 3),
        (f"| Text | Cause |\n| --- | --- |\n| {TOO_LONG} | {TOO_LONG} |", 3),
        (f"| Text |\n| --- |\n| {TOO_LONG} |\n\n{TOO_LONG}.", 5),
        (f"| Text |\n| --- |\n| {TOO_LONG} |\n\n| |\n| --- |\n| {TOO_LONG} |", 7),
        (f"{LONGEST}, `code`.", 1),
        (f"{LONGEST}, e.g. This.", 1),
    ],
    ids=[
        "a paragraph",
        "an item of a list",
        "a cell",
        "the cause of a quoted error",
        "behind quoted errors",
        "a table behind quoted errors",
        "code counts as a word",
        "an abbreviation ends nothing",
    ],
)
def test_a_sentence_of_too_many_words_is_named_with_its_line(
    markdown: str, line: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (problem,) = problems(markdown, tmp_path, monkeypatch)
    assert problem.startswith(f"page.md:{line}: ")
    assert " words: " in problem


def test_a_private_word_is_named_with_the_plain_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = PRIVATE.capitalize()
    found = problems(f"# A page\n\n{written} it.", tmp_path, monkeypatch)
    assert found == [f"page.md:3: `{written}`: {PLAIN}"]


def test_every_private_word_has_a_plain_one() -> None:
    words = prose.private_words()
    assert [word for word, plain in words.items() if not plain or word != word.lower()] == []
    assert "flight plan" not in words


def test_nothing_is_printed_where_all_is_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(f"{LONGEST}.", encoding="utf-8")
    assert (prose.main(), capsys.readouterr().out) == (0, "")
    page.write_text(f"{TOO_LONG}.", encoding="utf-8")
    assert (prose.main(), capsys.readouterr().out.count("\n")) == (1, 1)
