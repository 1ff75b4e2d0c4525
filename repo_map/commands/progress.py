"""One line on a terminal that follows slow work, and nothing for fast work."""

from __future__ import annotations

import sys
import time

_QUIET_SECONDS = 1.0


class Progress:
    """Hears how far an index is, and shows it on stderr once the work has lasted a second."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._started = time.monotonic()
        self._drawn = ""

    def report(self, phase: str, done: int, total: int) -> None:
        """Show how far a phase is, once the work has lasted a second."""
        if not self._shown or time.monotonic() - self._started < _QUIET_SECONDS:
            return
        line = f"{phase} {done:,} of {total:,}"
        sys.stderr.write("\r" + line.ljust(len(self._drawn)))
        sys.stderr.flush()
        self._drawn = line

    def clear(self) -> None:
        """Leave no trace of the line."""
        if self._drawn:
            sys.stderr.write("\r" + " " * len(self._drawn) + "\r")
            sys.stderr.flush()
