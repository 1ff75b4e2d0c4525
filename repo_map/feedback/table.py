"""What steering understands: one row for each operation, read by the parser and by the page that tells it."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from repo_map.feedback.operations import NAME, WORDS, Operation, Row, expression
from repo_map.feedback.question_forms import QUESTIONS
from repo_map.feedback.wish_forms import WISHES

_ORDER: Final = {operation: place for place, operation in enumerate(Operation)}
TABLE: Final = tuple(
    sorted((*QUESTIONS, *WISHES), key=lambda row: (_ORDER[row.operation], not row.is_question))
)
"""In the order of the operations, a question before the wish: the first row that fits is meant."""


def rows_of(operation: Operation) -> tuple[Row, ...]:
    """Return the rows of an operation."""
    return tuple(row for row in TABLE if row.operation is operation)


_LOOKING: Final = re.compile(r"\(\?[=!](?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
"""What a form looks ahead for, and reads later."""


@cache
def leads() -> re.Pattern[str]:
    """Return what every clause that has a form of its own begins with, as far as its name."""
    heads = {
        expression(head.rstrip())
        for row in TABLE
        for form in row.forms
        if (head := _LOOKING.sub("", form.partition(NAME)[0])).strip() and head.count("(") == head.count(")")
    }
    told = sorted(head for head in heads if re.fullmatch(head, "") is None)
    return re.compile(rf"(?:{'|'.join(told)})(?:(?<=\s)|(?=\W|$))", re.IGNORECASE)


@cache
def vocabulary() -> tuple[str, ...]:
    """Return the words of all forms, sorted: what a misspelt word may have been meant as."""
    text = " ".join((*WORDS.values(), *(form for row in TABLE for form in row.forms)))
    text = re.sub(r"\\\w|<\w+>", " ", text)
    return tuple(sorted(set(re.findall(r"[a-z]{3,}", text))))
