"""What the C library does with freed memory: a process that waits for its next call holds no more."""

from __future__ import annotations

import sys
from typing import Final

_LARGE_BYTES: Final = 1024 * 1024
"""From this size on memory is asked of the system piece by piece, and goes back to it when it is freed."""
_KEPT_BYTES: Final = 8192 * 1024
"""Of the heap's free end, what is kept for what comes next."""
_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1
"""Names of glibc's ``malloc.h``."""


def return_large_pieces() -> None:
    """Let the C library give back what was freed, where it is glibc; others do it, or can't be told.

    It would else learn from each large array that is freed to take the next ones from its heap, which never
    shrinks below what lies at its end, and have a heap for every thread.
    """
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 - numpy loads it with the engine, and a server starts before

    tell = getattr(ctypes.CDLL(None), "mallopt", None)
    if tell is not None:
        for name, value in (
            (_ARENA_MAX, 1),
            (_MMAP_THRESHOLD, _LARGE_BYTES),
            (_TRIM_THRESHOLD, _KEPT_BYTES),
        ):
            tell(name, value)
