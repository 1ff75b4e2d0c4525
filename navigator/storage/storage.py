"""Navigations stored, read, locked and deleted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from navigator.errors import StorageError, UnknownNavigationError
from navigator.state.run_state import Navigation
from navigator.storage import state
from navigator.storage.errors import StorageFaults
from navigator.storage.index import NavigationIndex
from navigator.storage.sessions import Artifacts, NavigationKey, Sessions

if TYPE_CHECKING:
    from google.adk.artifacts import BaseArtifactService
    from google.adk.sessions import BaseSessionService

    from navigator.state.client_state import StoredNavigation
    from navigator.storage.locks import NavigationLocks

MAP_NAME: Final = "map.txt"
_AT_ONCE: Final = 20
logger = logging.getLogger(__name__)


def record_name(step: int) -> str:
    return f"steps/{step:04d}.json"


class Services(NamedTuple):
    """ADK's services."""

    sessions: BaseSessionService
    artifacts: BaseArtifactService


class Storage:
    """The navigations of every user, as one app's sessions; calls raise ``StorageError`` where they fail."""

    def __init__(
        self,
        sessions: Sessions,
        artifacts: Artifacts,
        index: NavigationIndex,
        locks: NavigationLocks,
        faults: StorageFaults,
        *,
        note: str = "",
        is_lost: bool = False,
    ) -> None:
        """Keep navigations; if ``is_lost``, what was stored can't be reached, as the ``note`` says."""
        self._sessions = sessions
        self._artifacts = artifacts
        self.index = index
        self.locks = locks
        self.faults = faults
        self.note = note
        self._is_lost = is_lost

    async def services(self) -> Services:
        """Return ADK's services; the first call imports ADK, in a thread."""
        return await asyncio.to_thread(lambda: Services(self._sessions.service, self._artifacts.service))

    @asynccontextmanager
    async def hold(self, navigation_id: str) -> AsyncIterator[None]:
        """Hold a navigation from reading its state to storing an answer: no other call steps it meanwhile."""
        async with AsyncExitStack() as held:
            with self.faults.raised(navigation_id, writes=True):
                await held.enter_async_context(self.locks.hold(navigation_id))
            yield

    async def create(self, navigation: Navigation, user: str) -> None:
        """Store a new navigation, whose row is in the index already; from here on it outlives the process."""
        key = NavigationKey(user, navigation.run.navigation_id)
        services = await self.services()
        with self.faults.raised(key.navigation_id, writes=True):
            await services.sessions.create_session(**key.arguments, state=state.delta(navigation))
        await self.index.update(navigation, user)

    async def change(self, after: Navigation, user: str) -> None:
        """Store a change of a navigation that is no step; the caller holds its lock."""
        from google.adk.events import Event, EventActions  # noqa: PLC0415 - reading imports no ADK
        from google.adk.sessions.base_session_service import GetSessionConfig  # noqa: PLC0415 - as above

        key = NavigationKey(user, after.run.navigation_id)
        services, state_only = await self.services(), GetSessionConfig(num_recent_events=0)
        with self.faults.raised(key.navigation_id, writes=True):
            self.locks.require_held(key.navigation_id)
            session = await services.sessions.get_session(**key.arguments, config=state_only)
            if session is None:
                raise await self._unknown(key.navigation_id, user)
            actions = EventActions(state_delta=state.delta(after))
            await services.sessions.append_event(session, Event(author="user", actions=actions))
        await self.index.update(after, user)

    async def load(self, navigation_id: str, user: str) -> Navigation:
        """Return a navigation as it is stored; raise ``UnknownNavigationError`` if the user has none."""
        found = None
        try:
            if state.can_be_stored(navigation_id):
                with self.faults.raised(navigation_id):
                    found = await self._sessions.state(NavigationKey(user, navigation_id))
            if found is not None:
                return state.read(found)
        except ValueError as error:
            raise StorageError(
                f"What is stored of `{navigation_id}` is no navigation of this version; open a new one with "
                "the same goal."
            ) from error
        self._require_found()
        raise await self._unknown(navigation_id, user)

    async def save_artifact(self, navigation_id: str, user: str, name: str, text: str) -> int:
        """Save an artifact outside a step, and return its version."""
        from google.genai import types  # noqa: PLC0415 - reading imports no ADK

        services, key = await self.services(), NavigationKey(user, navigation_id)
        with self.faults.raised(navigation_id, writes=True):
            part = types.Part(text=text)
            return await services.artifacts.save_artifact(**key.arguments, filename=name, artifact=part)

    async def load_artifact(self, navigation_id: str, user: str, name: str, version: int) -> str:
        """Return a version of an artifact."""
        try:
            with self.faults.raised(navigation_id):
                text = await self._artifacts.load(NavigationKey(user, navigation_id), name, version)
        except ValueError as error:
            raise StorageError(
                f"`{name}` of navigation `{navigation_id}` can't be read ({type(error).__name__}); "
                "navigate again."
            ) from error
        if text is None:
            raise StorageError(f"`{name}` of navigation `{navigation_id}` is gone; navigate again.")
        return text

    async def known(self, navigation_id: str, user: str) -> StoredNavigation | None:
        """Return what a server has to know of a navigation, None where the user has none of that id."""
        found = await self.index.known(NavigationKey(user, navigation_id))
        if found is None:
            self._require_found()
        return found

    async def deliver(self, navigation_id: str, user: str, fields: Mapping[str, Any]) -> None:
        """Change fields of what was delivered of a navigation.

        A fault is logged alone: the client is sent more than it needs the next time, and a step that was
        taken must not end in an error.
        """
        try:
            await self.index.deliver(NavigationKey(user, navigation_id), fields)
        except StorageError as error:
            logger.warning("What was delivered of %s can't be stored (%s)", navigation_id, error)

    async def forget(self, navigation_id: str, user: str) -> None:
        """Delete a navigation with its maps and records; the caller holds its lock.

        Its row is hidden first and removed last: what a kill or a store that does not answer leaves behind,
        ``delete_forgotten`` deletes.
        """
        key = NavigationKey(user, navigation_id)
        if not await self.index.mark_forgotten(key):
            raise await self._unknown(navigation_id, user)
        await self._delete(key)

    async def delete_forgotten(self) -> None:
        """Delete what is left of navigations whose deletion, or whose beginning, was cut short."""
        while keys := await self.index.forgotten(_AT_ONCE):
            if not all([await self._delete(key) for key in keys]):
                return

    async def reach(self) -> None:
        """Ask every service something."""
        key = NavigationKey("nobody", "nav-")
        await self.index.known(key)
        with self.faults.raised():
            await self._sessions.state(key)
            await self._artifacts.load(key, MAP_NAME, 0)

    async def close(self) -> None:
        await self.locks.close()
        await self._sessions.close()
        await self.index.close()

    async def _delete(self, key: NavigationKey) -> bool:
        try:
            with self.faults.raised(key.navigation_id, writes=True):
                await self._sessions.delete(key)
                await self._artifacts.delete(key)
            await self.index.remove(key)
        except StorageError as error:
            logger.warning("%s is deleted later (%s)", key.navigation_id, error)
            return False
        await self.locks.remove(key.navigation_id)
        return True

    def _require_found(self) -> None:
        if self._is_lost:
            raise StorageError(f"The stored navigations can't be read. {self.note}")

    async def _unknown(self, navigation_id: str, user: str) -> UnknownNavigationError:
        choices = [each.navigation_id for each in await self.index.stored(user, limit=5)]
        known = f"known are {', '.join(f'`{each}`' for each in choices)}" if choices else "none is known"
        return UnknownNavigationError(
            f"No navigation has the id `{navigation_id[:80]}`; {known}. Open one with a goal first.", choices
        )
