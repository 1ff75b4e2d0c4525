"""An import within a function says on its line why it is not at the top."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("repo_map", "navigator", "mcp_server", "repo_navigator", "benchmarks", "training", "bundle")
_TASKS = "benchmarks/agents/tasks/"
"""Repositories that tasks were made of: their style is their own."""
_REASON = re.compile(r"# noqa: PLC0415 - (?:\S+ ){2,}\S+$")
_NOT_AT_THE_TOP = re.compile(r"^(?!from |import ).*\bimport\b", re.MULTILINE)
"""What a source must hold to have an import within a function at all."""
_AS_ABOVE = re.compile(r"# noqa: PLC0415 - as above$")


def local_imports(source: str) -> Iterator[ast.stmt]:
    """Yield every import within a function, in the order of the lines."""
    found = {
        node.lineno: node
        for function in ast.walk(ast.parse(source))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    for line in sorted(found):
        yield found[line]


def without_reason(source: str) -> list[int]:
    """Return the lines of the local imports that give no reason, of their own or of the one before them."""
    lines = source.splitlines()
    silent, has_one = [], False
    for node in local_imports(source):
        line = lines[node.lineno - 1]
        has_one = bool(_REASON.search(line)) or (has_one and bool(_AS_ABOVE.search(line)))
        if not has_one:
            silent.append(node.lineno)
    return silent


def test_every_import_within_a_function_gives_its_reason() -> None:
    modules = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
    }
    own = {
        name: text
        for name, text in modules.items()
        if not name.startswith(_TASKS) and _NOT_AT_THE_TOP.search(text)
    }
    assert sum(len([*local_imports(text)]) for text in own.values()) > 20
    assert [f"{name}:{line}" for name, text in own.items() for line in without_reason(text)] == []


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("def f():\n    import a  # noqa: PLC0415 - it takes a second", []),
        (
            "def f():\n    import a  # noqa: PLC0415 - it is slow\n    import b  # noqa: PLC0415 - as above",
            [],
        ),
        ("def f():\n    import a", [2]),
        ("def f():\n    # It takes a second.\n    import a  # noqa: PLC0415", [3]),
        ("async def f():\n    if x:\n        from a import b  # noqa: PLC0415 - late", [3]),
        ("def f():\n    import a  # noqa: PLC0415 - as above", [2]),
        ("import a\nif x:\n    import b", []),
    ],
)
def test_a_silent_import_is_found(code: str, lines: list[int]) -> None:
    assert without_reason(code) == lines
