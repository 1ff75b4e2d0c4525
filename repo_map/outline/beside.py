"""What stands one step beside chosen definitions by resolved relations, and how."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.languages.kinds import CONTAINERS
from repo_map.relations.model import Confidence, Place
from repo_map.relations.resolve import relations_of

if TYPE_CHECKING:
    from repo_map.index.index import Index

MOST_SITES: Final = 60
"""Uses of one name in the whole repository up to which they are looked at."""
_PARTS_OF_NAME: Final = 2
"""Of a long qualified name: the class and the member."""


class How(StrEnum):
    """What a definition is to the chosen one that it stands beside."""

    OWNER = "class of"
    CALLEE = "called by"
    BASE = "overridden by"
    OVERRIDE = "overrides"
    CALLER = "calls"


class Neighbour(NamedTuple):
    """A definition that a relation leads to from a chosen one."""

    place: Place
    seed: int
    """Position of the chosen one."""
    how: How
    line: int
    """Of the call, in the file of who calls; 0 for what is no call."""
    among: int
    """How many stand beside the chosen one in the same way."""

    @property
    def is_owner(self) -> bool:
        return self.how is How.OWNER

    @property
    def share(self) -> float:
        """Its share of what the chosen one is worth, which follows from its place; 0 to 1."""
        return 1.0 / (math.sqrt(math.sqrt(1 + self.seed)) * math.sqrt(self.among))

    def why(self, index: Index, chosen: Place) -> str:
        """Return in a few words why it is worth a look: ``called by Session.send, line 703``."""
        line = f", line {self.line}" if self.how is How.CALLEE else ""
        return f"{self.how} {_member(index, chosen)}{line}"


def _member(index: Index, place: Place) -> str:
    """Return the name of a definition, with that of its class."""
    return ".".join(index.qualified_name(*place).split(".")[-_PARTS_OF_NAME:])


def neighbours_of(index: Index, places: Sequence[Place]) -> list[Neighbour]:
    """Return the classes of some definitions, what they call, and what calls or overrides them.

    What a name means is told by what is written alone. In the order of ``places``; none of them is returned.
    """
    known = set(places)
    with relations_of(index).asking():
        return [
            each
            for seed, place in enumerate(places)
            for how, ends in _around(index, place)
            for each in _counted(seed, how, [end for end in ends if end[0] not in known and end[0][1] >= 0])
        ]


_Ends = Iterable[tuple[Place, int]]


def _around(index: Index, place: Place) -> Iterator[tuple[How, _Ends]]:
    """Yield what stands beside a definition in each way, with the lines of calls."""
    relations = relations_of(index)
    yield How.OWNER, ((owner, 0) for owner in owners_of(index, place))
    if not relations.knows(place[0]) or relations.max_confidence(place[0]) is not Confidence.RESOLVED:
        return
    yield How.CALLEE, ((each.target, each.line) for each in relations.calls_in(place))
    yield How.BASE, ((each.target, 0) for each in relations.overrides_of(place))
    yield How.OVERRIDE, ((each.source, 0) for each in relations.overridden_by(place))
    if relations.occurrence_count(place) <= MOST_SITES:
        yield How.CALLER, ((each.source, each.line) for each in relations.callers_of(place))


def _counted(seed: int, how: How, ends: Sequence[tuple[Place, int]]) -> Iterator[Neighbour]:
    first: dict[Place, int] = {}
    for place, line in ends:
        first.setdefault(place, line)
    return (Neighbour(place, seed, how, line, len(first)) for place, line in first.items())


def owners_of(index: Index, place: Place) -> Iterator[Place]:
    """Yield the class that a definition is a member of, be it around it or named by it."""
    file, row = place
    definitions = index.definitions(file)
    if (parent := definitions[row].parent) >= 0 and definitions[parent].kind in CONTAINERS:
        yield file, parent
    owner = definitions[row].name.rpartition(".")[0]
    yield from (
        (file, at)
        for at, each in enumerate(definitions)
        if owner and each.name == owner and each.kind in CONTAINERS
    )
