"""Amounts: numbers of the menu, numbers of steps, and sizes, as people write them."""

from __future__ import annotations

import re

_NUMBER_RANGE = r"#?\d{1,3}(?:\s*(?:-|–|to|through|until|\.\.)\s*#?\d{1,3})?"
_NUMBERS = re.compile(
    r"^(?:(?:please|show|open|give|take|get|expand|read|add|include|need|want|fetch|see|i|me|us|the|also|to|full|"
    r"whole|now|"
    r"source|body|bodies|code|of|for|numbers?|nos?\.?|places?|items?|entry|entries|candidates?|menu)[\s:#]+)*"
    rf"(?P<numbers>{_NUMBER_RANGE}(?:(?:\s*(?:,|&|\+|;)\s*(?:and\s+)?|\s+and\s+|\s+){_NUMBER_RANGE})*)"
    r"(?:\s+(?:in full|from the menu|of the menu|please|for me))*"
    r"(?P<tests>,?\s+(?:without|but no|no|not the) (?:the )?tests?)?$",
    re.I,
)
_BUDGET = re.compile(
    r"\b(?:budget|tokens?|context)\b.*?(?P<after>\d[\d,_]*(?:\.\d+)?)\s*(?P<k>k)?\b"
    r"|(?P<before>\d[\d,_]*(?:\.\d+)?)\s*(?P<bk>k)?\s*(?:tokens?|budget)\b|^(?P<short>\d+)\s*k$",
    re.IGNORECASE,
)
_BIGGER = re.compile(
    r"\b(?:bigger|larger|higher|more|raise|increase|double)\b.*\b(?:budget|tokens|context)\b", re.I
)
_SMALLER = re.compile(
    r"\b(?:smaller|lower|less|fewer|reduce|halve|shrink|cut)\b.*\b(?:budget|tokens|context)\b", re.I
)
_SIZE = re.compile(
    r"^(?:make )?(?:(?:it|this|that|the (?:map|packet|answer|context)) )?(?:is |was |'s )?"
    r"(?:much |a (?:bit|little) |even |far )?"
    r"(?:(?P<less>smaller|shorter|tighter|less(?: (?:detail|text|code))?|too (?:big|long|much|large)|"
    r"halve (?:it|that|this)|cut (?:it|that|this) in half|shorten (?:it|that|this)|"
    r"half(?: (?:of (?:it|that)|the (?:size|length|budget)|as (?:big|long|much)))?)"
    r"|(?P<more>bigger|larger|longer|more(?: (?:detail|text|code|room))?|too (?:small|short|little)|"
    r"double(?: (?:it|that)| the (?:size|length|budget))?|twice(?: (?:the size|as (?:big|long|much)))?))$",
    re.I,
)
_TWOFOLD = re.compile(r"\b(?:double|twice|half|halve)\b", re.I)
_COUNTS = {
    word: number
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 1
    )
}
_ALL = re.compile(r"\b(?:everything|all|start|reset|scratch|beginning)\b", re.I)
EVERY_STEP = 1_000
"""More steps back than any navigation has."""


def names_numbers(words: str) -> bool:
    """Say whether words ask for places of the menu."""
    return _NUMBERS.match(words) is not None


def read_numbers(words: str) -> tuple[tuple[int, ...], bool]:
    """Return the numbers that words ask for, each once in their order, and whether tests are meant too."""
    match = _NUMBERS.match(words)
    found: list[int] = []
    for each in re.findall(_NUMBER_RANGE, match["numbers"], re.I) if match else ():
        first, *last = (int(number) for number in re.findall(r"\d+", each))
        found += range(first, (last[0] if last else first) + 1)
    return tuple(dict.fromkeys(found)), match is not None and match["tests"] is None


def read_steps(words: str) -> int:
    """Return how many changes words take back; ``EVERY_STEP`` for all."""
    if _ALL.search(words):
        return EVERY_STEP
    for word in re.findall(r"\w+", words.lower()):
        if word.isdigit():
            return max(1, min(int(word), EVERY_STEP))
        if word in _COUNTS and not (word == "one" and "last one" in words.lower()):
            return _COUNTS[word]
    return 1


def names_budget(words: str) -> bool:
    """Say whether words, names left out, are about the size of the context."""
    return any(pattern.search(words) for pattern in (_BUDGET, _BIGGER, _SMALLER, _SIZE))


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
