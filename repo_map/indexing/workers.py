"""Parsing in several processes, because the parser holds the interpreter's lock.

Workers are fresh interpreters that run ``repo_map.indexing.worker``: unlike forks they are safe beside
threads, and unlike those of the multiprocessing module they never import the caller's main program.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import NamedTuple

from repo_map.indexing.extraction import extract
from repo_map.indexing.snapshot import decode_snapshot, encode_snapshot
from repo_map.indexing.spool import Spool
from repo_map.indexing.tables import Tables, to_arrays
from repo_map.indexing.worker_process import DiedOfFileError, WorkerProcess
from repo_map.limits import Limits
from repo_map.parsing.deadline import SuspiciousSourceError
from repo_map.symbols import FileSymbols, read_symbols, read_warily
from repo_map.worktree.files import ReadFile
from repo_map.worktree.tree import Tree

_CHUNK_BYTES = 400_000
_CHUNK_FILES = 200
_WORTH_WORKERS_BYTES = 1_500_000
_WORKERS_AT_MOST = 8
_DEATHS_AT_MOST = 20
_TELL_EVERY_S = 0.2
_END_WITHIN_S = 5.0

OnParsed = Callable[[int], None]
"""Called, always by the caller's own thread, with the number of files parsed so far, also while none is done;
what it raises ends the work and the worker processes."""


class Parsed(NamedTuple):
    """Tables that together hold the parsed files in order, and what went wrong beside them."""

    tables: list[Tables]
    problems: list[str]


class _Chunk(NamedTuple):
    first: int
    """Position of its first file among all."""
    paths: tuple[str, ...]


def parse_files(
    tree: Tree, paths: Sequence[str], sizes: Sequence[int], *, workers: int | None, on_parsed: OnParsed
) -> Parsed:
    """Parse files, given in path order; in this process where that is quicker, or where ``workers`` is 1."""
    chunks = _chunks(paths, sizes, tree.limits.file_bytes)
    if workers is None:
        workers = _default_workers() if sum(sizes) > _WORTH_WORKERS_BYTES else 1
    if workers <= 1 or len(chunks) <= 1:
        return _parse_here(tree, chunks, on_parsed)
    return _Crew(tree, chunks).parse(min(workers, len(chunks)), on_parsed)


def _parse_here(tree: Tree, chunks: list[_Chunk], on_parsed: OnParsed) -> Parsed:
    """Parse in this process, but leave whatever looks deadly to another one."""
    parsed = Parsed([], [])
    done = 0
    for chunk in chunks:
        try:
            parsed.tables.append(extract(map(tree.read, chunk.paths), tree.limits, _read_or_refuse))
        except SuspiciousSourceError:
            elsewhere = _Crew(tree, [chunk]).parse(1, _ignore)
            parsed.tables.extend(elsewhere.tables)
            parsed.problems.extend(elsewhere.problems)
        done += len(chunk.paths)
        on_parsed(done)
    return parsed


def _read_or_refuse(source: bytes, path: str, limits: Limits) -> FileSymbols:
    return read_symbols(source, path, limits, is_wary=True)


def _ignore(_done: int) -> None:
    """Hear nothing."""


def _default_workers() -> int:
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, _WORKERS_AT_MOST)


def _chunks(paths: Sequence[str], sizes: Sequence[int], limit: int) -> list[_Chunk]:
    chunks = []
    first, size = 0, 0
    for position, path_size in enumerate(sizes):
        if position > first and (size > _CHUNK_BYTES or position - first >= _CHUNK_FILES):
            chunks.append(_Chunk(first, tuple(paths[first:position])))
            first, size = position, 0
        size += min(path_size, limit)
    if first < len(paths):
        chunks.append(_Chunk(first, tuple(paths[first:])))
    return chunks


class _Crew:
    """Workers that share one list of chunks; when one dies, the chunk it had is halved and tried again."""

    def __init__(self, tree: Tree, chunks: list[_Chunk]) -> None:
        self._tree = tree
        self._todo = chunks[::-1]
        self._done: dict[int, int] = {}
        """Position of a chunk's first file → its tables' number in the spool."""
        self._spool = Spool()
        self._events: SimpleQueue[int | None] = SimpleQueue()
        self._lock = Lock()
        self._processes: set[WorkerProcess] = set()
        self._deaths = 0
        self._unexplained = 0
        """Deaths of no file that was known to be doubtful: chance may have had a part."""
        self._stopped = False

    def parse(self, workers: int, on_parsed: OnParsed) -> Parsed:
        """Parse every chunk, whatever becomes of the workers."""
        threads = [Thread(target=self._work, daemon=True) for _ in range(workers)]
        try:
            for thread in threads:
                thread.start()
            done, working = 0, len(threads)
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
            pieces = self._spool.take_all()
        finally:
            self._stop(threads)
        left = sorted(self._todo)
        tables = {first: decode_snapshot(pieces[number]) for first, number in self._done.items()}
        for chunk in left:
            tables[chunk.first] = extract(map(self._tree.read, chunk.paths), self._tree.limits, read_warily)
            done += len(chunk.paths)
            on_parsed(done)
        return Parsed([tables[first] for first in sorted(tables)], self._problems(len(left)))

    def _problems(self, left: int) -> list[str]:
        if left and not self._deaths:
            return ["worker processes can't be started here; the files were parsed in one process"]
        if self._unexplained:
            return [
                f"worker processes died while parsing ({self._unexplained}); their files were parsed again"
            ]
        return []

    def _work(self) -> None:
        """Keep one worker process busy until nothing is left to do or it can't be had."""
        try:
            while self._todo and not self._stopped and self._deaths <= _DEATHS_AT_MOST:
                self._work_until_death()
        except OSError:
            return  # No process can be started: what is left is parsed by the caller.
        finally:
            self._events.put(None)

    def _work_until_death(self) -> None:
        process = WorkerProcess()
        with self._lock:
            self._processes.add(process)
        chunk = None
        try:
            process.await_ready()
            while (chunk := self._take()) is not None:
                self._finish(chunk, process.parse(self._tree, chunk.paths))
        except (OSError, EOFError) as error:
            if chunk is None:
                raise
            if not self._stopped:
                self._bury(chunk, error.path if isinstance(error, DiedOfFileError) else "")
        finally:
            process.end()
            with self._lock:
                self._processes.discard(process)

    def _take(self) -> _Chunk | None:
        with self._lock:
            return self._todo.pop() if self._todo and not self._stopped else None

    def _finish(self, chunk: _Chunk, encoded: bytes) -> None:
        self._done[chunk.first] = self._spool.put(encoded)
        self._events.put(len(chunk.paths))

    def _bury(self, chunk: _Chunk, culprit: str) -> None:
        """Give up on a file that a worker died of; where it is not known, try each half of the chunk."""
        at = chunk.paths.index(culprit) if culprit in chunk.paths else -1
        cuts = (at, at + 1) if at >= 0 else (len(chunk.paths) // 2,)
        pieces = [
            _Chunk(chunk.first + start, chunk.paths[start:end])
            for start, end in pairwise((0, *cuts, len(chunk.paths)))
            if start < end
        ]
        lost = pieces.pop(int(at > 0)) if at >= 0 or len(chunk.paths) == 1 else None
        with self._lock:
            self._deaths += 1
            self._unexplained += at < 0
            self._todo.extend(reversed(pieces))
        if lost is not None:
            self._finish(lost, self._give_up(lost.paths[0]))

    def _give_up(self, path: str) -> bytes:
        told = "the parser crashed on it or hung; listed by path only"
        # With its digest, so that the same bytes kill nobody again.
        given_up = ReadFile(path, 0, None, told, digest=self._tree.digest(path))
        return encode_snapshot(to_arrays(extract([given_up])).items())

    def _stop(self, threads: Sequence[Thread]) -> None:
        self._stopped = True
        self._spool.close()
        with self._lock:
            for process in self._processes:
                with suppress(OSError):
                    process.kill()
        for thread in threads:
            if thread.ident is not None:
                thread.join(_END_WITHIN_S)
