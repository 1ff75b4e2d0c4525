"""An unmodified client of the SDK's 1.x versions, in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.conformance.node import FOLDER, HERE, UnavailableError
from tests.conformance.serving import planted, served

OLDER: Final = "mcp>=1.20,<2"
_FOLDER: Final = FOLDER.with_name("older-client")
_SECONDS: Final = 300


def older_python(folder: Path = _FOLDER) -> Path:
    """Return the Python of an environment that has the SDK's 1.x version.

    Raises:
        UnavailableError: pip can't install it.
    """
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if _has_it(python):
        return python
    venv.create(folder, with_pip=True, clear=True)
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", OLDER]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"pip was not done after {_SECONDS} seconds") from error
    if done.returncode:
        message = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise UnavailableError(message[-1] if message else f"pip ended with {done.returncode}")
    return python


def check_older_client(python: Path, environ: Mapping[str, str]) -> list[str]:
    """Let the older client fly over stdio and over HTTP; return what failed."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, own = planted(Path(scratch))
        environ = {**environ, **own}
        with served("mcp_server", "--http", "127.0.0.1:0", environ=environ, cwd=folder) as url:
            command = (sys.executable, "-I", "-m", "mcp_server")
            asked = [python, HERE / "older_client.py", url, folder, *command]
            try:
                done = subprocess.run(
                    asked, env=environ, capture_output=True, text=True, check=False, timeout=_SECONDS
                )
            except subprocess.TimeoutExpired:
                return [f"older client: it was not done after {_SECONDS} seconds"]
    if done.returncode:
        return [f"older client: {(done.stderr or done.stdout).strip().splitlines()[-1:]}"]
    print("older client: an SDK 1.x client flies over stdio and over HTTP", flush=True)
    return []


def _has_it(python: Path) -> bool:
    if not python.exists():
        return False
    asked = "import importlib.metadata as m; print(m.version('mcp'))"
    message = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=False)
    return message.stdout.startswith("1.")
