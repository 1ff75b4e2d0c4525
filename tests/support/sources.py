"""The package's own sources, read and parsed once for all tests of a process."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def modules(*places: str) -> dict[str, Path]:
    """Return the Python files under ``places``, by path from the root, in order."""
    return {
        path.relative_to(ROOT).as_posix(): path
        for place in places
        for path in sorted((ROOT / place).rglob("*.py"))
    }


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_bytes())


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a file's syntax tree."""
    return tuple(ast.walk(tree_of(path)))
