"""Operations: what somebody can want of a context, and how the ways to say it are written down."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from typing import Final, NamedTuple

from repo_map.feedback.asides import FILLERS, TAIL, WORK


class Operation(StrEnum):
    """What somebody can want of a context; each either changes it or is answered."""

    NUMBERS = "numbers"
    FINISH = "finish"
    NOTHING = "nothing"
    UNDO = "undo"
    BUDGET = "budget"
    LEFT_OUT = "left out"
    WHY = "why"
    IMPACT = "impact"
    IMPORTERS = "importers"
    IMPORTS = "imports"
    HISTORY = "history"
    CLASSES = "classes"
    TESTS = "tests"
    CALLERS = "callers"
    USES = "uses"
    WHERE = "where"
    BACK = "back"
    LESS = "less"
    OUTLINE = "outline"
    ONLY = "only"
    OUT = "out"
    MORE = "more"
    WHOLE = "whole"
    SEARCH = "search"


class Row(NamedTuple):
    """One thing that is understood, and the ways to say it."""

    operation: Operation
    meaning: str
    """What it does, for the page."""
    say: str
    """The way to say it that is offered to who was not understood; ``{}`` is the name."""
    examples: tuple[str, ...]
    """Sentences of the tests' repository that mean it."""
    forms: tuple[str, ...] = ()
    """Patterns of whole clauses: a blank is any white space with articles and the like, ``(`` opens an
    alternative, ``{}`` is what it is about, ``<word>`` stands for ``WORDS[word]``, and ``<aside>`` for words
    that change nothing of it."""
    is_question: bool = False
    """It is answered, and changes nothing."""


WORDS: Final = {
    "show": (
        "(?:show|display|give|print|get|fetch|open|include|add|read|see|expand|unfold|deepen|insert|examine"
        "|inspect|grab|have|list|look (?:at|into)|dive into|zoom in on|(?:pull|bring) (?:in|up))"
    ),
    "drop": (
        "(?:drop|remove|exclude|ignore|skip|hide|omit|lose|discard|prune|kill|forget(?: about)?|never mind"
        "|(?:leave|take|throw|kick) (?:out|away)|get rid of|no need for|without|not?|stop showing)"
    ),
    "not": "(?:do not|not|don't|will not|won't|never|no need to|no longer)",
    "is": "(?:is|are|was|were)",
    "outline": "(?:outline|structure|signatures?|interface|api|skeleton)",
    "callers": "(?:callers|usages|uses|users|call sites|references)",
    "call": (
        "(?:calls?|uses?|invokes?|references?|needs?|rel(?:y|ies) on|depends? on"
        "|(?:is|are|ends? up) (?:calling|using))"
    ),
    "called": "(?:used|called|invoked|referenced|instantiated)",
    "cover": "(?:cover|exercise|touch|test|use|call|check|reach)(?:s|es|ing)?",
    "tests": "(?:unit )?tests?",
    "of": "(?:of|for|from|in|to|on)",
    "change": "(?:chang|touch|edit|modif|remov|renam|delet|refactor)(?:e|ed|y|ied|ying|ing)?",
    "whole": "(?:full|whole|complete|entire|all)",
    "count": r"(?:one|two|three|four|five|six|seven|eight|nine|ten|\d+)",
    "work": WORK,
}

TAKES_AWAY: Final = frozenset(
    {
        Operation.OUT,
        Operation.ONLY,
        Operation.LESS,
        Operation.OUTLINE,
        Operation.BUDGET,
        Operation.FINISH,
        Operation.UNDO,
    }
)
"""What is done only where all that was said is understood."""

OF_FILES: Final = frozenset({Operation.HISTORY, Operation.IMPORTS, Operation.IMPORTERS})
"""What is asked of files, and not of what they define."""

NAME: Final = "{}"


@cache
def pattern_of(form: str) -> re.Pattern[str]:
    """Return the pattern of a form's whole clauses; its group ``x`` is what the clause is about."""
    return re.compile(FILLERS + expression(form), re.IGNORECASE | re.DOTALL)


def expression(form: str) -> str:
    """Return the regular expression of a form, or of a part of one."""
    form = re.sub(r"\((?!\?)", "(?:", form)
    form = form.replace(NAME, "(?P<x>.+?)", 1)
    for word, choices in WORDS.items():
        form = form.replace(f"<{word}>", choices)
    return form.replace(" ", rf"\s+{FILLERS}").replace("<aside>", TAIL)
