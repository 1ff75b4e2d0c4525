"""The bytes of blobs, by their ids: one git that answers as long as it is asked."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Condition, Lock, Thread
from time import monotonic
from typing import NamedTuple

from repo_map.sources.git import LONGEST_S, GitConversation

_IDLE_S = 5.0
"""After which git is ended: who draws a map asks for many files at a time, and then for none."""


class Blob(NamedTuple):
    """A blob, or how it begins."""

    size: int
    start: bytes
    """All of it, or the bytes that were asked for of a larger one."""


class BlobReader:
    """Reads the blobs of one repository; any number of threads may ask."""

    def __init__(self, converse: Callable[[], GitConversation]) -> None:
        """``converse`` starts a ``cat-file --batch``, and may raise ``OSError``."""
        self._converse = converse
        self._git: GitConversation | None = None
        self._turn = Lock()
        self._state = Condition()
        self._ends = 0.0
        """When git is ended, unless it is asked something, or answers, before."""

    def read(self, identity: str, most: int, first: int) -> Blob | None:
        """Return a blob, or the ``first`` bytes of one of more than ``most``; None for one that is not there.

        Raises:
            OSError: git can't be run, does not answer, or ends before it has.
        """
        with self._turn:
            git = self._begin()
            is_done = False
            try:
                found = _read(git, identity, most, first)
                # The rest of a large one is not waited for.
                is_done = found is None or len(found.start) == found.size
                return found
            finally:
                self._pause(git, is_done=is_done)

    def _begin(self) -> GitConversation:
        with self._state:
            self._ends = monotonic() + LONGEST_S
            if self._git is None:
                self._git = self._converse()
                Thread(target=self._watch, args=(self._git,), daemon=True).start()
            return self._git

    def _pause(self, git: GitConversation, *, is_done: bool) -> None:
        with self._state:
            self._ends = monotonic() + _IDLE_S
            if not is_done:
                self._git = None
                self._state.notify_all()
        if not is_done:
            git.end()

    def _watch(self, git: GitConversation) -> None:
        """End git once nobody has asked for a while, or it has not answered for long."""
        with self._state:
            while self._git is git and (left := self._ends - monotonic()) > 0:
                self._state.wait(min(left, _IDLE_S))
            if self._git is not git:
                return
            if self._turn.acquire(blocking=False):
                self._git = None
            else:
                # Whoever reads meets the end of git, and ends it.
                git.kill()
                return
        with suppress(OSError):
            git.end()
        self._turn.release()


def _read(git: GitConversation, identity: str, most: int, first: int) -> Blob | None:
    head = git.ask(identity).split()
    if len(head) == 2 and head[1] == b"missing":
        return None
    if len(head) != 3 or not head[2].isdigit():
        raise OSError(0, "git ended before it answered")
    size = int(head[2])
    if size > most:
        return Blob(size, git.read(min(first, size)))
    source = git.read(size)
    if len(source) < size or git.read(1) != b"\n":
        raise OSError(0, "git ended before it answered")
    return Blob(size, source)
