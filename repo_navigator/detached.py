"""Starts a module of ours as a process that is not waited for."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from repo_map.working_folder import absolute_entries


def start_detached(module: str, *arguments: str, folder: str | None = None) -> None:
    """Start a module; where it can't be started, nothing happens.

    It imports nothing of the folder that it is started in, as the command lines do not.
    """
    package = str(Path(__file__).parent.parent)
    path = os.pathsep.join((package, *absolute_entries(os.environ.get("PYTHONPATH", ""))))
    with suppress(OSError, ValueError):
        process = subprocess.Popen(
            [sys.executable, "-I" if sys.flags.isolated else "-P", "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": path},
            start_new_session=True,
            creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
        )
        # It is not waited for, and no warning says that it still runs.
        process.returncode = 0
