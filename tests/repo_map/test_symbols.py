"""What ``read_symbols`` finds in one small, realistic file per language."""

from __future__ import annotations

from repo_map.symbols import read_symbols


def test_an_empty_file_has_no_symbols_and_no_problem() -> None:
    assert read_symbols(b"", "a.py").problems == ()


def test_a_file_without_a_language_has_no_symbols() -> None:
    assert read_symbols(b"hello", "notes.txt").definitions == ()
