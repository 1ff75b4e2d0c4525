"""Amounts: numbers of the menu, numbers of steps, and sizes, as people write them."""

from __future__ import annotations

import re

_WORDS_OF_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER_RANGE = r"#?\[?\d{1,3}\]?(?:\s*(?:-|–|to|through|until|\.\.)\s*#?\[?\d{1,3}\]?)?"
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINAL = rf"(?:{'|'.join(_ORDINALS)})"
_ORDINAL_LIST = rf"{_ORDINAL}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)(?:the\s+)?{_ORDINAL})* (?:ones?|entry|entries|items?|places?|candidates?)"
_LIST = rf"{_NUMBER_RANGE}(?:(?:\s*(?:,|&|\+|;)\s*(?:and\s+)?|\s+and\s+|\s+){_NUMBER_RANGE})*"
_NUMBERS = re.compile(
    r"^(?:(?:please|show|open|give|take|get|expand|read|add|include|need|want|fetch|see|i|i'll|we|i'd like|choose|pick|options?|choices?|me|us|the|also|to|full|"
    r"whole|now|"
    r"source|text|body|bodies|code|of|for|go with|numbers?|nos?\.?|places?|items?|entry|entries|candidates?|menu)[\s:#]+)*"
    rf"(?P<numbers>{_LIST}|first (?:\d{{1,2}}|{'|'.join(_WORDS_OF_NUMBERS)})(?: ones| places| items| entries)?|{_ORDINAL_LIST})"
    rf"(?:,?\s+(?:but not|except(?: for)?|without|not|minus|apart from|but)\s+(?:numbers? )?(?P<but>{_LIST}))?"
    r"(?:\s+(?:in full|from the menu|of the menu|please|for me))*"
    r"(?P<tests>,?\s+(?:without|but no|no|not the) (?:the )?tests?)?$",
    re.I,
)
_BUDGET = re.compile(
    r"(?P<before>\d[\d,_]*(?:\.\d+)?)\s*(?P<bk>k)?\s*(?:tokens?|budget)\b|\b(?:budget|tokens?|context|limit)\b.*?(?P<after>\d[\d,_]*(?:\.\d+)?)\s*(?P<k>k)?\b"
    r"|^(?P<short>\d+)\s*k$|(?P<kilo>\d+(?:\.\d+)?)k\b",
    re.IGNORECASE,
)
_BIGGER = re.compile(
    r"\b(?:bigger|larger|higher|more|raise|increase|double|twice|up|expand|extend|grow|bump)\b", re.I
)
_SMALLER = re.compile(
    r"\b(?:smaller|lower|less|fewer|reduce|halve|half|shrink|cut|decrease|trim|shorten|tighter)\b", re.I
)
_OF_BUDGETS = frozenset(
    (
        "a an the my your its it this that these of to for in at by into with is be was will now on down up and you may can i we'll i'll we us me use using set make give take get "
        "have has got want need keep stay under below within limit limited limits yourself everything fit fits trim cap around about roughly approximately "
        "most maximum max exactly total left available spend afford allow allowed raise raised increase increased bump reduce reduced lower decrease cut shrink expand "
        "extend grow halve half double twice bigger larger higher smaller more less fewer much bit little even room budget budgets token tokens "
        "context packet map answer answers size limit please are all there run running low also as same we're i'm going go would could should "
        "further additional extra current allowance window target let's let so only show add say like stop not than"
    ).split()
)
"""What a clause about the size of the context is made of, beside its number."""
_AT_MOST = re.compile(
    r"\b(?:not|no|never|don't|do not)(?: (?:use|spend|take|go|give me|exceed))?(?: more than| over| above| beyond| exceed)?(?= \d)|\bno more than\b",
    re.I,
)
_SIZE = re.compile(
    r"^(?:make )?(?:(?:it|this|that|the (?:map|packet|answer|context)) )?(?:is |was |'s )?"
    r"(?:(?:much|a (?:bit|little)|even|far|way|just|still|really) )*"
    r"(?:(?P<less>smaller|shorter|tighter|less(?: (?:detail|text|code))?|too (?:big|long|much|large|verbose|wordy|detailed)|"
    r"halve (?:it|that|this)|cut (?:it|that|this) in half|shorten (?:it|that|this)|"
    r"too much (?:stuff|text|code|output|noise|detail|information)|half(?: (?:of (?:it|that)|the (?:size|length|budget)|as (?:big|long|much)))?)"
    r"|(?P<more>bigger|larger|longer|more(?: (?:detail|text|code|room))?|too (?:small|short|little)|"
    r"double(?: (?:it|that)| the (?:size|length|budget))?|twice(?: (?:the size|as (?:big|long|much)))?))$",
    re.I,
)
_ADDED = re.compile(
    r"\b(?P<number>\d[\d,_]*(?:\.\d+)?)\s*(?P<k>k)?\s+(?:more|further|additional|extra) tokens?\b|\badd (?P<also>\d[\d,_]*(?:\.\d+)?)\s*(?P<ak>k)?\s+tokens?\b",
    re.I,
)
_TWOFOLD = re.compile(r"\b(?:double|twice|half|halve)\b", re.I)
_BY = re.compile(r"\bby (?:about |around )?(?P<number>\d[\d,_]*(?:\.\d+)?)\s*(?P<k>k)?\b", re.I)
_LEAST = 100
"""Tokens below which a number is none of tokens."""
_COUNTS = {word: number for number, word in enumerate(_WORDS_OF_NUMBERS, 1)}
_ALL = re.compile(
    r"\b(?:everything|all|first|very|start|reset|from scratch|beginning|original|initial|first version)\b",
    re.I,
)
EVERY_STEP = 1_000
"""More steps back than any navigation has."""


def names_numbers(words: str) -> bool:
    """Say whether words ask for places of the menu."""
    return _NUMBERS.match(words) is not None


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
    for each in re.findall(_NUMBER_RANGE, numbers, re.I):
        first, *last = (int(number) for number in re.findall(r"\d+", each))
        found += range(first, (last[0] if last else first) + 1)
    return found


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
    """Say whether words are about the size of the context, and about nothing else."""
    if _SIZE.match(words):
        return True
    words = _AT_MOST.sub("under", words)
    plain = re.sub(r"\d[\d,._]*\s*k?\b", " ", words, flags=re.I)
    numbers = len(re.findall(r"\d[\d,._]*", words))
    if numbers > 1 or not {each.lower() for each in re.findall(r"[\w']+", plain)} <= _OF_BUDGETS:
        return False
    if re.search(r"\b(?:not|than)\b", words, re.I):
        return False
    if numbers:
        return (
            _BUDGET.search(words) is not None
            and not _TWOFOLD.search(words)
            and read_budget(words, _LEAST * 1_000) >= _LEAST
        )
    is_size = re.search(r"\b(?:budget|tokens|context)\b", words, re.I) is not None
    return is_size and bool(_BIGGER.search(words)) != bool(_SMALLER.search(words))


def read_budget(words: str, budget: int) -> int:
    """Return the budget that the words ask for: a number of tokens, half as much again, or a third less."""
    if (added := _ADDED.search(words)) is not None:
        return budget + _size(added["number"] or added["also"], added["k"] or added["ak"])
    if (by := _BY.search(words)) is not None:
        change = _size(by["number"], by["k"])
        return max(1, budget - change) if _SMALLER.search(words) else budget + change
    if (match := _BUDGET.search(words)) is not None:
        number = match["after"] or match["before"] or match["short"] or match["kilo"]
        thousands = match["k"] or match["bk"] or match["short"] or match["kilo"]
        return _size(number, thousands)
    size = _SIZE.match(words)
    grows = bool(size["more"]) if size else bool(_BIGGER.search(words))
    if _TWOFOLD.search(words):
        return budget * 2 if grows else max(1, budget // 2)
    return budget * 3 // 2 if grows else max(1, budget * 2 // 3)


def _size(number: str, thousands: str | None) -> int:
    return max(1, round(float(number.replace(",", "").replace("_", "")) * (1000 if thousands else 1)))
