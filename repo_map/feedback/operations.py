"""Operations: what somebody can want of a context, and how the ways to say it are written down."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from typing import Final, NamedTuple

from repo_map.feedback.coverage import HELD, TAIL, WORK


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
    is_question: bool
    """It is answered, and changes nothing."""
    meaning: str
    """What it does, for the page."""
    say: str
    """The way to say it that is offered to who was not understood; ``{}`` is the name."""
    examples: tuple[str, ...]
    """Sentences of the tests' repository that mean it."""
    forms: tuple[str, ...]
    """Patterns of whole clauses: a blank is any white space, ``(`` opens an alternative, ``{}`` is what it is
    about, ``<word>`` stands for ``WORDS[word]``, and ``<aside>`` for words that change nothing of it."""
    hints: str = ""
    """Words, of other languages too, by which it is offered where a clause is not understood."""


WORDS: Final = {
    "show": (
        "(?:show|display|give|print|get|fetch|open(?: up)?|include|add|read|see|view|expand|unfold|deepen|list"
        "|showing|adding|including|opening|expanding|giving|pulling in|grab|examine|inspect|study|reveal|present|bring up|pull up|throw in|drop in|toss in|attach"
        "|bring in|pull in|zoom in(?:to)?(?: on)?|zoom on|dive into|look at|look into|load|insert|inspect|provide"
        "|take a look at|have)(?: me| us)?"
    ),
    "drop": (
        "(?:drop|remove|exclude|ignore|skip|hide|omit|lose|discard|leave out|take out|throw out|throw away|forget(?: about)?"
        "|prune|dropping|removing|excluding|skipping|hiding|omitting|leaving out|leave aside|ditch|nuke|trash|axe|toss out|filter out|kill|scrap|never mind|get rid of|cut out|kick out|strip out|no need for|without|no|not|minus|stop (?:showing|including)(?: me)?"
        ")"
    ),
    "not": "(?:do not|don't|dont|did not|didn't|will not|won't|would not|wouldn't|never|you needn't|no need to|no longer)",
    "is": "(?:is|are|was|were|'s)",
    "isnt": "(?:is not|are not|isn't|aren't|is no|are no)",
    "outline": "(?:outlines?|structure|signatures?|interfaces?|api|skeleton|headers?|shape)",
    "callers": "(?:callers?|call-sites|usages?|uses|users|call sites?|references|invocations)",
    "call": (
        "(?:calls?|uses?|rel(?:y|ies) on|invokes?|references?|refers? to|depends? on|needs?|(?:is|are) (?:calling|using|invoking)|ends? up (?:calling|using))"
    ),
    "cover": "(?:covering|touching|exercising|checking|calling|(?:cover|exercise|touch|test|use|call|check|reach|hit)(?:s|es)?)",
    "of": "(?:of|for|from|in|to|on)",
    "change": "(?:chang(?:e|ed|ing)|touch(?:ed|ing)?|edit(?:ed|ing)?|modif(?:y|ied|ying)|remov(?:e|ed|ing)|renam(?:e|ed|ing)|delet(?:e|ed|ing)|refactor(?:ed|ing)?|wrote|broke)",
    "edit": "(?:chang(?:e|ed|ing)|touch(?:ed|ing)?|edit(?:ed|ing)?|modif(?:y|ied|ying)|refactor(?:ed|ing)?|wrote)",
    "whole": "(?:full|whole|complete|entire|all)",
    "count": r"one|two|three|four|five|six|seven|eight|nine|ten|\d+",
    "work": WORK,
    "name": HELD,
    "matter": "(?:code|logic|tests?|docs|functions?|methods?|class(?:es)?|places?|parts?|helpers?|modules?|files?)",
    "source": "(?:source(?: code)?|body|bodies|code|text|file|implementation|contents?|definition)",
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
"""What is told of files, and not of what they define."""

NAME: Final = "{}"


@cache
def pattern_of(form: str) -> re.Pattern[str]:
    """Return the pattern of a form's whole clauses; its group ``x`` is what the clause is about."""
    return re.compile(expression(form), re.IGNORECASE | re.DOTALL)


def expression(form: str) -> str:
    """Return the regular expression of a form, or of a part of one."""
    for word, choices in WORDS.items():
        form = form.replace(f"<{word}>", choices)
    for word, choices in WORDS.items():
        form = form.replace(f"<{word}>", choices)
    form = re.sub(r"\((?!\?)", "(?:", form)
    form = form.replace(NAME, "(?P<x>.+?)", 1).replace(" ", r"\s+")
    return form.replace("<aside>", TAIL)
