"""What sessions are made of, whichever database keeps them: as ADK has them, and without it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from uuid import uuid4

from pydantic_core import to_jsonable_python

APP_PREFIX: Final = "app:"
USER_PREFIX: Final = "user:"
TEMPORARY_PREFIX: Final = "temp:"
"""ADK's: what the names of state begin with that all sessions share, that a user's do, that none stores."""


class SessionId(NamedTuple):
    """What names a session."""

    app_name: str
    user_id: str
    id: str


class StoredSession(NamedTuple):
    """A session as it is stored, without its events."""

    named: SessionId
    state: dict[str, Any]
    """With what it shares with others."""
    changed_at: float
    """Its latest change, in seconds since the epoch."""


class NewEvent(NamedTuple):
    """An event that is stored with the state that it changes."""

    id: str
    invocation_id: str
    timestamp: float
    """In seconds since the epoch."""
    delta: Mapping[str, Any]
    """The state that it changes."""
    text: str
    """The whole event as JSON, as ADK reads it."""

    @classmethod
    def by_user(cls, delta: Mapping[str, Any]) -> NewEvent:
        """Return the event of a change that no agent made."""
        name, now = str(uuid4()), time.time()
        actions = {"state_delta": to_jsonable_python(delta, serialize_unknown=True)}
        whole = {"author": "user", "id": name, "timestamp": now, "actions": actions}
        return cls(name, "", now, delta, text_of(whole))


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
            if name.startswith(APP_PREFIX):
                parts.app[name.removeprefix(APP_PREFIX)] = value
            elif name.startswith(USER_PREFIX):
                parts.user[name.removeprefix(USER_PREFIX)] = value
            elif not name.startswith(TEMPORARY_PREFIX):
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
    shared = {APP_PREFIX + name: value for name, value in of_app.items()}
    return session | shared | {USER_PREFIX + name: value for name, value in of_user.items()}
