"""Asides: what is said around a wish and changes nothing of it; every other word has to be read.

A form reads the whole of its clause, and every word of what it is about has to belong to a name. What a form
or a reason leaves open speaks of something without narrowing what is wished. A sentence is done as a whole or
not at all, and what takes something away is done only where all that was said is read.
"""

from __future__ import annotations

import re
from typing import Final

HELD: Final = r"[\ue000-\ue3e8]"
"""Pattern of one name set aside: a single character stands for it."""
FILLERS: Final = r"(?:(?:the|an?|me|us|also|really|actually|still|now)\s+)*"
"""Pattern of words that may stand before any other."""
_RESTRICTS: Final = (
    r"except|excepting|excluding|unless|only|solely|instead|rather|but|without|otherwise|until|till|however"
    r"|although|though|other than|apart from|besides|as long as|provided|in case|whenever|half"
    r"|the (?:other|rest|remaining)|(?<!see )(?<!know )(?<!check )if"
)
_BIDS: Final = (
    r"should|shall|must|let|please|ought|need(?:s|ed)?|wants?|like to|prefer|can|could|would|may|might|cannot"
    r"|mistake|wonder|whether|enough|missing|irrelevant|noise|useless|too (?:much|many|long|big|small|short)"
    r"|unimportant|unrelated"
    r"|(?:not|n't|less|nothing)(?: \w+)? (?:relevant|useful|helpful|interesting|important)|interested|care"
    r"|stays?|keep|needn't|drop(?:ped)?|removed?|excluded?|included?|shown?|omit(?:ted)?|skip(?:ped)?|hide"
    r"|hidden|add(?:ed)?|undone|undo|budget|tokens?|first one|second one|last one|don't|do not"
)
_TURNS: Final = (
    r"no|not|don't|never|wait|stop|actually|nope|it|that|this|they|them|those|these|this|ones?|then|before"
    r"|after|first|next|later"
)
_HARMLESS: Final = rf"(?:(?!\b(?:{_RESTRICTS})\b)[^\n;]){{1,160}}?"
TAIL: Final = rf"(?:(?!\b(?:{_RESTRICTS}|than|more|less|before|after|and|or)\b)[^\n;,{HELD[1:-1]}]){{1,60}}?"
"""Pattern of what a form leaves open: words that change nothing, without names and lists."""
CHANGES: Final = (
    r"(?:fix|debug|change|edit|modify|refactor|review|investigate|implement|write|rewrite|rename|extend"
    r"|replace|touch|test)"
)
"""What somebody does to code: to ask for it wishes nothing of a context."""
WORK: Final = (
    rf"(?:{CHANGES}|understand|see (?:how|why|what|whether|if)|confirm|check|verify|know|make sure|compare"
    r"|finish|decide|continue|start|begin|proceed|work)(?:ing)?"
)
"""What somebody does with a context: to speak of it wishes nothing."""


def narrows(text: str) -> bool:
    """Say whether words that are not understood could narrow or take back what is wished beside them."""
    return not describes_only(text) or re.search(rf"\b(?:{_TURNS})\b", text, re.I) is not None


def describes_only(text: str) -> bool:
    """Say whether words restrict nothing, turn to nothing else and set no condition."""
    return re.fullmatch(_HARMLESS, text, re.I) is not None


def bids_nothing(text: str) -> bool:
    """Say whether words speak of something and bid nothing: beside a wish they change nothing."""
    return describes_only(text) and re.search(rf"\b(?:{_BIDS})\b", text, re.I) is None
