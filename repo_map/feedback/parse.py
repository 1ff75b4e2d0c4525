"""Phrases: what a clause may mean, by the table of operations, and the words that say what it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from repo_map.feedback.amounts import names_budget, names_numbers
from repo_map.feedback.coverage import HELD
from repo_map.feedback.operations import Operation, pattern_of
from repo_map.feedback.sentences import Clause, clauses
from repo_map.feedback.table import TABLE


class Phrase(NamedTuple):
    """One reading of a clause."""

    operation: Operation
    is_question: bool = False
    """An answer is wanted, no change."""
    words: str = ""
    """What it is about, names set aside; ``""`` where it is about nothing."""
    is_bare: bool = False
    """Nothing but the words says that they are wanted."""


_WITHOUT_OBJECT = frozenset({Operation.FINISH, Operation.NOTHING, Operation.UNDO, Operation.LEFT_OUT})


def readings(clause: Clause) -> Iterator[Phrase]:
    """Yield what a clause may mean, the likeliest first."""
    text = clause.text
    if names_numbers(text):
        yield Phrase(Operation.NUMBERS, words=text)
        return
    for row in TABLE:
        if row.operation is Operation.BUDGET:
            # A file may be called `tokens.py`, and one that is named is what is too long.
            if names_budget(re.sub(HELD, " ", text)) and (
                not re.search(HELD, text) or re.search(r"\d", text)
            ):
                yield Phrase(Operation.BUDGET, words=text)
                return
            continue
        for form in row.forms:
            if (match := pattern_of(form).fullmatch(text)) is None:
                continue
            words = match.groupdict().get("x") or ""
            yield Phrase(row.operation, row.is_question, words.strip())
            if row.operation in _WITHOUT_OBJECT:
                return
    yield Phrase(Operation.WHOLE, words=text, is_bare=True)


def asks_by_number(feedback: str) -> bool:
    """Say whether any part of a feedback asks for places of the menu."""
    return any(names_numbers(clause.text) for clause in clauses(feedback))
