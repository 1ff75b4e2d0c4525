"""Suggestions: what of all that is understood comes nearest to what is not."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, NamedTuple

from repo_map.feedback.asides import HELD
from repo_map.feedback.names import Referent
from repo_map.feedback.operations import NAME, OF_FILES, Operation
from repo_map.feedback.sentences import Clause
from repo_map.feedback.table import TABLE

MOST: Final = 3
_USUAL: Final = (Operation.WHOLE, Operation.OUT, Operation.WHY)
"""What is offered where nothing comes near."""
_OF_KINDS: Final = (Operation.OUT, Operation.ONLY, Operation.BACK, Operation.MORE, Operation.LESS)
"""What can be said of a kind of files, such as the tests."""


class Suggestion(NamedTuple):
    """A sentence that would be understood."""

    operation: Operation
    name: str
    """What it would be about."""
    say: str


def nearest_sayings(clause: Clause, about: Referent, tried: Collection[Operation]) -> tuple[Suggestion, ...]:
    """Return the three sentences about what a clause names that come nearest to it.

    Args:
        clause: what was not understood.
        about: what is named in it.
        tried: operations that it has the form of.
    """
    said = set(re.sub(HELD, " ", clause.text).lower().split())
    rows = sorted(
        (row for row in TABLE if NAME in row.say and (row.operation in _OF_KINDS or not about.is_kind)),
        key=lambda row: (
            row.operation not in tried,
            said.isdisjoint(row.say.split()),
            row.operation not in _USUAL,
        ),
    )
    found: dict[Operation, Suggestion] = {}
    for row in rows:
        name = about.names[0].strip("{}")
        name = about.paths[0] if row.operation in OF_FILES and about.paths else name
        found.setdefault(row.operation, Suggestion(row.operation, name, row.say.replace(NAME, name)))
    return tuple(found.values())[:MOST]
