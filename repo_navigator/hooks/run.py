"""Runs a hook so that it ends with 0 within its time, whatever comes in: an assistant waits for it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from threading import Timer
from typing import Final

HOOK_SECONDS: Final = 1.0
"""After which a hook says nothing: what comes later would keep an assistant waiting."""


def run_hook(event: str, *, ends: bool, seconds: float = HOOK_SECONDS) -> int:
    """Answer one event of a host and return 0; a process of its own ``ends`` there, and waits for nothing."""
    timer = Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()
    try:
        with suppress(BaseException):
            text = _heard(event)
            if text:
                # At once, so that a host never reads half an answer.
                sys.stdout.buffer.write(f"{text}\n".encode())
                sys.stdout.buffer.flush()
        if ends:
            os._exit(0)
    finally:
        timer.cancel()
    return 0


def _heard(event: str) -> str:
    from repo_map.working_folder import shut_out_working_folder  # noqa: PLC0415 - within the time and the guard

    shut_out_working_folder()
    from repo_navigator.hooks.program import heard, read_message  # noqa: PLC0415 - within the time and the guard

    return heard(event, read_message(), os.environ)
