"""A repository's first reading: told of while it goes on, stopped where nobody wants it any more."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, NoReturn

from navigator.reports import OnProgress, Progress

if TYPE_CHECKING:
    from navigator.settings import NavigatorSettings
    from repo_map.history import History
    from repo_map.index import RepoIndex
    from repo_map.indexing.store import Store

TELL_EVERY_S = 1.0
"""Seconds between two signs of life; what takes less says nothing."""

OnWords = Callable[[str], Awaitable[None]]
"""Told what is being done, in words."""


def words_to(on_progress: OnProgress | None, max_steps: int) -> OnWords | None:
    """Return what tells ``on_progress`` of the work before the first step."""
    if on_progress is None:
        return None

    async def tell(words: str) -> None:
        await on_progress(Progress(0, max_steps, words, 0))

    return tell


class Halted(Exception):  # noqa: N818 - nothing went wrong
    """Nobody wants the index any more."""


class FirstReading:
    """The index and the history of a repository, read in threads that outlive the calls waiting for them."""

    def __init__(
        self, root: Path, store: Store, settings: NavigatorSettings, on_end: Callable[[], object]
    ) -> None:
        """Begin to read, in the running event loop; ``on_end`` is called once it has ended, well or not."""
        self._root = root
        self._store = store
        self._settings = settings
        self._halted = Event()
        self._words = "Listing the files"
        self._task = asyncio.create_task(self._read())
        self._on_end = on_end
        self._task.add_done_callback(self._ended)

    async def outcome(self, on_words: OnWords | None) -> tuple[RepoIndex, History | None]:
        """Wait for it, telling now and then how far it is; to cancel the wait does not stop it."""
        while not (await asyncio.wait({self._task}, timeout=TELL_EVERY_S))[0]:
            if on_words is not None:
                await on_words(self._words)
        return self._task.result()

    async def halt(self) -> None:
        """Stop it, and wait until its worker processes have ended."""
        self._halted.set()
        await asyncio.wait({self._task})

    def _ended(self, task: asyncio.Task[Any]) -> None:
        """Look at a fault that nobody may wait for any more: the next call reads again, and is told."""
        self._on_end()
        if not task.cancelled():
            task.exception()

    async def _read(self) -> tuple[RepoIndex, History | None]:
        from repo_map.history import read_history  # noqa: PLC0415
        from repo_map.index import build_index  # noqa: PLC0415

        # git works on the history while this process and its workers read the tree.
        history = asyncio.create_task(
            asyncio.to_thread(read_history, self._root, store=self._store, is_wanted=self._is_wanted)
        )
        try:
            index = await asyncio.to_thread(
                build_index,
                self._root,
                store=self._store,
                workers=self._settings.workers,
                on_progress=self._note,
                unmasked=self._settings.unmasked,
                limits=self._settings.limits,
            )
            self._words = "Reading git's history"
        except Halted:
            _give_up()
        except BaseException:
            self._halted.set()
            raise
        finally:
            past = await history
        if self._halted.is_set():
            _give_up()
        return index, past

    def _is_wanted(self) -> bool:
        return not self._halted.is_set()

    def _note(self, phase: str, done: int, total: int) -> None:
        """Hear, in the thread that builds the index, how far it is."""
        if self._halted.is_set():
            raise Halted
        if phase == "parsing":
            self._words = f"Reading the repository: {done:,} of {total:,} files"
        elif phase == "saving":
            self._words = "Saving the index"


def _give_up() -> NoReturn:
    raise asyncio.CancelledError("the reading was stopped")
