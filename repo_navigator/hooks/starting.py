"""Starts what works beside the assistant: a process of its own, which no host waits for."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from repo_navigator.hooks.sessions import checking

AFTER_EDIT: Final = "edit"
"""Names the work that is done after an edit."""
_LONGEST_GOAL: Final = 16_000
"""Characters; a pipe takes them without a reader."""


def start_check(root: Path, session: Path) -> None:
    """Start the check of a session's edits, unless one is under way: it takes up the last edit itself."""
    with suppress(OSError):
        with checking(session):
            pass
        _start(root, session, AFTER_EDIT, "")


def start_background(root: Path, session: Path, goal: str) -> None:
    """Start ``background`` for a repository; where it can't be started nothing is said later on."""
    _start(root, session, "", goal)


def _start(root: Path, session: Path, what: str, goal: str) -> None:
    # It imports nothing of the folder that the host stands in, as the server does not.
    flags = ["-I"] if sys.flags.isolated else ["-P"] if sys.flags.safe_path else []
    command = [sys.executable, *flags, "-m", "repo_navigator.hooks.background", str(root), str(session), what]
    with suppress(OSError, ValueError):
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=os.path.expanduser("~") if os.path.isdir(os.path.expanduser("~")) else None,  # noqa: PTH111, PTH112
            start_new_session=True,
            close_fds=True,
        )
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.write(goal[:_LONGEST_GOAL].encode("utf-8", "replace"))
            process.stdin.close()
        # Nobody waits for it, and nobody is told that it still runs.
        process.returncode = 0
