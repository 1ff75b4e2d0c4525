"""What a principal has used in a day: by the clock of the store that counts it, a day of UTC."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import NamedTuple


class Usage(NamedTuple):
    """What some work took."""

    tokens: int = 0
    """Sent to models and answered by them, and sent to assistants."""
    cost: Decimal = Decimal(0)
    """US dollars."""
    index_seconds: float = 0.0
    """Spent waiting for the index of a repository."""

    def plus(self, other: Usage) -> Usage:
        """Return the sum."""
        return Usage(
            self.tokens + other.tokens, self.cost + other.cost, self.index_seconds + other.index_seconds
        )


NOTHING_USED = Usage()
OnUsage = Callable[[Usage], None]
"""Told of what was used, as soon as it was, within the call that it was used for."""


def unnoted(_: Usage) -> None:
    """Note nothing: nobody counts."""


class Today(NamedTuple):
    """What a principal has used since the day began."""

    usage: Usage
    seconds_left: float
    """Until the next day begins."""


class Load(NamedTuple):
    """What a process is doing, and what its stores refused since it began."""

    steps: int = 0
    """That compute."""
    waiting: int = 0
    """Steps that wait for a place among those."""
    live: int = 0
    """Navigations that stand ready."""
    leases: int = 0
    """Navigations that this process holds for a step."""
    lost: int = 0
    """Leases that another server took over while a step ran."""
    store_errors: Mapping[str, int] = MappingProxyType({})
    """Calls that a store did not take, by store."""


class UsageEntry(NamedTuple):
    """What one call took; it is counted once, however often it is added."""

    id: str
    principal: str
    usage: Usage

    @classmethod
    def new(cls, principal: str, usage: Usage) -> UsageEntry:
        """Return an entry with an id of its own."""
        return cls(secrets.token_hex(16), principal, usage)
