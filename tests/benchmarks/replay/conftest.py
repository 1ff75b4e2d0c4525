"""A small repository, and runs of an agent on it in the format in which such runs are published."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.trees import commit, git

TAX = """RATES = {"no": 25}


def rate_of(country):
    return RATES[country]


def round_tax(amount, country):
    cents = amount * rate_of(country)
    return round(cents) / 100
"""
MAIL = "def send(to):\n    return deliver(to)\n"
FILES = {"shop/tax.py": TAX, "shop/mail.py": MAIL, "README.md": "# Shop\n"}
PATCH = """diff --git a/shop/tax.py b/shop/tax.py
--- a/shop/tax.py
+++ b/shop/tax.py
@@ -7,4 +7,4 @@

 def round_tax(amount, country):
     cents = amount * rate_of(country)
-    return round(cents) / 100
+    return round(cents * 100) / 100
"""


class Turn(NamedTuple):
    """One call of the agent."""

    command: str
    output: str = ""
    prompt: int = 0
    cached: int = 0
    out: int = 100


def messages(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Return the conversation of a run; each call sends a thousand tokens more than the last."""
    said: list[dict[str, Any]] = [
        {"role": "system", "content": "You work."},
        {"role": "user", "content": "Do."},
    ]
    for number, turn in enumerate(turns, 1):
        usage = {
            "prompt_tokens": turn.prompt or 1_000 * number,
            "completion_tokens": turn.out,
            "prompt_tokens_details": {"cached_tokens": turn.cached},
        }
        text = f"THOUGHT: so.\n\n```bash\n{turn.command}\n```" if turn.command else "THOUGHT: what now?"
        said.append({"role": "assistant", "content": text, "extra": {"response": {"usage": usage}}})
        output = f"<returncode>0</returncode>\n<output>\n{turn.output}</output>"
        said.append({"role": "user", "content": output})
    return said


class Bench(NamedTuple):
    """Where the tasks, runs and mirrors lie."""

    folder: Path
    tasks: Path
    runs: Path
    mirrors: Path

    def add_run(self, turns: Sequence[Turn], patch: str = PATCH) -> None:
        """Write the run of the task."""
        file = self.runs / "ada__shop-1" / "ada__shop-1.traj.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        info = {"submission": patch, "model_stats": {"instance_cost": 0.25}}
        file.write_text(json.dumps({"info": info, "messages": messages(turns)}))

    def arguments(self, *more: str) -> list[str]:
        """Return the command line that replays it."""
        return [
            *("replay", str(self.tasks), "--runs", str(self.runs), "--mirrors", str(self.mirrors)),
            *("--trees", str(self.folder / "trees"), "--out", str(self.folder / "out"), *more),
        ]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Return a task in SWE-bench's format on a repository made on the spot."""
    mirrors = tmp_path / "mirrors"
    commit(mirrors / "ada+shop", FILES)
    tasks = tmp_path / "shop.jsonl"
    task = {
        "instance_id": "ada__shop-1",
        "repo": "ada/shop",
        "base_commit": git(mirrors / "ada+shop", "rev-parse", "HEAD").strip(),
        "problem_statement": "round_tax rounds the tax of a cart wrongly, and rate_of asks for it",
        "patch": PATCH,
        "version": "1",
    }
    tasks.write_text(json.dumps(task) + "\n")
    (tmp_path / "runs").mkdir()
    return Bench(tmp_path, tasks, tmp_path / "runs", mirrors)
