"""What was answered outlives the death of the server; a full disk costs no more than the disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.safety.crash import FILES, run_all
from tests.support.trees import write

pytestmark = pytest.mark.slow

needs_posix = pytest.mark.skipif(
    sys.platform == "win32", reason="there is neither fork nor SIGKILL nor a limit"
)

COMMAND = """
import ctypes, os, resource, signal, sys
if sys.platform == "linux" and os.geteuid() == 0 and "BOUND" not in os.environ:
    # Without CAP_DAC_OVERRIDE permissions bind root as they bind everybody; execv makes it so.
    assert ctypes.CDLL(None).prctl(24, 1, 0, 0, 0) == 0
    os.environ["BOUND"] = "1"
    os.execv(sys.executable, sys.orig_argv)
if limit := int(sys.argv[1]):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
from repo_navigator.main import main
sys.exit(main(sys.argv[2:]))
"""


def start(repository: Path, data: Path, cache: Path, limit: int = 0) -> subprocess.Popen[str]:
    """Start a command line whose files may have ``limit`` bytes at most."""
    places = {"REPO_NAVIGATOR_DATA": str(data), "REPO_NAVIGATOR_CACHE": str(cache)}
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(limit), "navigate", str(repository), "--goal", "total", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | places,
    )


def answer_of(process: subprocess.Popen[str]) -> dict[str, object]:
    printed, message = process.communicate(timeout=100)
    assert process.returncode == 0, message
    answer: dict[str, object] = json.loads(printed)
    return answer


@needs_posix
def test_no_answered_step_is_lost_wherever_the_server_is_killed(tmp_path: Path) -> None:
    tally = run_all(tmp_path, runs=4, seed=5)
    assert tally.runs == 4
    assert min(tally.most) > 40


@needs_posix
@pytest.mark.parametrize("limit", [4_096, 400_000])
def test_a_full_disk_degrades_to_memory_with_a_note(tmp_path: Path, limit: int) -> None:
    repository = write(tmp_path / "repository", FILES)
    answer = answer_of(start(repository, tmp_path / "data", tmp_path / "cache", limit))
    assert "def part_1" in str(answer["context"])
    assert "so this navigation lives in memory only; name another with REPO_NAVIGATOR_DATA." in str(
        answer["notes"]
    )


def read_only(folder: Path) -> Path:
    for name in ("data", "cache"):
        (folder / name).mkdir(parents=True, mode=0o500)
    return folder


def a_file(folder: Path) -> Path:
    folder.write_text("")
    return folder


@needs_posix
@pytest.mark.parametrize("make", [read_only, a_file])
def test_folders_that_cannot_be_written_degrade_to_memory_with_a_note(
    tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    repository = write(tmp_path / "repository", FILES)
    folder = make(tmp_path / "folder")
    answer = answer_of(start(repository, folder / "data", folder / "cache"))
    assert "def part_1" in str(answer["context"])
    notes = str(answer["notes"])
    assert "lives in memory only" in notes
    assert "can't be written" in notes
    assert [*folder.glob("*/*")] == []
