"""Phrases: which of a few wishes a sentence expresses, and about what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple


class Wish(StrEnum):
    """What somebody can want of a context."""

    BUDGET = "budget"
    WHY = "why"
    WHERE = "where"
    DROP = "drop"
    ONLY = "only"
    LESS = "less"
    OUTLINE = "outline"
    DEEPEN = "deepen"
    MORE = "more"
    OTHER = "other"
    """None of these: the words say more of the goal."""


class Phrase(NamedTuple):
    """One wish and the words that say what it is about."""

    wish: Wish
    words: str


_VERBS: dict[Wish, str] = {
    Wish.WHY: (
        r"why(?: is| are| was| were| did you (?:include|show|pick|add|choose)| do (?:you|i) (?:see|have))?"
    ),
    Wish.WHERE: r"where(?: is| are|'s|s)|find|locate",
    Wish.OUTLINE: (
        r"(?:show |give |only |just )*(?:me )?(?:only |just )?(?:the )?"
        r"(?:outlines?|structure|signatures?|interfaces?|api|skeleton|headers?) (?:of|for|from|in)"
    ),
    Wish.ONLY: (
        r"(?:use |show |keep |include |take )?(?:only|just|nothing but)|limit (?:it |this |yourself )?to"
        r"|restrict (?:it |this |yourself )?to|stay (?:in|within)"
    ),
    Wish.DROP: (
        r"drop|remove|exclude|ignore|skip|hide|omit|leave out|forget(?: about)?|get rid of|no more|without"
        r"|no|(?:i )?(?:do not|don't|dont) (?:need|want|show|include)(?: to see)?|not"
    ),
    Wish.LESS: (
        r"(?:show |give me )?(?:less|fewer)(?: of| about| from| detail (?:on|of|in))?"
        r"|shrink|collapse|shorten|trim"
    ),
    Wish.MORE: (
        r"(?:show |give |tell )?(?:me )?more (?:about|on|from|around)|focus(?: more)?(?: on)?|prefer"
        r"|concentrate on|look (?:more )?(?:at|into)|prioriti[sz]e|boost|emphasi[sz]e|more"
    ),
    Wish.DEEPEN: (
        r"deepen|expand|unfold|open(?: up)?|zoom (?:in(?:to)?(?: on)?|on)|(?:show|give)(?: me)?|include|add"
        r"|read|display|(?:i )?(?:want|need)(?: to see)?"
    ),
}
_START = {
    wish: re.compile(rf"^(?:{verbs})\b\s*(.*)$", re.IGNORECASE | re.DOTALL) for wish, verbs in _VERBS.items()
}
_ANY_VERB = "|".join(f"(?:{verbs})" for verbs in _VERBS.values())
_BREAK = re.compile(
    rf"\n+|;|[.!?]+(?:\s+|$)|,?\s+but\s+|,\s*(?:and |then )?(?=(?:{_ANY_VERB})\s)"
    rf"|\s+(?:and|then)\s+(?=(?:{_ANY_VERB})\s)",
    re.IGNORECASE,
)
_BUDGET = re.compile(
    r"\b(?:budget|tokens?|context)\b.*?(?P<after>\d[\d,_]*(?:\.\d+)?)\s*(?P<k>k)?\b"
    r"|(?P<before>\d[\d,_]*(?:\.\d+)?)\s*(?P<bk>k)?\s*(?:tokens?|budget)\b|^(?P<short>\d+)\s*k$",
    re.IGNORECASE,
)
_BIGGER = re.compile(
    r"\b(?:bigger|larger|higher|more|raise|increase|double)\b.*\b(?:budget|tokens|context)\b", re.I
)
_SMALLER = re.compile(r"\b(?:smaller|lower|less|fewer|reduce|halve)\b.*\b(?:budget|tokens|context)\b", re.I)
_POLITE = re.compile(
    r"^(?:please|now|also|ok(?:ay)?|and|then|can you|could you|i'd like you to|let's|you can)[,\s]+",
    re.I,
)
_QUOTED = re.compile(r"`[^`\n]+`|\"[^\"\n]+\"")


def read_phrases(feedback: str) -> Iterator[Phrase]:
    """Yield the wishes of a feedback in order."""
    for sentence in _sentences(feedback):
        words = sentence.strip(" ,.!?\t")
        while (polite := _POLITE.match(words)) is not None:
            words = words[polite.end() :]
        if words:
            yield _phrase(words)


def _sentences(text: str) -> list[str]:
    """Cut a text at its breaks, those within quotes aside."""
    quotes: list[str] = []

    def hold(match: re.Match[str]) -> str:
        quotes.append(match[0])
        return f"\0{len(quotes) - 1}\0"

    parts = _BREAK.split(_QUOTED.sub(hold, text))
    return [re.sub(r"\0(\d+)\0", lambda match: quotes[int(match[1])], part) for part in parts if part]


def _phrase(words: str) -> Phrase:
    if _BUDGET.search(words) or _BIGGER.search(words) or _SMALLER.search(words):
        return Phrase(Wish.BUDGET, words)
    for wish, start in _START.items():
        if (match := start.match(words)) is not None and match[1].strip():
            return Phrase(wish, match[1].strip())
    return Phrase(Wish.OTHER, words)


def read_budget(words: str, budget: int) -> int:
    """Return the budget that the words ask for: a number of tokens, half as much again, or a third less."""
    if (match := _BUDGET.search(words)) is not None:
        number = match["after"] or match["before"] or match["short"]
        thousands = match["k"] or match["bk"] or match["short"]
        return max(1, round(float(number.replace(",", "").replace("_", "")) * (1000 if thousands else 1)))
    if _BIGGER.search(words):
        return budget * 2 if "double" in words.lower() else budget * 3 // 2
    return max(1, budget // 2 if "halve" in words.lower() else budget * 2 // 3)
