"""Suggestions: what of all that is understood comes nearest to what is not."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
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


def nearest_sayings(
    clause: Clause, targets: Sequence[Referent], names: Sequence[str], tried: Collection[Operation]
) -> tuple[Suggestion, ...]:
    """Return up to three sentences that come nearest to a clause; none where it names nothing that is known.

    Args:
        clause: what was not understood.
        targets: what is named in it.
        names: what else is spelled much like a name in it.
        tried: operations that it has the form of.
    """
    target = next((target for target in targets if target.name), Referent(""))
    about = target.name or next(iter(names), "")
    if not about:
        return ()
    said = set(re.sub(HELD, " ", clause.text).lower().split())
    rows = [
        row for row in TABLE if NAME in row.say and (row.operation in _OF_KINDS or not about.startswith("{"))
    ]
    rows.sort(
        key=lambda row: (
            row.operation not in tried,
            said.isdisjoint(row.say.split()),
            row.operation not in _USUAL,
        )
    )
    found: dict[Operation, Suggestion] = {}
    for row in rows:
        name = about if about.startswith('"') else about.split(" ")[0].strip("{}")
        name = target.paths[0] if row.operation in OF_FILES and target.paths else name
        found.setdefault(row.operation, Suggestion(row.operation, name, row.say.replace(NAME, name)))
    return tuple(found.values())[:MOST]
