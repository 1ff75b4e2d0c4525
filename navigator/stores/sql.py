"""What a database must do to keep sessions and usage, and a record of where the SQL of each differs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

_T = TypeVar("_T")


class Dialect(NamedTuple):
    """What of the SQL is not the same in every database. Parameters are ``$1``, ``$2``, … in all of them."""

    for_update: str
    """Ends a query whose rows nobody else may change until the transaction ends."""
    by_bytes: str
    """Behind a column: sorts texts by their bytes, whatever the database's language."""
    event_order: str
    """The column of ``events`` that grows with each event that is appended."""
    parts: Callable[[Sequence[str]], str]
    """From paths within a state, ``name.field``, to what selects those parts as one JSON array.

    The array is NULL where the state is damaged.
    """
    as_stored: Callable[[str], str]
    """From JSON in ASCII to the text that the database keeps."""
    as_written: Callable[[str], str]
    """From the text that the database keeps to the JSON that it stands for."""
    is_stale: Callable[[float, float], bool]
    """Whether a session has changed, by the time of its stored change and the one that was read."""
    duplicate_event: tuple[type[Exception], ...]
    """What an event whose id is taken raises; empty where the database's own error is left as it is."""
    midnight: str
    """When this day of UTC began, as ``usage.at`` tells times."""
    seconds_left: str
    """How many seconds of this day are left."""
    old_usage: str
    """The rows of ``usage`` that go when one of principal ``$1`` comes: older than ``$2`` days."""


class SqlConnection(Protocol):
    """A connection within a transaction, as asyncpg has it."""

    async def execute(self, query: str, *values: Any) -> object:
        """Carry out a statement."""

    async def fetch(self, query: str, *values: Any) -> list[Any]:
        """Return all rows."""

    async def fetchrow(self, query: str, *values: Any) -> Any:
        """Return the first row, None where there is none."""

    async def fetchval(self, query: str, *values: Any) -> Any:
        """Return the first value of the first row, None where there is no row."""


class SqlDatabase(Protocol):
    """Acts on a database, each a transaction."""

    @property
    def dialect(self) -> Dialect:
        """Where its SQL differs."""

    @property
    def errors(self) -> int:
        """Calls that the database did not take since it was opened."""

    async def act(
        self,
        act: Callable[[SqlConnection], Awaitable[_T]],
        *,
        is_read: bool = False,
        durable: bool = True,
    ) -> _T:
        """Return what ``act`` returns, once what it wrote is committed; where it raises, nothing was.

        Args:
            act: what is done within one transaction. It awaits nothing but its connection. It may be called
                again where a connection was cut, and then what it did before may have been committed.
            is_read: whether it only reads, all of it as it was at one moment.
            durable: whether the disk must have it, or the system may keep it for a while: that outlives the
                process, but not a loss of power.
        """

    async def complete(self) -> None:
        """Give what an earlier version stored the rows of ``session_uses`` that it lacks."""

    async def close(self) -> None:
        """Close what is open; the next use opens it anew."""
