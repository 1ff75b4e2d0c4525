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
from repo_map.limits import USUAL, Limits
from repo_map.worktree.tree import Tree

_LENGTH_BYTES = 8


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
        _bound_memory(order.limits.memory_mb)
        tree = Tree(Path(order.root), order.unmasked, order.limits)
        tables = extract(map(tree.read, order.paths), order.limits)
        send(answers, encode_snapshot(to_arrays(tables).items()))


def _bound_memory(megabytes: int) -> None:
    """Let the system refuse this process more memory; a parser that asks for it then ends alone."""
    if sys.platform == "linux":  # Elsewhere the limit is not kept, or there is none.
        import resource  # noqa: PLC0415

        most = resource.getrlimit(resource.RLIMIT_DATA)[1]
        wanted = megabytes * 1_000_000
        if most == resource.RLIM_INFINITY or wanted < most:
            resource.setrlimit(resource.RLIMIT_DATA, (wanted, most))


if __name__ == "__main__":
    main()
