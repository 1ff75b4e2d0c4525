"""Phrases: what a clause may mean, by the table of operations, and the words that say what it is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from repo_map.feedback.amounts import names_numbers, read_budget
from repo_map.feedback.operations import NAME, Operation, pattern_of
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


def readings(clause: Clause) -> Iterator[Phrase]:
    """Yield what a clause may mean, the likeliest first."""
    text = clause.text
    if names_numbers(text):
        yield Phrase(Operation.NUMBERS, words=text)
        return
    if read_budget(text, 0) is not None:
        yield Phrase(Operation.BUDGET, words=text)
        return
    for row in TABLE:
        for form in row.forms:
            if (match := pattern_of(form).fullmatch(text)) is None:
                continue
            yield Phrase(row.operation, row.is_question, (match.groupdict().get("x") or "").strip())
            if NAME not in form:
                return
    yield Phrase(Operation.WHOLE, words=text, is_bare=True)


def asks_by_number(feedback: str) -> bool:
    """Say whether any part of a feedback asks for places of the menu."""
    return any(names_numbers(clause.text) for clause in clauses(feedback))
