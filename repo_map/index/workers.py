"""Worker processes that wait for an order, and what a single order asks of one."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock

import msgspec

from repo_map.index.worker_orders import Capture, Captured, Order, Read, ReadForms
from repo_map.index.worker_process import DiedError, WorkerProcess, without_worker
from repo_map.limits import Limits
from repo_map.parsing.forms import NO_FORMS, Forms
from repo_map.parsing.values import FileSymbols, without_symbols

_IDLE_AT_MOST = 2
_RETIRED_AFTER = 1_000
"""Files that a worker reads before it ends: what it took of memory it may never give back."""


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
borrow = _workers.borrow


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
        return Captured(problem=error.cost_of_query(limits), is_passing=bool(error.silent_s))
    except OSError as error:
        return Captured(problem=without_worker(error), is_passing=True)


def read_source(source: bytes, path: str, limits: Limits) -> FileSymbols:
    """Return the symbols of a source; a problem is told and never raised."""
    try:
        return msgspec.msgpack.decode(_answer(Read(source, path, limits)), type=FileSymbols)
    except DiedError as error:
        return without_symbols(source, path, error.cost_of(path))
    except OSError as error:
        return without_symbols(source, path, f"{without_worker(error)}; no symbols were read")


def read_forms(sources: Sequence[tuple[str, bytes]], limits: Limits) -> tuple[Forms, ...]:
    """Return the functions and calls of sources, each with its path; what can't be read has none."""
    try:
        return msgspec.msgpack.decode(_answer(ReadForms(tuple(sources), limits)), type=tuple[Forms, ...])
    except (DiedError, OSError):
        return (NO_FORMS,) * len(sources)


def _answer(order: Order) -> bytes:
    """Have an order answered; raises ``DiedError``, and ``OSError`` where no worker can be had."""
    try:
        with borrow() as process:
            return process.answer(order, _ignore)
    except DiedError as error:
        if not error.was_killed:
            raise
    # What ended it may have had nothing to do with the order.
    with borrow() as process:
        return process.answer(order, _ignore)


def _ignore(_position: int, _message: str) -> bool:
    """Hear nothing, and let it go on."""
    return True
