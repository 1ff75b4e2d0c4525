"""Stored sessions by ADK's public interface, for agents."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from google.adk import errors as adk
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events import Event
from google.adk.platform.time import get_time
from google.adk.platform.uuid import new_uuid
from google.adk.sessions import BaseSessionService, Session
from google.adk.sessions.base_session_service import GetSessionConfig, ListSessionsResponse

from navigator.stores.session_values import TEMPORARY_PREFIX, NewEvent, SessionId, StoredSession
from navigator.stores.sessions import IdTakenError, SessionGoneError, SessionStore, StaleSessionError


class SessionService(BaseSessionService):
    """ADK's sessions; what they answer is what ADK's own services answer."""

    def __init__(self, stored: SessionStore) -> None:
        self.stored = stored

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Create a session.

        Raises:
            AlreadyExistsError: there is one of that id.
        """
        # What makes ids may be set for this task alone, and a database may act in a thread of its own.
        name = session_id if session_id and session_id.strip() else new_uuid()
        with _adks_errors():
            made = await self.stored.create(SessionId(app_name, user_id, name), state or {}, get_time())
        return _session(made)

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """Return a session with the events that ``config`` asks for, oldest first; None if it is unknown."""
        wanted, config = SessionId(app_name, user_id, session_id), config or GetSessionConfig()
        found = await self.stored.get(wanted, config.num_recent_events, config.after_timestamp)
        if found is None:
            return None
        session = _session(found[0])
        session.events = [Event.model_validate_json(event) for event in found[1]]
        return session

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """Return the sessions of a user, or of all, without their events, the latest changed last."""
        return ListSessionsResponse(sessions=[*map(_session, await self.stored.all(app_name, user_id))])

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete a session with its events; nothing where there is none."""
        await self.stored.delete(SessionId(app_name, user_id, session_id))

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return what all sessions of a user share, without the prefix of its names."""
        return await self.stored.user_state(app_name, user_id)

    async def append_event(self, session: Session, event: Event) -> Event:
        """Store an event and the state that it changes, and put both into ``session``.

        A partial event is not stored; state with the prefix ``temp:`` reaches ``session`` alone.

        Raises:
            StaleSessionError: the stored session has been changed since ``session`` was read, or another
                server has taken it over.
            SessionNotFoundError: it is gone.
            AlreadyExistsError: there is an event of that id, and it is another.
        """
        if event.partial:
            return event
        named = SessionId(session.app_name, session.user_id, session.id)
        # As ADK does, also where the event is not stored then.
        session.state.update(_temporary(event))
        with _adks_errors():
            await self.stored.append(StoredSession(named, {}, session.last_update_time), _new(event))
        session.last_update_time = event.timestamp
        return await super().append_event(session, event)

    async def close(self) -> None:
        """Close what is open; the next call opens it anew."""
        await self.stored.close()


@contextmanager
def _adks_errors() -> Iterator[None]:
    """Raise ADK's errors in place of the store's."""
    try:
        yield
    except StaleSessionError as error:
        raise adk.StaleSessionError(str(error)) from error
    except SessionGoneError as error:
        raise SessionNotFoundError(str(error)) from error
    except IdTakenError as error:
        raise AlreadyExistsError(str(error)) from error


def _session(stored: StoredSession) -> Session:
    app_name, user_id, name = stored.named
    return Session(
        app_name=app_name,
        user_id=user_id,
        id=name,
        state=stored.state,
        last_update_time=stored.changed_at,
    )


def _temporary(event: Event) -> dict[str, Any]:
    """Return the state that an event changes for its session in memory alone."""
    delta = event.actions.state_delta
    return {name: value for name, value in delta.items() if name.startswith(TEMPORARY_PREFIX)}


def _new(event: Event) -> NewEvent:
    """Return the event as it is stored; the one that was given keeps what ADK puts into the session."""
    delta = event.actions.state_delta
    if left_out := _temporary(event):
        delta = {name: value for name, value in delta.items() if name not in left_out}
        event = event.model_copy(update={"actions": event.actions.model_copy(update={"state_delta": delta})})
    text = event.model_dump_json(exclude_none=True)
    return NewEvent(event.id, event.invocation_id, event.timestamp, delta, text)
