"""Whom operators let in and turned away, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class PeopleToken(NamedTuple):
    """A token that an operator made; what it is nobody knows any more."""

    principal: str
    groups: tuple[str, ...]
    made_at: float


class People(NamedTuple):
    """Whom all servers let in besides those of their settings, and whom they turn away."""

    tokens: Mapping[str, PeopleToken]
    """By their digests."""
    revoked: Mapping[str, float]
    """Principal → when, in seconds since the epoch."""
