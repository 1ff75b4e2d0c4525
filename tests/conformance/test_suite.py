"""How the official suite's output is read; the suite itself runs with ``make conformance``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.conformance.node import PATIENCE, TooSlowError, run_tool
from tests.conformance.suite import scored

TOLD = """✓ not-a-summary: 1 passed, 0 failed
=== SUMMARY ===
✓ tools-list: 3 passed, 0 failed
✗ ping: 1 passed, 1 failed
✗ tasks-lifecycle: 2 passed, 7 failed

Total: 6 passed, 8 failed

Not scored for 2026-07-28: 1 scenario(s) run, 1 failing. These do not affect conformance.
  ✗ tasks-lifecycle (extension)
"""


def test_a_scored_scenario_that_fails_is_told_and_an_unscored_one_is_not() -> None:
    assert scored(TOLD) == (1, ["✗ ping: 1 passed, 1 failed"])


def test_an_output_without_a_summary_counts_nothing() -> None:
    assert scored("Error: connect ECONNREFUSED") == (0, [])


def test_a_tool_that_takes_too_long_is_told_in_one_sentence() -> None:
    python = Path(sys.executable)
    environ = {**os.environ, "PATH": str(python.parent), PATIENCE: "0"}
    with pytest.raises(
        TooSlowError, match=rf"^{python.name} was not done after 0 seconds; wait until .* set"
    ):
        run_tool(environ, python.name, "-c", "import time; time.sleep(60)")
