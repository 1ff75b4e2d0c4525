"""Where servers share what they derived: objects by name, of whatever keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class SharedObjectsError(Exception):
    """The objects can't be reached; the message is a sentence without a name, a key or an address's user."""


class StoredObject(NamedTuple):
    """What a listing says of an object."""

    name: str
    size: int
    """Bytes."""
    written: float
    """Seconds since the epoch, by the clock of whoever keeps it."""


class SharedObjects(Protocol):
    """Objects that several servers read and write, from any thread.

    A name is made of letters, digits, ``-`` and ``/``; an object is written whole or not at all. Every method
    raises ``SharedObjectsError`` where the objects can't be reached, and no other error.
    """

    def names(self, prefix: str) -> list[StoredObject]:
        """Return the objects whose names begin with ``prefix``, in any order."""
        ...

    def read(self, name: str, limit: int) -> bytes | None:
        """Return an object, None where there is none or it has more than ``limit`` bytes."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Keep an object, in place of one of that name."""
        ...

    def remove(self, names: Sequence[str]) -> None:
        """Let go of objects; one that is not there is passed over."""
        ...


class Sharing(NamedTuple):
    """Which objects an index is shared through, and as what."""

    objects: SharedObjects
    repository: str = ""
    """The name that a server's own list gives the repository; ``""`` for one that is known by its folder.

    Only those who open a repository of this name share it: whoever gives the name has decided who may.
    """
    most_bytes: int = 10_000_000_000
    """Of all shared objects together; those written or renewed least lately go first."""
