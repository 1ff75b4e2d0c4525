"""The values of relations, and what a family of languages gives to have its names resolved."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import NamedTuple, Protocol

from repo_map.parsing.facts_model import Site
from repo_map.relations.memo import Memo

Place = tuple[int, int]
"""File id, and row of the definition within the file; -1 is the file's top."""


class Confidence(IntEnum):
    """How sure a relation is; only ``RESOLVED`` may be stated as a fact."""

    POSSIBLE = 1
    """One of several namesakes; what the receiver is, nothing written says."""
    LIKELY = 2
    """The only definition of that name in the family's languages, or one that a guessed language leads to."""
    RESOLVED = 3
    """What is written leads there: imports, scopes, types, inheritance."""


class RelationKind(StrEnum):
    """What the source does with the target."""

    CALL = "call"
    TYPE = "type"
    VALUE = "value"
    BASE = "base"
    DECORATOR = "decorator"
    IMPORT = "import"
    OVERRIDE = "override"
    TEST = "test"
    FILE = "file"
    """The source's text holds the path of the target, a whole file."""
    RENDER = "render"
    """So it does where it has a template filled in."""
    INCLUDE = "include"
    """So does a template that takes in another one."""
    ROUTE = "route"
    """The source asks for a path of an address that the target handles."""
    KEY = "key"
    """The source asks for a setting or a message by its key, which the target holds."""


class Relation(NamedTuple):
    """One use of a definition, where it stands."""

    kind: RelationKind
    source: Place
    """The innermost definition around the use."""
    target: Place
    line: int
    """1-based, in the source's file."""
    confidence: Confidence


class Meaning(NamedTuple):
    """What a site means."""

    targets: tuple[Place, ...] = ()
    """Definitions of this repository, in a fixed order."""
    is_outside: bool = False
    """Whether it is known to mean something that is not ours: a builtin, another package."""
    is_certain: bool = False
    """Whether it holds even in a language whose names are likely at best."""
    is_left_open: bool = False
    """Whether it was too involved to follow."""


OPEN = Meaning()
"""What is written does not say."""
LEFT_OPEN = Meaning(is_left_open=True)
OUTSIDE = Meaning(is_outside=True)


class Family(Protocol):
    """The resolver of one family of languages, made once for an index."""

    common: frozenset[str]
    """Names of members that the language's own types bear: unresolved, they are told of nobody."""

    initialisers: frozenset[str]
    """Names of the methods that constructing an object of their class calls."""

    memo: Memo
    """What guards it: all but ``names_of`` is asked within ``memo.asked``."""

    def meaning(self, file: int, site: Site) -> Meaning:
        """Return what a site of a file means."""

    def names_of(self, place: Place) -> frozenset[str]:
        """Return the names by which sites may use a definition: its own, and what it is renamed to."""

    def bases(self, place: Place) -> tuple[Place, ...]:
        """Return the classes of this repository that a class extends or implements directly, in order."""

    def imported(self, file: int) -> tuple[tuple[int, int], ...]:
        """Return the files that a file imports, each with the line where it does."""
