"""The streams of a command: there even where whoever started it closed them, and told of where they fail."""

from __future__ import annotations

import os
import sys


def prepare_streams() -> None:
    """Let what a closed stdin, stdout or stderr would have carried come from nowhere, or go there.

    Their numbers are taken as well: the next file that is opened would get one, and a stray line in it. An
    output whose encoding lacks a character shows a question mark.
    """
    for number, mode in enumerate("rww"):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free is this one, as those before it are taken by now.
            os.open(os.devnull, os.O_RDWR)
        name = ("stdin", "stdout", "stderr")[number]
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")


def drop_stdout() -> None:
    """Let what is still buffered go nowhere, so that the interpreter shuts down without a complaint."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def unwritten(error: OSError) -> str:
    """Return what to tell of an output that takes no more."""
    return f"The output can't be written: {error.strerror or error}; make room there, or write elsewhere."
