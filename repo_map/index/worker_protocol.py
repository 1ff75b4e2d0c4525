"""Messages between this process and its parser processes, and the limits of those."""

from __future__ import annotations

import faulthandler
import signal
import sys
from typing import IO, Final

import msgspec

from repo_map.deadline import seconds_for
from repo_map.limits import DEFAULT, Limits
from repo_map.sources.files import ReadFile

OVERHEAD_S: Final = 10
"""CPU seconds on top of the time for parsing, for everything else that is done with a file."""
CLOCK_PER_CPU = 4
"""Seconds of wall time allowed for a second of CPU time: other processes take their share."""
_GRAMMAR_SLACK_SHARE, _GRAMMAR_SLACK_S = 1.2, 0.5
"""A grammar checks its deadline now and then only: share of the time for parsing, and CPU seconds on top."""
_LENGTH_BYTES: Final = 8
PATHOLOGICAL: Final = b"!"
"""Begins the message that the grammar did not finish the current file in time."""
SKIPPED: Final = "too many files before it are too hard to parse; no symbols were read"


class Extract(msgspec.Struct, array_like=True, frozen=True, tag=True):
    """Read files into tables, in path order."""

    root: str
    paths: tuple[str, ...]
    unmasked: tuple[str, ...] = ()
    """Globs of files whose secrets may be shown."""
    limits: Limits = DEFAULT
    """Of which ``hard_files`` and ``hard_seconds`` are what is left of them."""
    unparsed_because: str = ""
    """Why the files are read without their grammars; ``""`` if they are parsed."""
    contents: tuple[ReadFile, ...] = ()
    """The files, unmasked, if they aren't in the folder ``root``."""


class Read(msgspec.Struct, array_like=True, frozen=True, tag=True):
    """Return the symbols of one source."""

    source: bytes
    path: str
    limits: Limits = DEFAULT


class Capture(msgspec.Struct, array_like=True, frozen=True, tag=True):
    """Run a custom query on sources, each given with its language."""

    query: str
    languages: tuple[str, ...]
    """Of all files that the query is meant for."""
    sources: tuple[tuple[str, bytes], ...]
    limits: Limits = DEFAULT


class ReadForms(msgspec.Struct, array_like=True, frozen=True, tag=True):
    """Return the signatures and calls in sources, each given with its path."""

    sources: tuple[tuple[str, bytes], ...]
    limits: Limits = DEFAULT


class Captured(msgspec.Struct, array_like=True, frozen=True):
    """The captures of a custom query."""

    lines: tuple[tuple[tuple[int, int], ...], ...] = ()
    """First and last line of each capture, by source."""
    problem: str = ""
    """Why the query can't be run; ``""`` if it can."""
    is_passing: bool = False
    """True if the problem has nothing to do with the query."""


Order = Extract | Read | ReadForms | Capture


def send(stream: IO[bytes], message: bytes) -> None:
    """Write one message, preceded by its length."""
    stream.write(len(message).to_bytes(_LENGTH_BYTES, "little") + message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """Read one message; raise ``EOFError`` if the stream ends first."""
    header = stream.read(_LENGTH_BYTES)
    message = stream.read(int.from_bytes(header, "little")) if len(header) == _LENGTH_BYTES else b""
    if len(header) < _LENGTH_BYTES or len(message) < int.from_bytes(header, "little"):
        raise EOFError
    return message


def grammar_deadline(size: int, limits: Limits) -> float:
    """Return the CPU seconds after which a process is ended whose grammar doesn't return from a source."""
    return seconds_for(size, limits.parse_seconds) * _GRAMMAR_SLACK_SHARE + _GRAMMAR_SLACK_S


def exit_after(cpu_s: float) -> None:
    """End this process after so much more CPU time, whatever it does; replaces the deadline before."""
    if sys.platform == "win32":
        faulthandler.dump_traceback_later(cpu_s * CLOCK_PER_CPU, exit=True)
    else:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, cpu_s)


def cancel_exit() -> None:
    """Remove the deadline that ``exit_after`` set."""
    if sys.platform == "win32":
        faulthandler.cancel_dump_traceback_later()
    else:
        signal.setitimer(signal.ITIMER_PROF, 0)


def exceeded_deadline(returncode: int) -> bool:
    """Return True if a process with this exit status was ended by ``exit_after``."""
    return returncode == (1 if sys.platform == "win32" else -signal.SIGPROF)


def limit_memory(megabytes: int) -> None:
    """Limit the memory of this process, on Linux; elsewhere the limit is not enforced, or there is none."""
    if sys.platform == "linux":
        import resource  # noqa: PLC0415 - not on every system

        maximum = resource.getrlimit(resource.RLIMIT_DATA)[1]
        wanted = megabytes * 1_000_000
        if maximum == resource.RLIM_INFINITY or wanted < maximum:
            resource.setrlimit(resource.RLIMIT_DATA, (wanted, maximum))
