"""Parser processes: how they are started, reused, observed and ended, and trees parsed by several of them.

A ``concurrent.futures.ProcessPoolExecutor`` does not do: it imports the caller's ``__main__`` module in each
process, gives up all processes if one crashes without telling on which file, leaves them running if this one
is killed, and waits for one that hangs.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from heapq import heapify, heappop, heappush
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from time import monotonic
from typing import NamedTuple

import msgspec

from repo_map.index.schema import Tables
from repo_map.index.snapshot import decode_snapshot, extractor_version
from repo_map.index.worker_protocol import (
    CLOCK_PER_CPU,
    OVERHEAD_S,
    PATHOLOGICAL,
    SKIPPED,
    Capture,
    Captured,
    Extract,
    Order,
    Read,
    ReadForms,
    exceeded_deadline,
    grammar_deadline,
    receive,
    send,
)
from repo_map.languages.registry import language_of
from repo_map.limits import ONE_THREAD, Limits
from repo_map.messages import plural_verb
from repo_map.parsing.forms import NO_FORMS, Forms
from repo_map.parsing.values import FileSymbols, without_symbols
from repo_map.sources.files import ReadFile
from repo_map.sources.source import MaskedReader
from repo_map.working_folder import absolute_entries

_MIN_CHUNK_BYTES, _MAX_CHUNK_BYTES = 400_000, 2_000_000
"""Small chunks are sorted and merged too often; large ones leave processes idle at the end."""
_BYTES_PER_FILE = 2_000
"""What opening a file costs, in bytes of source."""
_PARALLEL_FROM_BYTES = 1_500_000
_MAX_WORKERS = 8
_MAX_IDLE = 2
_MAX_FILES_PER_WORKER = 1_000
"""A process that has read more ends once it is idle: it never gives back some of its memory."""
_PATHOLOGICAL_S_PER_BYTE = 1e-6
"""CPU time for pathological files by the size of their tree: about what parsing all of it takes."""
_START_CPU_S = 0.5
_START_TIMEOUT_S = 60.0
"""On a busy machine; on an idle one a process starts in a third of a second."""
_EXIT_TIMEOUT_S = 5.0
_PROGRESS_INTERVAL_S = 0.2
_SIGKILL = 9

OnParsed = Callable[[int], None]
"""Called by the caller's own thread with the number of files parsed so far, at least five times a second; an
exception ends the work and its processes."""


class WorkerCrashedError(Exception):
    """A parser process ended, or was ended, while it executed an order."""

    def __init__(self, position: int, returncode: int, silent_s: float = 0.0) -> None:
        super().__init__(position)
        self.position = position
        """Of the file that it was reading."""
        self.silent_s = silent_s
        """Seconds without a sign of life after which it was ended; 0 if it ended by itself."""
        self.was_slow = not silent_s and exceeded_deadline(returncode)
        self.was_killed = bool(silent_s) or returncode == -_SIGKILL
        """True if the cause may have been outside: the system was short of memory, or it was stopped."""

    def message(self, path: str) -> str:
        """Return why the file it was reading has no symbols."""
        if self.silent_s:
            return f"{self._silence}; no symbols were read"
        if self.was_slow:
            return "reading it takes far longer than its size explains; no symbols were read"
        grammar = f"the {language} grammar" if (language := language_of(path)) else "its grammar"
        return f"{grammar} crashed on it; no symbols were read"

    def query_message(self, limits: Limits) -> str:
        """Return why the query it was running has no result."""
        if self.silent_s:
            return f"{self._silence}; try again"
        if self.was_slow:
            return (
                f"it did not finish within {limits.query_seconds:g} s of CPU time; make its pattern simpler, "
                "or name fewer files"
            )
        return "it crashed its grammar or took too much memory; make its pattern simpler"

    @property
    def _silence(self) -> str:
        return f"the process that read it was stopped, or did not respond for {self.silent_s:g} s"


class Answer(NamedTuple):
    """The result of an order."""

    content: bytes
    pathological_s: tuple[float, ...]
    """CPU seconds granted to each file that its grammar did not finish in time."""


class WorkerProcess:
    """An interpreter that runs ``repo_map.index.worker``; raises ``OSError`` if none can be started."""

    def __init__(self) -> None:
        package_root = Path(__file__).parent.parent.parent
        # `-P` keeps the current folder, which may be the repository, from shadowing modules.
        path = os.pathsep.join((str(package_root), *absolute_entries(os.environ.get("PYTHONPATH", ""))))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "repo_map.index.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path} | ONE_THREAD,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._orders, self._answers = self._process.stdin, self._process.stdout
        self.pid = self._process.pid
        self.files_read = 0
        self._is_ready = False
        self._heard = 0.0
        self._was_silent = False

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def execute(self, order: Order) -> Answer:
        """Return the answer to an order.

        Raises:
            WorkerCrashedError: The process ended meanwhile.
            OSError: The process could not be started, or is of another version of this program.
        """
        if not self._is_ready:
            self._await_start()
        position, pathological = 0, []
        timeout = CLOCK_PER_CPU * (max(order.limits.parse_seconds, order.limits.query_seconds) + OVERHEAD_S)
        with self._killed_if_silent(timeout):
            try:
                send(self._orders, msgspec.msgpack.encode(order))
                while message := receive(self._answers):
                    self._heard = monotonic()
                    if message.startswith(PATHOLOGICAL):
                        pathological.append(float(message.removeprefix(PATHOLOGICAL)))
                    else:
                        position = int(message)
                        self.files_read += 1
                return Answer(receive(self._answers), tuple(pathological))
            except (EOFError, OSError) as error:
                returncode = self._wait()
                raise WorkerCrashedError(position, returncode, timeout * self._was_silent) from error

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        """Let the process end, and wait for that."""
        for stream in (self._orders, self._answers):
            with suppress(OSError):
                stream.close()
        self._wait()

    def _await_start(self) -> None:
        with self._killed_if_silent(_START_TIMEOUT_S):
            try:
                version = receive(self._answers)
            except EOFError as error:
                late = f" within {_START_TIMEOUT_S:g} s" if self._was_silent else ""
                raise OSError(0, f"a worker process did not start{late}") from error
        if version != extractor_version().encode():
            raise OSError(0, "the program was changed while it ran; start it again")
        self._is_ready = True

    @contextmanager
    def _killed_if_silent(self, timeout: float) -> Iterator[None]:
        """Kill the process if nothing is received from it for so many seconds: it may be stopped."""
        is_done = Event()

        def watch() -> None:
            while not is_done.wait(max(0.0, self._heard + timeout - monotonic())):
                if monotonic() >= self._heard + timeout:
                    self._was_silent = True
                    self.kill()
                    return

        self._heard = monotonic()
        Thread(target=watch, daemon=True).start()
        try:
            yield
        finally:
            is_done.set()

    def _wait(self) -> int:
        """Wait for the end of the process, kill it if that takes long, and return its exit status."""
        for _ in range(2):
            with suppress(subprocess.TimeoutExpired):
                return self._process.wait(timeout=_EXIT_TIMEOUT_S)
            self.kill()
        return -_SIGKILL  # It waits for a disk that does not respond.


class _IdleWorkers:
    """Started processes without an order, so that a single file does not wait for an interpreter."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.waiting: list[WorkerProcess] = []

    def reset(self) -> None:
        """Forget all processes, in a forked process: they belong to the parent."""
        self._lock, self.waiting = Lock(), []

    def warm_up(self, number: int = 1) -> None:
        """Start processes without waiting for them; errors are reported when a process is needed."""
        with self._lock, suppress(OSError):
            while len(self.waiting) < min(number, _MAX_IDLE):
                self.waiting.append(WorkerProcess())

    @contextmanager
    def acquire(self) -> Iterator[WorkerProcess]:
        """Yield a process for exclusive use; it is reused afterwards unless an exception is raised."""
        with self._lock:
            process = self.waiting.pop() if self.waiting else None
        if process is not None and not process.is_alive:
            process.close()
            process = None
        process = process or WorkerProcess()
        try:
            yield process
        except BaseException:
            process.kill()
            process.close()
            raise
        with self._lock:
            is_reused = len(self.waiting) < _MAX_IDLE and process.files_read < _MAX_FILES_PER_WORKER
            if is_reused:
                self.waiting.append(process)
        if not is_reused:
            process.close()

    def close(self) -> None:
        """End the idle processes."""
        with self._lock:
            waiting, self.waiting = self.waiting, []
        for process in waiting:
            process.kill()
            process.close()


_idle = _IdleWorkers()
warm_up, close_idle = _idle.warm_up, _idle.close
atexit.register(close_idle)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.reset)


def capture(
    query: str, languages: Sequence[str], sources: Sequence[tuple[str, bytes]], limits: Limits
) -> Captured:
    """Return the captures of a custom query in sources, each given with its language, or a problem."""
    try:
        answer = _execute(Capture(query, tuple(languages), tuple(sources), limits))
        return msgspec.msgpack.decode(answer, type=Captured)
    except WorkerCrashedError as error:
        return Captured(problem=error.query_message(limits), is_passing=bool(error.silent_s))
    except OSError as error:
        return Captured(problem=_start_problem(error), is_passing=True)


def read_source(source: bytes, path: str, limits: Limits) -> FileSymbols:
    """Return the symbols of a source; failures are among its problems and never raised."""
    try:
        return msgspec.msgpack.decode(_execute(Read(source, path, limits)), type=FileSymbols)
    except WorkerCrashedError as error:
        return without_symbols(source, path, error.message(path))
    except OSError as error:
        return without_symbols(source, path, f"{_start_problem(error)}; no symbols were read")


def read_forms(sources: Sequence[tuple[str, bytes]], limits: Limits) -> tuple[Forms, ...]:
    """Return the signatures and calls in sources, each given with its path; none if that fails."""
    try:
        return msgspec.msgpack.decode(_execute(ReadForms(tuple(sources), limits)), type=tuple[Forms, ...])
    except (WorkerCrashedError, OSError):
        return (NO_FORMS,) * len(sources)


def _execute(order: Order) -> bytes:
    """Return the answer to an order, repeated once if the process was killed from outside."""
    try:
        with _idle.acquire() as process:
            return process.execute(order).content
    except WorkerCrashedError as error:
        if not error.was_killed:
            raise
    with _idle.acquire() as process:
        return process.execute(order).content


def _start_problem(error: OSError) -> str:
    return f"no process can be started to parse in ({error.strerror or error})"


class Parsed(NamedTuple):
    """The tables of parsed files, and the problems that concern no single file."""

    parts: list[Tables]
    """Together all files, in path order."""
    problems: list[str]


def parse_files(
    tree: MaskedReader,
    paths: Sequence[str],
    sizes: Sequence[int],
    *,
    workers: int | None,
    on_parsed: OnParsed,
) -> Parsed:
    """Parse files, given in path order, in at most ``workers`` processes.

    The default is one per processor, up to 8, and one for a small tree.

    A file that crashes its process costs its own symbols and is reported. Once ``limits.hard_files`` files
    crashed or exceeded their time, or ``limits.hard_seconds`` were spent on them, the rest is not parsed.
    """
    if workers is None:
        workers = _default_workers() if sum(sizes) > _PARALLEL_FROM_BYTES else 1
    chunks = _chunks(paths, sizes, tree.limits.file_bytes, workers)
    return _ParseRun(tree, chunks).run(min(workers, len(chunks)), on_parsed)


def _default_workers() -> int:
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, _MAX_WORKERS)


class _Chunk(NamedTuple):
    first: int
    """Position of its first file among all."""
    paths: tuple[str, ...]
    sizes: tuple[int, ...]
    unparsed_because: str = ""
    """Why its files are read without their grammars; ``""`` if they are parsed."""
    was_killed: bool = False
    """True if a process that read its only file was killed."""

    def part(self, start: int, end: int) -> _Chunk:
        return _Chunk(self.first + start, self.paths[start:end], self.sizes[start:end], self.unparsed_because)


def _chunks(paths: Sequence[str], sizes: Sequence[int], limit: int, workers: int) -> list[_Chunk]:
    """Split files into chunks that get smaller towards the end, so that all processes end together."""
    costs = [min(size, limit) + _BYTES_PER_FILE for size in sizes]
    left = sum(costs)
    chunks: list[_Chunk] = []
    first, cost = 0, 0
    for position, path_cost in enumerate(costs):
        share = (left + cost) // (2 * workers)
        if position > first and cost > min(max(share, _MIN_CHUNK_BYTES), _MAX_CHUNK_BYTES):
            chunks.append(_Chunk(first, tuple(paths[first:position]), tuple(sizes[first:position])))
            first, cost = position, 0
        cost += path_cost
        left -= path_cost
    if first < len(paths):
        chunks.append(_Chunk(first, tuple(paths[first:]), tuple(sizes[first:])))
    return chunks


class _ParseRun:
    """One tree being parsed: threads pass chunks to processes, the caller's thread does everything else."""

    def __init__(self, tree: MaskedReader, chunks: list[_Chunk]) -> None:
        self._tree = tree
        self._todo = chunks
        heapify(self._todo)
        self._tables: list[tuple[int, Tables]] = []
        size = sum(sum(chunk.sizes) for chunk in chunks)
        self._files_left = tree.limits.hard_files
        self._seconds_left = tree.limits.hard_seconds + _PATHOLOGICAL_S_PER_BYTE * size
        self._start_problem = ""
        self._chunks: SimpleQueue[tuple[_Chunk, Limits] | None] = SimpleQueue()
        self._results: SimpleQueue[tuple[_Chunk, Answer | Exception]] = SimpleQueue()
        self._busy: set[WorkerProcess] = set()
        self._is_cancelled = False

    def run(self, workers: int, on_parsed: OnParsed) -> Parsed:
        """Parse all chunks and return their tables."""
        threads = [Thread(target=self._pass_chunks, daemon=True) for _ in range(workers)]
        done = running = 0
        try:
            for thread in threads:
                thread.start()
            while running or (self._todo and not self._start_problem):
                while self._todo and running < workers and not self._start_problem:
                    self._chunks.put(self._next_chunk())
                    running += 1
                with suppress(Empty):
                    chunk, result = self._results.get(timeout=_PROGRESS_INTERVAL_S)
                    running -= 1
                    done += self._take(chunk, result)
                on_parsed(done)
        except BaseException:
            self._is_cancelled = True
            for process in tuple(self._busy):
                process.kill()
            raise
        finally:
            for _ in threads:
                self._chunks.put(None)
            for thread in threads:
                if thread.ident is not None:
                    thread.join(_EXIT_TIMEOUT_S)
        unread = sum(len(chunk.paths) for chunk in self._todo)
        for chunk in self._todo:
            reason = chunk.unparsed_because or f"{self._start_problem}; no symbols were read"
            self._tables.append((chunk.first, self._read_here(map(self._tree.read, chunk.paths), reason)))
        on_parsed(done + unread)
        self._tables.sort(key=lambda part: part[0])
        return Parsed([tables for _, tables in self._tables], self._problems(unread))

    def _pass_chunks(self) -> None:
        """Have a process of this thread read chunks until there are no more."""
        item = self._chunks.get()
        while item is not None:
            try:
                with _idle.acquire() as process:
                    self._busy.add(process)
                    try:
                        while item is not None and not self._is_cancelled:
                            self._results.put((item[0], process.execute(self._order(*item))))
                            item = self._chunks.get()
                    finally:
                        self._busy.discard(process)
            except Exception as error:
                if item is not None:
                    self._results.put((item[0], error))
                item = self._chunks.get()
            if self._is_cancelled:
                return

    def _order(self, chunk: _Chunk, limits: Limits) -> Extract:
        tree = self._tree
        root = tree.reader.root
        # A process can't read from git: the files of a commit are sent to it.
        contents = tuple(map(tree.fetch, chunk.paths)) if root is None else ()
        return Extract(str(root or ""), chunk.paths, tree.unmasked, limits, chunk.unparsed_because, contents)

    def _next_chunk(self) -> tuple[_Chunk, Limits]:
        chunk = heappop(self._todo)
        if self._files_left <= 0 or self._seconds_left <= 0:
            chunk = chunk._replace(unparsed_because=chunk.unparsed_because or SKIPPED)
        return chunk, self._tree.limits._replace(hard_files=self._files_left, hard_seconds=self._seconds_left)

    def _take(self, chunk: _Chunk, result: Answer | Exception) -> int:
        """Store what became of a chunk, and return how many files are done."""
        if isinstance(result, Answer):
            self._tables.append((chunk.first, decode_snapshot(result.content)))
            for seconds in result.pathological_s:
                self._count_pathological(seconds)
            return len(chunk.paths)
        if isinstance(result, OSError):
            self._start_problem = _start_problem(result)
            heappush(self._todo, chunk)
            return 0
        if isinstance(result, WorkerCrashedError):
            return self._requeue_after_crash(chunk, result)
        raise result

    def _requeue_after_crash(self, chunk: _Chunk, crash: WorkerCrashedError) -> int:
        """Put back the files of a chunk; the one that crashed its process is read alone, then unparsed."""
        at = min(crash.position, len(chunk.paths) - 1)
        path, culprit = chunk.paths[at], chunk.part(at, at + 1)
        reason = crash.message(path)
        for part in (chunk.part(0, at), chunk.part(at + 1, len(chunk.paths))):
            if part.paths:
                heappush(self._todo, part)
        if crash.was_killed and not (chunk.was_killed and len(chunk.paths) == 1):
            heappush(self._todo, culprit._replace(was_killed=True))
            return 0
        self._count_pathological(grammar_deadline(culprit.sizes[0], self._tree.limits) + _START_CPU_S)
        if not culprit.unparsed_because:
            heappush(self._todo, culprit._replace(unparsed_because=reason))
            return 0
        # With its digest, so that the same bytes are not tried again.
        unread = ReadFile(path, 0, None, f"{reason}; listed by path only", digest=self._tree.digest(path))
        self._tables.append((culprit.first, self._read_here([unread], reason)))
        return 1

    def _count_pathological(self, seconds: float) -> None:
        self._files_left -= 1
        self._seconds_left -= seconds

    def _read_here(self, files: Iterator[ReadFile] | list[ReadFile], reason: str) -> Tables:
        """Read files in this process, without their grammars."""
        from repo_map.index.extraction import extract  # noqa: PLC0415 - processes do this, with few exceptions

        return extract(
            files, self._tree.limits, lambda source, path, limits: without_symbols(source, path, reason)
        )

    def _problems(self, unread: int) -> list[str]:
        problems = []
        if skipped := sum(_skipped_files(tables) for _, tables in self._tables):
            problems.append(
                f"{plural_verb(skipped, 'file', 'was', 'were')} not parsed: too many others crash their "
                "grammars or take them too long"
            )
        if unread:
            problems.append(
                f"{self._start_problem}; {plural_verb(unread, 'file', 'was', 'were')} read "
                "without their symbols"
            )
        return problems


def _skipped_files(tables: Tables) -> int:
    message = tables.messages.get(SKIPPED)
    return 0 if message is None else int((tables.notes.message == message).sum())
