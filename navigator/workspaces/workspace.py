"""The indexes of repositories, shared by navigations: what is built, refreshed, cached and dropped."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from navigator.supervision import supervise
from navigator.workspaces.address import file_source_of
from repo_map.cache import LRUCache
from repo_map.check.impact import boost_changed, find_impact, goal_with_changes
from repo_map.check.model import NO_CHANGES, Changes
from repo_map.index.build import build_index, refresh_index
from repo_map.index.progress import RemainingTime
from repo_map.index.store import Store, user_store
from repo_map.messages import plural
from repo_map.outline.draw import draw_map
from repo_map.ranking.first_look import first_look, is_unindexed
from repo_map.ranking.score import score_goal
from repo_map.relations.resolve import relations_of
from repo_map.sources.repository import top_folder

if TYPE_CHECKING:
    from navigator.settings import NavigatorSettings
    from repo_map.check.impact import Impact
    from repo_map.index.index import Index
    from repo_map.outline.draw import RepoMap
    from repo_map.plan.model import FlightPlan
    from repo_map.ranking.score import Relevance, WeightTable
    from repo_map.sources.source import FileSource


PROGRESS_S: Final = 1.0
"""Seconds between two progress messages; what takes less has none."""
MAX_GOALS: Final = 64
"""Whose scores are cached: as many as navigations whose steps are."""
_LARGE_FOLDER: Final = 500
"""Files of a folder without git of which a note says what it is: perhaps a repository in it was meant."""
_PLAIN_FOLDER: Final = (
    "The folder is not a git repository, so every file in it is read; if you "
    "meant a repository, name its folder."
)
_FIRST_ANSWER_S: Final = 1.5
"""For answering from a first look, before the rest is read."""
_MAX_FIRST_LOOKS: Final = 4
LEFT_OPEN: Final = "Some uses of names are too complex to resolve; callers and uses are listed without them."
_MAX_PROBLEMS: Final = 2
"""Files that a note names when they could not be read in full; the rest are counted."""

OnWords = Callable[[str], Awaitable[None]]


class IndexingStopped(Exception):  # noqa: N818 - nothing went wrong
    """The index is not needed any more."""


_CANCELLED: Final = "the indexing was stopped"


class IndexingTask:
    """The index of a repository, read in threads that outlive the calls waiting for it."""

    def __init__(
        self,
        source: FileSource,
        store: Store,
        settings: NavigatorSettings,
        on_end: Callable[[], object],
        look: Index | None = None,
    ) -> None:
        """Begin in the running event loop; what a first ``look`` has read is not read again."""
        self._source = source
        self._look = look
        self._store = store
        self._settings = settings
        self._stopped = Event()
        self._is_awaited = asyncio.Event()
        self._words = "Listing the files"
        self._remaining = RemainingTime()
        self._task = supervise(self._run(), "indexing a repository", on_end)

    async def wait(self, on_words: OnWords | None) -> Index:
        """Wait for the result, reporting progress; cancelling the wait does not stop the work."""
        self._is_awaited.set()
        while not (await asyncio.wait({self._task}, timeout=PROGRESS_S))[0]:
            if on_words is not None:
                await on_words(self._words)
        return self._task.result()

    @property
    def result(self) -> Index | None:
        """What was read, None before it has ended and if it failed."""
        is_read = self._task.done() and not self._task.cancelled() and self._task.exception() is None
        return self._task.result() if is_read else None

    async def stop(self) -> None:
        """Stop it, and wait until its worker processes have ended."""
        self._stopped.set()
        self._is_awaited.set()
        await asyncio.wait({self._task})

    async def _run(self) -> Index:
        if self._look is not None:
            # The answer that the first look was taken for comes first.
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_awaited.wait(), _FIRST_ANSWER_S)
            if self._stopped.is_set():
                raise asyncio.CancelledError(_CANCELLED)
        settings = self._settings
        build = partial(
            build_index,
            self._source,
            store=self._store,
            workers=settings.workers,
            unmasked=settings.unmasked,
            limits=settings.limits,
        )
        try:
            look, self._look = self._look, None
            index = await asyncio.to_thread(
                build if look is None else partial(refresh_index, look), on_progress=self._on_progress
            )
        except IndexingStopped:
            raise asyncio.CancelledError(_CANCELLED) from None
        except BaseException:
            self._stopped.set()
            raise
        if self._stopped.is_set():
            raise asyncio.CancelledError(_CANCELLED)
        return index

    def _on_progress(self, phase: str, done: int, total: int) -> None:
        if self._stopped.is_set():
            raise IndexingStopped
        if phase == "parsing":
            left = self._remaining.words(done, total)
            self._words = f"Reading the repository: {done:,} of {plural(total, 'file')}{left}"
        elif phase == "saving":
            self._words = "Saving the index"


class Workspace:
    """A repository as navigations see it at one moment: its index, and the relevance of goals."""

    def __init__(self, index: Index, weights: WeightTable | None = None) -> None:
        self.index = index
        self._weights = weights
        self.checked_at = 0
        """Number of the latest check that found the tree as it is here."""
        self._relevance: LRUCache[tuple[str, Changes, tuple[str, ...]], Relevance] = LRUCache(
            MAX_GOALS, lambda _relevance: 1
        )
        self._impact: LRUCache[Changes, Impact] = LRUCache(MAX_GOALS, lambda _impact: 1)

    def relevance(self, goal: str, changes: Changes = NO_CHANGES, names: tuple[str, ...] = ()) -> Relevance:
        """Return the scores of a goal, guessed names and changes; those asked for last are cached."""
        relevance = self._relevance.get((goal, changes, names))
        if relevance is None:
            task = goal_with_changes(goal, changes)
            relevance = score_goal(self.index, task, names=names, weights=self._weights)
            if changes:
                relevance = boost_changed(self.index, relevance, self.impact(changes), changes)
            self._relevance.put((goal, changes, names), relevance)
        return relevance

    def impact(self, changes: Changes) -> Impact:
        impact = self._impact.get(changes)
        if impact is None:
            impact = find_impact(self.index, changes)
            self._impact.put(changes, impact)
        return impact

    def draw(self, plan: FlightPlan, literal: FlightPlan | None = None) -> RepoMap:
        return draw_map(self.index, plan, wishes=literal)

    def release(self) -> None:
        """Drop what was computed, so that the index is freed as soon as no step uses it any more."""
        self.index.release()

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the repository could not be read, or resolved so far, one sentence each."""
        read, total = self.index.build.partial_files, len(self.index)
        if read:
            partial_index = (
                f"This is a first look: {read:,} of {plural(total, 'file')} were read, those that "
                "contain words of the goal; callers in the others are not known yet. The full index is "
                "being built for the next step or question."
            )
            return (partial_index, *self._problems)
        return (*self._problems, LEFT_OPEN) if relations_of(self.index).left_open else self._problems

    @cached_property
    def _problems(self) -> tuple[str, ...]:
        problems = self.index.problems
        notes = [problem.what for problem in problems if not problem.path]
        files = [problem for problem in problems if problem.path]
        if files:
            named = "; ".join(f"`{problem.path}` ({problem.what})" for problem in files[:_MAX_PROBLEMS])
            more = f"; and {len(files) - _MAX_PROBLEMS} more" if len(files) > _MAX_PROBLEMS else ""
            notes.append(f"Not read in full: {named}{more}.")
        parts = self.index.build.source.parts
        if len(self.index.paths) > _LARGE_FOLDER and len(parts) == 1 and top_folder(parts[0].root) is None:
            notes.append(_PLAIN_FOLDER)
        return tuple(notes)


class Workspaces:
    """The live workspaces by the name of their source, least recently used dropped first."""

    def __init__(self, settings: NavigatorSettings) -> None:
        self._settings = settings
        self._live: OrderedDict[bytes, Workspace] = OrderedDict()
        self._locks: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()
        self._indexing: dict[bytes, IndexingTask] = {}
        self._first_looks: OrderedDict[tuple[bytes, str], Workspace] = OrderedDict()
        self._background: dict[bytes, str] = {}
        """Address of each source that is being indexed after a first look."""
        self._stopped = Event()
        self._clock = count(1)

    async def open(
        self,
        path: str | Path,
        *,
        refresh: bool = True,
        on_words: OnWords | None = None,
        first_goal: str = "",
    ) -> tuple[Workspace, float]:
        """Return the workspace of the repository, or repositories, at ``path``, and the seconds that it took.

        Cancelling the call does not stop the indexing: clients time out and ask again, and the next call
        finds it further on or done. Without ``refresh`` it is as it was last checked. It may be a first look
        for ``first_goal`` until the full index is built.
        """
        started = perf_counter()
        source, asked_at = file_source_of(str(path)), next(self._clock)
        key = source.name
        async with self._locks.setdefault(key, asyncio.Lock()):
            before = live = self._live.get(key)
            if not refresh and (known := self._first_looks.get((key, first_goal))) is not None:
                return known, perf_counter() - started
            if live is None and first_goal and (look := await self._look_first(source, first_goal)):
                self._background[key] = str(path)
                return look, perf_counter() - started
            if live is None or (refresh and live.checked_at < asked_at):
                # Of many who wait, the first checks the tree for all: it begins after they asked.
                checked_at = next(self._clock)
                live = await (self._index(source, on_words) if live is None else self._refresh(live))
                live.checked_at = checked_at
            self._live[key] = live
            self._live.move_to_end(key)
            for stale in [each for each in self._first_looks if each[0] == key]:
                del self._first_looks[stale]
            if before is not live:
                if before is not None:
                    before.release()
                self._drop_idle()
        return live, perf_counter() - started

    def background_indexing(self) -> tuple[str, ...]:
        return tuple(sorted(self._background.values()))

    async def _look_first(self, source: FileSource, goal: str) -> Workspace | None:
        """Return a first look at a repository for a goal, None if it is indexed or small.

        The full index begins to be built once the first look has been taken.
        """
        key, settings, store = (source.name, goal), self._settings, self._store()
        if (known := self._first_looks.get(key)) is not None:
            return known
        was_indexing = source.name in self._indexing
        if not await asyncio.to_thread(is_unindexed, source, store, settings.unmasked, settings.limits):
            return None
        look_at = partial(first_look, store=store, workers=settings.workers, on_progress=self._check_stopped)
        try:
            index = await asyncio.to_thread(
                look_at, source, goal, unmasked=settings.unmasked, limits=settings.limits
            )
        except IndexingStopped:
            raise asyncio.CancelledError(_CANCELLED) from None
        if index is None:
            return None
        if not was_indexing:
            self._begin_indexing(source, index)
        look = self._first_looks[key] = Workspace(index)
        while len(self._first_looks) > _MAX_FIRST_LOOKS:
            self._first_looks.popitem(last=False)
        return look

    def _begin_indexing(self, source: FileSource, look: Index | None = None) -> IndexingTask:
        on_end = partial(self._add_result, source.name)
        task = IndexingTask(source, self._store(), self._settings, on_end, look)
        self._indexing[source.name] = task
        return task

    def _add_result(self, name: bytes) -> None:
        task = self._indexing.pop(name)
        self._background.pop(name, None)
        if task.result is not None and name not in self._live:
            self._live[name] = Workspace(task.result)
            self._drop_idle()

    def _drop_idle(self) -> None:
        limits = self._settings.limits
        while len(self._live) > 1 and (
            len(self._live) > limits.indexes
            or sum(each.index.build.memory_mb for each in self._live.values()) > limits.memory_mb
        ):
            self._live.popitem(last=False)[1].release()

    async def _index(self, source: FileSource, on_words: OnWords | None) -> Workspace:
        joined = self._indexing.get(source.name)
        task = joined or self._begin_indexing(source)
        live = Workspace(await task.wait(on_words))
        # What an earlier call had begun to read may have changed since.
        return live if joined is None else await self._refresh(live)

    async def _refresh(self, live: Workspace) -> Workspace:
        try:
            index = await asyncio.to_thread(refresh_index, live.index, self._check_stopped)
        except IndexingStopped:
            raise asyncio.CancelledError(_CANCELLED) from None
        if index.fingerprint == live.index.fingerprint:
            return live
        return Workspace(index)

    def _check_stopped(self, *_: object) -> None:
        if self._stopped.is_set():
            raise IndexingStopped

    def _store(self) -> Store:
        settings = self._settings
        if not settings.use_cache:
            return Store(None, settings.limits)
        folder = settings.cache_dir
        return Store(folder, settings.limits) if folder else user_store(settings.limits)

    async def halt(self) -> None:
        """Stop indexing, and end the processes that do it."""
        self._stopped.set()
        await asyncio.gather(*(task.stop() for task in tuple(self._indexing.values())))

    def close(self) -> None:
        self._first_looks.clear()
        while self._live:
            self._live.popitem()[1].release()
