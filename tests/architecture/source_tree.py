"""The product's source as syntax trees, read once for all that is counted of it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PRODUCT = ("repo_map", "navigator", "mcp_server", "repo_navigator")


class Module(NamedTuple):
    """One file of the product."""

    name: str
    """Dotted, as it is imported."""
    path: Path
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        """Physical lines, blank ones and comments among them."""
        return self.text.count("\n")


@cache
def modules(packages: tuple[str, ...] = PRODUCT) -> Mapping[str, Module]:
    """Return every module of some packages by its name, in order."""
    found = (path for package in packages for path in sorted((ROOT / package).rglob("*.py")))
    return {module.name: module for module in map(_read, found)}


def _read(path: Path) -> Module:
    parts = path.relative_to(ROOT).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    text = path.read_text(encoding="utf-8")
    return Module(name, path, text, ast.parse(text))
