"""Navigations stored, read, listed, locked and deleted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from navigator.errors import StorageError, UnknownNavigationError
from navigator.records.bookkeeping import Navigation, StepRecord
from navigator.storage import state
from navigator.storage.errors import StorageFaults
from navigator.storage.index import NavigationIndex, NavigationKey
from navigator.storage.sessions import APP_NAME, Artifacts, SessionKey, Sessions

if TYPE_CHECKING:
    from google.adk.artifacts import BaseArtifactService
    from google.adk.sessions import BaseSessionService

    from navigator.records.delivery import KnownNavigation, NavigationUse
    from navigator.records.reports import NavigationSummary
    from navigator.storage.locks import NavigationLocks

MAP_NAME: Final = "map.txt"
_AT_ONCE: Final = 20
"""Forgotten navigations that are looked up together."""
logger = logging.getLogger(__name__)


class Services(NamedTuple):
    """ADK's services."""

    sessions: BaseSessionService
    artifacts: BaseArtifactService


class Storage:
    """The navigations of every user, as one app's sessions."""

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
        """Keep navigations in services that agree with each other.

        Args:
            sessions: their states and events.
            artifacts: their maps and records.
            index: one row of each.
            locks: one step at a time.
            faults: how their errors are told.
            note: what users should know of the storage; empty when all is well.
            is_lost: whether what was stored can't be reached, and what is new is in memory.
        """
        self._sessions = sessions
        self._artifacts = artifacts
        self._index = index
        self._locks = locks
        self.faults = faults
        self.note = note
        self._is_lost = is_lost

    async def services(self) -> Services:
        """Return ADK's services; the first call imports ADK, in a thread."""
        return await asyncio.to_thread(lambda: Services(self._sessions.service, self._artifacts.service))

    @asynccontextmanager
    async def hold(self, navigation_id: str) -> AsyncIterator[None]:
        """Hold a navigation from reading its state to storing an answer: nobody else steps it meanwhile.

        Raises:
            NavigationBusyError: others held it for too long.
            StorageError: nobody can tell whether others hold it.
        """
        async with AsyncExitStack() as held:
            with self.faults.raised(navigation_id, writes=True):
                await held.enter_async_context(self._locks.hold(navigation_id))
            yield

    def require_held(self, navigation_id: str) -> None:
        """Refuse to write for a step whose lock was lost.

        Raises:
            NavigationBusyError: it was.
        """
        self._locks.require_held(navigation_id)

    def is_held(self, navigation_id: str) -> bool:
        """Return whether a task of this process holds the navigation."""
        return self._locks.is_held(navigation_id)

    @property
    def held(self) -> int:
        """How many navigations this process holds."""
        return self._locks.held

    async def create(
        self, navigation: Navigation, user: str, delivery: Mapping[str, Any] | None = None
    ) -> None:
        """Store a new navigation; from here on it outlives the process.

        Raises:
            StorageError: it can't be stored.
        """
        key = SessionKey.of(user, navigation.run.navigation_id)
        services = await self.services()
        with self.faults.raised(key.session_id, writes=True):
            await services.sessions.create_session(**key.arguments, state=state.delta(navigation))
            await self._index.update(navigation, user)
            if delivery is not None:
                await self._index.deliver(NavigationKey(user, key.session_id), delivery)

    async def announce(self, navigation: Navigation, user: str) -> None:
        """Add the row of a navigation before anything else of it, so that a kill leaves nothing unknown."""
        with self.faults.raised(navigation.run.navigation_id, writes=True):
            await self._index.add(navigation, user)

    async def change(self, after: Navigation, user: str) -> None:
        """Store a change of a navigation that is no step.

        Raises:
            NavigationBusyError: another process has changed it meanwhile.
            StorageError: it can't be stored.
        """
        from google.adk.events import Event, EventActions  # noqa: PLC0415 - commands that only read a data folder import no ADK
        from google.adk.sessions.base_session_service import GetSessionConfig  # noqa: PLC0415 - as above

        key = SessionKey.of(user, after.run.navigation_id)
        services = await self.services()
        with self.faults.raised(key.session_id, writes=True):
            self.require_held(key.session_id)
            session = await services.sessions.get_session(
                **key.arguments, config=GetSessionConfig(num_recent_events=0)
            )
            if session is None:
                raise await self._unknown(key.session_id, user)
            actions = EventActions(state_delta=state.delta(after))
            await services.sessions.append_event(session, Event(author="user", actions=actions))
            await self._index.update(after, user)

    async def note_step(self, after: Navigation, user: str) -> None:
        """Note in the index the step that the runner has just stored."""
        with self.faults.raised(after.run.navigation_id, writes=True):
            await self._index.update(after, user)

    async def load(self, navigation_id: str, user: str) -> Navigation:
        """Return a navigation as it is stored.

        Raises:
            UnknownNavigationError: the user has none of that id.
            StorageError: it can't be read.
        """
        if await self.known(navigation_id, user) is None:
            raise await self._unknown(navigation_id, user)
        try:
            with self.faults.raised(navigation_id):
                found = await self._sessions.state(SessionKey.of(user, navigation_id))
            if found is None:
                raise await self._unknown(navigation_id, user)
            return state.read(found)
        except ValueError as error:
            raise StorageError(
                f"What is stored of `{navigation_id}` is no navigation of this version; open a new one with "
                "the same goal."
            ) from error

    async def save_map(self, navigation_id: str, user: str, text: str) -> int:
        """Save the map of an opening view, and return its version.

        Raises:
            StorageError: it can't be saved.
        """
        return await self._save(navigation_id, user, MAP_NAME, text)

    async def save_record(self, record: StepRecord, user: str) -> int:
        """Save the record of an opening view, and return its version.

        Raises:
            StorageError: it can't be saved.
        """
        report = record.report
        name = record_name(report.step_number)
        return await self._save(report.navigation_id, user, name, record.model_dump_json())

    async def load_map(self, navigation_id: str, user: str, version: int) -> str:
        """Return a version of a navigation's map.

        Raises:
            StorageError: it is not there, or can't be read.
        """
        return await self._load(navigation_id, user, MAP_NAME, version)

    async def load_record(self, navigation_id: str, user: str, step: int, version: int) -> StepRecord:
        """Return the record of a step.

        Raises:
            StorageError: it is not there, or can't be read.
        """
        text = await self._load(navigation_id, user, record_name(step), version)
        return StepRecord.model_validate_json(text)

    async def list(
        self, user: str, *, most: int | None = None, among: Sequence[str] | None = None
    ) -> list[NavigationSummary]:
        """Return the user's navigations, the latest changed first, or those ``among`` in that order.

        Raises:
            StorageError: they can't be read.
        """
        with self.faults.raised():
            return await self._index.summaries(user, most, among)

    async def known(self, navigation_id: str, user: str) -> KnownNavigation | None:
        """Return what a server has to know of a navigation, None where the user has none of that id.

        Raises:
            StorageError: it can't be read.
        """
        if not state.can_be_stored(navigation_id):
            return None
        with self.faults.raised(navigation_id):
            found = await self._index.known(NavigationKey(user, navigation_id))
        if found is None and self._is_lost:
            raise StorageError(f"The stored navigations can't be read. {self.note}")
        return found

    async def uses(self, user: str | None = None) -> Sequence[NavigationUse]:
        """Return how each navigation of a user, or of all, is used, by user and id.

        Raises:
            StorageError: they can't be read.
        """
        with self.faults.raised():
            return await self._index.uses(user)

    async def latest_use(self) -> float | None:
        """Return when something of any navigation was delivered last, None where nothing was.

        Raises:
            StorageError: it can't be read.
        """
        with self.faults.raised():
            return await self._index.latest_use()

    async def unused_since(
        self, before: float, most: int, after: NavigationUse | None = None
    ) -> Sequence[NavigationUse]:
        """Return navigations of which something was delivered, and nothing since ``before``.

        Raises:
            StorageError: they can't be read.
        """
        with self.faults.raised():
            return await self._index.unused_since(before, most, after)

    async def count_open(self) -> int:
        """Return how many navigations of all users are open.

        Raises:
            StorageError: they can't be counted.
        """
        with self.faults.raised():
            return await self._index.count_open()

    async def deliver(self, navigation_id: str, user: str, fields: Mapping[str, Any]) -> None:
        """Change fields of what was delivered of a navigation; a step under way is not in the way.

        Where it can't be stored, that is logged: the client is sent more than it needs the next time, and a
        step that was taken must not end in an error.
        """
        try:
            with self.faults.raised(navigation_id, writes=True):
                await self._index.deliver(NavigationKey(user, navigation_id), fields)
        except StorageError as error:
            logger.warning("What was delivered of %s can't be stored (%s)", navigation_id, error)

    async def note_delivered(self, navigation_id: str, user: str, *, used_at: float, **held: Any) -> None:
        """Note that something was delivered of a navigation, and which other fields of ``Delivery`` change.

        What is None stays as it was. A step that is under way is not waited for.
        """
        fields = {name: value for name, value in held.items() if value is not None}
        await self.deliver(navigation_id, user, {**fields, "used_at": used_at})

    async def forget(self, navigation_id: str, user: str) -> None:
        """Delete a navigation with its maps and records; whoever calls holds it.

        Its row is hidden first and removed last: what a kill or a store that does not answer leaves behind,
        ``delete_forgotten`` deletes.

        Raises:
            UnknownNavigationError: the user has no navigation of that id.
            StorageError: it can't be deleted.
        """
        key = NavigationKey(user, navigation_id)
        with self.faults.raised(navigation_id, writes=True):
            if not (state.can_be_stored(navigation_id) and await self._index.mark_forgotten(key)):
                raise await self._unknown(navigation_id, user)
        await self._delete(key)

    async def delete_forgotten(self) -> None:
        """Delete what is left of navigations whose deletion, or whose beginning, was cut short.

        Raises:
            StorageError: the index can't be read.
        """
        while True:
            with self.faults.raised():
                keys = await self._index.forgotten(_AT_ONCE)
            if not keys or not all([await self._delete(key) for key in keys]):
                return

    async def reach(self) -> None:
        """Ask every service something.

        Raises:
            StorageError: one does not answer.
        """
        key = SessionKey.of("nobody", "nav-")
        with self.faults.raised():
            await self._index.known(NavigationKey(*key))
            await self._sessions.state(key)
            await self._artifacts.load(key, MAP_NAME, 0)

    async def close(self) -> None:
        """Close what is open."""
        await self._locks.close()
        await self._sessions.close()
        await self._index.close()

    async def _delete(self, key: NavigationKey) -> bool:
        """Delete all of a forgotten navigation, and return whether nothing is left."""
        session = SessionKey.of(*key)
        try:
            with self.faults.raised(key.navigation_id, writes=True):
                await self._sessions.delete(session)
                await self._artifacts.delete(session)
                await self._index.remove(key)
        except StorageError as error:
            logger.warning("%s is deleted later (%s)", key.navigation_id, error)
            return False
        await self._locks.remove(key.navigation_id)
        return True

    async def _save(self, navigation_id: str, user: str, name: str, text: str) -> int:
        from google.genai import types  # noqa: PLC0415 - commands that only read a data folder import no ADK

        services, key = await self.services(), SessionKey.of(user, navigation_id)
        with self.faults.raised(navigation_id, writes=True):
            part = types.Part(text=text)
            return await services.artifacts.save_artifact(
                app_name=APP_NAME,
                user_id=key.user_id,
                session_id=key.session_id,
                filename=name,
                artifact=part,
            )

    async def _load(self, navigation_id: str, user: str, name: str, version: int) -> str:
        try:
            with self.faults.raised(navigation_id):
                text = await self._artifacts.load(SessionKey.of(user, navigation_id), name, version)
        except ValueError as error:
            raise StorageError(
                f"`{name}` of navigation `{navigation_id}` can't be read ({type(error).__name__}); "
                "navigate again."
            ) from error
        if text is None:
            raise StorageError(f"`{name}` of navigation `{navigation_id}` is gone; navigate again.")
        return text

    async def _unknown(self, navigation_id: str, user: str) -> UnknownNavigationError:
        choices = [each.navigation_id for each in await self.list(user, most=5)]
        known = f"known are {', '.join(f'`{each}`' for each in choices)}" if choices else "none is known"
        return UnknownNavigationError(
            f"No navigation has the id `{navigation_id[:80]}`; {known}. Open one with a goal first.", choices
        )


def record_name(step: int) -> str:
    """Return the name of the artifact that holds the record of a step."""
    return f"steps/{step:04d}.json"
