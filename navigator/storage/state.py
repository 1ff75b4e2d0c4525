"""Sole reader and writer of ``session.state["navigator"]`` and of what is stored beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from navigator.state.run_state import Navigation, RunState
from navigator.state.state import NavigatorState

STATE_KEY: Final = "navigator"
RUN_KEY: Final = "navigator_run"


def read(state: Mapping[str, Any]) -> Navigation:
    """Return the navigation that a session's state holds; raise ``ValueError`` if it holds none."""
    return Navigation(
        NavigatorState.model_validate(state.get(STATE_KEY)),
        RunState.model_validate(state.get(RUN_KEY)),
    )


def delta(navigation: Navigation) -> dict[str, Any]:
    """Return the navigation as the change of state that an event carries."""
    return {
        STATE_KEY: navigation.state.model_dump(mode="json"),
        RUN_KEY: navigation.run.model_dump(mode="json"),
    }


def can_be_stored(text: str) -> bool:
    """Return whether a database can hold a text: JSON has NUL characters and unpaired surrogates."""
    return "\0" not in text and not any("\ud800" <= each <= "\udfff" for each in text)
