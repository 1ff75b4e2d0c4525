"""``check --watch`` prints again as files change, and stops at Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.signals import heeding_ctrl_c
from tests.support.trees import commit, write


def test_check_watch_prints_each_new_result_until_interrupted(tmp_path: Path) -> None:
    tree = commit(tmp_path / "tree", {"a.py": "def gross(): pass\n", "b.py": "from a import gross\n"})
    command = [sys.executable, "-m", "repo_navigator.main", "check", str(tree), "--watch", "--json"]
    environment = os.environ | {"REPO_NAVIGATOR_CACHE": str(tmp_path / "cache")}
    with heeding_ctrl_c():
        watcher = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    with watcher:
        assert watcher.stdout is not None
        assert watcher.stderr is not None

        def findings() -> list[Any]:
            found: list[Any] = json.loads(watcher.stdout.readline())["findings"]  # type: ignore[union-attr]
            return found

        assert findings() == []
        write(tree, {"a.py": "def net(): pass\n"})
        assert [each["path"] for each in findings()] == ["b.py"]
        write(tree, {"b.py": "from a import net\n"})
        assert findings() == []
        watcher.send_signal(signal.SIGINT)
        assert (watcher.wait(), watcher.stderr.read()) == (0, "")
