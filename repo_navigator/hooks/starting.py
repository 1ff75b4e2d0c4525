"""Starts what works beside the assistant: a process of its own, which no host waits for."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from repo_navigator.detached import start_detached
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
    home = os.path.expanduser("~")  # noqa: PTH111
    start_detached(
        "repo_navigator.hooks.background",
        *(str(root), str(session), what),
        text=goal[:_LONGEST_GOAL],
        folder=home if os.path.isdir(home) else None,  # noqa: PTH112
    )
