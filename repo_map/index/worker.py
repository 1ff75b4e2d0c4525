"""The program of a parser process: it executes orders from standard input until that is closed.

Grammars and queries run only here, so that one that crashes or never returns ends nothing else.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

from repo_map.deadline import seconds_for
from repo_map.index.extraction import extract
from repo_map.index.schema import to_arrays
from repo_map.index.snapshot import encode_snapshot, extractor_version
from repo_map.index.worker_protocol import (
    OVERHEAD_S,
    SKIPPED,
    Capture,
    Captured,
    Extract,
    Extracted,
    Order,
    Read,
    ReadForms,
    exit_after,
    grammar_deadline,
    limit_memory,
    receive,
    send,
)
from repo_map.limits import Limits
from repo_map.parsing.custom_queries import QueryRefusedError, captured_lines
from repo_map.parsing.forms import Forms, forms_of
from repo_map.parsing.symbols import read_symbols
from repo_map.parsing.values import FileSymbols, without_symbols
from repo_map.sources.files import ReadFile
from repo_map.sources.source import folder_reader, masked

_MIN_MEMORY_MB, _MAX_MEMORY_MB = 500, 2_000
"""With less a process does not start; no known source takes half of the maximum."""
_decode_order = msgspec.msgpack.Decoder(Order).decode


def main() -> None:
    """Execute orders on standard input until it is closed."""
    # Parsing makes no reference cycles, and looking for them would take a tenth of the time.
    gc.disable()
    orders, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # Prints must not break the protocol.
    send(answers, extractor_version().encode())
    while True:
        try:
            message = receive(orders)
        except EOFError:
            return
        assert isinstance(message, bytes)
        order = _decode_order(message)
        limit_memory(min(max(order.limits.memory_mb, _MIN_MEMORY_MB), _MAX_MEMORY_MB))
        answer = msgspec.msgpack.encode(_execute(order, answers))
        exit_after(0)
        send(answers, answer)


def _execute(order: Order, answers: IO[bytes]) -> object:
    match order:
        case Extract():
            return _extract(order, answers)
        case Read():
            _begin_file(answers, 0, order.limits)
            return read_symbols(order.source, order.path, order.limits)
        case ReadForms():
            return tuple(_forms(order, answers))
        case Capture():
            return _capture(order, answers)


def _extract(order: Extract, answers: IO[bytes]) -> Extracted:
    tree = folder_reader(Path(order.root), order.unmasked, order.limits)
    spent, unparsed_because = 0.0, order.unparsed_because

    def files() -> Iterator[ReadFile]:
        for position, path in enumerate(order.paths):
            _begin_file(answers, position, order.limits)
            file = masked(order.contents[position]) if order.contents else tree.read(path)
            exit_after(seconds_for(file.size, order.limits.parse_seconds + OVERHEAD_S))
            yield file

    def read(source: bytes, path: str, limits: Limits) -> FileSymbols:
        nonlocal spent, unparsed_because
        if unparsed_because:
            return without_symbols(source, path, unparsed_because)
        exit_after(grammar_deadline(len(source), limits))
        symbols = read_symbols(source, path, limits)
        exit_after(seconds_for(len(source), OVERHEAD_S))
        if symbols.is_hard:
            # The size decides, so that each run counts the same.
            spent += seconds_for(len(source), limits.parse_seconds)
            if spent >= limits.hard_seconds:
                unparsed_because = SKIPPED
        return symbols

    tables = extract(files(), order.limits, read)
    return Extracted(encode_snapshot(to_arrays(tables).items()), spent)


def _forms(order: ReadForms, answers: IO[bytes]) -> Iterator[Forms]:
    for position, (path, source) in enumerate(order.sources):
        _begin_file(answers, position, order.limits)
        yield forms_of(source, path, order.limits)


def _begin_file(answers: IO[bytes], position: int, limits: Limits) -> None:
    exit_after(limits.parse_seconds + OVERHEAD_S)
    send(answers, position)


def _capture(order: Capture, answers: IO[bytes]) -> Captured:
    def begin_part(cpu_s: float) -> None:
        exit_after(cpu_s)
        send(answers, 0)

    try:
        lines = captured_lines(order.query, order.languages, order.sources, order.limits, begin_part)
    except QueryRefusedError as error:
        return Captured(problem=str(error))
    return Captured(tuple(lines))


if __name__ == "__main__":
    main()
