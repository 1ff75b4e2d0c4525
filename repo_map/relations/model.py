"""The values of relations, and what the use of a name means."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import NamedTuple

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
    is_external: bool = False
    """Whether it is known to mean something that is not ours: a builtin, another package."""
    is_certain: bool = False
    """Whether it holds even in a language whose names are likely at best."""
    is_left_open: bool = False
    """Whether it was too involved to follow."""


UNRESOLVED = Meaning()
"""What is written does not say."""
LEFT_OPEN = Meaning(is_left_open=True)
