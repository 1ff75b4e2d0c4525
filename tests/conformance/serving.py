"""A server process on a loopback port of its own."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_SAMPLE: Final = "def discount(item):\n    return 5 if item == 'apple' else 0\n"


def planted(scratch: Path) -> tuple[Path, dict[str, str]]:
    """Make a small repository in ``scratch``; return it with settings that leave no trace."""
    folder = scratch / "repository"
    (folder / ".git").mkdir(parents=True)
    (folder / "prices.py").write_text(_SAMPLE)
    own = {"REPO_NAVIGATOR_DATA": str(scratch / "data"), "REPO_NAVIGATOR_CACHE": str(scratch / "cache")}
    return folder, own


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
