"""A server process on a loopback port of its own."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def served(module: str, *arguments: str, environ: Mapping[str, str], cwd: Path) -> Iterator[str]:
    """Run ``python -m module`` until the block ends, and yield the address that it announces."""
    command = [sys.executable, "-m", module, *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=dict(environ), cwd=cwd) as server:
        assert server.stderr is not None
        try:
            lines = iter(server.stderr.readline, "")
            url = next((line for line in lines if "Serving MCP at " in line), "").rpartition(" ")[2].strip()
            assert url, f"{module} did not start"
            # A pipe that nobody reads fills up, and then the server waits.
            threading.Thread(target=server.stderr.read, daemon=True).start()
            yield url
        finally:
            server.terminate()
