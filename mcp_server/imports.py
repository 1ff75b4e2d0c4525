"""Imports that are many: no garbage is collected meanwhile, and no schema is built that nobody uses yet."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SAFE_IN_THREADS: Final = (2, 14, 3)
"""The version of pydantic from which two threads may use a model for the first time at once."""


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


@contextmanager
def models_built_on_first_use() -> Iterator[None]:
    """Let pydantic models that are defined meanwhile be built when they are first used.

    The protocol's SDK and ADK define some 1,200, of which a navigation uses a hundred. To build the others
    takes a sixth of the time from the process's start to its first navigation.
    """
    from pydantic import VERSION, BaseModel  # noqa: PLC0415 - only who builds models needs it

    config = BaseModel.model_config
    if _numbers(VERSION) < _SAFE_IN_THREADS or "defer_build" in config:
        yield
        return
    config["defer_build"] = True
    try:
        yield
    finally:
        del config["defer_build"]


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version; a letter, as of a release to come, ends them."""
    numbers = []
    for part in version.split("."):
        if not part.isdecimal():
            break
        numbers.append(int(part))
    return tuple(numbers)
