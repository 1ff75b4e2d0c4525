"""How long a source may be worked on, in the thread's CPU time."""

from __future__ import annotations

import time
from typing import NamedTuple

_PLAUSIBLE_S = 0.02
_PLAUSIBLE_S_PER_BYTE = 3e-6
"""Ten times what a grammar takes for ordinary source."""


class SuspiciousSourceError(Exception):
    """A source takes a grammar so much longer than others that it may yet take all memory."""


class Patience(NamedTuple):
    """What a reader of sources puts up with."""

    seconds: float = 5.0
    """CPU time for one source; what is not read by then is told."""
    is_wary: bool = False
    """Whether to raise ``SuspiciousSourceError`` early: for a process that must outlive its parser."""


class Deadline:
    """A span of this thread's CPU time, so that a busy machine does not change what is read."""

    def __init__(self, patience: Patience) -> None:
        self.seconds = patience.seconds
        self._is_wary = patience.is_wary
        self._is_suspicious = False
        self._clock, self._cpu = time.monotonic(), time.thread_time()

    def is_over(self, offset: int = 0, _has_error: bool = False) -> bool:
        """Tell whether the span is used up; fits py-tree-sitter's progress callbacks."""
        allowed = self.seconds
        if self._is_wary and offset:
            allowed = min(allowed, _PLAUSIBLE_S + _PLAUSIBLE_S_PER_BYTE * offset)
        # The wall clock is cheaper to read, and never behind the CPU's.
        if time.monotonic() - self._clock <= allowed or time.thread_time() - self._cpu <= allowed:
            return False
        self._is_suspicious = allowed < self.seconds
        return True

    def complain(self) -> None:
        """Raise ``SuspiciousSourceError`` where that is why the span ended."""
        if self._is_suspicious:
            raise SuspiciousSourceError
