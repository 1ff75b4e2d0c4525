"""The pool that survives a crashing grammar and names the file."""

from __future__ import annotations

import atexit
import mmap
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from heapq import heapify, heappop, heappush
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import TIMEOUT_MAX, Condition, Event, Lock, Thread, get_ident
from time import monotonic
from typing import NamedTuple

import msgspec

from repo_map.indexing import self_limits
from repo_map.indexing.extractor_version import extractor_version
from repo_map.indexing.schema import Tables, to_arrays
from repo_map.indexing.snapshot import decode_snapshot, encode_snapshot
from repo_map.indexing.worker_orders import (
    GO_ON,
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
from repo_map.languages.registry import language_of
from repo_map.limits import ONE_THREAD, Limits
from repo_map.messages import agreed
from repo_map.parsing.forms import NO_FORMS, Forms
from repo_map.parsing.values import FileSymbols, without_symbols
from repo_map.working_folder import absolute_entries
from repo_map.worktree.files import ReadFile
from repo_map.worktree.tree import TreeFiles

_WAIT_S = 5
_SIGKILL = 9
_START_WITHIN_S = 60.0
"""On a busy machine; alone it takes a third of a second."""


def longest_silence(limits: Limits) -> float:
    """Return the seconds by the clock after which a worker that says nothing is taken for stopped."""
    return self_limits.CLOCK_PER_CPU * (max(limits.parse_seconds, limits.query_seconds) + OVER_PARSING_S)


class DiedError(EOFError):
    """A worker ended while it had an order."""

    def __init__(self, position: int, returncode: int, silent_s: float = 0.0) -> None:
        super().__init__(position)
        self.position = position
        """Of the file that it had begun."""
        self.was_slow = not silent_s and self_limits.was_ended(returncode)
        """Whether it was ended for the time that it took."""
        self.was_killed = bool(silent_s) or returncode == -_SIGKILL
        """Whether somebody else ended or stopped it, as a system without memory does."""
        self.silent_s = silent_s
        """Seconds for which it was waited for in vain; 0 where it ended by itself."""


class _Patience:
    """Kills a process that says nothing for too long: whoever reads from it then meets its end.

    A process that is stopped, or that waits for what never comes, uses no CPU time that could be limited.
    """

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self._process = process
        self.seconds = seconds
        self.was_lost = False
        """Whether it killed the process."""
        self._is_over = Event()
        self._ends = 0.0

    def renew(self) -> None:
        """Wait anew from now: the process has said something."""
        self._ends = monotonic() + self.seconds

    def pause(self) -> None:
        """Wait without end until it is renewed: the process waits for us."""
        self._ends = monotonic() + TIMEOUT_MAX / 2

    def __enter__(self) -> _Patience:
        self.renew()
        Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_over.set()

    def _watch(self) -> None:
        while not self._is_over.wait(max(0.0, self._ends - monotonic())):
            if monotonic() >= self._ends:
                self.was_lost = True
                self._process.kill()
                return


class WorkerProcess:
    """An interpreter that runs ``repo_map.indexing.worker``; raises ``OSError`` where none can be had."""

    def __init__(self) -> None:
        parent_of_package = Path(__file__).parent.parent.parent
        # `-P` keeps the current folder, which may be the repository, from shadowing modules.
        path = os.pathsep.join((str(parent_of_package), *absolute_entries(os.environ.get("PYTHONPATH", ""))))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "repo_map.indexing.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path} | ONE_THREAD,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._orders, self._answers = self._process.stdin, self._process.stdout
        self._is_ready = False
        self.read = 0
        """Files that it has read so far."""

    def is_alive(self) -> bool:
        """Say whether it has not ended yet."""
        return self._process.poll() is None

    def await_ready(self) -> None:
        """Wait until it takes orders; raises ``OSError`` where it ends before, or is of another version."""
        if self._is_ready:
            return
        with _Patience(self._process, _START_WITHIN_S) as patience:
            try:
                version = receive(self._answers)
            except EOFError as error:
                late = f" within {patience.seconds:g} s" if patience.was_lost else ""
                raise OSError(0, f"a worker process did not start{late}") from error
        if version != extractor_version().encode():
            raise OSError(0, "the program was changed while it ran; start it again")
        self._is_ready = True

    def answer(self, order: Order, on_hard: OnHard) -> bytes:
        """Have an order answered; raises ``DiedError`` where it dies of it."""
        begun = 0
        with _Patience(self._process, longest_silence(order.limits)) as patience:
            try:
                send(self._orders, msgspec.msgpack.encode(order))
                while message := receive(self._answers):
                    patience.renew()
                    if message.startswith(HARD):
                        patience.pause()
                        goes_on = on_hard(begun, message.removeprefix(HARD).decode())
                        send(self._orders, GO_ON if goes_on else STOP)
                        patience.renew()
                    else:
                        begun = int(message)
                        self.read += 1
                return receive(self._answers)
            except (EOFError, OSError) as error:
                silent_s = patience.seconds if patience.was_lost else 0.0
                raise DiedError(begun, self._ended(), silent_s) from error

    def _ended(self) -> int:
        """See that it has ended, and return how."""
        for _ in range(2):
            with suppress(subprocess.TimeoutExpired):
                return self._process.wait(timeout=_WAIT_S)
            self.kill()
        # The system has not let go of it yet: it waits for a disk that does not answer.
        return -_SIGKILL

    def leave(self) -> None:
        """Let go of it in a process that was forked: it serves the other one."""
        for stream in (self._orders, self._answers):
            with suppress(OSError):
                stream.close()
        self._process.returncode = 0

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def end(self) -> None:
        """Let it end once it is done, and wait for that."""
        for stream in (self._orders, self._answers):
            with suppress(OSError):
                stream.close()
        self._ended()


_ALIGNMENT = 64


class Spool:
    """Pieces of bytes that any thread puts, to be got back once all are there; in memory if no disk is."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pieces: list[bytes | slice] = []
        self._end = 0
        self._file = None
        with suppress(OSError):
            # Without a buffer: what a full disk refused would be written, and refused, again at the end.
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - it lives as long as the spool

    def put(self, piece: bytes) -> int:
        """Keep ``piece`` and return its number."""
        with self._lock:
            self._pieces.append(self._write(piece))
            return len(self._pieces) - 1

    def take_all(self) -> list[bytes | memoryview]:
        """Return the pieces by number, each at an address where any array may start, and close the spool."""
        mapped = memoryview(b"")
        if self._file is not None:
            with self._file as file:
                if self._end:
                    mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return [piece if isinstance(piece, bytes) else mapped[piece] for piece in self._pieces]

    def close(self) -> None:
        """Give up what was put."""
        if self._file is not None:
            self._file.close()

    def _write(self, piece: bytes) -> bytes | slice:
        if self._file is None or not piece:
            return piece
        try:
            self._file.seek(self._end)
            aligned = piece + bytes(-len(piece) % _ALIGNMENT)
            if self._file.write(aligned) != len(aligned):
                return piece
        except (OSError, ValueError):  # The disk is full, or the spool was closed meanwhile.
            return piece
        start = self._end
        self._end += len(piece) + -len(piece) % _ALIGNMENT
        return slice(start, start + len(piece))


_LEAST_CHUNK_BYTES, _MOST_CHUNK_BYTES = 400_000, 2_000_000
"""Of a chunk: what its files share is split, sorted and merged once, but the last should end together."""
_BYTES_OF_FILE = 2_000
"""What a file costs beside its bytes, in bytes: it is opened, and told of."""
_WORTH_WORKERS_BYTES = 1_500_000
_WORKERS_AT_MOST = 8
_IDLE_AT_MOST = 2
_RETIRED_AFTER = 1_000
"""Files that a worker reads before it ends: what it took of memory it may never give back."""
_HARD_S_PER_BYTE = 1e-6
"""CPU time for hard files that a tree is given for its size: about what parsing all of it takes."""
_START_S = 0.5
"""CPU time that another worker takes to start, where one died."""
_AHEAD = 0.25
"""The share of the time for hard files that workers may spend on them in no order."""
_TELL_EVERY_S = 0.2
_END_WITHIN_S = 5.0

OnHard = Callable[[int, str], bool]
"""Called with the position of a file that its grammar did not finish in time, and with what is said of it if
nothing of it was read; tells whether the files behind it are parsed."""
OnParsed = Callable[[int], None]
"""Called, always by the caller's own thread, with the number of files parsed so far, also while none is done;
what it raises ends the work and the worker processes."""


class Parsed(NamedTuple):
    """What parsing gave, and what went wrong beside the files themselves."""

    parts: list[tuple[Tables, int]]
    """Tables, and how many of their first rows together hold the files in order."""
    problems: list[str]


class _Workers:
    """Workers that wait for an order, so that a file is read without waiting for an interpreter to start."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: list[WorkerProcess] = []

    def prepare(self, number: int) -> None:
        """See that workers wait or are about to; one that can't be started is told when it is needed."""
        with self._lock, suppress(OSError):
            while len(self._waiting) < min(number, _IDLE_AT_MOST):
                self._waiting.append(WorkerProcess())

    @contextmanager
    def borrow(self) -> Iterator[WorkerProcess]:
        """Lend a worker that is nobody else's, and keep it for the next order where that went well.

        Raises ``OSError`` where none can be had, and what is raised while it is lent, which ends it.
        """
        with self._lock:
            process = self._waiting.pop() if self._waiting else None
        if process is not None and not process.is_alive():
            process.end()
            process = None
        process = process or WorkerProcess()
        try:
            process.await_ready()
            yield process
        except BaseException:
            process.kill()
            process.end()
            raise
        with self._lock:
            if len(self._waiting) < _IDLE_AT_MOST and process.read < _RETIRED_AFTER:
                self._waiting.append(process)
                return
        process.end()

    def end_all(self) -> None:
        """End those that wait."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for process in waiting:
            process.kill()
            process.end()

    def forget(self) -> None:
        """Leave all workers to the process that this one was forked from."""
        self._lock = Lock()
        for process in self._waiting:
            process.leave()
        self._waiting = []


_workers = _Workers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.forget)


def end_idle() -> None:
    """End the worker processes that wait for an order."""
    _workers.end_all()


atexit.register(end_idle)


def prepare(number: int = 1) -> None:
    """Have worker processes start, without waiting for them."""
    _workers.prepare(number)


def capture(
    query: str, languages: Sequence[str], sources: Sequence[tuple[str, bytes]], limits: Limits
) -> Captured:
    """Return what a custom query captures in sources, each with its language; or why it can't be run."""
    order = Capture(query, tuple(languages), tuple(sources), limits)
    try:
        return msgspec.msgpack.decode(_answer(order), type=Captured)
    except DiedError as error:
        return Captured(problem=_fatal(error, limits), is_passing=bool(error.silent_s))
    except OSError as error:
        return Captured(problem=_no_worker(error), is_passing=True)


def read_source(source: bytes, path: str, limits: Limits) -> FileSymbols:
    """Return the symbols of a source; a problem is told and never raised."""
    try:
        return msgspec.msgpack.decode(_answer(Read(source, path, limits)), type=FileSymbols)
    except DiedError as error:
        return without_symbols(source, path, _deadly(path, error))
    except OSError as error:
        return without_symbols(source, path, f"{_no_worker(error)}; no symbols were read")


def read_forms(sources: Sequence[tuple[str, bytes]], limits: Limits) -> tuple[Forms, ...]:
    """Return the functions and calls of sources, each with its path; what can't be read has none."""
    try:
        return msgspec.msgpack.decode(_answer(ReadForms(tuple(sources), limits)), type=tuple[Forms, ...])
    except (DiedError, OSError):
        return (NO_FORMS,) * len(sources)


def _answer(order: Order) -> bytes:
    """Have an order answered; raises ``DiedError``, and ``OSError`` where no worker can be had."""
    try:
        with _workers.borrow() as process:
            return process.answer(order, _ignore)
    except DiedError as error:
        if not error.was_killed:
            raise
    # What ended it may have had nothing to do with the order.
    with _workers.borrow() as process:
        return process.answer(order, _ignore)


def _ignore(_position: int, _message: str) -> bool:
    """Hear nothing, and let it go on."""
    return True


def _deadly(path: str, error: DiedError) -> str:
    """Say why a file that a worker died of has no symbols."""
    if error.silent_s:
        return f"{_silent(error)}; no symbols were read"
    if error.was_slow:
        return "reading it takes far longer than its size explains; no symbols were read"
    grammar = f"the {language} grammar" if (language := language_of(path)) else "its grammar"
    return f"{grammar} crashed on it; no symbols were read"


def _fatal(error: DiedError, limits: Limits) -> str:
    """Say why a query that a worker died of can't be run."""
    if error.silent_s:
        return f"{_silent(error)}; try again"
    if error.was_slow:
        return (
            f"it did not finish within {limits.query_seconds:g} s of CPU time; make its pattern simpler, "
            "or name fewer files"
        )
    return "it crashed its grammar or took too much memory; make its pattern simpler"


def _silent(error: DiedError) -> str:
    return f"the process that read it was stopped, or said nothing for {error.silent_s:g} s"


def _no_worker(error: OSError) -> str:
    return f"no process can be had to parse in ({error.strerror or error})"


def parse_files(
    tree: TreeFiles, paths: Sequence[str], sizes: Sequence[int], *, workers: int | None, on_parsed: OnParsed
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

    def __init__(self, tree: TreeFiles, chunks: list[_Chunk]) -> None:
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
            self._missing = _no_worker(error)
        finally:
            self._leave()
            self._events.put(None)

    def _work_until_death(self) -> None:
        chunk = None
        try:
            with _workers.borrow() as process:
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
        root = tree.files.root
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
        message = _deadly(path, error)
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
        from repo_map.indexing.extraction import extract  # noqa: PLC0415 - done in workers, but for what they can't

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
        from repo_map.indexing.extraction import extract  # noqa: PLC0415 - done in workers, but for what they can't

        why = chunk.unread or f"{self._missing}; no symbols were read"
        read = partial(_leave_unread, why)
        return extract(map(self._tree.read, chunk.paths), self._tree.limits, read)

    def _problems(self) -> list[str]:
        problems = []
        late = sum(len(chunk.paths) for chunk, _ in self._done.values() if chunk.unread == LATE)
        if late:
            hard = sum(at <= self._last() for at in self._hard)
            problems.append(
                f"{agreed(late, 'file', 'was', 'were')} not parsed: {hard:,} before them, by path, crash "
                "their grammars or take them too long"
            )
        if self._todo:
            left = sum(len(chunk.paths) for chunk in self._todo)
            problems.append(
                f"{self._missing}; {agreed(left, 'file', 'was', 'were')} read without their symbols"
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
