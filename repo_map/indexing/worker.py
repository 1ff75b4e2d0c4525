"""The program that a worker process runs: paths in, encoded tables out, until its input ends."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import IO

import msgspec

from repo_map.indexing.extraction import extract
from repo_map.indexing.extractor_version import extractor_version
from repo_map.indexing.snapshot import encode_snapshot
from repo_map.indexing.tables import to_arrays
from repo_map.worktree.tree import Tree

_LENGTH_BYTES = 8


class Order(msgspec.Struct, array_like=True, frozen=True):
    """Files to parse, in path order."""

    root: str
    paths: tuple[str, ...]
    unmasked: tuple[str, ...] = ()
    """Globs of files whose secrets may be shown."""


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
        tables = extract(map(Tree(Path(order.root), order.unmasked).read, order.paths))
        send(answers, encode_snapshot(to_arrays(tables).items()))


if __name__ == "__main__":
    main()
