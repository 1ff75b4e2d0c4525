"""Sole reader and writer of ``session.state["navigator"]`` and of the bookkeeping beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from google.adk.sessions.state import State

from navigator.bookkeeping import NavigationBookkeeping
from navigator.state import NavigatorState
from navigator.turn import Navigation

STATE_KEY = "navigator"
RUN_KEY = "navigator_run"


class _Readable(Protocol):
    def get(self, key: str, /) -> Any: ...


class _Writable(Protocol):
    def __setitem__(self, key: str, value: Any, /) -> None: ...


def read(state: _Readable | State) -> Navigation:
    """Return the navigation that a session's state holds."""
    if isinstance(state, State):
        # Read by key, ADK copies each value in depth to notice changes inside it; there are none.
        state = state.to_dict()
    return Navigation(
        NavigatorState.model_validate(state.get(STATE_KEY)),
        NavigationBookkeeping.model_validate(state.get(RUN_KEY)),
    )


def write(state: _Writable, navigation: Navigation) -> None:
    """Put the navigation into a context's state, whole; the event that carries it makes it durable."""
    for key, value in delta(navigation).items():
        state[key] = value


def delta(navigation: Navigation) -> dict[str, Any]:
    """Return the navigation as the change of state that an event carries."""
    return {
        STATE_KEY: navigation.state.model_dump(mode="json"),
        RUN_KEY: navigation.run.model_dump(mode="json"),
    }


def holds_navigation(state: Mapping[str, Any]) -> bool:
    """Tell whether a session is one of the navigator's."""
    return STATE_KEY in state and RUN_KEY in state
