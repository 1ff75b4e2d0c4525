"""What ``repo-map`` does with input that is wrong or hostile: one sentence, an exit code, no traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.trees import write

GOOD = {"src/app.py": "def run_forever():\n    return 1\n"}


def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user would, in a process of its own and with a cache of its own."""
    command = [sys.executable, "-m", "repo_navigator.map_main", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment or None)


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        ("budget: 9000\nbugdet: 1\n", "`bugdet`"),
        ("custom_queries: [{pattern: '**/*.py', query: '(nonsense) @a'}]\n", "`custom_queries[0].query`"),
        ("custom_queries: [{pattern: '**/*.py', query: '((('}]\n", "`custom_queries[0].query`"),
    ],
)
def test_a_bad_plan_gets_one_sentence_that_names_the_place(tmp_path: Path, plan: str, sentence: str) -> None:
    tree = write(tmp_path / "tree", GOOD)
    done = run("generate", tree, "--no-cache", "-C", write(tmp_path, {"plan.yaml": plan}) / "plan.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr


def test_hostile_files_are_told_one_by_one_and_the_rest_is_mapped(tmp_path: Path) -> None:
    tree = write(
        tmp_path / "tree",
        GOOD
        | {
            "line.js": "x" * 1_400_000,
            "latin.py": "# caf\xe9\ndef coffee(): pass\n".encode("latin-1"),
            "marked.py": "\ufeffdef marked(): pass\n",
            "wide.py": "def wide(): pass\n".encode("utf-16"),
            "deep.yaml": "".join(" " * level + "a:\n" for level in range(300)),
        },
    )
    with (tree / "huge.py").open("wb") as file:
        file.write(b"# text at first\n" * 1_000)
        file.truncate(100_000_000)
    done = run("generate", tree, "--no-cache", "--json")
    message = json.loads(done.stdout)
    assert done.returncode == 0
    assert {problem["path"]: problem["what"] for problem in message["problems"]} == {
        "": "Files that are not UTF-8 were decoded from utf-16 (1).",
        "deep.yaml": "its blocks may be nested 300 deep, more than 200; no symbols were read",
        "huge.py": "100,000,000 bytes, over the limit of 1,500,000; listed by path only",
        "line.js": "a line of 1,400,000 bytes is longer than 50,000; no symbols were read",
    }
    assert all(name in message["map"] for name in ("run_forever", "def coffee", "def marked", "def wide"))
