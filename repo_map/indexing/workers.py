"""Parsing in several processes, because the parser holds the interpreter's lock.

Workers are fresh interpreters that run ``repo_map.indexing.worker``: unlike forks they are safe beside
threads, and unlike those of the multiprocessing module they never import the caller's main program.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import NamedTuple

import msgspec

from repo_map.indexing.extraction import extract
from repo_map.indexing.extractor_version import extractor_version
from repo_map.indexing.snapshot import decode_snapshot, encode_snapshot
from repo_map.indexing.spool import Spool
from repo_map.indexing.tables import Tables, to_arrays
from repo_map.indexing.worker import Order, receive, send
from repo_map.worktree.files import ReadFile
from repo_map.worktree.tree import Tree

_CHUNK_BYTES = 400_000
_CHUNK_FILES = 200
_WORTH_WORKERS_BYTES = 1_500_000
_WORKERS_AT_MOST = 8
_DEATHS_AT_MOST = 20

OnParsed = Callable[[int], None]
"""Called, always by the caller's own thread, with the number of files parsed so far."""


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
        return Parsed(_parse_here(tree, chunks, on_parsed, 0), [])
    return _Crew(tree, chunks).parse(min(workers, len(chunks)), on_parsed)


def _parse_here(tree: Tree, chunks: list[_Chunk], on_parsed: OnParsed, done: int) -> list[Tables]:
    tables = []
    for chunk in chunks:
        tables.append(extract(map(tree.read, chunk.paths), tree.limits))
        done += len(chunk.paths)
        on_parsed(done)
    return tables


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
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._deaths = 0
        self._stopped = False

    def parse(self, workers: int, on_parsed: OnParsed) -> Parsed:
        """Parse every chunk, whatever becomes of the workers."""
        threads = [Thread(target=self._work, daemon=True) for _ in range(workers)]
        try:
            for thread in threads:
                thread.start()
            done, working = 0, len(threads)
            while working:
                parsed = self._events.get()
                if parsed is None:
                    working -= 1
                else:
                    done += parsed
                    on_parsed(done)
            pieces = self._spool.take_all()
        finally:
            self._stop()
        left = sorted(self._todo)
        tables = {first: decode_snapshot(pieces[number]) for first, number in self._done.items()}
        parsed_here = _parse_here(self._tree, left, on_parsed, done)
        tables.update(zip((chunk.first for chunk in left), parsed_here, strict=True))
        return Parsed([tables[first] for first in sorted(tables)], self._problems(len(left)))

    def _problems(self, left: int) -> list[str]:
        if left and not self._deaths:
            return ["worker processes can't be started here; the files were parsed in one process"]
        if self._deaths:
            return [f"worker processes died while parsing ({self._deaths}); their files were parsed again"]
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
        process = _start_worker()
        with self._lock:
            self._processes.add(process)
        chunk = None
        try:
            _await_ready(process)
            while (chunk := self._take()) is not None:
                self._finish(chunk, _ask(process, self._tree, chunk))
        except (OSError, EOFError):
            if chunk is None:
                raise
            if not self._stopped:
                self._bury(chunk)
        finally:
            _end(process)
            with self._lock:
                self._processes.discard(process)

    def _take(self) -> _Chunk | None:
        with self._lock:
            return self._todo.pop() if self._todo and not self._stopped else None

    def _finish(self, chunk: _Chunk, encoded: bytes) -> None:
        self._done[chunk.first] = self._spool.put(encoded)
        self._events.put(len(chunk.paths))

    def _bury(self, chunk: _Chunk) -> None:
        """Try the two halves of a deadly chunk by themselves; give up on a single file."""
        with self._lock:
            self._deaths += 1
            half = len(chunk.paths) // 2
            if half:
                self._todo.append(_Chunk(chunk.first + half, chunk.paths[half:]))
                self._todo.append(_Chunk(chunk.first, chunk.paths[:half]))
                return
        lost = ReadFile(chunk.paths[0], 0, None, "the parser crashed on it; listed by path only")
        self._finish(chunk, encode_snapshot(to_arrays(extract([lost])).items()))

    def _stop(self) -> None:
        self._stopped = True
        self._spool.close()
        with self._lock:
            for process in self._processes:
                with suppress(OSError):
                    process.kill()


def _start_worker() -> subprocess.Popen[bytes]:
    parent_of_package = Path(__file__).parent.parent.parent
    path = os.pathsep.join(filter(None, (str(parent_of_package), os.environ.get("PYTHONPATH"))))
    # `-P` keeps the current folder, which may be the repository, from shadowing modules.
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "repo_map.indexing.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def _await_ready(process: subprocess.Popen[bytes]) -> None:
    """Wait until a worker can parse; raises ``OSError`` where it ends before, or is of another version."""
    assert process.stdout is not None
    try:
        version = receive(process.stdout)
    except EOFError as error:
        raise OSError(0, "the worker did not start") from error
    if version != extractor_version().encode():
        raise OSError(0, "the worker is of another version")


def _ask(process: subprocess.Popen[bytes], tree: Tree, chunk: _Chunk) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    send(
        process.stdin, msgspec.msgpack.encode(Order(str(tree.root), chunk.paths, tree.unmasked, tree.limits))
    )
    return receive(process.stdout)


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):
            if stream is not None:
                stream.close()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
