"""What each command imports: a command line waits for what it uses, and for nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.trees import commit

HEAVY = {
    "anyio",
    "asyncpg",
    "boto3",
    "botocore",
    "fastapi",
    "google.adk",
    "google.api_core",
    "google.cloud",
    "google.genai",
    "litellm",
    "mcp",
    "numpy",
    "numpy.ma",
    "openai",
    "opentelemetry.sdk",
    "pydantic",
    "rich",
    "splintr",
    "starlette",
    "tree_sitter",
    "uvicorn",
    "yaml",
}
"""Packages that take 20 ms or more to import, or that only some commands need."""
ENGINE = {"numpy", "pydantic", "splintr"}
# Grammars are parsed with in processes of their own.
STEPS = ENGINE | {"anyio", "rich", "yaml"}
AGENTS = {"google.adk", "google.genai", "fastapi", "starlette"}
"""What ADK's runner imports: whatever takes a step runs through it, and nothing else does."""
USES = {
    "repo-navigator --version": set[str](),
    "repo-navigator install cursor --dry-run": {"pydantic"},
    "repo-navigator replay plan.yaml .": ENGINE | {"yaml"},
    "repo-navigator context": STEPS - {"splintr"},
    "repo-navigator check .": STEPS,
    "repo-navigator navigate . total": STEPS | AGENTS,
    "repo-navigator hook tool": set[str](),
    "repo-navigator doctor": STEPS | AGENTS | {"tree_sitter"},
    "repo-navigator serve": {"anyio", "mcp", "pydantic", "rich", "starlette", "uvicorn"},
    "repo-map generate . -q": ENGINE,
}
"""Each command, and the heavy packages that it may import; rich and the web framework come with SDKs."""
PROGRAM = """
import importlib, json, os, sys
program, *arguments = sys.argv[1:]
name = {"repo-navigator": "main", "repo-map": "map_main"}[program]
try:
    importlib.import_module(f"repo_navigator.{name}").main(arguments)
finally:
    os.write(2, ("LOADED " + json.dumps(sorted(sys.modules)) + "\\n").encode())
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """A repository with a saved plan, and folders in which a navigation of it is stored."""
    folder = tmp_path_factory.mktemp("places")
    repository = folder / "repository"
    commit(repository, {"shop.py": "def total():\n    return 1\n"})
    found = {name: folder / name for name in ("repository", "home", "data", "cache")}
    found["home"].mkdir()
    loaded_by("repo-navigator navigate . total --save-plan plan.yaml", found)
    return found


def loaded_by(command: str, places: Mapping[str, Path]) -> set[str]:
    """Return the modules that a command has imported when it ends; stdin holds what a host tells a hook."""
    hook = {"tool_name": "Grep", "tool_input": {"pattern": "totals"}, "cwd": str(places["repository"])}
    environment = os.environ | {
        "HOME": str(places["home"]),
        "REPO_NAVIGATOR_DATA": str(places["data"]),
        "REPO_NAVIGATOR_CACHE": str(places["cache"]),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *command.split()],
        cwd=places["repository"],
        env=environment,
        input="" if "serve" in command else json.dumps(hook),
        capture_output=True,
        text=True,
        check=False,
    )
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("LOADED "))
    return set(json.loads(line.removeprefix("LOADED ")))


@pytest.mark.parametrize("command", USES)
def test_a_command_imports_no_heavy_package_that_it_does_not_use(
    command: str, places: Mapping[str, Path]
) -> None:
    assert loaded_by(command, places) & HEAVY - USES[command] == set()
