"""The architecture that the docs promise, checked on the code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _modules_loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(run.stdout.split())


def test_nothing_points_up_the_layers() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_the_server_answers_before_adk_and_the_engine_are_imported() -> None:
    loaded = _modules_loaded_by("import mcp_server.app, repo_navigator.main")
    heavy = {"google.adk", "google.genai", "tree_sitter", "splintr"}
    assert not heavy & loaded


def test_the_engine_imports_neither_model_nor_protocol_libraries() -> None:
    loaded = _modules_loaded_by("import repo_navigator.map_main, repo_map.index, repo_map.drawing.draw")
    assert not {"google.adk", "google.genai", "mcp"} & loaded


def test_the_benchmarks_share_with_the_tests_what_stands_for_providers_and_nothing_else() -> None:
    wanted = re.compile(r"^\s*(?:from|import) (tests\b\S*)", re.MULTILINE)
    found = {
        imported
        for package in ("repo_map", "navigator", "mcp_server", "repo_navigator", "benchmarks", "training")
        for path in (ROOT / package).rglob("*.py")
        if "repositories" not in path.parts
        for imported in wanted.findall(path.read_text(encoding="utf-8"))
    }
    assert {name.rpartition(".")[0] for name in found} == {"tests.support.providers"}
    shared = [path.read_text(encoding="utf-8") for path in (ROOT / "tests/support/providers").glob("*.py")]
    upwards = re.compile(r"^from (tests(?!\.support\.providers)|benchmarks|training)", re.MULTILINE)
    assert not any(upwards.search(text) for text in shared)
