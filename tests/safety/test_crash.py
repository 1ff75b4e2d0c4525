"""What was answered outlives the death of the server, wherever it dies; a disk that fails costs no more than the disk."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.safety.crash import FILES, run_all
from tests.support.trees import write

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="there is neither fork nor SIGKILL")


@needs_posix
def test_no_answered_step_is_lost_wherever_the_server_is_killed(tmp_path: Path) -> None:
    tally = run_all(tmp_path, runs=8, seed=5)
    assert tally.runs == 8
    assert tally.most > 50
