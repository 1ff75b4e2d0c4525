"""What steering understands: one row for each operation, read by the parser and by its page."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from repo_map.feedback.asides import FILLERS
from repo_map.feedback.operations import NAME, Operation, expression
from repo_map.feedback.question_forms import QUESTIONS
from repo_map.feedback.wish_forms import WISHES

_ORDER: Final = {operation: place for place, operation in enumerate(Operation)}
TABLE: Final = tuple(
    sorted(
        (*(row._replace(is_question=True) for row in QUESTIONS), *WISHES),
        key=lambda row: (_ORDER[row.operation], not row.is_question),
    )
)
"""In the order of the operations, a question before the wish: the first row that fits is meant."""


@cache
def leads() -> re.Pattern[str]:
    """Return what every clause that has a form of its own begins with, as far as its name."""
    looked_ahead = re.compile(r"\(\?[=!](?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
    heads = {
        expression(head.rstrip())
        for row in TABLE
        for form in row.forms
        if (head := looked_ahead.sub("", form.partition(NAME)[0])).strip()
        and head.count("(") == head.count(")")
    }
    found = sorted(head for head in heads if re.fullmatch(head, "") is None)
    return re.compile(rf"{FILLERS}(?:{'|'.join(found)})(?:(?<=\s)|(?=\W|$))", re.IGNORECASE)
