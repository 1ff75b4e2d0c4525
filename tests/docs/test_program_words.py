"""The English of the program: no help, error or report says what only this house would say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.prose import private_words

ROOT = Path(__file__).parents[2]
PACKAGES = ("repo_map", "navigator", "mcp_server", "repo_navigator")
UNDERSTOOD = ("repo_map/feedback/", "repo_map/languages/", "repo_map/relevance/spoken_language.py")
"""Lists of words that users say, or languages have: nothing of them is printed."""
MORE = ("namesakes", "numbers of lines", "for want of", "left alone", "heed", "mend")
"""What is clear to who wrote the program, beside the private words of the documents."""
WORDS = re.compile(rf"\b(?:{'|'.join(map(re.escape, (*private_words(), *MORE)))})\b", re.IGNORECASE)


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield the literals of two words or more that are no docstrings, each with its line."""
    tree = ast.parse(source)
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in silent]
    for node in sorted(constants, key=lambda each: each.lineno):
        if isinstance(node.value, str) and " " in node.value.strip():
            yield node.lineno, node.value


def found_in(source: str) -> list[tuple[int, str]]:
    return [(line, match[0]) for line, text in texts(source) for match in WORDS.finditer(text)]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_text_of_the_program_has_a_private_word(package: str) -> None:
    files = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / package).rglob("*.py"))]
    found = [
        f"{name}:{line}: {word}"
        for name in files
        if not name.startswith(UNDERSTOOD)
        for line, word in found_in((ROOT / name).read_text("utf-8"))
    ]
    assert found == []


def test_a_private_word_is_found_in_a_text_and_in_no_docstring() -> None:
    word = next(iter(private_words()))
    lines = (f'"""A {word} here."""', f'x = f"it {word} {{y}} on"', 'z = ("one "', f'     "{word} two")')
    assert found_in("\n".join((*lines, f'n = "{word}"'))) == [(2, word), (3, word)]
