"""Phrases: which of a few wishes a sentence expresses, and about what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple


class Intent(StrEnum):
    """What somebody can want of a context."""

    BUDGET = "budget"
    NUMBERS = "numbers"
    """Places of the menu, by their numbers."""
    WHY = "why"
    WHERE = "where"
    DROP = "drop"
    ONLY = "only"
    LESS = "less"
    OUTLINE = "outline"
    DEEPEN = "deepen"
    MORE = "more"
    BACK = "back"
    IMPACT = "impact"
    """What breaks where something is changed."""
    CALLERS = "callers"
    USES = "uses"
    TESTS = "tests"
    LEFT_OUT = "left out"
    TALK = "talk"
    """Words that ask for nothing that a plan could do."""
    OTHER = "other"
    """None of these: the words say more of the goal."""


class Phrase(NamedTuple):
    """One wish and the words that say what it is about."""

    intent: Intent
    words: str
    is_question: bool = False
    """An answer is wanted, no change."""


_VERBS: dict[Intent, str] = {
    Intent.WHY: (
        r"why(?: is| are| was| were| did you (?:include|show|pick|add|choose)"
        r"| do (?:you|i) (?:see|have|show))?"
    ),
    Intent.WHERE: r"where(?: is| are|'s|s)|find|locate|what(?: is| are|'s)",
    Intent.OUTLINE: (
        r"(?:show |give |only |just )*(?:me )?(?:only |just )?(?:the )?"
        r"(?:outlines?|structure|signatures?|interfaces?|api|skeleton|headers?) (?:of|for|from|in)"
    ),
    Intent.ONLY: (
        r"(?:use |show |keep |include |take )?(?:only|just|nothing but)|limit (?:it |this |yourself )?to"
        r"|restrict (?:it |this |yourself )?to|stay (?:in|within)"
    ),
    Intent.DROP: (
        r"drop|remove|exclude|ignore|skip|hide|omit|leave out|take out|forget(?: about)?|get rid of"
        r"|no more(?! than)|without|stop (?:showing|including)"
        r"|(?:i am |i'm )?not interested in|(?:i )?(?:do not|don't|dont) care (?:about|for)"
        r"|no(?! more than)|(?:i )?(?:do not|don't|dont) (?:need|want|show|include)(?: to see)?|not"
    ),
    Intent.LESS: (
        r"(?:show |give me )?(?:less|fewer)(?: of| about| from| detail (?:on|of|in|for))?"
        r"|shrink|collapse|fold|shorten|trim"
    ),
    Intent.MORE: (
        r"(?:show |give |tell )?(?:me )?more (?:about|on|from|around|detail (?:on|of|in|for))"
        r"|focus(?: more)?(?: on)?|prefer"
        r"|concentrate on|look (?:more )?(?:at|into)|prioriti[sz]e|boost|emphasi[sz]e"
        r"|keep|everything about|more"
    ),
    Intent.BACK: r"restore|bring back|put back|un-?hide|re-?add",
    Intent.DEEPEN: (
        r"(?:show |give |i need |i want )?(?:me )?(?:the )?(?:full|whole|complete|entire|all)(?: the)?"
        r"(?: source| body| bodies| code| text| file| implementation)*(?: of| for)"
        r"|deepen|expand|unfold|open(?: up)?|zoom (?:in(?:to)?(?: on)?|on)|(?:show|give)(?: me)?|include|add"
        r"|read|display|(?:i )?(?:want|need)(?: to see)?"
    ),
}
_RELATIONS: dict[Intent, str] = {
    Intent.IMPACT: (
        r"what (?:(?:else )?(?:breaks?|would break|will break|could break|might break|is at risk|is affected)"
        r"|do (?:i|we) break) (?:if|when) (?:i|we|you|somebody|someone) "
        r"(?:change|edit|rename|remove|delete|touch|drop|modify) (?P<a>.+)"
        r"|what does (?:changing|editing|renaming|removing|deleting) (?P<b>.+?) (?:break|affect|touch)"
        r"|(?:what is )?(?:the )?impact of (?:changing |editing |renaming |removing )?(?P<c>.+)"
    ),
    Intent.CALLERS: (
        r"(?:who|what) (?:calls|uses|invokes|imports|refers to|depends on) (?P<a>.+)"
        r"|where (?:is|are) (?P<b>.+?) (?:used|called|invoked|referenced)"
        r"|(?P<do>.*?)\b(?:the )?(?:callers|users|usages?|uses|call sites|references) (?:of|to) (?P<c>.+)"
    ),
    Intent.USES: (
        r"what does (?P<a>.+?) (?:call|use|need|depend on|refer to)"
        r"|(?P<do>.*?)\b(?:the )?(?:callees|dependencies) of (?P<c>.+)"
        r"|(?P<also>.*?)\bwhat (?P<b>.+?) (?:calls|uses|needs)"
    ),
    Intent.TESTS: r"(?P<do>.*?)\b(?:the )?(?:unit )?tests? (?:for|of|that (?:cover|test|use|call)) (?P<c>.+)",
    Intent.BACK: r"(?:bring|put|get) (?P<a>.+?) back(?: in)?|(?:show|include) (?P<b>.+?) again",
    Intent.LEFT_OUT: r"what (?:did you leave out|was left out|is left out|is missing|did you cut|was cut)",
}
_RELATION = {
    intent: re.compile(rf"^(?:{words})$", re.IGNORECASE | re.DOTALL) for intent, words in _RELATIONS.items()
}
_INSTEAD = re.compile(
    r"^instead of (.+?),? ((?:show|use|include|give me|take|open)\b.+)$",
    re.I | re.DOTALL,
)
_TALK = re.compile(
    r"^(?:thanks?(?: you)?|thx|ok(?:ay)?|good|great|nice|fine|perfect|yes|no|done|hi|hello|"
    r"undo|start over|reset)$",
    re.I,
)
_NEGATED = re.compile(rf"^(?:{_VERBS[Intent.DROP]})\b", re.I)
_START = {
    intent: re.compile(rf"^(?:{verbs})\b\s*(.*)$", re.IGNORECASE | re.DOTALL)
    for intent, verbs in _VERBS.items()
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
_SIZE = re.compile(
    r"^(?:make )?(?:it |this |that |the (?:map|packet|answer|context) )?(?:is |was |'s )?"
    r"(?:much |a (?:bit|little) |even |far )?"
    r"(?:(?P<less>smaller|shorter|tighter|less(?: (?:detail|text|code))?|too (?:big|long|much|large)|"
    r"half(?: (?:of (?:it|that)|the (?:size|length|budget)|as (?:big|long)))?)"
    r"|(?P<more>bigger|larger|longer|more(?: (?:detail|text|code|room))?|too (?:small|short|little)|"
    r"double(?: it| the (?:size|length|budget))?|twice(?: (?:the size|as (?:big|long|much)))?))$",
    re.I,
)
_TWOFOLD = re.compile(r"\b(?:double|twice|half|halve)\b", re.I)
_NUMBER_RANGE = r"#?\d{1,3}(?:\s*(?:-|–|to|\.\.)\s*#?\d{1,3})?"
_NUMBERS = re.compile(
    r"^(?:(?:show|open|give|take|get|expand|read|add|include|need|want|fetch|see|i|me|us|the|also|to|full|"
    r"whole|"
    r"source|body|bodies|code|of|for|numbers?|nos?\.?|places?|items?|entry|entries|candidates?|menu)[\s:#]+)*"
    rf"(?P<numbers>{_NUMBER_RANGE}(?:(?:\s*(?:,|&|\+|;)\s*(?:and\s+)?|\s+and\s+|\s+){_NUMBER_RANGE})*)"
    r"(?:\s+(?:in full|from the menu|of the menu))?"
    r"(?P<tests>,?\s+(?:without|but no|no|not the) (?:the )?tests?)?$",
    re.I,
)
_POLITE = re.compile(
    r"^(?:please|now|also|ok(?:ay)?|and|then|can you|could you|i'd like you to|let's|you can)[,\s]+",
    re.I,
)
_NAME = re.compile(r"`[^`]*`|\S*(?:/|_|\.[A-Za-z])\S*")
_QUOTED = re.compile(r"`[^`\n]+`|\"[^\"\n]+\"")


def read_phrases(feedback: str) -> Iterator[Phrase]:
    """Yield the wishes of a feedback in order."""
    for sentence in _sentences(feedback):
        words = sentence.strip(" ,.!?\t")
        while (polite := _POLITE.match(words)) is not None:
            words = words[polite.end() :]
        words = re.sub(r"[\s,]+please$", "", words, flags=re.IGNORECASE)
        if (swap := _INSTEAD.match(words)) is not None:
            yield Phrase(Intent.DROP, swap[1])
            words = swap[2]
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
    if _NUMBERS.match(words):
        return Phrase(Intent.NUMBERS, words)
    # A file may be called `tokens.py`.
    unnamed = _NAME.sub("", words)
    if any(pattern.search(unnamed) for pattern in (_BUDGET, _BIGGER, _SMALLER, _SIZE)):
        return Phrase(Intent.BUDGET, words)
    if _TALK.match(words):
        return Phrase(Intent.TALK, words)
    for intent, relation in _RELATION.items():
        if (match := relation.match(words)) is not None:
            groups = match.groupdict()
            lead = groups.get("do") or groups.get("also")
            if lead and _NEGATED.match(lead):
                break
            target = groups.get("a") or groups.get("b") or groups.get("c") or ""
            return Phrase(intent, target.strip(), is_question=lead is None and intent is not Intent.BACK)
    for intent, start in _START.items():
        if (match := start.match(words)) is not None and match[1].strip():
            return Phrase(intent, match[1].strip())
    return Phrase(Intent.OTHER, words)


def read_numbers(words: str) -> tuple[tuple[int, ...], bool]:
    """Return the numbers that words ask for, each once in their order, and whether tests are meant too."""
    match = _NUMBERS.match(words)
    found: list[int] = []
    for each in re.findall(_NUMBER_RANGE, match["numbers"]) if match else ():
        first, *last = (int(number) for number in re.findall(r"\d+", each))
        found += range(first, (last[0] if last else first) + 1)
    return tuple(dict.fromkeys(found)), match is not None and match["tests"] is None


def asks_by_number(feedback: str) -> bool:
    """Say whether any part of a feedback asks for places of the menu."""
    return any(phrase.intent is Intent.NUMBERS for phrase in read_phrases(feedback))


def read_budget(words: str, budget: int) -> int:
    """Return the budget that the words ask for: a number of tokens, half as much again, or a third less."""
    if (match := _BUDGET.search(words)) is not None:
        number = match["after"] or match["before"] or match["short"]
        thousands = match["k"] or match["bk"] or match["short"]
        return max(1, round(float(number.replace(",", "").replace("_", "")) * (1000 if thousands else 1)))
    size = _SIZE.match(words)
    grows = bool(size["more"]) if size else bool(_BIGGER.search(words))
    if _TWOFOLD.search(words):
        return budget * 2 if grows else max(1, budget // 2)
    return budget * 3 // 2 if grows else max(1, budget * 2 // 3)
