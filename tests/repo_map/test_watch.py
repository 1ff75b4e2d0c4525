"""``repo-map watch`` follows a tree as its files change, and stops when it is told to."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from repo_map.index import build_index
from repo_map.indexing.store import Store
from tests.support.signals import heeding_ctrl_c
from tests.support.trees import write


def test_a_watched_tree_is_indexed_again_when_its_files_change(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"a.py": "def a(): pass\n", "b/c.py": "def c(): pass\n"})
    command = [sys.executable, "-m", "repo_navigator.map_main", "watch", str(tree), "--no-cache", "--json"]
    with heeding_ctrl_c():
        watcher = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with watcher:
        assert watcher.stdout is not None
        assert watcher.stderr is not None

        def message() -> dict[str, Any]:
            line: dict[str, Any] = json.loads(watcher.stdout.readline())  # type: ignore[union-attr]
            return line

        assert message()["files"] == 2
        write(tree, {"b/d.py": "def d(): pass\n"})
        line = message()
        assert line["changed"] == 1
        (tree / "b" / "c.py").unlink()
        write(tree, {"b/d.py": "def e(): pass\n"})
        while line["files"] != 2 or line["fingerprint"] != _fingerprint(tree):
            line = message()
        watcher.send_signal(signal.SIGINT)
        assert (watcher.wait(), watcher.stderr.read()) == (0, "")


def _fingerprint(tree: Path) -> str:
    return build_index(tree, store=Store(None)).fingerprint
