"""Ctrl-C while a command still imports what it needs: there is nothing to put in order yet."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

CANCELLED = 5
"""Exit code of a command that Ctrl-C ended."""


@contextmanager
def ending_at_once(program: str) -> Iterator[None]:
    """Let Ctrl-C end the process at once, with one line.

    An import that an exception breaks off in the middle of compiled code ends in a panic of that code.
    """
    is_ours = threading.current_thread() is threading.main_thread()
    if not is_ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def end(*_: object) -> None:
        os.write(2, f"{program}: cancelled\n".encode())
        os._exit(CANCELLED)

    signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
