"""The tests that ask axe-core about the map's page, as it is installed here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Final

from tests.conformance.node import HERE

_TESTS: Final = ("tests/mcp_server/test_view_in_browser.py", "-k", "axe", "-rs")


def check_axe(environ: Mapping[str, str]) -> list[str]:
    """Run them; return what failed, one line for all of them."""
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *_TESTS)
    done = subprocess.run(
        command, cwd=HERE.parents[1], env=dict(environ), capture_output=True, text=True, check=False
    )
    *before, last = done.stdout.strip().splitlines() or [done.stderr]
    skipped = [line for line in before if line.startswith("SKIPPED")]
    print(f"axe-core: {'; '.join([last, *skipped])}", flush=True)
    told = [line for line in before if line.startswith("E  ")][:4] or [last]
    return [f"axe-core: {line}" for line in told] if done.returncode else []
