"""Rights that follow a git host: asked on a schedule and when a webhook says so, and shared by servers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from time import monotonic
from typing import Final

from mcp_server.tenancy.git_hosts import HostAnswerError, HostClient
from navigator.errors import StorageError
from navigator.stores.host_projects import HostProject, HostProjects, HostProjectStore
from navigator.workspaces.catalogue import HOST, Catalogue, CatalogueError, RepositoryEntry
from navigator.workspaces.git_host import Project

_TICK_S: Final = 3.0
"""Between two looks at what other servers were told."""
_AT_ONCE: Final = 8
"""Questions under way, of one server."""
_PAUSE_S: Final = 2.0
"""Between two questions about one project, however many webhooks name it."""
_OVERLAP_S: Final = 20.0
"""How much later a change may be seen than it says: a transaction tells its time before it ends."""

logger = logging.getLogger(__name__)


class HostRights:
    """Who may read the repositories whose readers are their host's.

    A right holds for ``hold_s`` after the host has told it, and hosts are asked again after a third of that.
    What is not told again in time, by an outage of the host, of the database or of this task, is denied.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        client: HostClient,
        store: HostProjectStore,
        *,
        hold_s: float,
        now: Callable[[], float] = monotonic,
    ) -> None:
        self._catalogue = catalogue
        self._client = client
        self._store = store
        self._hold_s = hold_s
        self._now = now
        self._known: dict[str, HostProject] = {}
        self._clock = (0.0, 0.0)
        """The store's time at the last look, and ours then."""
        self._urged: set[str] = set()
        self._due = asyncio.Event()
        self._failing: dict[str, str] = {}

    def admits(self, entry: RepositoryEntry, login: str) -> bool:
        """Tell whether the host lets a login read a repository, as far as it said so lately."""
        project = entry.project
        known = None if project is None else self._known.get(str(project))
        if known is None or not login or HOST not in entry.readers:
            return False
        at_store, at_ours = self._clock
        age = at_store + (self._now() - at_ours) - known.told_at
        return age <= self._hold_s and login.casefold() in known.readers

    def urge(self, projects: Iterable[str]) -> None:
        """Have hosts asked about projects at once."""
        self._urged.update(projects)
        self._due.set()

    async def note_push(self, projects: list[str]) -> None:
        """Tell all servers of a push; raises ``StorageError``."""
        await self._store.note_push(projects)
        self._due.set()

    def projects(self) -> dict[str, tuple[Project, list[str]]]:
        """Return the projects at hosts that the catalogue describes, each with its repositories' names."""
        found: dict[str, tuple[Project, list[str]]] = {}
        with suppress(CatalogueError):
            current = self._catalogue.current()
            for name, entry in current.entries.items():
                if entry.project is not None and entry.project.host in current.hosts:
                    found.setdefault(str(entry.project), (entry.project, []))[1].append(name)
        return found

    async def follow(self) -> None:
        """Ask hosts and hear of other servers, until cancelled: neither waits for the other."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._keep(self.hear, asyncio.Event()))
                tasks.create_task(self._keep(self.look, self._due))
        finally:
            await self._client.aclose()
            await self._store.close()

    async def _keep(self, doing: Callable[[], Awaitable[None]], sooner: asyncio.Event) -> None:
        while True:
            try:
                await doing()
            except (StorageError, CatalogueError) as error:
                logger.warning("Rights of git hosts can't be told, and lapse: %s", error)
            sooner.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(sooner.wait(), _TICK_S)

    async def hear(self) -> None:
        """Take in what this server or another one was told; raises ``StorageError``."""
        projects = await asyncio.to_thread(self.projects)
        at, ours = self._clock
        told = await self._store.since(at - _OVERLAP_S if ours else 0.0)
        self._take(told, projects)

    async def look(self) -> None:
        """Ask what is due, and take in what is new, once; raises ``StorageError``."""
        projects = await asyncio.to_thread(self.projects)
        entries = self._catalogue.current().entries
        asked = [
            key
            for key, (_, names) in projects.items()
            if any(HOST in entries[name].readers for name in names)
        ]
        urged, self._urged = self._urged & set(asked), set()
        due = {
            *await self._store.claim(sorted(urged), _PAUSE_S),
            *await self._store.claim(asked, self._hold_s / 3),
        }
        # One that was asked about a moment ago is asked once more after it: it may have changed since.
        self._urged |= urged - due
        turn = asyncio.Semaphore(_AT_ONCE)

        async def ask(key: str) -> None:
            async with turn:
                await self._ask(key, projects[key][0])

        await asyncio.gather(*(ask(key) for key in sorted(due)))
        await self.hear()

    async def _ask(self, key: str, project: Project) -> None:
        host = self._catalogue.current().hosts[project.host]
        try:
            readers, why, is_told = await self._client.readers(host, project), "", True
        except HostAnswerError as error:
            readers, why, is_told = frozenset[str](), str(error), not error.may_pass
        if why != self._failing.get(key, ""):
            self._failing[key] = why
            said = f"does not answer: {why}" if why else "answers again"
            logger.warning("Readers of %s: the git host %s", key, said)
        if is_told:
            await self._store.tell(key, readers)

    def _take(self, told: HostProjects, projects: dict[str, tuple[Project, list[str]]]) -> None:
        if told.now < self._clock[0]:
            return  # What was read later is known already.
        is_first = not self._clock[1]
        for key, project in told.projects.items():
            pushed = project.pushed_at > self._known.get(key, HostProject()).pushed_at
            if pushed and not is_first and key in projects:
                for name in projects[key][1]:
                    self._catalogue.want(name)
            self._known[key] = project
        self._clock = told.now, self._now()


Urge = Callable[[Iterable[str]], None]
