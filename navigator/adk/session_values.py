"""What ADK's sessions are made of, whichever database keeps them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from google.adk.events import Event
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


def merged(session: dict[str, Any], of_app: dict[str, Any], of_user: dict[str, Any]) -> dict[str, Any]:
    """Return the state as a session shows it."""
    shared = {State.APP_PREFIX + name: value for name, value in of_app.items()}
    return session | shared | {State.USER_PREFIX + name: value for name, value in of_user.items()}


def temporary(event: Event) -> dict[str, Any]:
    """Return the state that an event changes for its session in memory alone."""
    delta = event.actions.state_delta
    return {name: value for name, value in delta.items() if name.startswith(State.TEMP_PREFIX)}


def without_temporary(event: Event) -> Event:
    """Return the event as it is stored; the one that was given keeps what ADK puts into the session."""
    if not (left_out := temporary(event)):
        return event
    kept = {name: value for name, value in event.actions.state_delta.items() if name not in left_out}
    return event.model_copy(update={"actions": event.actions.model_copy(update={"state_delta": kept})})
