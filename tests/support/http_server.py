"""A server of the product over HTTP, in a process of its own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def served(scratch: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve HTTP with its data in ``scratch`` until the block ends; yield its address and process."""
    environ = {
        **os.environ,
        "REPO_NAVIGATOR_DATA": str(scratch / "data"),
        "REPO_NAVIGATOR_CACHE": str(scratch / "cache"),
    }
    command = [sys.executable, "-I", "-m", "mcp_server", "--http", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environ) as server:
        assert server.stderr is not None
        url = next(line for line in server.stderr if "Serving MCP at " in line).rpartition(" ")[2].strip()
        # A pipe that nobody reads fills up, and then the server waits.
        reading = threading.Thread(target=server.stderr.read, daemon=True)
        reading.start()
        try:
            yield url, server
        finally:
            server.kill()
            reading.join()
