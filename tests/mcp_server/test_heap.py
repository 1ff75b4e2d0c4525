"""What was freed goes back to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import os
from pathlib import Path
from mcp_server.heap import return_large_pieces

def held_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

return_large_pieces()
# The C library learns from a large piece that is freed: from here on it would keep pieces of this size.
large = bytearray(30_000_000)
del large
before = held_mb()
pieces = [bytearray(b"x") * 4_000_000 for _ in range(10)]
at_the_end = bytearray(b"x") * 1_000
assert held_mb() - before > 30
del pieces
print(round(held_mb() - before))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the C library is another one")
def test_memory_that_was_freed_goes_back_to_the_system() -> None:
    told = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert int(told.stdout) < 10
