"""What a worker process is asked, and how it answers: messages with their length before them.

For each order the worker sends the position of each file before it reads it, then an empty message and the
answer. Behind a hard file it says so, and waits to be told whether the files behind that one are parsed.
"""

from __future__ import annotations

from typing import IO

import msgspec

from repo_map.languages.parser import seconds_for
from repo_map.limits import DEFAULT, Limits
from repo_map.sources.files import ReadFile

OVER_PARSING_S = 10
"""CPU seconds over the time for parsing, for all else that is done with a file."""
_LENGTH_BYTES = 8
HARD = b"!"
"""Before what is said of a file that its grammar did not finish in time; nothing where a part was read."""
GO_ON, STOP = b"+", b"-"
"""Whether the files behind a hard one are parsed."""
LATE = "too many files before it are too hard to parse; no symbols were read"
_SLACK_SHARE, _SLACK_S = 1.2, 0.5
"""Of the time for parsing, and CPU seconds: for what a grammar does between two looks at its clock."""


def most_parsing_s(size: int, limits: Limits) -> float:
    """Return the CPU seconds after which a worker is ended whose grammar has not given a file back."""
    return seconds_for(size, limits.parse_seconds) * _SLACK_SHARE + _SLACK_S


class Extract(msgspec.Struct, array_like=True, frozen=True, tag=True):
    """Files to read into tables, in path order."""

    root: str
    paths: tuple[str, ...]
    unmasked: tuple[str, ...] = ()
    """Globs of files whose secrets may be shown."""
    limits: Limits = DEFAULT
    unread: str = ""
    """Why no grammar reads them; ``""`` where one does."""
    sent: tuple[ReadFile, ...] = ()
    """What is in them, secrets and all, where ``root`` is no folder that holds them."""


class Read(msgspec.Struct, array_like=True, frozen=True, tag=True):
    """A source whose symbols are wanted."""

    source: bytes
    path: str
    limits: Limits = DEFAULT


class Capture(msgspec.Struct, array_like=True, frozen=True, tag=True):
    """A custom query, and the sources to run it on with the language of each."""

    query: str
    languages: tuple[str, ...]
    """Of all files that it is meant for."""
    sources: tuple[tuple[str, bytes], ...]
    limits: Limits = DEFAULT


class ReadForms(msgspec.Struct, array_like=True, frozen=True, tag=True):
    """Sources whose functions and calls are wanted, each with its path."""

    sources: tuple[tuple[str, bytes], ...]
    limits: Limits = DEFAULT


class Captured(msgspec.Struct, array_like=True, frozen=True):
    """What a custom query captured."""

    lines: tuple[tuple[tuple[int, int], ...], ...] = ()
    """First and last line of each capture, source by source."""
    problem: str = ""
    """Why it can't be run; ``""`` where it can."""
    is_passing: bool = False
    """Whether that had nothing to do with the query."""


Order = Extract | Read | ReadForms | Capture


def send(stream: IO[bytes], message: bytes) -> None:
    """Write one message with its length before it."""
    stream.write(len(message).to_bytes(_LENGTH_BYTES, "little"))
    stream.write(message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """Read one message; raises ``EOFError`` where the stream ends first."""
    size = int.from_bytes(_read(stream, _LENGTH_BYTES), "little")
    return _read(stream, size)


def _read(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data
