"""One worker process: how it is started, asked, waited for and ended."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import TIMEOUT_MAX, Event, Thread
from time import monotonic

import msgspec

from repo_map.index import self_limits
from repo_map.index.extractor_version import extractor_version
from repo_map.index.worker_orders import GO_ON, HARD, OVER_PARSING_S, STOP, Order, receive, send
from repo_map.languages.registry import language_of
from repo_map.limits import ONE_THREAD, Limits
from repo_map.working_folder import absolute_entries

_WAIT_S = 5
_SIGKILL = 9
_START_WITHIN_S = 60.0
"""On a busy machine; alone it takes a third of a second."""

OnHard = Callable[[int, str], bool]
"""Called with the position of a file that its grammar did not finish in time, and with what is said of it if
nothing of it was read; tells whether the files behind it are parsed."""


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

    def cost_of(self, path: str) -> str:
        """Say why the file that it died of has no symbols."""
        if self.silent_s:
            return f"{self._silence}; no symbols were read"
        if self.was_slow:
            return "reading it takes far longer than its size explains; no symbols were read"
        grammar = f"the {language} grammar" if (language := language_of(path)) else "its grammar"
        return f"{grammar} crashed on it; no symbols were read"

    def cost_of_query(self, limits: Limits) -> str:
        """Say why the query that it died of can't be run."""
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
        return f"the process that read it was stopped, or said nothing for {self.silent_s:g} s"


def without_worker(error: OSError) -> str:
    """Say that no worker process can be had, and why."""
    return f"no process can be had to parse in ({error.strerror or error})"


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
    """An interpreter that runs ``repo_map.index.worker``; raises ``OSError`` where none can be had."""

    def __init__(self) -> None:
        parent_of_package = Path(__file__).parent.parent.parent
        # `-P` keeps the current folder, which may be the repository, from shadowing modules.
        path = os.pathsep.join((str(parent_of_package), *absolute_entries(os.environ.get("PYTHONPATH", ""))))
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
