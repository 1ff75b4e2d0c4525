"""Streams, interrupts, and the files that a command line names."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from repo_map.cache import replace_text
from repo_map.errors import FlightPlanError, OutputError
from repo_map.messages import output_error


def prepare_streams() -> None:
    """Replace a closed stdin, stdout or stderr by the null device.

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
            # The number may be a library's by now: libffi keeps a file of its own open.
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8", closefd=False))
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")


def drop_stdout() -> None:
    """Discard buffered output, so that the interpreter shuts down without an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_text(text: str) -> None:
    """Print a text on stdout as it is, in UTF-8 and with its own line ends.

    Raises:
        OutputError: the output takes no more.
    """
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace", newline="\n")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_stdout()
        raise OutputError(output_error(error)) from error


def write_or_print(text: str, file: str | None) -> None:
    """Write ``text`` to ``file`` as a whole, or print it on stdout where there is none."""
    text = text if not text or text.endswith("\n") else f"{text}\n"
    if file is None:
        print_text(text)
    else:
        replace_text(Path(file), text)


CANCELLED = 5
"""Exit code of a command that Ctrl-C ended."""
DRIFTED = 6
"""Exit code of ``replay --fail-on-drift`` if the plan no longer fits the tree, or if that is unknown."""


@contextmanager
def ending_at_once(program: str) -> Iterator[None]:
    """End the process on Ctrl-C at once, with one line.

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


_MAX_INPUT_BYTES = 10_000_000
"""Bytes, far above what a plan or a goal may have: devices are files without end."""


def read_input(path: Path) -> bytes:
    """Return the first bytes of a file that the user names, ``-`` for what comes in on stdin."""
    if str(path) == "-":
        return sys.stdin.buffer.read(_MAX_INPUT_BYTES)
    with path.open("rb") as file:
        return file.read(_MAX_INPUT_BYTES)


def is_input(path: Path) -> bool:
    """Return True if ``read_input`` can read the path: a file, a pipe or stdin."""
    return str(path) == "-" or (path.exists() and not path.is_dir())


def read_plan(path: Path) -> str:
    """Return the text of a plan file, ``-`` for what comes in on stdin."""
    try:
        return read_input(path).decode("utf-8")
    except OSError as error:
        raise FlightPlanError(
            f"The flight plan can't be read from `{path}`: {error.strerror}; check the path."
        ) from None
    except UnicodeDecodeError:
        raise FlightPlanError(f"The plan `{path}` is not UTF-8 text; save it as UTF-8.") from None
