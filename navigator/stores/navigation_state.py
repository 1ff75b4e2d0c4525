"""Sole reader and writer of ``session.state["navigator"]`` and of what is kept beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from navigator.records.bookkeeping import Navigation, NavigationBookkeeping
from navigator.records.delivery import Delivery, KnownNavigation
from navigator.records.reports import StopReason
from navigator.records.state import NavigatorState

STATE_KEY = "navigator"
RUN_KEY = "navigator_run"
DELIVERY_KEY = "navigator_delivery"
KNOWN_PATHS = (f"{STATE_KEY}.repo_path", f"{RUN_KEY}.stop_reason", DELIVERY_KEY)
"""Of the parts that ``known`` reads."""


class _Writable(Protocol):
    def __setitem__(self, key: str, value: Any, /) -> None: ...


def read(state: Mapping[str, Any]) -> Navigation:
    """Return the navigation that a session's state holds."""
    return Navigation(
        NavigatorState.model_validate(state.get(STATE_KEY)),
        NavigationBookkeeping.model_validate(state.get(RUN_KEY)),
    )


def write(state: _Writable, navigation: Navigation) -> None:
    """Put the navigation into a context's state, whole; the event that carries it makes it durable."""
    for key, value in delta(navigation).items():
        state[key] = value


def delta(navigation: Navigation, delivery: Delivery | None = None) -> dict[str, Any]:
    """Return the navigation as the change of state that an event carries."""
    kept = {
        STATE_KEY: navigation.state.model_dump(mode="json"),
        RUN_KEY: navigation.run.model_dump(mode="json"),
    }
    return kept if delivery is None else {**kept, DELIVERY_KEY: delivery.model_dump(mode="json")}


def known(navigation_id: str, user: str, parts: Sequence[Any]) -> KnownNavigation:
    """Return what the parts at ``KNOWN_PATHS`` say.

    Raises:
        ValueError: they are none of ours.
    """
    repo_path, stop_reason, delivery = parts
    if not isinstance(repo_path, str):
        raise ValueError("A stored state is no navigation.")
    return KnownNavigation(
        navigation_id,
        user,
        repo_path,
        None if stop_reason is None else StopReason(stop_reason),
        None if delivery is None else Delivery.model_validate(delivery),
    )


def holds_navigation(state: Mapping[str, Any]) -> bool:
    """Tell whether a session is one of the navigator's."""
    return STATE_KEY in state and RUN_KEY in state
