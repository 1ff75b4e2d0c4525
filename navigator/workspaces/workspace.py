"""An index and what is drawn from it, shared by navigations."""

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
from typing import TYPE_CHECKING, Any, NoReturn
from weakref import WeakValueDictionary

from navigator.workspaces.address import place_of
from repo_map.cache import LRUCache
from repo_map.check.impact import find_impact
from repo_map.check.model import NO_CHANGES, Changes
from repo_map.check.ranking import boost_changed, goal_with_changes
from repo_map.history.reader import latest_history, source_history
from repo_map.index.progress import RemainingTime
from repo_map.index.repo_index import build_index
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
    from repo_map.history.history import History
    from repo_map.index.repo_index import RepoIndex
    from repo_map.index.store import Store
    from repo_map.outline.draw import RepoMap
    from repo_map.plan.model import FlightPlan
    from repo_map.ranking.model import Weights
    from repo_map.ranking.score import Relevance
    from repo_map.sources.source import FileSource


TELL_EVERY_S = 1.0
"""Seconds between two signs of life; what takes less says nothing."""

OnWords = Callable[[str], Awaitable[None]]
"""Told what is being done, in words."""


class IndexingHalted(Exception):  # noqa: N818 - nothing went wrong
    """Nobody wants the index any more."""


class InitialIndexing:
    """The index and the history of a repository, read in threads that outlive the calls waiting for them."""

    def __init__(
        self,
        place: FileSource,
        store: Store,
        settings: NavigatorSettings,
        on_end: Callable[[], object],
        look: RepoIndex | None = None,
    ) -> None:
        """Begin to read, in the running event loop; ``on_end`` is called once it has ended, well or not.

        What a first ``look`` has read is not read again.
        """
        self._place = place
        self._look = look
        self._store = store
        self._settings = settings
        self._halted = Event()
        self._is_awaited = asyncio.Event()
        self._words = "Listing the files"
        self._remaining = RemainingTime()
        self._task = asyncio.create_task(self._read())
        self._on_end = on_end
        self._task.add_done_callback(self._ended)

    async def outcome(self, on_words: OnWords | None) -> tuple[RepoIndex, History | None]:
        """Wait for it, telling now and then how far it is; to cancel the wait does not stop it."""
        self._is_awaited.set()
        while not (await asyncio.wait({self._task}, timeout=TELL_EVERY_S))[0]:
            if on_words is not None:
                await on_words(self._words)
        return self._task.result()

    @property
    def result(self) -> tuple[RepoIndex, History | None] | None:
        """What was read, None before it has ended and where it ended without."""
        is_read = self._task.done() and not self._task.cancelled() and self._task.exception() is None
        return self._task.result() if is_read else None

    async def halt(self) -> None:
        """Stop it, and wait until its worker processes have ended."""
        self._halted.set()
        self._is_awaited.set()
        await asyncio.wait({self._task})

    def _ended(self, task: asyncio.Task[Any]) -> None:
        """Look at a fault that nobody may wait for any more: the next call reads again, and is told."""
        self._on_end()
        if not task.cancelled():
            task.exception()

    async def _read(self) -> tuple[RepoIndex, History | None]:

        if self._look is not None:
            # The answer that the first look was taken for comes first.
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_awaited.wait(), FIRST_ANSWER_S)
            if self._halted.is_set():
                raise_cancelled()
        # git works on the history while this process and its workers read the tree.
        history = asyncio.create_task(
            asyncio.to_thread(source_history, self._place, store=self._store, is_wanted=self._is_wanted)
        )
        try:
            look, self._look = self._look, None
            index = await asyncio.to_thread(
                partial(
                    build_index,
                    self._place,
                    store=self._store,
                    workers=self._settings.workers,
                    unmasked=self._settings.unmasked,
                    limits=self._settings.limits,
                )
                if look is None
                else look.refresh,
                on_progress=self._note,
            )
            self._words = "Reading git's history"
        except IndexingHalted:
            raise_cancelled()
        except BaseException:
            self._halted.set()
            raise
        finally:
            past = await history
        if self._halted.is_set():
            raise_cancelled()
        return index, past

    def _is_wanted(self) -> bool:
        return not self._halted.is_set()

    def _note(self, phase: str, done: int, total: int) -> None:
        """Hear, in the thread that builds the index, how far it is."""
        if self._halted.is_set():
            raise IndexingHalted
        if phase == "parsing":
            left = self._remaining.words(done, total)
            self._words = f"Reading the repository: {done:,} of {plural(total, 'file')}{left}"
        elif phase == "fetching":
            self._words = "Fetching what other servers have parsed"
        elif phase == "saving":
            self._words = "Saving the index"


def raise_cancelled() -> NoReturn:
    """Say to who waits for a reading that it was stopped; raises ``CancelledError``."""
    raise asyncio.CancelledError("the reading was stopped")


MAX_GOALS = 64
"""Whose scores are kept: as many as navigations stand ready."""
LARGE_BYTES = 4_000_000
"""Of source: an index of so much or more counts as one live index, a smaller one as its share."""
SMALL_PER_INDEX = 16
"""Indexes that count as one, however small they are."""
LARGE_FOLDER = 500
"""Files of a folder without git of which a note says what it is: perhaps a repository in it was meant."""
PLAIN_FOLDER = (
    "The folder is not a git repository, so every file in it is read and there is no history; if you "
    "meant a repository, name its folder."
)
FIRST_LOOK_COMMITS = 300
"""Of history, the latest: those of a large repository take seconds."""
FIRST_LOOK_HISTORY_S = 1.0
FIRST_ANSWER_S = 1.5
"""For drawing what a first look was taken for, before the rest is read."""
MAX_FIRST_LOOKS = 4
"""That are kept at once, each with its goal."""
LEFT_OPEN = "Some uses of names are too complex to resolve; callers and uses are listed without them."
NAMED_PROBLEMS = 2
"""Files that a note names when they could not be read whole; the rest are counted."""


class Workspace:
    """A repository as navigations see it at one moment: index, history, and the relevance of goals."""

    def __init__(self, index: RepoIndex, history: History | None, weights: Weights | None = None) -> None:
        """Keep what is known of a repository; ``weights`` are others than those shipped."""
        self.index = index
        self._weights = weights
        self.history = history
        self.looked_at = 0
        """Number of the latest look at the tree that found it as it is here."""
        self._relevance: LRUCache[tuple[str, Changes, tuple[str, ...]], Relevance] = LRUCache(
            MAX_GOALS, lambda _relevance: 1
        )
        self._impact: LRUCache[Changes, Impact] = LRUCache(MAX_GOALS, lambda _impact: 1)

    def relevance(self, goal: str, changes: Changes = NO_CHANGES, names: tuple[str, ...] = ()) -> Relevance:
        """Return the scores of a goal, guessed names and changes; those asked for last are cached."""
        relevance = self._relevance.get((goal, changes, names))
        if relevance is None:
            relevance = score_goal(
                self.index,
                goal_with_changes(goal, changes),
                self.history,
                names=names,
                weights=self._weights,
            )
            if changes:
                relevance = boost_changed(self.index, relevance, self.impact(changes), changes)
            self._relevance.put((goal, changes, names), relevance)
        return relevance

    def impact(self, changes: Changes) -> Impact:
        """Return what relies on what was changed."""
        impact = self._impact.get(changes)
        if impact is None:
            impact = find_impact(self.index, changes)
            self._impact.put(changes, impact)
        return impact

    def draw(self, plan: FlightPlan, wishes: FlightPlan | None = None) -> RepoMap:
        """Return the map of ``plan``, of which somebody wrote ``wishes``, by default all of it."""
        return draw_map(self.index, plan, wishes=wishes)

    def release(self) -> None:
        """Let go of what was computed, so that the index is freed as soon as no step uses it any more."""
        self.index.release()

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the repository could not be read, or followed so far, one sentence each."""
        if self.index.read_first:
            return (self._first_look, *self._unread)
        return (*self._unread, LEFT_OPEN) if relations_of(self.index).left_open else self._unread

    @property
    def _first_look(self) -> str:
        read, total = self.index.read_first, len(self.index)
        return (
            f"This is a first look: {read:,} of {plural(total, 'file')} were read, those that "
            "contain words of the goal; callers in the others are not known yet. The full index is "
            "being built for the next step or question."
        )

    @cached_property
    def _unread(self) -> tuple[str, ...]:
        problems = self.index.problems
        whole = [problem.what for problem in problems if not problem.path]
        files = [problem for problem in problems if problem.path]
        if files:
            named = "; ".join(f"`{problem.path}` ({problem.what})" for problem in files[:NAMED_PROBLEMS])
            more = f"; and {len(files) - NAMED_PROBLEMS} more" if len(files) > NAMED_PROBLEMS else ""
            whole.append(f"Not read in full: {named}{more}.")
        if self.history is not None and not self.history.complete:
            whole.append("Git was slow, so part of the history was left out; the next navigation reads on.")
        parts = self.index.place.parts
        if len(self.index.paths) > LARGE_FOLDER and len(parts) == 1 and top_folder(parts[0].root) is None:
            whole.append(PLAIN_FOLDER)
        return tuple(whole)


class Workspaces:
    """The live workspaces, least recently used dropped first."""

    def __init__(self, settings: NavigatorSettings) -> None:
        self._settings = settings
        self._live: OrderedDict[bytes, Workspace] = OrderedDict()
        """By the name of the place."""
        self._locks: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()
        self._initial_indexings: dict[bytes, InitialIndexing] = {}
        self._first_looks: OrderedDict[tuple[bytes, str], Workspace] = OrderedDict()
        """By the name of the place, and the goal."""
        self._looked_at: dict[bytes, str] = {}
        """Address of each place that is being read behind a first look, by its name."""
        self._halted = Event()
        self._looks = count(1)

    async def open(
        self,
        path: str | Path,
        *,
        refresh: bool = True,
        on_words: OnWords | None = None,
        first_goal: str = "",
    ) -> tuple[Workspace, float]:
        """Return the workspace of the repository, or repositories, at ``path``, and the seconds that it took.

        Where it is read for the first time ``on_words`` is told how far that is. To cancel the call does not
        stop the reading: hosts give up waiting and ask again, and the next call finds it further on or done.

        Args:
            path: a folder, or an address of ``repository_address``.
            refresh: whether it is to be as it is now, rather than as it was last looked at.
            on_words: told how far its first reading is.
            first_goal: of whose first look the workspace may be, until the whole is read.

        Raises:
            RepositoryNotFoundError: it is no readable folder, or names no commit or repository.
        """
        started = perf_counter()
        place, asked_at = place_of(str(path)), next(self._looks)
        key = place.name
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            before = live = self._live.get(key)
            if not refresh and (known := self._first_looks.get((key, first_goal))) is not None:
                return known, perf_counter() - started
            if live is None and first_goal and (look := await self._look_first(place, first_goal)):
                self._looked_at[key] = str(path)
                return look, perf_counter() - started
            if live is None or (refresh and live.looked_at < asked_at):
                # Of many who wait, the first looks at the tree for all: it begins after they asked.
                looked_at = next(self._looks)
                live = await (self._first(place, on_words) if live is None else self._refresh(live))
                live.looked_at = looked_at
            self._live[key] = live
            for taken in [taken for taken in self._first_looks if taken[0] == key]:
                del self._first_looks[taken]
            if before is not None and before is not live:
                before.release()
            self._live.move_to_end(key)
            if before is not live:
                self._drop_idle()
        return live, perf_counter() - started

    async def _look_first(self, place: FileSource, goal: str) -> Workspace | None:
        """Return what a first look at a place shows for a goal; None where none is taken.

        The whole begins to be read once the first one has been taken.
        """
        key, reading = (place.name, goal), self._initial_indexings.get(place.name)
        if (known := self._first_looks.get(key)) is not None:
            return known
        settings, store = self._settings, self._store()
        # git works on the history beside the look, and not where there is none to take.
        if not await asyncio.to_thread(is_unindexed, place, store, settings.unmasked, settings.limits):
            return None
        past = asyncio.create_task(
            asyncio.to_thread(latest_history, place, FIRST_LOOK_COMMITS, FIRST_LOOK_HISTORY_S)
        )
        try:
            index = await asyncio.to_thread(
                first_look,
                place,
                goal,
                store=store,
                workers=settings.workers,
                on_progress=self._note,
                unmasked=settings.unmasked,
                limits=settings.limits,
            )
        except IndexingHalted:
            raise_cancelled()
        finally:
            history = await past
        if index is None:
            return None
        if reading is None:
            forget = partial(self._forget_reading, place.name)
            self._initial_indexings[place.name] = InitialIndexing(place, store, settings, forget, index)
        look = self._first_looks[key] = Workspace(index, history)
        while len(self._first_looks) > MAX_FIRST_LOOKS:
            self._first_looks.popitem(last=False)
        return look

    def background_indexing(self) -> tuple[str, ...]:
        """Return the addresses of the places that are being read behind a first look."""
        return tuple(sorted(self._looked_at.values()))

    def _forget_reading(self, name: bytes) -> None:
        """Keep what a reading that has ended came to."""
        reading = self._initial_indexings.pop(name)
        self._looked_at.pop(name, None)
        if reading.result is not None and name not in self._live:
            self._live[name] = Workspace(*reading.result)
            self._drop_idle()

    def _drop_idle(self) -> None:
        """Let go of the indexes used least lately while there are too many, or too large ones together."""
        limits = self._settings.limits
        while len(self._live) > 1 and (
            sum(_share(each.index) for each in self._live.values()) > limits.indexes
            or sum(each.index.memory_mb for each in self._live.values()) > limits.memory_mb
        ):
            self._live.popitem(last=False)[1].release()

    async def _first(self, place: FileSource, on_words: OnWords | None) -> Workspace:
        root = place.name
        reading = self._initial_indexings.get(root)
        is_joined = reading is not None
        if reading is None:
            forget = partial(self._forget_reading, root)
            reading = self._initial_indexings[root] = InitialIndexing(
                place, self._store(), self._settings, forget
            )
        live = Workspace(*await reading.outcome(on_words))
        # What an earlier call had begun to read may have changed since.
        return await self._refresh(live) if is_joined else live

    async def _refresh(self, live: Workspace) -> Workspace:

        try:
            index = await asyncio.to_thread(live.index.refresh, self._note)
        except IndexingHalted:
            raise_cancelled()
        if index.fingerprint == live.index.fingerprint:
            return live
        past = await asyncio.to_thread(
            source_history, index.place, store=self._store(), is_wanted=lambda: not self._halted.is_set()
        )
        return Workspace(index, past)

    def _note(self, *_: object) -> None:
        """Hear, in the thread that refreshes an index, that it goes on."""
        if self._halted.is_set():
            raise IndexingHalted

    def _store(self) -> Store:

        settings = self._settings
        if not settings.use_cache:
            return Store(None, settings.limits)
        if settings.cache_dir:
            return Store(settings.cache_dir, settings.limits)
        return user_store(settings.limits)

    async def halt(self) -> None:
        """Stop what is being read, and end the processes that read it."""
        self._halted.set()
        await asyncio.gather(*(reading.halt() for reading in tuple(self._initial_indexings.values())))

    def close(self) -> None:
        """Let go of every index."""
        self._first_looks.clear()
        while self._live:
            self._live.popitem()[1].release()


def _share(index: RepoIndex) -> float:
    """Return how much of one live index an index counts as."""
    return min(1.0, max(1 / SMALL_PER_INDEX, index.source_bytes / LARGE_BYTES))
