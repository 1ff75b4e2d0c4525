"""What is known of projects at git hosts; kept in memory where no other server asks."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, Protocol


class HostProject(NamedTuple):
    """A project; times are by the clock of the store, in seconds."""

    readers: frozenset[str] = frozenset()
    told_at: float = 0.0
    """When its host said who reads it; 0 for never."""
    pushed_at: float = 0.0
    """When a push to it was told of; 0 for never."""


class HostProjects(NamedTuple):
    """What is known at one moment."""

    now: float
    projects: Mapping[str, HostProject]


class HostProjectStore(Protocol):
    """Keeps it, for one server or for several; any method may raise ``StorageError``."""

    async def claim(self, projects: Sequence[str], every_s: float) -> list[str]:
        """Return those that nobody has asked a host about for so long; from now on this server has."""

    async def tell(self, project: str, readers: Collection[str]) -> None:
        """Keep who reads a project by what its host says now."""

    async def note_push(self, projects: Sequence[str]) -> None:
        """Keep that somebody has pushed to projects."""

    async def since(self, then: float) -> HostProjects:
        """Return what was told or pushed later than ``then``."""

    async def close(self) -> None:
        """Close what is open."""


class OwnHostProjects:
    """What one server knows by itself."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._asked_at: dict[str, float] = {}
        self._projects: dict[str, HostProject] = {}

    async def claim(self, projects: Sequence[str], every_s: float) -> list[str]:
        """Return those that were not asked about for so long."""
        now = self._now()
        due = [each for each in projects if self._asked_at.get(each, -every_s) <= now - every_s]
        self._asked_at |= dict.fromkeys(due, now)
        return due

    async def tell(self, project: str, readers: Collection[str]) -> None:
        """Keep who reads a project."""
        known = self._projects.get(project, HostProject())
        self._projects[project] = known._replace(readers=frozenset(readers), told_at=self._now())

    async def note_push(self, projects: Sequence[str]) -> None:
        """Keep that somebody has pushed to projects."""
        for each in projects:
            known = self._projects.get(each, HostProject())
            self._projects[each] = known._replace(pushed_at=self._now())

    async def since(self, then: float) -> HostProjects:
        """Return all; there is no other server to hear of."""
        return HostProjects(self._now(), dict(self._projects))

    async def close(self) -> None:
        """Do nothing."""
