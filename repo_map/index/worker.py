"""The program that a worker process runs: orders in, answers out, until its input ends.

Grammars and queries run here alone: one that crashes or never ends takes nothing else with it.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

from repo_map.index import self_limits
from repo_map.index.extraction import extract
from repo_map.index.extractor_version import extractor_version
from repo_map.index.schema import to_arrays
from repo_map.index.snapshot import encode_snapshot
from repo_map.index.worker_orders import (
    HARD,
    LATE,
    OVER_PARSING_S,
    STOP,
    Capture,
    Captured,
    Extract,
    Order,
    Read,
    ReadForms,
    most_parsing_s,
    receive,
    send,
)
from repo_map.languages.parser import seconds_for
from repo_map.limits import Limits
from repo_map.parsing.custom_queries import QueryRefusedError, captured_lines
from repo_map.parsing.forms import Forms, forms_of
from repo_map.parsing.symbols import read_symbols
from repo_map.parsing.values import FileSymbols, without_symbols
from repo_map.sources.files import ReadFile
from repo_map.sources.source import folder_reader, masked

_LEAST_MB, _MOST_MB = 500, 2_000
"""Of memory: with less it would not start, and nothing known takes half of the most."""
_decode_order = msgspec.msgpack.Decoder(Order).decode


def main() -> None:
    """Answer orders on standard input until it is closed."""
    # Parsing makes no reference cycles, and looking for them would take a tenth of the time.
    gc.disable()
    orders, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # Whatever prints must not break the protocol.
    # From here on a worker's death is the fault of what it reads.
    send(answers, extractor_version().encode())
    while True:
        try:
            order = _decode_order(receive(orders))
        except EOFError:
            return
        self_limits.bound_memory(min(max(order.limits.memory_mb, _LEAST_MB), _MOST_MB))
        answer = _answer(order, orders, answers)
        self_limits.never_end()
        send(answers, b"")
        send(answers, answer)


def _answer(order: Order, orders: IO[bytes], answers: IO[bytes]) -> bytes:
    match order:
        case Extract():
            return _extract(order, orders, answers)
        case Read():
            _begin(answers, 0, order.limits)
            return msgspec.msgpack.encode(read_symbols(order.source, order.path, order.limits))
        case ReadForms():
            return msgspec.msgpack.encode(tuple(_forms(order, answers)))
        case Capture():
            return msgspec.msgpack.encode(_capture(order, answers))


def _extract(order: Extract, orders: IO[bytes], answers: IO[bytes]) -> bytes:
    """Read files one by one; tell of each before anything else is done with it, and of hard ones after."""
    tree = folder_reader(Path(order.root), order.unmasked, order.limits)
    at, unread = 0, order.unread

    def files() -> Iterator[ReadFile]:
        nonlocal at
        for at, path in enumerate(order.paths):
            _begin(answers, at, order.limits)
            file = masked(order.sent[at]) if order.sent else tree.read(path)
            self_limits.end_after(seconds_for(file.size, order.limits.parse_seconds + OVER_PARSING_S))
            yield file

    def read(source: bytes, path: str, limits: Limits) -> FileSymbols:
        nonlocal unread
        if unread:
            return without_symbols(source, path, unread)
        self_limits.end_after(most_parsing_s(len(source), limits))
        symbols = read_symbols(source, path, limits)
        self_limits.end_after(seconds_for(len(source), OVER_PARSING_S))
        if symbols.is_hard:
            self_limits.never_end()
            send(answers, HARD + ("" if symbols.definitions else symbols.problems[0]).encode())
            if receive(orders) == STOP:
                unread = LATE
            self_limits.end_after(seconds_for(len(source), OVER_PARSING_S))
        return symbols

    return encode_snapshot(to_arrays(extract(files(), order.limits, read)).items())


def _forms(order: ReadForms, answers: IO[bytes]) -> Iterator[Forms]:
    for at, (path, source) in enumerate(order.sources):
        _begin(answers, at, order.limits)
        yield forms_of(source, path, order.limits)


def _begin(answers: IO[bytes], position: int, limits: Limits) -> None:
    self_limits.end_after(limits.parse_seconds + OVER_PARSING_S)
    send(answers, str(position).encode())


def _capture(order: Capture, answers: IO[bytes]) -> Captured:
    def end_after(cpu_s: float) -> None:
        self_limits.end_after(cpu_s)
        # Whoever waits hears of each part of the work.
        send(answers, b"0")

    try:
        lines = captured_lines(order.query, order.languages, order.sources, order.limits, end_after)
    except QueryRefusedError as error:
        return Captured(problem=str(error))
    return Captured(tuple(lines))


if __name__ == "__main__":
    main()
