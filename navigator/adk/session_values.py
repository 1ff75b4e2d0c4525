"""What ADK's sessions are made of, whichever database keeps them."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from google.adk.events import Event
from google.adk.sessions import BaseSessionService
from google.adk.sessions.state import State
from pydantic_core import to_jsonable_python


class SessionId(NamedTuple):
    """What names a session."""

    app_name: str
    user_id: str
    id: str


class SessionUse(NamedTuple):
    """What is told of a session without reading its state: the store keeps it in columns of its own."""

    session: SessionId
    changed_at: float
    """Its latest change as ADK sees it, in seconds since the epoch."""
    used_at: float | None
    """When something of it was handed out last; None where nothing was."""
    is_open: bool
    """Whether it tells no reason why it ended."""


class StoredSessions(BaseSessionService):
    """ADK's sessions, and the little that the navigator asks of its store besides."""

    @property
    @abstractmethod
    def errors(self) -> int:
        """Calls that the database did not take since it was opened."""

    @abstractmethod
    async def change_beside(self, session: SessionId, name: str, fields: Mapping[str, Any]) -> None:
        """Change fields of a value of a session's state that no agent reads or writes.

        That is no event, and no change of the session as ADK sees it: whoever runs it meanwhile is not stale.
        Nothing happens where the session is gone.
        """

    @abstractmethod
    async def parts_of_state(self, paths: Sequence[str], session: SessionId) -> list[Any] | None:
        """Return parts of the state of a session, None where there is none.

        Args:
            paths: where the parts are, as SQLite writes it: ``$.name.field``. None stands for what is not
                there, and for every part of a state that is damaged.
            session: the session.
        """

    @abstractmethod
    async def states(
        self, app_name: str, user_id: str, ids: Sequence[str]
    ) -> dict[str, tuple[dict[str, Any], float]]:
        """Return the states of some of a user's sessions and the times of their latest change, by id.

        What sessions share is not in them. Left out are sessions that are not there.

        Raises:
            ValueError: one of them is damaged.
        """

    @abstractmethod
    async def uses(self, app_name: str, user_id: str | None = None) -> list[SessionUse]:
        """Return what is told of a user's sessions, or of all, by user and id; none of damaged states."""

    @abstractmethod
    async def latest_use(self, app_name: str) -> float | None:
        """Return when something of any session was handed out last."""

    @abstractmethod
    async def unused_since(
        self, app_name: str, before: float, most: int, after: SessionUse | None = None
    ) -> list[SessionUse]:
        """Return sessions of which something was handed out, and nothing since ``before``.

        Args:
            app_name: the app.
            before: in seconds since the epoch.
            most: how many are returned at most, those used least lately first.
            after: the last one of an earlier answer, which this one goes on from.
        """

    @abstractmethod
    async def count_open(self, app_name: str) -> int:
        """Return how many sessions of an app tell no reason why they ended."""

    @abstractmethod
    async def forget(self, session: SessionId) -> None:
        """Delete a session with its events, and note that its artifacts are to follow: both or neither.

        Raises:
            StaleSessionError: another server has taken the session over.
        """

    @abstractmethod
    async def forgotten(self, app_name: str, most: int) -> list[SessionId]:
        """Return sessions that were forgotten and whose artifacts may still be there, ``most`` at most."""

    @abstractmethod
    async def note_deleted(self, session: SessionId) -> None:
        """Note that a forgotten session has no artifacts any more."""

    @abstractmethod
    async def close(self) -> None:
        """Close what is open; the next call opens it anew."""


class Scopes(NamedTuple):
    """State by whom it belongs to, as JSON has it, the names without their prefixes."""

    app: dict[str, Any]
    user: dict[str, Any]
    session: dict[str, Any]

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> Scopes:
        """Part a state by the prefixes of its names, and leave out what is temporary."""
        parts = cls({}, {}, {})
        # What JSON can't say is replaced by what it is called: a value must not cost a step.
        for name, value in to_jsonable_python(dict(state), serialize_unknown=True).items():
            if name.startswith(State.APP_PREFIX):
                parts.app[name.removeprefix(State.APP_PREFIX)] = value
            elif name.startswith(State.USER_PREFIX):
                parts.user[name.removeprefix(State.USER_PREFIX)] = value
            elif not name.startswith(State.TEMP_PREFIX):
                parts.session[name] = value
        return parts


def state_from(text: str) -> dict[str, Any]:
    """Return a stored state.

    Raises:
        ValueError: it is none.
    """
    state = json.loads(text)
    if not isinstance(state, dict):
        raise ValueError("A stored state is no JSON object.")
    return state


def text_of(state: Mapping[str, Any]) -> str:
    """Return a state as it is stored."""
    return json.dumps(state, separators=(",", ":"))


def updated(text: str, delta: Mapping[str, Any]) -> str:
    """Return a stored state with ``delta`` in it."""
    return text_of({**state_from(text), **delta}) if delta else text


def merged(session: dict[str, Any], of_app: dict[str, Any], of_user: dict[str, Any]) -> dict[str, Any]:
    """Return the state as a session shows it."""
    shared = {State.APP_PREFIX + name: value for name, value in of_app.items()}
    return session | shared | {State.USER_PREFIX + name: value for name, value in of_user.items()}


def without_temporary(event: Event) -> Event:
    """Return the event as it is stored; the one that was given keeps what ADK puts into the session."""
    delta = event.actions.state_delta
    kept = {name: value for name, value in delta.items() if not name.startswith(State.TEMP_PREFIX)}
    if len(kept) == len(delta):
        return event
    return event.model_copy(update={"actions": event.actions.model_copy(update={"state_delta": kept})})
