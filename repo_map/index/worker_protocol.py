"""Messages between this process and its parser processes, and the limits of those."""

from __future__ import annotations

import faulthandler
import signal
import sys
from typing import IO, Any, Final

import msgspec

from repo_map.deadline import seconds_for
from repo_map.limits import Limits

OVERHEAD_S: Final = 10
"""CPU seconds on top of the time for parsing, for everything else that is done with a file."""
CLOCK_PER_CPU = 4
"""Seconds of wall time allowed for a second of CPU time: other processes take their share."""
_GRAMMAR_SLACK_SHARE, _GRAMMAR_SLACK_S = 1.2, 0.5
"""A grammar checks its deadline now and then only: share of the time for parsing, and CPU seconds on top."""
_HEADER_BYTES: Final = 8
SKIPPED: Final = "too many files before it are too hard to parse; no symbols were read"


class Order(msgspec.Struct, array_like=True, frozen=True):
    """A function of ``worker`` to call, by its name in ``worker.TASKS``."""

    task: str
    limits: Limits
    arguments: dict[str, Any]


class Extracted(msgspec.Struct, array_like=True, frozen=True):
    """The tables of files."""

    tables: bytes
    """An encoded snapshot."""
    hard_seconds: float
    """CPU seconds granted to the files that their grammars did not finish in time."""


class Captured(msgspec.Struct, array_like=True, frozen=True):
    """The captures of a custom query."""

    lines: tuple[tuple[tuple[int, int], ...], ...] = ()
    """First and last line of each capture, by source."""
    problem: str = ""
    """Why the query can't be run; ``""`` if it can."""


def send(stream: IO[bytes], message: bytes | int) -> None:
    """Write an order or an answer, or the position of the file that is read next."""
    header = -1 - message if isinstance(message, int) else len(message)
    stream.write(header.to_bytes(_HEADER_BYTES, "little", signed=True))
    if isinstance(message, bytes):
        stream.write(message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | int:
    """Read what ``send`` wrote; raise ``EOFError`` if the stream ends first."""
    encoded = stream.read(_HEADER_BYTES)
    header = int.from_bytes(encoded, "little", signed=True)
    if len(encoded) == _HEADER_BYTES and header < 0:
        return -1 - header
    message = stream.read(header) if len(encoded) == _HEADER_BYTES else b""
    if len(encoded) < _HEADER_BYTES or len(message) < header:
        raise EOFError
    return message


def grammar_deadline(size: int, limits: Limits) -> float:
    """Return the CPU seconds after which a process is ended whose grammar doesn't return from a source."""
    return seconds_for(size, limits.parse_seconds) * _GRAMMAR_SLACK_SHARE + _GRAMMAR_SLACK_S


def exit_after(cpu_s: float) -> None:
    """End this process after so much more CPU time, whatever it does; 0 removes the deadline."""
    if sys.platform == "win32":
        faulthandler.cancel_dump_traceback_later()
        if cpu_s:
            faulthandler.dump_traceback_later(cpu_s * CLOCK_PER_CPU, exit=True)
    else:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, cpu_s)


def exceeded_deadline(returncode: int) -> bool:
    """Return True if a process with this exit status was ended by ``exit_after``."""
    return returncode == (1 if sys.platform == "win32" else -signal.SIGPROF)
