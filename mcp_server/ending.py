"""The end of a server: within a few seconds of a signal, whatever its threads still wait for."""

from __future__ import annotations

import os
import threading
from typing import Final, NoReturn

CALL_SECONDS: Final = 3
"""What calls under way get once a signal has come; an assistant that ends its server waits a few seconds."""
CLOSING_SECONDS: Final = 3
"""What closing gets afterwards."""


def end_within(seconds: float) -> None:
    """End the process after ``seconds`` at the latest.

    A thread that hangs in the system, on a disk that is gone or a pipe without a reader, can't be ended, and
    the interpreter waits for it. What was answered is stored by then, and worker processes end as their pipes
    close.
    """
    last = threading.Timer(seconds, end_now)
    last.daemon = True
    last.start()


def end_now(code: int = 0) -> NoReturn:
    """End the process at once, by default with the code of a server that was asked to end."""
    os._exit(code)
