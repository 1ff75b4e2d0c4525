"""Amounts: numbers of the menu, numbers of steps, and sizes, as people write them."""

from __future__ import annotations

import re
from typing import Final

from repo_map.feedback.asides import HELD

_WORDS_OF_NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTS: Final = {word: number for number, word in enumerate(_WORDS_OF_NUMBERS, 1)}
_ORDINALS: Final = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
)
_RANGE: Final = r"#?\[?\d{1,3}\]?(?:\s*(?:-|–|to|through)\s*#?\[?\d{1,3}\]?)?"
_ORDINAL: Final = rf"(?:{'|'.join(_ORDINALS)})"
_AND: Final = r"(?:\s*[,&+]\s*(?:and\s+)?|\s+and\s+|\s+)"
_LIST: Final = rf"{_RANGE}(?:{_AND}{_RANGE})*"
_ORDINAL_LIST: Final = rf"{_ORDINAL}(?:{_AND}(?:the\s+)?{_ORDINAL})* (?:menu )?(?:ones?|entry|entries|items?)"
_NUMBERS: Final = re.compile(
    r"^(?:(?:show|see|open|give|i'll|take|get|expand|add|fetch|go with|me|the|also|full|text|for"
    r"|numbers?|items?|options|entry|entries|menu)[\s:#]+)*"
    rf"(?P<numbers>{_LIST}|first (?:\d{{1,2}}|{'|'.join(_WORDS_OF_NUMBERS)})|{_ORDINAL_LIST})"
    rf"(?:,?\s+(?:but not|except|without|not)\s+(?P<but>{_LIST}))?"
    r"(?:\s+(?:in full|from the menu))*"
    r"(?P<tests>,?\s+(?:without|no|not the) (?:the )?tests?)?$",
    re.I,
)
_NUMBER: Final = re.compile(r"(?P<number>\d[\d,_]*(?:\.\d+)?)\s*(?P<k>k)?\b", re.I)
_BIGGER: Final = re.compile(
    r"\b(?:bigger|larger|longer|more|raise|increase|double|twice|bump|too (?:small|short|little))\b", re.I
)
_SMALLER: Final = re.compile(
    r"\b(?:smaller|shorter|less|reduce|halve|half|shrink|cut|trim|too (?:big|long|much|large|verbose))\b",
    re.I,
)
_TWOFOLD: Final = re.compile(r"\b(?:double|twice|half|halve)\b", re.I)
_ADDED: Final = re.compile(r"\b(?:more|additional|extra|further) tokens\b|^add ", re.I)
_OF_BUDGETS: Final = frozenset(
    """
    a an the my your it this that these of to for in at as by with is be was will now on down up and you may
    can i we me use set make give have got want need keep stay under below within limit yourself everything
    fit trim cap about around most max exactly total left raise increase bump reduce cut shrink halve half
    double twice bigger larger longer more smaller shorter less much bit little even way too so far room
    budget token tokens context packet map answer size please all also same afford stop add small short big
    long large verbose detail stuff running low say and show still
    """.split()
)
"""What a clause about the size of the context is made of, beside its number."""
_OF_SIZES: Final = frozenset({"budget", "token", "tokens", "context", "limit"})
"""One of these says that a bare number is a size."""
_OF_BARE_SIZES: Final = frozenset(
    """
    make it this that is be a the bit little much way even too as in for me half twice double halve cut trim
    shrink size detail room stuff less smaller shorter bigger larger longer more big long large small short
    verbose map packet answer
    """.split()
)
"""What a clause is made of that is about the size of the context and doesn't say so."""
_LEAST: Final = 100
"""Tokens below which a number is none of tokens."""
_ALL: Final = re.compile(r"\b(?:everything|all|first|start|reset|beginning|over)\b", re.I)
EVERY_STEP: Final = 1_000
"""More steps back than any navigation has."""


def names_numbers(words: str) -> bool:
    """Say whether words ask for places of the menu."""
    return bool(read_numbers(words)[0])


def read_numbers(words: str) -> tuple[tuple[int, ...], bool]:
    """Return the numbers that words ask for, each once in their order, and whether tests are meant too."""
    match = _NUMBERS.match(words)
    if match is None:
        return (), False
    if re.fullmatch(_ORDINAL_LIST, match["numbers"], re.I):
        found = [_ORDINALS.index(each.lower()) + 1 for each in re.findall(_ORDINAL, match["numbers"], re.I)]
    elif match["numbers"].lower().startswith("first"):
        most = match["numbers"].split()[1].lower()
        found = list(range(1, (int(most) if most.isdigit() else _COUNTS[most]) + 1))
    else:
        found = _listed(match["numbers"])
    spared = _listed(match["but"] or "")
    return tuple(dict.fromkeys(each for each in found if each not in spared)), match["tests"] is None


def _listed(numbers: str) -> list[int]:
    """Return the numbers of a list such as ``1-3 and 7``."""
    found: list[int] = []
    for each in re.findall(_RANGE, numbers, re.I):
        first, *last = (int(number) for number in re.findall(r"\d+", each))
        found += range(first, (last[0] if last else first) + 1)
    return found


def read_steps(words: str) -> int:
    """Return how many changes words take back; ``EVERY_STEP`` for all."""
    if _ALL.search(words):
        return EVERY_STEP
    found = (_COUNTS.get(word, int(word) if word.isdigit() else 0) for word in words.lower().split())
    return max(1, min(next(filter(None, found), 1), EVERY_STEP))


def read_budget(words: str, budget: int) -> int | None:
    """Return the budget that words ask for, None where they are about anything else.

    It is a number of tokens, twice or half of ``budget``, half as much again, or a third less.
    """
    numbers = list(_NUMBER.finditer(words))
    plain = re.findall(r"[\w']+", _NUMBER.sub(" ", words.lower()).replace("i'm", "i"))
    is_else = re.search(HELD, words) is not None or not set(plain) <= _OF_BUDGETS
    if is_else or len(numbers) > 1 or not (numbers or plain):
        return None
    if numbers:
        thousand = numbers[0]["k"]
        size = round(float(re.sub("[,_]", "", numbers[0]["number"])) * (1000 if thousand else 1))
        is_size = thousand or not _OF_SIZES.isdisjoint(plain)
        if size < _LEAST or not is_size or _TWOFOLD.search(words):
            return None
        return budget + size if _ADDED.search(words) else size
    if _OF_SIZES.isdisjoint(plain) and not set(plain) <= _OF_BARE_SIZES:
        return None
    grows, shrinks = _BIGGER.search(words) is not None, _SMALLER.search(words) is not None
    if grows == shrinks:
        return None
    if _TWOFOLD.search(words):
        return budget * 2 if grows else max(1, budget // 2)
    return budget * 3 // 2 if grows else max(1, budget * 2 // 3)
