"""Languages by path, grammars on first use, and queries with clear errors."""

from __future__ import annotations

import pytest

from repo_map.languages.grammars import compile_query
from repo_map.languages.registry import language_of


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/app.py", "python"),
        ("SRC/APP.PY", "python"),
        ("a.b.tsx", "tsx"),
        ("Gemfile", "ruby"),
        ("infra/main.tf", "hcl"),
        ("README.md", "markdown"),
        ("notes.txt", ""),
        ("LICENSE", ""),
        ("dir.py/file", ""),
        ("", ""),
    ],
)
def test_a_path_tells_its_language_by_its_last_suffix_or_its_name(path: str, language: str) -> None:
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("language", "query", "message"),
    [
        (
            "python",
            "(nope) @x",
            "not a query of the python grammar: Invalid node type at line 1, column 2: nope",
        ),
        ("go", "\n(identifier) @x) @y", "not a query of the go grammar: Invalid syntax at line 2, column 16"),
        ("python", "(identifier", "not a query of the python grammar: Unexpected EOF"),
        ("markdown", "(x) @x", "markdown has no grammar, so a query can't be run on it"),
        ("", "(x) @x", "plain text has no grammar, so a query can't be run on it"),
    ],
)
def test_a_bad_query_is_told_with_its_place(language: str, query: str, message: str) -> None:
    with pytest.raises(ValueError, match="query") as told:
        compile_query(language, query)
    assert str(told.value).startswith(message)
