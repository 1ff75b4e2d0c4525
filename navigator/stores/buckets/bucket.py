"""What a bucket must do, whatever storage it is of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from navigator.stores.store_address import BucketAddress

NO_CREDENTIALS: Final = "no usable credentials"
"""The reason of whoever finds none, or none that can be read."""


class BucketError(Exception):
    """The bucket does not take the call; the message is what the storage calls the reason, in a few words.

    It holds no name of an object, no credential, and nothing else that the storage says in its own words.
    """


class ListedObject(NamedTuple):
    """What a listing says of an object."""

    name: str
    size: int
    """Bytes."""
    written: float
    """Seconds since the epoch, by the clock of the storage."""


class ReadObject(NamedTuple):
    """An object."""

    content: bytes
    kind: str
    """Its media type."""


class ObjectFacts(NamedTuple):
    """What is known of an object that is not read."""

    kind: str
    """Its media type."""
    written: float
    """Seconds since the epoch, by the clock of the storage."""


class Bucket(Protocol):
    """Objects below the prefix of an address, called from any thread; their names begin after that prefix.

    An object is written whole or not at all, and who lists or reads afterwards finds it. Every method raises
    ``BucketError`` where the bucket is gone, slow, or closed to this server, and no other error. It gives up
    after the attempts that the bucket was opened with; an attempt is a connection and an answer in seconds.
    """

    address: BucketAddress

    def names(self, prefix: str) -> list[ListedObject]:
        """Return the objects whose names begin with ``prefix``, in any order."""
        ...

    def read(self, name: str, limit: int | None = None) -> ReadObject | None:
        """Return an object, None where there is none or it has more than ``limit`` bytes."""
        ...

    def facts(self, name: str) -> ObjectFacts | None:
        """Return what is known of an object, None where there is none."""
        ...

    def write(self, name: str, content: bytes, kind: str) -> None:
        """Keep an object, in place of one of that name."""
        ...

    def create(self, name: str, content: bytes, kind: str) -> bool:
        """Keep an object unless there is one of that name, and return whether it was kept.

        Of many who create one at once it is one that is told so. An attempt whose answer was lost counts as
        somebody else's: its content is kept, and False is returned.
        """
        ...

    def remove(self, names: Sequence[str]) -> None:
        """Let go of objects; one that is not there is passed over."""
        ...
