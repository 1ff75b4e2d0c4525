"""Suggestions: what of all that is understood comes nearest to what is not."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from typing import Final, NamedTuple

from repo_map.feedback.coverage import HELD
from repo_map.feedback.names import Target
from repo_map.feedback.operations import OF_FILES, WORDS, Operation, Row
from repo_map.feedback.sentences import Clause
from repo_map.feedback.table import TABLE

MOST: Final = 3
_USUAL: Final = (Operation.WHOLE, Operation.OUT, Operation.WHY)
"""What is offered where nothing comes near."""
_OF_KINDS: Final = (
    Operation.OUT,
    Operation.ONLY,
    Operation.BACK,
    Operation.MORE,
    Operation.LESS,
)
"""What can be said of a kind of files, such as the tests."""


class Suggestion(NamedTuple):
    """A sentence that would be understood."""

    operation: Operation
    name: str
    """What it would be about; ``""`` for nothing."""
    say: str


def nearest_sayings(
    clause: Clause, targets: Sequence[Target], names: Sequence[str], tried: Collection[Operation]
) -> tuple[Suggestion, ...]:
    """Return up to three sentences that come nearest to a clause; without a name, those that share its words.

    Args:
        clause: what was not understood.
        targets: what is named in it.
        names: what else is spelled much like a name in it.
        tried: operations that it has the form of.
    """
    said = set(re.findall(r"[\w-]{2,}", re.sub(HELD, " ", clause.text).lower()))
    target = next((target for target in targets if target.name), Target(""))
    about = target.name or next(iter(names), "")
    rows = [row for row in TABLE if row.operation not in (Operation.NOTHING, Operation.NUMBERS)]
    if not about:
        rows = [row for row in rows if "{}" not in row.say and said & _words_of(row)]
    if about.startswith("{"):
        rows = [row for row in rows if row.operation in _OF_KINDS]
    scored = sorted(
        range(len(rows)),
        key=lambda at: (
            rows[at].operation not in tried,
            -len(said & _words_of(rows[at])),
            rows[at].operation not in _USUAL,
            at,
        ),
    )
    found: dict[Operation, Suggestion] = {}
    for row in (rows[at] for at in scored):
        if row.operation not in found:
            name = about.split(" ")[0] if not about.startswith('"') else about
            name = target.paths[0] if row.operation in OF_FILES and target.paths else name
            say = row.say.replace("{}", name.strip("{}"))
            found[row.operation] = Suggestion(row.operation, name if "{}" in row.say else "", say)
        if len(found) == MOST:
            break
    return tuple(found.values())


@cache
def _words_of(row: Row) -> frozenset[str]:
    text = " ".join(row.forms)
    for _ in range(2):
        for word, choices in WORDS.items():
            text = text.replace(f"<{word}>", choices)
    plain = set(re.findall(r"[a-z]{4,}", text)) - _COMMON
    return frozenset(plain | set(row.hints.split()))


_COMMON: Final = frozenset(
    [
        "this",
        "that",
        "with",
        "what",
        "which",
        "there",
        "their",
        "them",
        "have",
        "does",
        "here",
        "from",
        "into",
        "been",
        "much",
        "many",
        "more",
        "some",
        "anything",
        "something",
        "everything",
        "else",
        "also",
        "only",
        "just",
        "show",
        "give",
        "tell",
        "list",
        "find",
        "where",
        "when",
        "were",
        "would",
        "could",
        "should",
        "will",
        "might",
        "code",
        "file",
        "files",
    ]
)
