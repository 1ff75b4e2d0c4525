"""Politeness: a clause without what is said around a wish, all of it known to change nothing."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from repo_map.feedback.coverage import CHANGES, TAIL, WORK
from repo_map.feedback.operations import pattern_of
from repo_map.feedback.table import TABLE


@cache
def whole_sentences() -> tuple[re.Pattern[str], ...]:
    """Return the forms that are about no name: what has one is one clause."""
    return tuple(pattern_of(form) for row in TABLE for form in row.forms if "{}" not in form)


_ADVERBS: Final = r"(?: (?:please|kindly|also|just|now|then|still|really|actually|first|maybe|perhaps|quickly|at least|possibly|again))*"
_SELF: Final = rf"(?:i|we)(?:'d| would| do|'ll| will|'m|'re)?{_ADVERBS}"
_ASKS: Final = r"(?=who|what|why|where|which|how|when|whether|if)"
_RELATION: Final = (
    r"(?:(?:the |its )?(?:callers?|usages|tests|imports|importers|history|dependencies|callees) (?:of|for) )"
)
_PREFIXES: Final = tuple(
    (re.compile(rf"^(?:{pattern})", re.IGNORECASE), instead)
    for pattern, instead in (
        (
            r"(?:please|kindly|now|also|then|and|so|but|ok(?:ay)?|well|actually|hey|hi|hello|yes|yeah|yep|sure|alright|right|first|next|finally|again|yo"
            r"|btw|by the way|sorry(?! for| about)|oh|hmm+|nah|nope|um+|uh+|ah|er+m?|ouch|oops|additionally|furthermore|moreover|in addition|further"
            r"|thanks?(?: you)?(?: a lot| so much| very much)?|(?:great|perfect|nice|good|cool|awesome|excellent|interesting)(?: (?:work|job|start))?(?: so far)?)"
            r"[\s,.!:–—-]+(?!enough\b)(?!$)",
            "",
        ),
        (
            r"(?:one more thing|another thing|quick question|(?:one )?(?:more |last )?question|last thing|my (?:mistake|bad)|lgtm|looks good|sounds good|never ?mind|scratch that|no worries"
            r"|hold on|(?:that|this|it) (?:was|is|'s) (?:wrong|bad|not good|too much)|for (?:this|that)|because of (?:this|that)|in that case|no|hi there|dear \w+|man|dude|mate|guys)\s*[,.!:–—-]+\s*(?!$)",
            "",
        ),
        (
            r"(?:based on|judging (?:by|from)|looking at|given|going by|from|in|for|as|on) (?:the |this |that |your |my |a )?(?:next |first |last |second )?(?:step|task|outline|outlines|packet|output|answer|context|results?|map|list|menu|above|reference|start|look|note|glance|review)(?: above| so far)?, ",
            "",
        ),
        (
            r"(?:if (?:possible|you can|you could|you have room|there(?:'s| is) (?:still )?room|it fits|need be|you don't mind|that's ok(?:ay)?|i may|it's no trouble)|when you (?:can|get a chance|have time)),? ",
            "",
        ),
        (rf"(?:in order )?to (?:be able to )?{WORK}(?: {TAIL})?,? (?=(?:i|we)\b|please|show|give)", ""),
        (r"(?:show )?(?:an? |just )?(?:little|bit|tad) (?:bit )?(?=less|more|fewer)", ""),
        (
            r"(?:next|more|one more|another one|now|further|wanted|missing|show|add|open|include)\s*:\s*",
            "show ",
        ),
        (
            rf"(?:can|could|would|will) (?:you|u)(?: all)?{_ADVERBS}(?: be so kind (?:as to|and))?(?: go ahead and)? (?!not\b|rather\b)",
            "",
        ),
        (r"(?:you|we) (?:can|may|should|must)(?: (?:please|also|safely|just|now|probably))* (?!not\b)", ""),
        (
            rf"(?:can|could|may|might|shall) (?:i|we){_ADVERBS} (?:have|get(?! rid)|see|read|look at|take a look at) ",
            "show ",
        ),
        (rf"(?:tell|let) me (?:know )?{_ASKS}", ""),
        (r"(?:i think|i believe|i guess|i suppose|it seems)(?: that)?,? ", ""),
        (r"(?:let's|let us|let me|lemme)(?: also| now| first| just)? ", ""),
        (
            rf"{_SELF} (?:like|love|prefer|want|need|wish|have|curious)? ?(?:(?:for )?you )?(?:to )?(?:know|find out|understand|learn|see)(?: about)? (?=who|what|why|which|when|where (?:is|are)|how (?:is|are|does|do)\b)",
            "",
        ),
        (rf"{_SELF} (?:only|just) (?:want|need|like|care about)(?: to (?:see|read|look at|have))? ", "only "),
        (
            rf"{_SELF} (?:like|love|prefer|want|need|wish|have) (?:(?:for )?you )?to{_ADVERBS} (?!{CHANGES}\b)",
            "",
        ),
        (rf"{_SELF} (?:want|need|like|require|lack)(?: see| look at)? ", "show "),
        (
            r"(?:show|tell|find)(?: me)? (?=where \S+ (?:is|are|gets) (?:used|called|referenced|set|defined|declared|tested)$)",
            "",
        ),
    )
)
_SUFFIXES: Final = re.compile(
    r"(?:[,\s]+(?:please|pls|for me|for us|thanks|thank you|thx|if possible|if you (?:can|could)|now|too|as well|also|for now|though|still|from now on|asap|real quick|quickly"
    r"|(?:(?:to|from|in|into|of|out of) (?:the|this|your|my|our) (?:context|map|packet|answer|menu)|to what you (?:sent|have|showed|gave me)|in there|in here|in it)"
    r"|before (?:i|we) (?:can )?(?:start|begin|go on|continue)"
    r"|,? which (?:i|we) (?:also |still )?(?:need|want|miss)(?: to see)?|so far|afterwards|in the first place|would be (?:fine|good|great|nice|perfect)"
    r"|any ?more|any longer|right now|next|at once|at the moment|by the way|btw|man|mate|dude|buddy|ok(?:ay)?|will you|would you|can you|could you|right away|again please|if you (?:don't mind|please)|side by side|for (?:comparison|reference|context|completeness)|at all|a (?:bit|little|tad)(?: bit)?|somewhat|slightly|before (?:i )?(?:chang|edit|touch|fix|modify|refactor|rewrit)\w*(?: (?:it|this|that|them|anything))?))$",
    re.IGNORECASE,
)


def plain(clause: str) -> str:
    """Return a clause without greetings, requests and thanks around it."""
    text = re.sub(r"^[-–—*•]\s+|\s+[-–—]$", "", clause.strip()).strip(" ,.!?\t:")
    while not any(form.fullmatch(text) for form in whole_sentences()):
        before = text
        for pattern, instead in _PREFIXES:
            if (match := pattern.match(text)) is not None and text[match.end() :].strip():
                text = (match.expand(instead) + text[match.end() :]).strip(" ,")
        if (tail := _SUFFIXES.search(text)) is not None and tail.start() > 0:
            text = text[: tail.start()].strip(" ,.!?")
        if text == before:
            break
    return text
