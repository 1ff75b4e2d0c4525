"""A small repository, and what hosts tell hooks in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repo_map.index import build_index
from repo_map.indexing.store import user_store
from repo_navigator.hooks.facts import facts_of
from repo_navigator.hooks.names_writer import write_names
from repo_navigator.hooks.program import heard
from tests.support.trees import commit

TASK = "the discount on an apple must never be negative"
FILES = {
    "shop/pricing.py": (
        "class PriceList:\n"
        "    def lowest_price(self, fruit):\n        return 1\n\n\n"
        "def discounted_total(cart):\n    return sum(cart) - 1\n"
    ),
    "shop/orders.py": (
        "from shop.pricing import discounted_total\n\n\n"
        "def place_order(cart):\n    return discounted_total(cart)\n\n\n"
        + "".join(
            f"def order_{number}(cart):\n    return discounted_total(cart) + {number}\n\n\n"
            for number in range(12)
        )
    ),
    "shop/deep/ledger_book.py": "LEDGER_OF_ALL = {}\n",
    "tests/test_pricing.py": (
        "from shop.pricing import discounted_total\n\n\ndef test_total():\n    assert discounted_total([2])\n"
    ),
    "pyproject.toml": "[project]\nname = 'shop'\n[tool.pytest.ini_options]\n",
}


def make_shop(root: Path) -> Path:
    """Write the repository and its names, and return its folder."""
    root = root.resolve()
    commit(root, FILES)
    keep_names(root)
    return root


def keep_names(root: Path) -> None:
    """Write the names of a repository down, as the background does."""
    index = build_index(root)
    cache = user_store().folder
    assert cache is not None
    write_names(index, cache, root, {"facts": facts_of(index), "tree": index.fingerprint}, seconds=5)


def message(
    root: Path, tool: str, given: Mapping[str, Any], response: Any = "", **more: Any
) -> dict[str, Any]:
    """Return what Claude Code tells a hook after a tool call."""
    told = {"hook_event_name": "PostToolUse", "session_id": "s", "cwd": str(root)}
    return {**told, "tool_name": tool, "tool_input": given, "tool_response": response, **more}


def ran(event: str, told: object, **options: Any) -> bytes:
    """Run a hook in a process of its own, which has to end with 0, and return what it prints."""
    given = told if isinstance(told, bytes) else json.dumps(told).encode()
    command = [sys.executable, "-m", "repo_navigator.main", "hook", event]
    run: subprocess.CompletedProcess[bytes] = subprocess.run(
        command, check=False, input=given, timeout=60, capture_output=True, **options
    )
    assert (run.returncode, run.stderr) == (0, b"")
    return run.stdout


def said(told: Mapping[str, Any], event: str = "tool") -> str:
    """Return what the host's model reads, empty where the hook stays silent."""
    printed = heard(event, json.dumps(told).encode(), os.environ)
    return str(json.loads(printed)["hookSpecificOutput"]["additionalContext"]) if printed else ""


def grepped(root: Path, line: str, output: str = "", **more: Any) -> str:
    """Return what is said of a shell line that Claude Code's own tool ran."""
    return said(message(root, "Bash", {"command": line}, {"stdout": output, "stderr": ""}, **more))
