"""One live index per repository, with its history and the scores of the goals that are being worked on."""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from functools import cached_property, partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from navigator.candidates import candidates
from navigator.first_reading import FirstReading
from navigator.turns import View
from repo_map.errors import RepositoryNotFoundError

if TYPE_CHECKING:
    from navigator.first_reading import OnWords
    from navigator.settings import NavigatorSettings
    from repo_map.drawing import RepoMap
    from repo_map.flight_plan import FlightPlan
    from repo_map.history import History
    from repo_map.index import RepoIndex
    from repo_map.indexing.store import Store
    from repo_map.relevance.scoring import Relevance
    from repo_map.relevance.sufficiency import Sufficiency

MAX_GOALS = 16
LARGE_BYTES = 4_000_000
"""Of source: an index of so much or more counts as one live index, a smaller one as its share."""
SMALL_PER_INDEX = 16
"""Indexes that count as one, however small they are."""
NAMED_PROBLEMS = 2
"""Files that a note names when they could not be read whole; the rest are counted."""


class Workspace:
    """A repository as navigations see it at one moment: index, history, and the relevance of goals."""

    def __init__(self, index: RepoIndex, history: History | None) -> None:
        self.index = index
        self.history = history
        self._relevance: OrderedDict[str, Relevance] = OrderedDict()

    def relevance(self, goal: str) -> Relevance:
        """Return the scores of ``goal``, computed once while it is among the latest goals."""
        from repo_map.relevance.scoring import score_goal  # noqa: PLC0415

        if goal not in self._relevance:
            self._relevance[goal] = score_goal(self.index, goal, self.history)
        self._relevance.move_to_end(goal)
        while len(self._relevance) > MAX_GOALS:
            self._relevance.popitem(last=False)
        return self._relevance[goal]

    def draw(self, plan: FlightPlan, wishes: FlightPlan | None = None) -> RepoMap:
        """Return the map of ``plan``, of which somebody wrote ``wishes``, by default all of it."""
        from repo_map.drawing import draw_map  # noqa: PLC0415

        return draw_map(self.index, plan, wishes=wishes)

    def view(self, goal: str, plan: FlightPlan, wishes: FlightPlan | None = None) -> View:
        """Return the map of ``plan`` with what it means for ``goal``."""
        from repo_map.replay import stamp  # noqa: PLC0415

        relevance, drawn = self.relevance(goal), self.draw(plan, wishes)
        return View(
            map=drawn,
            plan=stamp(self.index, plan, drawn),
            reasons={file.path: tuple(file.reasons) for file in relevance.files},
            candidates=candidates(self.index, relevance, drawn),
            sufficiency=_words(relevance.sufficiency),
            notes=self.notes,
        )

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What of the repository could not be read, one sentence each."""
        problems = self.index.problems
        whole = [problem.what for problem in problems if not problem.path]
        files = [problem for problem in problems if problem.path]
        if files:
            named = "; ".join(f"`{problem.path}` ({problem.what})" for problem in files[:NAMED_PROBLEMS])
            more = f"; and {len(files) - NAMED_PROBLEMS} more" if len(files) > NAMED_PROBLEMS else ""
            whole.append(f"Not read whole: {named}{more}.")
        if self.history is not None and not self.history.complete:
            whole.append("Git was slow, so part of the history was left out; the next navigation reads on.")
        return tuple(whole)


class Workspaces:
    """The live workspaces, least recently used dropped first."""

    def __init__(self, settings: NavigatorSettings) -> None:
        self._settings = settings
        self._live: OrderedDict[Path, Workspace] = OrderedDict()
        self._locks: dict[Path, asyncio.Lock] = {}
        self._readings: dict[Path, FirstReading] = {}

    async def open(
        self, path: str | Path, *, refresh: bool = True, on_words: OnWords | None = None
    ) -> tuple[Workspace, float]:
        """Return the workspace of the repository at ``path``, and the seconds that it took.

        Where it is read for the first time ``on_words`` is told how far that is. To cancel the call does not
        stop the reading: hosts give up waiting and ask again, and the next call finds it further on or done.

        Raises:
            RepositoryNotFoundError: ``path`` is no readable folder.
        """
        started = perf_counter()
        root = _root(path)
        lock = self._locks.setdefault(root, asyncio.Lock())
        async with lock:
            live = self._live.get(root)
            if live is None:
                live = await self._first(root, on_words)
            elif refresh:
                live = await self._refresh(live)
            self._live[root] = live
            self._live.move_to_end(root)
            self._drop_idle()
        return live, perf_counter() - started

    def _drop_idle(self) -> None:
        """Let go of the indexes used least lately while there are too many, or too large ones together."""
        limits = self._settings.limits
        while len(self._live) > 1 and (
            sum(_share(each.index) for each in self._live.values()) > limits.indexes
            or sum(each.index.memory_mb for each in self._live.values()) > limits.memory_mb
        ):
            self._live.popitem(last=False)

    async def _first(self, root: Path, on_words: OnWords | None) -> Workspace:
        reading = self._readings.get(root)
        is_joined = reading is not None
        if reading is None:
            forget = partial(self._readings.pop, root, None)
            reading = self._readings[root] = FirstReading(root, self._store(), self._settings, forget)
        live = Workspace(*await reading.outcome(on_words))
        # What an earlier call had begun to read may have changed since.
        return await self._refresh(live) if is_joined else live

    async def _refresh(self, live: Workspace) -> Workspace:
        from repo_map.history import read_history  # noqa: PLC0415

        index = await asyncio.to_thread(live.index.refresh)
        if index.fingerprint == live.index.fingerprint:
            return live
        past = await asyncio.to_thread(read_history, index.root, store=self._store())
        return Workspace(index, past)

    def _store(self) -> Store:
        from repo_map.indexing.store import Store, user_store  # noqa: PLC0415

        settings = self._settings
        if not settings.use_cache:
            return Store(None)
        if settings.cache_dir:
            return Store(settings.cache_dir, settings.limits)
        return user_store(settings.limits)

    async def halt(self) -> None:
        """Stop what is being read for the first time, and end its worker processes."""
        await asyncio.gather(*(reading.halt() for reading in tuple(self._readings.values())))

    def close(self) -> None:
        """Let go of every index."""
        self._live.clear()


def _share(index: RepoIndex) -> float:
    """Return how much of one live index an index counts as."""
    return min(1.0, max(1 / SMALL_PER_INDEX, index.source_bytes / LARGE_BYTES))


def _words(sufficiency: Sufficiency) -> str:
    return " ".join((f"Evidence: {sufficiency.surety}.", *sufficiency.notes))


def _root(path: str | Path) -> Path:
    root = Path(os.path.expanduser(path))  # noqa: PTH111 - pathlib raises for an unknown user
    if not root.is_dir():
        what = "is no folder" if root.exists() else "does not exist"
        raise RepositoryNotFoundError(f"`{path}` {what}; give the path of a repository's work tree.")
    return root.resolve()
