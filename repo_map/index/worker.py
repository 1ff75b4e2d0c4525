"""The program of a parser process: it executes orders from standard input until that is closed.

Grammars and queries run only here, so that one that crashes or never returns ends nothing else.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from repo_map.deadline import seconds_for
from repo_map.index.extraction import extract
from repo_map.index.schema import to_arrays
from repo_map.index.snapshot import encode_snapshot, extractor_version
from repo_map.index.worker_protocol import (
    OVERHEAD_S,
    SKIPPED,
    Captured,
    Extracted,
    Order,
    exit_after,
    grammar_deadline,
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
_Begin = Callable[[int, float], None]
"""Called before each part of the work, with the number of its file and the CPU seconds for it."""


def main() -> None:
    """Execute orders on standard input until it is closed."""
    # Parsing makes no reference cycles, and looking for them would take a tenth of the time.
    gc.disable()
    orders, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # Prints must not break the protocol.

    def begin(position: int, cpu_s: float) -> None:
        exit_after(cpu_s)
        send(answers, position)

    send(answers, extractor_version().encode())
    while True:
        try:
            message = receive(orders)
        except EOFError:
            return
        order = msgspec.msgpack.decode(message, type=Order)  # type: ignore[arg-type]
        _limit_memory(min(max(order.limits.memory_mb, _MIN_MEMORY_MB), _MAX_MEMORY_MB))
        answer = msgspec.msgpack.encode(TASKS[order.task](begin, order.limits, **order.arguments))
        exit_after(0)
        send(answers, answer)


def _extract(
    begin: _Begin,
    limits: Limits,
    *,
    root: str,
    paths: Sequence[str],
    unmasked: Sequence[str],
    unparsed_because: str,
    contents: Sequence[tuple[str, int, bytes | None, str, int, bytes]],
) -> Extracted:
    """Read files into tables, in path order.

    ``limits.hard_seconds`` are what is left of them. ``unparsed_because`` says why the files are read without
    their grammars, ``""`` if they are parsed. ``contents`` are the files if they aren't in a folder.
    """
    tree = folder_reader(Path(root), tuple(unmasked), limits)
    spent = 0.0

    def files() -> Iterator[ReadFile]:
        for position, path in enumerate(paths):
            begin(position, limits.parse_seconds + OVERHEAD_S)
            file = masked(ReadFile(*contents[position])) if contents else tree.read(path)  # type: ignore[arg-type]
            exit_after(seconds_for(file.size, limits.parse_seconds + OVERHEAD_S))
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

    tables = extract(files(), limits, read)
    return Extracted(encode_snapshot(to_arrays(tables).items()), spent)


def _read(begin: _Begin, limits: Limits, source: bytes, path: str) -> FileSymbols:
    """Return the symbols of one source."""
    begin(0, limits.parse_seconds + OVERHEAD_S)
    return read_symbols(source, path, limits)


def _read_forms(begin: _Begin, limits: Limits, sources: Sequence[tuple[str, bytes]]) -> list[Forms]:
    """Return the signatures and calls in sources, each given with its path."""
    found = []
    for position, (path, source) in enumerate(sources):
        begin(position, limits.parse_seconds + OVERHEAD_S)
        found.append(forms_of(source, path, limits))
    return found


def _capture(
    begin: _Begin, limits: Limits, query: str, languages: Sequence[str], sources: Sequence[tuple[str, bytes]]
) -> Captured:
    """Run a custom query on sources, each given with its language; ``languages`` are those of all files."""
    try:
        return Captured(tuple(captured_lines(query, languages, sources, limits, partial(begin, 0))))
    except QueryRefusedError as error:
        return Captured(problem=str(error))


TASKS: dict[str, Callable[..., object]] = {
    "extract": _extract,
    "read": _read,
    "forms": _read_forms,
    "capture": _capture,
}


def _limit_memory(megabytes: int) -> None:
    """Limit the memory of this process, on Linux; elsewhere the limit is not enforced, or there is none."""
    if sys.platform == "linux":
        import resource  # noqa: PLC0415 - not on every system

        maximum = resource.getrlimit(resource.RLIMIT_DATA)[1]
        wanted = megabytes * 1_000_000
        if maximum == resource.RLIM_INFINITY or wanted < maximum:
            resource.setrlimit(resource.RLIMIT_DATA, (wanted, maximum))


if __name__ == "__main__":
    main()
