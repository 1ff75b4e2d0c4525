"""A tree parsed by several workers: a file that crashes one costs its own symbols, and is named."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from heapq import heapify, heappop, heappush
from queue import Empty, SimpleQueue
from threading import Condition, Lock, Thread, get_ident
from typing import NamedTuple

from repo_map.index.schema import Tables, to_arrays
from repo_map.index.snapshot import decode_snapshot, encode_snapshot
from repo_map.index.spool import Spool
from repo_map.index.worker_orders import LATE, Extract, most_parsing_s
from repo_map.index.worker_process import DiedError, WorkerProcess, without_worker
from repo_map.index.workers import borrow
from repo_map.languages.parser import seconds_for
from repo_map.limits import Limits
from repo_map.messages import plural_verb
from repo_map.parsing.values import FileSymbols, without_symbols
from repo_map.sources.files import ReadFile
from repo_map.sources.source import MaskedReader

_LEAST_CHUNK_BYTES, _MOST_CHUNK_BYTES = 400_000, 2_000_000
"""Of a chunk: what its files share is split, sorted and merged once, but the last should end together."""
_BYTES_OF_FILE = 2_000
"""What a file costs beside its bytes, in bytes: it is opened, and told of."""
_WORTH_WORKERS_BYTES = 1_500_000
_WORKERS_AT_MOST = 8
_HARD_S_PER_BYTE = 1e-6
"""CPU time for hard files that a tree is given for its size: about what parsing all of it takes."""
_START_S = 0.5
"""CPU time that another worker takes to start, where one died."""
_AHEAD = 0.25
"""The share of the time for hard files that workers may spend on them in no order."""
_TELL_EVERY_S = 0.2
_END_WITHIN_S = 5.0

OnParsed = Callable[[int], None]
"""Called, always by the caller's own thread, with the number of files parsed so far, also while none is done;
what it raises ends the work and the worker processes."""


class Parsed(NamedTuple):
    """What parsing gave, and what went wrong beside the files themselves."""

    parts: list[tuple[Tables, int]]
    """Tables, and how many of their first rows together hold the files in order."""
    problems: list[str]


def parse_files(
    tree: MaskedReader,
    paths: Sequence[str],
    sizes: Sequence[int],
    *,
    workers: int | None,
    on_parsed: OnParsed,
) -> Parsed:
    """Parse files, given in path order, in at most so many processes at once."""
    if workers is None:
        workers = _default_workers() if sum(sizes) > _WORTH_WORKERS_BYTES else 1
    chunks = _chunks(paths, sizes, tree.limits.file_bytes, workers)
    return _WorkerPool(tree, chunks).parse(min(workers, len(chunks)), on_parsed)


def _default_workers() -> int:
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, _WORKERS_AT_MOST)


class _Chunk(NamedTuple):
    first: int
    """Position of its first file among all."""
    paths: tuple[str, ...]
    sizes: tuple[int, ...]
    unread: str = ""
    """Why no grammar reads its files; ``""`` where one does."""
    deaths: int = 0
    """Of workers that read its only file."""

    def part(self, start: int, end: int) -> _Chunk:
        """Return the files from one position to before another, which killed nobody yet."""
        return _Chunk(self.first + start, self.paths[start:end], self.sizes[start:end], self.unread)


def _chunks(paths: Sequence[str], sizes: Sequence[int], limit: int, workers: int) -> list[_Chunk]:
    """Cut a tree into chunks that get smaller towards its end, where one worker would wait for another."""
    costs = [min(size, limit) + _BYTES_OF_FILE for size in sizes]
    left = sum(costs)
    chunks: list[_Chunk] = []
    first, cost = 0, 0
    for position, path_cost in enumerate(costs):
        share = (left + cost) // (2 * workers)
        if position > first and cost > min(max(share, _LEAST_CHUNK_BYTES), _MOST_CHUNK_BYTES):
            chunks.append(_Chunk(first, tuple(paths[first:position]), tuple(sizes[first:position])))
            first, cost = position, 0
        cost += path_cost
        left -= path_cost
    if first < len(paths):
        chunks.append(_Chunk(first, tuple(paths[first:]), tuple(sizes[first:])))
    return chunks


class _WorkerPool:
    """Workers that share one list of chunks; a file that kills one is read without its grammar.

    Whatever chance brings, the outcome is the same: a file that a worker died of is tried again alone, and
    files are parsed by path until enough of them were too hard.
    """

    def __init__(self, tree: MaskedReader, chunks: list[_Chunk]) -> None:
        self._tree = tree
        self._todo = chunks
        heapify(self._todo)
        self._done: dict[int, tuple[_Chunk, int]] = {}
        """Position of a chunk's first file → the chunk, and its tables' number in the spool."""
        self._hard: dict[int, float] = {}
        """Position of each file that kills workers, or that its grammar does not finish in time → the seconds
        of CPU time that it may take."""
        self._told: dict[int, str] = {}
        """Position of each of them of which nothing was read → what is said of it."""
        self._active: dict[int, int] = {}
        """Thread that has a worker read a chunk → position of the chunk's first file."""
        self._waiting: set[int] = set()
        """Threads whose worker waits for those before it."""
        size = sum(sum(chunk.sizes) for chunk in chunks)
        self._hard_seconds = tree.limits.hard_seconds + _HARD_S_PER_BYTE * size
        self._spool = Spool()
        self._events: SimpleQueue[int | None] = SimpleQueue()
        self._lock = Lock()
        self._moved = Condition(self._lock)
        """Told when a chunk is taken or done, or a hard file is found."""
        self._processes: set[WorkerProcess] = set()
        self._missing = ""
        """Why no worker can be had."""
        self._stopped = False

    def parse(self, workers: int, on_parsed: OnParsed) -> Parsed:
        """Parse every chunk, whatever becomes of the workers."""
        done = self._work_together(workers, on_parsed, 0)
        rows = self._cut_late_ones()
        if self._todo and not self._missing:
            done = self._work_together(1, on_parsed, done)
        left = [(chunk.first, self._read_here(chunk)) for chunk in sorted(self._todo)]
        on_parsed(done + sum(len(chunk.paths) for chunk in self._todo))
        pieces = self._spool.take_all()
        parts = [(first, decode_snapshot(pieces[number])) for first, (_, number) in self._done.items()]
        in_order = sorted([*parts, *left], key=lambda part: part[0])
        return Parsed(
            [(tables, rows.get(first, len(tables))) for first, tables in in_order], self._problems()
        )

    def _work_together(self, workers: int, on_parsed: OnParsed, done: int) -> int:
        """Have workers do what is left to do, and return how many files are done."""
        threads = [Thread(target=self._work, daemon=True) for _ in range(workers)]
        is_over = False
        try:
            for thread in threads:
                thread.start()
            working = len(threads)
            while working:
                try:
                    parsed = self._events.get(timeout=_TELL_EVERY_S)
                except Empty:
                    parsed = 0
                if parsed is None:
                    working -= 1
                else:
                    done += parsed
                    on_parsed(done)
            is_over = True
        finally:
            if not is_over:
                self._stop()
            for thread in threads:
                if thread.ident is not None:
                    thread.join(_END_WITHIN_S)
        return done

    def _work(self) -> None:
        """Keep one worker process busy until nothing is left to do or it can't be had."""
        try:
            while self._todo and not self._stopped:
                self._work_until_death()
        except OSError as error:
            self._missing = without_worker(error)
        finally:
            self._leave()
            self._events.put(None)

    def _work_until_death(self) -> None:
        chunk = None
        try:
            with borrow() as process:
                with self._lock:
                    self._processes.add(process)
                try:
                    while (chunk := self._take()) is not None:
                        on_hard = partial(self._note_hard, chunk)
                        self._finish(chunk, process.answer(self._order(chunk), on_hard))
                finally:
                    with self._lock:
                        self._processes.discard(process)
        except DiedError as error:
            if chunk is not None and not self._stopped:
                self._bury(chunk, min(error.position, len(chunk.paths) - 1), error)

    def _order(self, chunk: _Chunk) -> Extract:
        tree = self._tree
        root = tree.reader.root
        # What lies in no folder comes along: a worker has no way to git.
        sent = tuple(map(tree.fetch, chunk.paths)) if root is None else ()
        return Extract(str(root or ""), chunk.paths, tree.unmasked, tree.limits, chunk.unread, sent)

    def _take(self) -> _Chunk | None:
        with self._lock:
            if not self._todo or self._stopped:
                return None
            chunk = heappop(self._todo)
            self._active[get_ident()] = chunk.first
            self._moved.notify_all()
            return chunk._replace(unread=chunk.unread or LATE) if chunk.first > self._last() else chunk

    def _note_hard(self, chunk: _Chunk, position: int, message: str) -> bool:
        """Note a hard file, and tell whether those behind it are parsed.

        Once hard files have taken a part of their time, those before it come first: what a worker finds hard
        ahead of them may be for nothing.
        """
        place = chunk.first + position
        # Its size decides, so that each run counts the same.
        seconds = seconds_for(chunk.sizes[position], self._tree.limits.parse_seconds)
        with self._moved:
            self._hard[place] = seconds
            if message:
                self._told[place] = message
            self._moved.notify_all()
            self._waiting.add(get_ident())
            while self._is_ahead(chunk) and place <= self._last() and not self._stopped:
                self._moved.wait(_TELL_EVERY_S)
            self._waiting.discard(get_ident())
            return place <= self._last()

    def _is_ahead(self, chunk: _Chunk) -> bool:
        """Tell whether a chunk is to wait for those before it."""
        if sum(self._hard.values()) < _AHEAD * self._hard_seconds or not self._active.keys() - self._waiting:
            return False
        first = min(self._active.values())
        return first < chunk.first or (bool(self._todo) and self._todo[0].first < chunk.first)

    def _finish(self, chunk: _Chunk, encoded: bytes) -> None:
        self._done[chunk.first] = chunk, self._spool.put(encoded)
        self._leave()
        self._events.put(len(chunk.paths))

    def _leave(self) -> None:
        with self._moved:
            self._active.pop(get_ident(), None)
            self._moved.notify_all()

    def _bury(self, chunk: _Chunk, at: int, error: DiedError) -> None:
        """Put back what a worker had not finished when it died at a file, that one in the end unparsed."""
        path = chunk.paths[at]
        place = chunk.first + at
        deaths = 1 + (chunk.deaths if len(chunk.paths) == 1 else 0)
        # What ended the worker from outside may have had nothing to do with the file.
        is_lost = deaths > 1 or not error.was_killed
        message = error.cost_of(path)
        culprit = chunk.part(at, at + 1)._replace(deaths=deaths)
        if is_lost and not chunk.unread:
            culprit = culprit._replace(unread=message, deaths=0)
        before, after = self._read_before(chunk, at), chunk.part(at + 1, len(chunk.paths))
        is_given_up = is_lost and bool(chunk.unread)
        seconds = most_parsing_s(chunk.sizes[at], self._tree.limits) + _START_S
        with self._lock:
            if is_lost:
                self._hard[place] = seconds
            for piece in (*before, after) if is_given_up else (*before, culprit, after):
                if piece.paths:
                    heappush(self._todo, piece)
        self._leave()
        if is_given_up:
            self._finish(culprit, self._give_up(path, message))

    def _read_before(self, chunk: _Chunk, at: int) -> Iterator[_Chunk]:
        """Yield the files of a chunk before one, to be read anew; hard ones are not parsed again."""
        start = 0
        for position in range(at):
            message = self._told.get(chunk.first + position, "")
            if message and not chunk.unread:
                yield chunk.part(start, position)
                yield chunk.part(position, position + 1)._replace(unread=message)
                start = position + 1
        yield chunk.part(start, at)

    def _give_up(self, path: str, message: str) -> bytes:
        from repo_map.index.extraction import extract  # noqa: PLC0415 - done in workers, but for what they can't

        # With its digest, so that the same bytes kill nobody again.
        given_up = ReadFile(path, 0, None, f"{message}; listed by path only", digest=self._tree.digest(path))
        tables = extract([given_up], self._tree.limits, partial(_leave_unread, message))
        return encode_snapshot(to_arrays(tables).items())

    def _last(self) -> int:
        """Return the position of the last file that is parsed."""
        limits = self._tree.limits
        seconds = 0.0
        for number, (position, taken) in enumerate(sorted(self._hard.items()), 1):
            seconds += taken
            if number >= limits.hard_files or seconds >= self._hard_seconds:
                return position
        return sys.maxsize

    def _cut_late_ones(self) -> dict[int, int]:
        """Put back the files that were parsed beyond the last to be; return the rows to keep, by chunk."""
        kept: dict[int, int] = {}
        last = self._last()
        for first, (chunk, _) in list(self._done.items()):
            rows = max(0, last + 1 - first)
            # One that crashed beyond them is late like the others, whoever came to it first.
            if chunk.unread == LATE or rows >= len(chunk.paths):
                continue
            kept[first] = rows
            if not rows:
                del self._done[first]
            heappush(self._todo, chunk.part(rows, len(chunk.paths))._replace(unread=LATE))
        return {first: rows for first, rows in kept.items() if rows}

    def _read_here(self, chunk: _Chunk) -> Tables:
        """Read files without their grammars."""
        from repo_map.index.extraction import extract  # noqa: PLC0415 - done in workers, but for what they can't

        why = chunk.unread or f"{self._missing}; no symbols were read"
        read = partial(_leave_unread, why)
        return extract(map(self._tree.read, chunk.paths), self._tree.limits, read)

    def _problems(self) -> list[str]:
        problems = []
        late = sum(len(chunk.paths) for chunk, _ in self._done.values() if chunk.unread == LATE)
        if late:
            hard = sum(at <= self._last() for at in self._hard)
            problems.append(
                f"{plural_verb(late, 'file', 'was', 'were')} not parsed: {hard:,} before them, by path, "
                "crash their grammars or take them too long"
            )
        if self._todo:
            left = sum(len(chunk.paths) for chunk in self._todo)
            problems.append(
                f"{self._missing}; {plural_verb(left, 'file', 'was', 'were')} read without their symbols"
            )
        return problems

    def _stop(self) -> None:
        self._stopped = True
        self._spool.close()
        with self._lock:
            for process in self._processes:
                with suppress(OSError):
                    process.kill()


def _leave_unread(why: str, source: bytes, path: str, limits: Limits) -> FileSymbols:
    del limits
    return without_symbols(source, path, why)
