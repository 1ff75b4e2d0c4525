"""Imports that are many: done without collecting garbage, and left out of every later collection."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def large_imports() -> Iterator[None]:
    """Put garbage collection off while modules are imported that stay for good.

    What importing makes is hardly ever garbage, and there is so much of it that looking through it again and
    again takes a tenth of the time from the process's start to the first answer.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collects:
            gc.enable()
