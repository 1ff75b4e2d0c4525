"""The architecture page: invariants name tests that exist, and each part of the engine has a row."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
_SECTION = PAGE.partition("## Invariants")[2].partition("\n## ")[0]
_INVARIANTS = re.split(r"^- (?=\*\*)", _SECTION, flags=re.MULTILINE)[1:]


def named(text: str) -> list[tuple[str, str]]:
    return _TEST.findall(text)


def test_there_are_invariants() -> None:
    assert len(_INVARIANTS) > 10


@pytest.mark.parametrize("invariant", _INVARIANTS, ids=lambda text: text.split("**")[1])
def test_an_invariant_names_a_test_that_there_is(invariant: str) -> None:
    assert named(invariant)
    for path, name in named(invariant):
        tree = ast.parse((ROOT / path).read_bytes())
        functions = (each for each in tree.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
        assert name in {each.name for each in functions}, f"{path}::{name}"


def test_the_tables_have_a_row_for_each_package_and_each_part_of_the_engine() -> None:
    first_cells = re.findall(r"^\| (`[^|]+) \|", PAGE, re.MULTILINE)
    rows = {name for cell in first_cells for name in re.findall(r"`([^`]+)`", cell)}
    packages = {"repo_map", "navigator", "mcp_server", "repo_navigator", "benchmarks", "training"}
    parts = {
        f"{path.name}/" if path.is_dir() else path.name
        for path in (ROOT / "repo_map").iterdir()
        if not path.name.startswith("__")
        and (path.suffix == ".py" or (path.is_dir() and {*path.iterdir()} - {path / "__pycache__"}))
    }
    assert (packages | parts) - rows == set()
