"""Coverage: every word of a sentence is read, or is known to change nothing.

A form reads the whole of its clause, and every word of what it is about has to belong to a name. What a form
or a reason leaves open is ``ASIDE``: words that tell of something without narrowing what is wished. A
sentence is done as a whole or not at all, and what takes something away is done only where all that was said is read.
"""

from __future__ import annotations

import re
from typing import Final

_RESTRICTS: Final = (
    r"except|excepting|excluding|unless|only(?!\s+(?:distracts?|confuses?|adds?|makes?|takes?|wastes?|costs?)\b)|solely|instead|rather|but|without|otherwise|until|till|however|although|though"
    r"|other than|apart from|besides|as long as|provided|in case|whenever|even if|half|the (?:other|rest|remaining)|(?<!see )(?<!know )(?<!check )(?<!what )(?<!out )if"
)
_BIDS: Final = (
    r"should|shall|must|let|please|ought|needs|needed|wants?|like to|prefer|can|could|would|may|might|cannot|enough|missing|"
    r"irrelevant|noise|useless|too (?:much|many|long|big|small|short)|unimportant|unrelated|(?:not|n't|isn't|aren't|less|nothing)(?: \w+)? (?:relevant|useful|helpful|interesting|important)|interested|care"
    r"|stay|stays|keep|needn't|drop(?:ped)?|removed?|excluded?|included?|shown?|omit(?:ted)?|skip(?:ped)?|hide|hidden|add(?:ed)?|undone|undo"
    r"|budget|tokens?|first one|second one|last one|don't (?!know|understand|see why|get why|work|exist|pass|fail)|do not (?!know|understand|see why)"
)
ASIDE: Final = rf"(?:(?!\b(?:{_RESTRICTS})\b)[^\n;]){{1,160}}?"
"""Pattern of words that change nothing of what is wished, whatever they tell."""

HELD: Final = r"[\ue000-\ue3e8]"
"""Pattern of one name set aside: a single character stands for it."""
TAIL: Final = rf"(?:(?!\b(?:{_RESTRICTS}|than|more|less|before|after|and|or)\b)[^\n;,{HELD[1:-1]}]){{1,60}}?"
"""The same without names and lists: what a form leaves open."""
CHANGES: Final = r"(?:fix|debug|change|edit|modify|refactor|double-?check|review|investigate|implement|write|rewrite|rename|extend|replace|touch|test)"
"""What somebody does to code: to ask for it wishes nothing of a context."""
WORK: Final = (
    r"(?:understand|see (?:how|why|what|whether|if)|confirm|check|verify|fix|debug|know|make sure|figure out|compare|review|reproduce"
    r"|finish|implement|write|decide|edit|touch|chang(?:e|ing)|modify|refactor|solve|answer|continue|start|begin|proceed|work|editing|fixing|writing"
    r"|debugging|implementing|refactoring|starting|modifying|reviewing|commit(?:ting)?|merge|merging|going on|deciding|touching|test it)"
)
"""What somebody does with a context: to tell of it wishes nothing."""
_HARMLESS: Final = re.compile(rf"{ASIDE}", re.IGNORECASE)
_BIDDING: Final = re.compile(
    rf"\b(?:{_BIDS})\b|\bneed\b(?! to (?:change|edit|fix|modify|touch|understand|know))", re.IGNORECASE
)


_TURNING: Final = re.compile(
    r"\b(?:no|not|don't|never|wait|stop|actually|nope|it|that|this|they|them|those|these|one|ones|then|before|after|first|next|later)\b",
    re.IGNORECASE,
)


def narrows(text: str) -> bool:
    """Say whether words that are not understood could narrow, turn or take back what is wished beside them."""
    return not tells(text) or _TURNING.search(text) is not None


def tells(text: str) -> bool:
    """Say whether words restrict nothing, turn to nothing else and set no condition."""
    return _HARMLESS.fullmatch(text) is not None


def only_tells(text: str) -> bool:
    """Say whether words tell of something and bid nothing: beside a wish they change nothing."""
    return tells(text) and _BIDDING.search(text) is None
