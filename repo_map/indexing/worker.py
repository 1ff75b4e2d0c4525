"""The program that a worker process runs: paths in, encoded tables out, until its input ends.

For each order it sends the path of a file that may kill it, again once the file was survived, then an empty
message and the tables.
"""

from __future__ import annotations

import gc
import os
import sys
from functools import partial
from pathlib import Path
from typing import IO

import msgspec

from repo_map.indexing import self_limits
from repo_map.indexing.extraction import extract
from repo_map.indexing.extractor_version import extractor_version
from repo_map.indexing.snapshot import encode_snapshot
from repo_map.indexing.tables import to_arrays
from repo_map.limits import USUAL, Limits
from repo_map.parsing.deadline import SuspiciousSourceError
from repo_map.symbols import FileSymbols, read_symbols
from repo_map.worktree.tree import Tree

_LENGTH_BYTES = 8
_ORDER_S = 240
"""CPU seconds for files that take one or two: nothing known takes so long, and nothing unknown may."""
_DOUBTFUL_S, _DOUBTFUL_MB = 25, 2_000
"""Over the time for parsing, and in all, for a file that may never end."""


class Order(msgspec.Struct, array_like=True, frozen=True):
    """Files to parse, in path order."""

    root: str
    paths: tuple[str, ...]
    unmasked: tuple[str, ...] = ()
    """Globs of files whose secrets may be shown."""
    limits: Limits = USUAL


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


def main() -> None:
    """Answer orders on standard input until it is closed."""
    # Parsing makes no reference cycles, and looking for them would take a tenth of the time.
    gc.disable()
    orders, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # Whatever prints must not break the protocol.
    # From here on a worker's death is the fault of what it parses.
    send(answers, extractor_version().encode())
    while True:
        try:
            order = msgspec.msgpack.decode(receive(orders), type=Order)
        except EOFError:
            return
        tree = Tree(Path(order.root), order.unmasked, order.limits)
        _begin(order.limits)
        tables = extract(map(tree.read, order.paths), order.limits, partial(_read_and_tell, answers))
        send(answers, b"")
        send(answers, encode_snapshot(to_arrays(tables).items()))


def _read_and_tell(answers: IO[bytes], source: bytes, path: str, limits: Limits) -> FileSymbols:
    """Read a file's symbols; tell its path before it is read in earnest where that may be deadly."""
    try:
        return read_symbols(source, path, limits, is_wary=True)
    except SuspiciousSourceError:
        send(answers, path.encode())
        self_limits.end_after(limits.parse_seconds + _DOUBTFUL_S)
        self_limits.bound_memory(min(limits.memory_mb, _DOUBTFUL_MB))
        symbols = read_symbols(source, path, limits)
        _begin(limits)
        send(answers, path.encode())
        return symbols


def _begin(limits: Limits) -> None:
    self_limits.end_after(_ORDER_S)
    self_limits.bound_memory(limits.memory_mb)


if __name__ == "__main__":
    main()
