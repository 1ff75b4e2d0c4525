"""What importing a package loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _modules_loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(run.stdout.split())


def test_the_server_answers_before_adk_and_the_engine_are_imported() -> None:
    loaded = _modules_loaded_by("import mcp_server.app, repo_navigator.main")
    heavy = {"google.adk", "google.genai", "tree_sitter", "splintr"}
    assert not heavy & loaded


def test_the_engine_imports_neither_model_nor_protocol_libraries() -> None:
    loaded = _modules_loaded_by("import repo_navigator.map_main, repo_map.index, repo_map.outline.draw")
    assert not {"google.adk", "google.genai", "mcp"} & loaded
