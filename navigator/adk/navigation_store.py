"""Navigations listed, opened and forgotten; their artifacts."""

from __future__ import annotations

import asyncio
import logging
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from google.adk.artifacts import BaseArtifactService, FileArtifactService
from google.adk.errors import StaleSessionError
from google.adk.events import Event, EventActions
from google.adk.sessions import Session
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai import types

from navigator.adk import state_store
from navigator.adk.session_values import SessionId, SessionUse
from navigator.adk.sql_sessions import SqlSessions
from navigator.errors import NavigationBusyError, StorageError, UnknownNavigationError, unsaved
from navigator.records.bookkeeping import Navigation, StepRecord
from navigator.records.delivery import Delivery, KnownNavigation, NavigationUse

logger = logging.getLogger(__name__)

_AT_ONCE = 20
"""States that are read together for a list."""
STATE_ONLY = GetSessionConfig(num_recent_events=0)


class NavigationStore:
    """The navigations of every user, as one app's sessions."""

    def __init__(self, sessions: SqlSessions, app_name: str, damage: str = "") -> None:
        """Keep navigations in ``sessions``.

        Args:
            damage: why a database that is there can't be read, and ``sessions`` holds none of it.
        """
        self.sessions = sessions
        self._app_name = app_name
        self._damage = damage
        self._held: dict[tuple[str, str], Session] = {}
        """What was read or created to be changed; a change finds out by itself if it is stale."""

    async def create(self, navigation: Navigation, user: str, delivery: Delivery | None = None) -> None:
        """Store a new navigation, and hold it to be changed; from here on it outlives the process.

        Raises:
            StorageError: it can't be kept.
        """
        try:
            session = await self.sessions.create_session(
                app_name=self._app_name,
                user_id=user,
                session_id=navigation.run.navigation_id,
                state=state_store.delta(navigation, delivery),
            )
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
            return state_store.read((await self._session(navigation_id, user)).state)

    async def load_to_change(self, navigation_id: str, user: str) -> Navigation:
        """Return a navigation as it is stored, to whoever holds it and may ``store`` it next.

        Raises:
            UnknownNavigationError: the user has none of that id.
            StorageError: the database can't be read.
        """
        with _readable():
            session = await self._session(navigation_id, user)
            self._held[user, navigation_id] = session
            return state_store.read(session.state)

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
                states = await self.sessions.states(self._app_name, user, wanted)
                for state, changed_at in (states[each] for each in wanted if each in states):
                    if state_store.holds_navigation(state):
                        try:
                            found.append((state_store.read(state), changed_at))
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
            session = SessionId(self._app_name, user, navigation_id)
            parts = await self.sessions.parts_of_state(state_store.KNOWN_PATHS, session)
            if parts is not None:
                return state_store.known(navigation_id, user, parts)
        if self._damage:
            raise unreadable(self._damage)
        return None

    async def uses(self, user: str | None = None) -> Sequence[NavigationUse]:
        """Return what the store tells of each navigation of a user, or of all, by id.

        Raises:
            StorageError: the database can't be read.
        """
        with _readable():
            return [_use(found) for found in await self.sessions.uses(self._app_name, user)]

    async def latest_use(self) -> float | None:
        """Return when something of any navigation was handed out last, None where nothing was.

        Raises:
            StorageError: the database can't be read.
        """
        with _readable():
            return await self.sessions.latest_use(self._app_name)

    async def unused_since(
        self, before: float, most: int, after: NavigationUse | None = None
    ) -> Sequence[NavigationUse]:
        """Return navigations of which something was handed out, and nothing since ``before``.

        Raises:
            StorageError: the database can't be read.
        """
        last = None
        if after is not None:
            session = SessionId(self._app_name, after.user, after.navigation_id)
            last = SessionUse(session, after.changed_at, after.used_at, after.is_open)
        with _readable():
            found = await self.sessions.unused_since(self._app_name, before, most, last)
        return [_use(each) for each in found]

    async def count_open(self) -> int:
        """Return how many navigations of all users are open.

        Raises:
            StorageError: the database can't be read.
        """
        with _readable():
            return await self.sessions.count_open(self._app_name)

    async def deliver(self, navigation_id: str, user: str, fields: Mapping[str, Any]) -> None:
        """Change fields of what was delivered of a navigation; a step under way is not in the way.

        Where it can't be kept, that is logged: the host is told more than it needs the next time, and a step
        that was taken must not end in an error.
        """
        session = SessionId(self._app_name, user, navigation_id)
        try:
            await self.sessions.change_beside(session, state_store.DELIVERY_KEY, fields)
        except (sqlite3.Error, StorageError, ValueError) as error:
            logger.warning("What was delivered of %s can't be kept (%s)", navigation_id, error)

    async def store(self, navigation: Navigation, user: str) -> None:
        """Make a change durable that no model made; what is held stays so, as it is stored then."""
        navigation_id = navigation.run.navigation_id
        with _readable():
            session = self._held.pop((user, navigation_id), None)
            is_held, session = session is not None, session or await self._session(navigation_id, user)
        event = Event(author="user", actions=EventActions(state_delta=state_store.delta(navigation)))
        try:
            await self.sessions.append_event(session, event)
        except StaleSessionError as error:
            raise busy(navigation) from error
        except sqlite3.Error as error:
            raise unstored(error) from error
        if is_held:
            self._held[user, navigation_id] = session

    async def forget(self, navigation_id: str, user: str) -> SessionId:
        """Delete a navigation, and note that its artifacts are yet to be deleted.

        Raises:
            UnknownNavigationError: the user has none of that id.
            NavigationBusyError: another server has taken it over.
            StorageError: the database can't be read, or not be written.
        """
        with _readable():
            session = await self._session(navigation_id, user)
        named = SessionId(self._app_name, user, session.id)
        try:
            await self.sessions.forget(named)
        except StaleSessionError as error:
            raise busy(state_store.read(session.state)) from error
        except sqlite3.Error as error:
            raise unstored(error) from error
        return named

    async def forgotten(self) -> Sequence[SessionId]:
        """Return some navigations that are gone, but perhaps not all of their artifacts.

        Raises:
            StorageError: the database can't be read.
        """
        with _readable():
            return await self.sessions.forgotten(self._app_name, _AT_ONCE)

    async def note_deleted(self, session: SessionId) -> None:
        """Note that a forgotten navigation has no artifacts any more.

        Raises:
            StorageError: the database can't be written.
        """
        try:
            await self.sessions.note_deleted(session)
        except sqlite3.Error as error:
            raise unstored(error) from error

    async def _session(self, navigation_id: str, user: str) -> Session:
        session = None
        if _can_be_an_id(navigation_id):
            session = await self.sessions.get_session(
                app_name=self._app_name, user_id=user, session_id=navigation_id, config=STATE_ONLY
            )
        if session is None or not state_store.holds_navigation(session.state):
            choices = [*await self.latest_ids(user)][:5]
            known = (
                "known are " + ", ".join(f"`{choice}`" for choice in choices) if choices else "none is known"
            )
            raise UnknownNavigationError(
                f"No navigation has the id `{navigation_id[:80]}`; {known}. Open one with a goal first.",
                choices,
            )
        return session


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
        "keep it, or name another folder with REPO_NAVIGATOR_DATA, then start anew."
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


MAP_NAME = "map.txt"


class NavigationArtifacts(NamedTuple):
    """The artifacts of one navigation."""

    service: BaseArtifactService
    app_name: str
    user: str
    navigation_id: str

    async def save_map(self, text: str) -> int:
        """Keep a map and return its version."""
        return await self._save(MAP_NAME, text)

    async def load_map(self, version: int) -> str:
        """Return the map of that version."""
        return await self._load(MAP_NAME, version)

    async def save_record(self, record: StepRecord) -> int:
        """Keep the record of a step and return its version; one that was cut short may have left another."""
        return await self._save(_record_name(record.report.step_number), record.model_dump_json())

    async def load_record(self, step: int, version: int | None) -> StepRecord:
        """Return that version of the record of ``step``, None for the latest."""
        return StepRecord.model_validate_json(await self._load(_record_name(step), version))

    async def reach(self) -> None:
        """Ask the store something.

        Raises:
            StorageError: it does not answer.
        """
        where = {"app_name": self.app_name, "user_id": self.user, "session_id": self.navigation_id}
        await self.service.list_versions(**where, filename=MAP_NAME)

    async def clear(self) -> None:
        """Delete every artifact of the navigation."""
        where = {"app_name": self.app_name, "user_id": self.user, "session_id": self.navigation_id}
        for name in await self.service.list_artifact_keys(**where):
            if not name.startswith("user:"):
                await self.service.delete_artifact(filename=name, **where)
        if (
            isinstance(self.service, FileArtifactService)
            and Path(self.navigation_id).name == self.navigation_id
        ):
            # ADK leaves the folder, and in it what a kill left of an artifact that was being saved.
            users = self.service.root_dir / "apps" / self.app_name / "users" / self.user
            folder = users / "sessions" / self.navigation_id
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def _save(self, name: str, text: str) -> int:
        try:
            return await self.service.save_artifact(
                app_name=self.app_name,
                user_id=self.user,
                session_id=self.navigation_id,
                filename=name,
                artifact=types.Part(text=text),
            )
        except OSError as error:
            raise unsaved(error) from error

    async def _load(self, name: str, version: int | None) -> str:
        part = await self.service.load_artifact(
            app_name=self.app_name,
            user_id=self.user,
            session_id=self.navigation_id,
            filename=name,
            version=version,
        )
        if part is None or part.text is None:
            raise StorageError(
                f"`{name}` of navigation `{self.navigation_id}` is gone from the data folder; navigate again."
            )
        return part.text


def _record_name(step: int) -> str:
    return f"steps/{step:04d}.json"
