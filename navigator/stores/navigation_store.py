"""Where navigations live: stored, listed, held for a step and forgotten, with their artifacts."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, Final

from navigator.errors import NavigationBusyError, StorageError, UnknownNavigationError
from navigator.records.bookkeeping import Navigation
from navigator.records.delivery import Delivery, KnownNavigation, NavigationUse
from navigator.stores import navigation_state
from navigator.stores.navigation_artifacts import NavigationArtifacts
from navigator.stores.opening import Stores
from navigator.stores.session_values import NewEvent, SessionId, SessionUse, StoredSession
from navigator.stores.sessions import StaleSessionError

logger = logging.getLogger(__name__)

APP_NAME: Final = "repo_navigator"
_AT_ONCE = 20
"""States that are read together for a list."""


class NavigationStore:
    """The navigations of every user, as one app's sessions."""

    def __init__(self, stores: Stores) -> None:
        """Keep navigations in ``stores``."""
        self._stores = stores
        self.sessions = stores.sessions
        self.note = stores.note
        """What the user should know of the stores; empty when all is well."""
        self._damage = stores.damage
        self._held: dict[tuple[str, str], StoredSession] = {}
        """What was read or created to be changed; a change finds out by itself if it is stale."""

    def hold(self, navigation_id: str) -> AbstractAsyncContextManager[None]:
        """Hold a navigation for one step: nobody else, here or in another process, steps it meanwhile."""
        return self._stores.locks.hold(navigation_id)

    def is_held(self, navigation_id: str) -> bool:
        """Return whether a task of this process is stepping the navigation."""
        return self._stores.locks.is_held(navigation_id)

    def artifacts(self, navigation_id: str, user: str) -> NavigationArtifacts:
        """Return the artifacts of a navigation."""
        return NavigationArtifacts(self._stores.artifacts, SessionId(APP_NAME, user, navigation_id))

    async def reach(self) -> None:
        """Ask both stores something.

        Raises:
            StorageError: one does not answer.
        """
        await self.known("nav-", "nobody")
        await self.artifacts("nav-", "nobody").reach()

    async def create(self, navigation: Navigation, user: str, delivery: Delivery | None = None) -> None:
        """Store a new navigation, and hold it to be changed; from here on it outlives the process.

        Raises:
            StorageError: it can't be kept.
        """
        try:
            wanted = SessionId(APP_NAME, user, navigation.run.navigation_id)
            session = await self.sessions.create(wanted, navigation_state.delta(navigation, delivery))
        except sqlite3.Error as error:
            raise unstored(error) from error
        self._held[user, navigation.run.navigation_id] = session

    async def load(self, navigation_id: str, user: str) -> Navigation:
        """Return a navigation as it is stored.

        Raises:
            UnknownNavigationError: the user has none of that id.
            StorageError: the database can't be read.
        """
        with _readable():
            return navigation_state.read((await self._session(navigation_id, user)).state)

    async def load_to_change(self, navigation_id: str, user: str) -> Navigation:
        """Return a navigation as it is stored, to whoever holds it and may ``store`` it next.

        Raises:
            UnknownNavigationError: the user has none of that id.
            StorageError: the database can't be read.
        """
        with _readable():
            session = await self._session(navigation_id, user)
            self._held[user, navigation_id] = session
            return navigation_state.read(session.state)

    def release(self, navigation_id: str, user: str) -> None:
        """Let go of what was held to be changed."""
        self._held.pop((user, navigation_id), None)

    async def list(
        self, user: str, *, most: int | None = None, among: Sequence[str] | None = None
    ) -> list[tuple[Navigation, float]]:
        """Return the user's navigations with the time of their last change, latest first.

        Only as many states are read as it takes. A row that is no navigation is left out, and the log tells.

        Args:
            user: whose they are.
            most: how many are returned at most.
            among: ids in the order that is wanted, by default all.

        Raises:
            StorageError: the database, or none of its rows, can be read.
        """
        found: list[tuple[Navigation, float]] = []
        unread: list[ValueError] = []
        ids = await self.latest_ids(user) if among is None else among
        with _readable():
            for begin in range(0, len(ids), _AT_ONCE):
                if most is not None and len(found) >= most:
                    break
                wanted = ids[begin : begin + _AT_ONCE]
                states = await self.sessions.states(APP_NAME, user, wanted)
                for state, changed_at in (states[each] for each in wanted if each in states):
                    if navigation_state.holds_navigation(state):
                        try:
                            found.append((navigation_state.read(state), changed_at))
                        except ValueError as error:
                            unread.append(error)
            if unread and not found:
                raise unread[0]
        if unread:
            logger.warning("%d stored navigations can't be read and are not listed", len(unread))
        if self._damage and not found:
            raise unreadable(self._damage)
        return found[:most]

    async def latest_ids(self, user: str) -> Sequence[str]:
        """Return the ids of the user's navigations, the latest changed first.

        Raises:
            StorageError: the database can't be read.
        """
        ids = [use.navigation_id for use in sorted(await self.uses(user), key=_by_change, reverse=True)]
        if self._damage and not ids:
            raise unreadable(self._damage)
        return ids

    async def known(self, navigation_id: str, user: str) -> KnownNavigation | None:
        """Return what a server has to know of a navigation, None where the user has none of that id.

        Raises:
            StorageError: the database can't be read.
        """
        if not _can_be_an_id(navigation_id):
            return None
        with _readable():
            session = SessionId(APP_NAME, user, navigation_id)
            parts = await self.sessions.parts_of_state(navigation_state.KNOWN_PATHS, session)
            if parts is not None:
                return navigation_state.known(navigation_id, user, parts)
        if self._damage:
            raise unreadable(self._damage)
        return None

    async def uses(self, user: str | None = None) -> Sequence[NavigationUse]:
        """Return what the store tells of each navigation of a user, or of all, by id.

        Raises:
            StorageError: the database can't be read.
        """
        with _readable():
            return [_use(found) for found in await self.sessions.uses(APP_NAME, user)]

    async def latest_use(self) -> float | None:
        """Return when something of any navigation was handed out last, None where nothing was.

        Raises:
            StorageError: the database can't be read.
        """
        with _readable():
            return await self.sessions.latest_use(APP_NAME)

    async def unused_since(
        self, before: float, most: int, after: NavigationUse | None = None
    ) -> Sequence[NavigationUse]:
        """Return navigations of which something was handed out, and nothing since ``before``.

        Raises:
            StorageError: the database can't be read.
        """
        last = None
        if after is not None:
            session = SessionId(APP_NAME, after.user, after.navigation_id)
            last = SessionUse(session, after.changed_at, after.used_at, after.is_open)
        with _readable():
            found = await self.sessions.unused_since(APP_NAME, before, most, last)
        return [_use(each) for each in found]

    async def count_open(self) -> int:
        """Return how many navigations of all users are open.

        Raises:
            StorageError: the database can't be read.
        """
        with _readable():
            return await self.sessions.count_open(APP_NAME)

    async def deliver(self, navigation_id: str, user: str, fields: Mapping[str, Any]) -> None:
        """Change fields of what was delivered of a navigation; a step under way is not in the way.

        Where it can't be kept, that is logged: the host is told more than it needs the next time, and a step
        that was taken must not end in an error.
        """
        session = SessionId(APP_NAME, user, navigation_id)
        try:
            await self.sessions.change_beside(session, navigation_state.DELIVERY_KEY, fields)
        except (sqlite3.Error, StorageError, ValueError) as error:
            logger.warning("What was delivered of %s can't be kept (%s)", navigation_id, error)

    async def note_delivered(self, navigation_id: str, user: str, *, used_at: float, **held: Any) -> None:
        """Note that something was delivered of a navigation, and which other fields of ``Delivery`` change.

        What is None stays as it was. A step that is under way is not waited for.
        """
        fields = {name: value for name, value in held.items() if value is not None}
        await self.deliver(navigation_id, user, {**fields, "used_at": used_at})

    async def store(self, navigation: Navigation, user: str) -> None:
        """Make a change durable that no model made; what is held stays so, as it is stored then."""
        navigation_id = navigation.run.navigation_id
        with _readable():
            session = self._held.pop((user, navigation_id), None)
            is_held, session = session is not None, session or await self._session(navigation_id, user)
        try:
            session = await self.sessions.append(
                session, NewEvent.by_user(navigation_state.delta(navigation))
            )
        except StaleSessionError as error:
            raise busy(navigation) from error
        except sqlite3.Error as error:
            raise unstored(error) from error
        if is_held:
            self._held[user, navigation_id] = session

    async def forget(self, navigation_id: str, user: str) -> None:
        """Delete a navigation with its maps and records.

        The row goes first, with a note that the rest is to follow: what a kill or a store that does not
        answer leaves behind belongs to nobody, and ``delete_forgotten`` goes on with it.

        Raises:
            UnknownNavigationError: the user has no navigation of that id.
            NavigationBusyError: another server has taken it over.
            StorageError: the database can't be read, or not be written.
        """
        if self._stores.is_read_only:
            raise StorageError(f"The navigation could not be deleted. {self.note}")
        with _readable():
            session = await self._session(navigation_id, user)
        try:
            await self.sessions.forget(session.named)
        except StaleSessionError as error:
            raise busy(navigation_state.read(session.state)) from error
        except sqlite3.Error as error:
            raise unstored(error) from error
        await self._delete_artifacts(session.named)

    async def delete_forgotten(self) -> None:
        """Delete what is left of navigations whose deletion was cut short, and locks of killed processes.

        Raises:
            StorageError: a store does not answer.
        """
        await self._stores.locks.remove_abandoned()
        while sessions := await self._forgotten():
            for session in sessions:
                if not await self._delete_artifacts(session):
                    return

    async def aclose(self) -> None:
        """Close what is open."""
        await self.sessions.close()

    async def _forgotten(self) -> Sequence[SessionId]:
        """Return some navigations that are gone, but perhaps not all of their artifacts."""
        with _readable():
            return await self.sessions.forgotten(APP_NAME, _AT_ONCE)

    async def _delete_artifacts(self, session: SessionId) -> bool:
        """Delete the artifacts of a forgotten navigation, and tell whether none is left."""
        try:
            await self.artifacts(session.id, session.user_id).clear()
            await self._note_deleted(session)
        except (OSError, StorageError) as error:
            logger.warning("Artifacts of %s are deleted later (%s)", session.id, error)
            return False
        return True

    async def _note_deleted(self, session: SessionId) -> None:
        try:
            await self.sessions.note_deleted(session)
        except sqlite3.Error as error:
            raise unstored(error) from error

    async def _session(self, navigation_id: str, user: str) -> StoredSession:
        found = None
        if _can_be_an_id(navigation_id):
            found = await self.sessions.get(SessionId(APP_NAME, user, navigation_id))
        if found is None or not navigation_state.holds_navigation(found[0].state):
            choices = [*await self.latest_ids(user)][:5]
            known = (
                "known are " + ", ".join(f"`{choice}`" for choice in choices) if choices else "none is known"
            )
            raise UnknownNavigationError(
                f"No navigation has the id `{navigation_id[:80]}`; {known}. Open one with a goal first.",
                choices,
            )
        return found[0]


def _by_change(use: NavigationUse) -> tuple[float, str]:
    return use.changed_at, use.navigation_id


def _use(found: SessionUse) -> NavigationUse:
    return NavigationUse(found.session.id, found.session.user_id, *found[1:])


def _can_be_an_id(navigation_id: str) -> bool:
    """Tell whether a database could hold an id: JSON can say what no text holds, half a character for one."""
    try:
        return b"\0" not in navigation_id.encode()
    except UnicodeEncodeError:
        return False


@contextmanager
def _readable() -> Iterator[None]:
    """Tell in a sentence of a database that is damaged, or whose rows are none of ours."""
    try:
        yield
    except (sqlite3.Error, ValueError) as error:
        what = str(error) if isinstance(error, sqlite3.Error) else "a row is no navigation"
        raise unreadable(what) from error


def unreadable(what: str) -> StorageError:
    """Return the error of a database that is damaged, or whose rows are none of ours."""
    return StorageError(
        f"The stored navigations can't be read ({what}); move `sessions.db` in the data folder aside and "
        "keep it, or name another folder with REPO_NAVIGATOR_DATA, then start again."
    )


def busy(navigation: Navigation) -> NavigationBusyError:
    """Return the error of a step that another process was faster with."""
    return NavigationBusyError(
        f"Another process has just stepped `{navigation.run.navigation_id}`; "
        "read its report, then step again."
    )


def unstored(error: sqlite3.Error) -> StorageError:
    """Return the error of a step that the database does not take."""
    return StorageError(
        f"The step could not be stored ({error}); free space, or name another data folder with "
        "REPO_NAVIGATOR_DATA, then take the step again."
    )
