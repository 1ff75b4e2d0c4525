"""What the product is made of is pinned and permissive, and it reaches for no network by itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.safety.crash import FILES
from tests.safety.licences import needed
from tests.support.trees import write

ROOT = Path(__file__).parents[2]
CUT = """
import sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        if event != "socket.getaddrinfo" and isinstance(arguments[1], (str, bytes)):
            return  # A socket of this machine's file system.
        print("reached for the network:", event, arguments[-1], file=sys.stderr)
        raise SystemExit(99)
sys.addaudithook(refuse)
from repo_navigator.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_every_package_that_is_needed_is_pinned() -> None:
    lines = (ROOT / "constraints.txt").read_text().split()
    pinned = {re.sub(r"[-_.]+", "-", line.partition("==")[0]).lower() for line in lines}
    assert all("==" in line for line in lines)
    assert {package.name for package in needed()} <= pinned


def test_no_package_of_the_core_is_copyleft() -> None:
    packages = needed()
    assert len(packages) > 50
    assert [package for package in packages if package.is_copyleft or package.licence == "unknown"] == []


def test_a_navigation_without_a_model_opens_no_socket(tmp_path: Path) -> None:
    repository = write(tmp_path / "repository", FILES)
    places = {"REPO_NAVIGATOR_DATA": str(tmp_path / "data"), "REPO_NAVIGATOR_CACHE": str(tmp_path / "cache")}
    # Keys that happen to be set must not be taken for leave to use them.
    keys = {"GOOGLE_API_KEY": "x" * 30, "OPENAI_API_KEY": "x" * 30}
    done = subprocess.run(
        [sys.executable, "-c", CUT, "navigate", str(repository), "--goal", "total"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | places | keys,
    )
    assert done.returncode == 0, done.stderr
    assert "def part_1" in done.stdout
