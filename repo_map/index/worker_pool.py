"""Parser processes, and trees parsed by several of them.

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
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any, NamedTuple

import msgspec

from repo_map.index.schema import Tables
from repo_map.index.snapshot import decode_snapshot, extractor_version
from repo_map.index.worker_protocol import (
    CLOCK_PER_CPU,
    OVERHEAD_S,
    SKIPPED,
    Captured,
    Extracted,
    Order,
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

_CHUNK_BYTES = 1_000_000
"""Small chunks are sorted and merged too often; large ones leave processes idle at the end."""
_BYTES_PER_FILE = 2_000
"""What opening a file costs, in bytes of source."""
_PARALLEL_FROM_BYTES = 1_500_000
_MAX_WORKERS = 8
_MAX_IDLE = 2
_MAX_FILES_PER_WORKER = 1_000
"""A process that has read more is not kept: it never gives back some of its memory."""
_HARD_S_PER_BYTE = 1e-6
"""CPU time for files that are hard to parse by the size of their tree: about what parsing all of it takes."""
_START_CPU_S = 0.5
_START_TIMEOUT_S = 60.0
"""On a busy machine; on an idle one a process starts in a third of a second."""
_EXIT_TIMEOUT_S = 5.0
_PROGRESS_INTERVAL_S = 0.2
_SIGKILL = 9


class WorkerCrashedError(Exception):
    """A parser process ended, or was ended, while it executed an order."""

    def __init__(self, position: int, returncode: int, silent_s: float) -> None:
        super().__init__(position)
        self.position = position
        """Of the file that it was reading."""
        self.silent_s = silent_s
        """Seconds without a sign of life after which it was ended; 0 if it ended by itself."""
        self.was_slow = not silent_s and exceeded_deadline(returncode)
        self.was_killed = bool(silent_s) or returncode == -_SIGKILL
        """True if the cause may have been outside: the system was short of memory, or it was stopped."""
        self.silence = f"the process that read it was stopped, or did not respond for {silent_s:g} s"

    def reason(self, path: str) -> str:
        """Return why the file it was reading has no symbols."""
        if self.silent_s:
            why = self.silence
        elif self.was_slow:
            why = "reading it takes far longer than its size explains"
        else:
            why = f"{f'the {name}' if (name := language_of(path)) else 'its'} grammar crashed on it"
        return f"{why}; no symbols were read"


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

    def execute(self, task: str, limits: Limits, **arguments: Any) -> bytes:
        """Return the encoded answer of a function of ``worker.TASKS``.

        Raises:
            WorkerCrashedError: The process ended meanwhile.
            OSError: The process could not be started, or is of another version of this program.
        """
        if not self._is_ready:
            self._await_start()
        position = 0
        timeout = CLOCK_PER_CPU * (max(limits.parse_seconds, limits.query_seconds) + OVERHEAD_S)
        with self._killed_if_silent(timeout):
            try:
                send(self._orders, msgspec.msgpack.encode(Order(task, limits, arguments)))
                while isinstance(message := receive(self._answers), int):
                    self._heard, position = monotonic(), message
                    self.files_read += 1
            except (EOFError, OSError) as error:
                raise WorkerCrashedError(position, self._wait(), timeout * self._was_silent) from error
        return message

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


_idle: list[WorkerProcess] = []
"""Started processes without an order, so that a single file does not wait for an interpreter."""
if hasattr(os, "register_at_fork"):
    # The processes belong to the parent.
    os.register_at_fork(after_in_child=_idle.clear)


def warm_up(number: int = 1) -> None:
    """Start processes without waiting for them; errors are reported when a process is needed."""
    with suppress(OSError):
        while len(_idle) < min(number, _MAX_IDLE):
            _idle.append(WorkerProcess())


@contextmanager
def _acquire() -> Iterator[WorkerProcess]:
    """Yield a process for exclusive use; it waits for the next order unless an exception is raised."""
    process = None
    while process is None or not process.is_alive:
        try:
            process = _idle.pop()
        except IndexError:
            process = WorkerProcess()
            break
    try:
        yield process
    except BaseException:
        process.kill()
        process.close()
        raise
    _idle.append(process)


def _trim(number: int = _MAX_IDLE) -> None:
    """End all idle processes but so many, and those that have read much."""
    kept = [each for each in _idle if each.files_read < _MAX_FILES_PER_WORKER][:number]
    for process in [each for each in _idle if each not in kept]:
        with suppress(ValueError):  # Another thread has acquired it.
            _idle.remove(process)
            process.kill()
            process.close()


@atexit.register
def close_idle() -> None:
    """End the idle processes."""
    _trim(0)


def capture(
    query: str, languages: Sequence[str], sources: Sequence[tuple[str, bytes]], limits: Limits
) -> Captured:
    """Return the captures of a custom query in sources, each given with its language, or a problem."""
    try:
        answer = _execute("capture", limits, query=query, languages=languages, sources=sources)
        return msgspec.msgpack.decode(answer, type=Captured)
    except WorkerCrashedError as error:
        if error.silent_s:
            return Captured(problem=f"{error.silence}; try again")
        slow = f"it did not finish within {limits.query_seconds:g} s of CPU time"
        why = slow if error.was_slow else "it crashed its grammar or took too much memory"
        return Captured(problem=f"{why}; make its pattern simpler, or name fewer files")
    except OSError as error:
        return Captured(problem=_start_problem(error))


def read_source(source: bytes, path: str, limits: Limits) -> FileSymbols:
    """Return the symbols of a source; failures are among its problems and never raised."""
    try:
        return msgspec.msgpack.decode(_execute("read", limits, source=source, path=path), type=FileSymbols)
    except WorkerCrashedError as error:
        return without_symbols(source, path, error.reason(path))
    except OSError as error:
        return without_symbols(source, path, f"{_start_problem(error)}; no symbols were read")


def read_forms(sources: Sequence[tuple[str, bytes]], limits: Limits) -> tuple[Forms, ...]:
    """Return the signatures and calls in sources, each given with its path; none if that fails."""
    try:
        return msgspec.msgpack.decode(_execute("forms", limits, sources=sources), type=tuple[Forms, ...])
    except (WorkerCrashedError, OSError):
        return (NO_FORMS,) * len(sources)


def _execute(task: str, limits: Limits, **arguments: Any) -> bytes:
    """Return the answer to an order, repeated once if the process was killed from outside."""
    try:
        with _acquire() as process:
            return process.execute(task, limits, **arguments)
    except WorkerCrashedError as error:
        if not error.was_killed:
            raise
        with _acquire() as process:
            return process.execute(task, limits, **arguments)
    finally:
        _trim()


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
    on_parsed: Callable[[int], None],
) -> Parsed:
    """Parse files, given in path order, in at most ``workers`` processes.

    The default is one per processor, up to 8, and one for a small tree. A file that crashes its process costs
    its own symbols and is reported. Once ``limits.hard_seconds`` were spent on files that crash or take too
    long, the rest is not parsed.

    ``on_parsed`` is called by this thread with the number of files parsed so far, at least five times a
    second; an exception ends the work and its processes.
    """
    if workers is None:
        workers = _default_workers() if sum(sizes) > _PARALLEL_FROM_BYTES else 1
    run = _ParseRun(tree, sum(sizes))
    chunks = _chunks(paths, sizes, tree.limits.file_bytes)
    with ThreadPoolExecutor(workers) as threads:
        futures = [threads.submit(run.parse, chunk) for chunk in chunks]
        try:
            while wait(futures, _PROGRESS_INTERVAL_S).not_done:
                on_parsed(run.done)
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            run.cancel()
            raise
    _trim()
    parts = [tables for future in futures for tables in future.result()]
    on_parsed(run.done)
    return Parsed(parts, run.problems(parts))


def _default_workers() -> int:
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):  # Not in a container, or without a limit.
        quota, period = map(int, Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split())
        available = min(available, max(1, quota // period))
    return min(available, _MAX_WORKERS)


class _Chunk(NamedTuple):
    paths: tuple[str, ...]
    sizes: tuple[int, ...]
    reason: str = ""
    """Why the process that read its only file crashed."""
    mode: int = 0
    """Of its next reading, one of those that follow; each crash leads to a later one."""

    def part(self, start: int, end: int) -> _Chunk:
        return self._replace(paths=self.paths[start:end], sizes=self.sizes[start:end])


_REPEATED, _UNPARSED, _UNREAD = 1, 2, 3
"""As before, since the process was killed from outside; without a grammar; not at all."""


def _chunks(paths: Sequence[str], sizes: Sequence[int], limit: int) -> Iterator[_Chunk]:
    first, cost = 0, 0
    for position, size in enumerate(sizes):
        if cost > _CHUNK_BYTES:
            yield _Chunk(tuple(paths[first:position]), tuple(sizes[first:position]))
            first, cost = position, 0
        cost += min(size, limit) + _BYTES_PER_FILE
    yield _Chunk(tuple(paths[first:]), tuple(sizes[first:]))


class _ParseRun:
    """One tree that is parsed by several threads, each with one process at a time."""

    def __init__(self, tree: MaskedReader, size: int) -> None:
        self.done = 0
        self._tree = tree
        self._seconds_left = tree.limits.hard_seconds + _HARD_S_PER_BYTE * size
        self._start_problem = ""
        self._without_process = 0
        self._lock = Lock()
        self._busy: set[WorkerProcess] = set()
        self._is_cancelled = False

    def cancel(self) -> None:
        """End the processes; threads that wait for them raise."""
        self._is_cancelled = True
        for process in tuple(self._busy):
            process.kill()

    def parse(self, chunk: _Chunk) -> list[Tables]:
        """Return the tables of a chunk, in path order."""
        parts, pending = [], [chunk]
        while pending:
            chunk = pending.pop()
            try:
                parts.append(self._extract(chunk))
            except WorkerCrashedError as crash:
                pending += reversed(self._split(chunk, crash))
                continue
            except OSError as error:
                self._start_problem = _start_problem(error)
                parts.append(self._read_here(chunk))
            with self._lock:
                self.done += len(chunk.paths)
        return parts

    def _extract(self, chunk: _Chunk) -> Tables:
        if self._start_problem or chunk.mode == _UNREAD:
            return self._read_here(chunk)
        root, limits = self._tree.reader.root, self._tree.limits
        # A process can't read from git: the files of a commit are sent to it.
        contents = tuple(map(self._tree.fetch, chunk.paths)) if root is None else ()
        reason = chunk.reason if chunk.mode == _UNPARSED else SKIPPED if self._seconds_left <= 0 else ""
        limits = limits._replace(hard_seconds=self._seconds_left)
        with _acquire() as process:
            self._busy.add(process)
            try:
                if self._is_cancelled:
                    raise CancelledError
                encoded = process.execute(
                    "extract",
                    limits,
                    root=str(root or ""),
                    paths=chunk.paths,
                    unmasked=self._tree.unmasked,
                    unparsed_because=reason,
                    contents=contents,
                )
            finally:
                self._busy.discard(process)
        answer = msgspec.msgpack.decode(encoded, type=Extracted)
        self._spend(answer.hard_seconds)
        return decode_snapshot(answer.tables)

    def _split(self, chunk: _Chunk, crash: WorkerCrashedError) -> list[_Chunk]:
        """Return the parts to read after a crash, in path order; the file that caused it alone."""
        if self._is_cancelled:
            raise CancelledError
        at = min(crash.position, len(chunk.paths) - 1)
        mode = _REPEATED if crash.was_killed and not chunk.mode else max(chunk.mode + 1, _UNPARSED)
        culprit = chunk.part(at, at + 1)._replace(reason=crash.reason(chunk.paths[at]), mode=mode)
        if mode != _REPEATED:
            self._spend(grammar_deadline(culprit.sizes[0], self._tree.limits) + _START_CPU_S)
        parts = (chunk.part(0, at), culprit, chunk.part(at + 1, len(chunk.paths)))
        return [part for part in parts if part.paths]

    def _spend(self, seconds: float) -> None:
        with self._lock:
            self._seconds_left -= seconds

    def _read_here(self, chunk: _Chunk) -> Tables:
        """Read files in this process, without their grammars; one that crashed even so is not read."""
        from repo_map.index.extraction import extract  # noqa: PLC0415 - processes do this, with few exceptions

        reason = chunk.reason or f"{self._start_problem}; no symbols were read"
        if chunk.mode == _UNREAD:
            # With its digest, so that the same bytes are not tried again.
            path, problem = chunk.paths[0], f"{reason}; listed by path only"
            files = [ReadFile(path, 0, None, problem, digest=self._tree.digest(path))]
        else:
            self._without_process += len(chunk.paths)
            files = [self._tree.read(path) for path in chunk.paths]
        return extract(
            files, self._tree.limits, lambda source, path, limits: without_symbols(source, path, reason)
        )

    def problems(self, parts: Sequence[Tables]) -> list[str]:
        """Return the problems that concern no single file."""
        problems = []
        if skipped := sum(_skipped_files(tables) for tables in parts):
            problems.append(
                f"{plural_verb(skipped, 'file', 'was', 'were')} not parsed: too many others crash their "
                "grammars or take them too long"
            )
        if self._without_process:
            problems.append(
                f"{self._start_problem}; {plural_verb(self._without_process, 'file', 'was', 'were')} read "
                "without their symbols"
            )
        return problems


def _skipped_files(tables: Tables) -> int:
    message = tables.messages.get(SKIPPED)
    return 0 if message is None else int((tables.notes.message == message).sum())
