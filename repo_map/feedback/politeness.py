"""Politeness: a clause without what is said around a wish."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from repo_map.feedback.operations import pattern_of
from repo_map.feedback.table import TABLE


@cache
def whole_sentences() -> tuple[re.Pattern[str], ...]:
    """Return the forms that are about no name: what has one is one clause."""
    return tuple(pattern_of(form) for row in TABLE for form in row.forms if "{}" not in form)


_SELF: Final = r"(?:i|we)(?:(?:'d| would| do|'ll| will| still| also| really| now| actually| first)*)"
_PREFIXES: Final = tuple(
    (re.compile(rf"^(?:{pattern})", re.IGNORECASE), instead)
    for pattern, instead in (
        (
            r"(?:please|kindly|now|also|then|and|so|but|ok(?:ay)?|well|actually|hey|hi|hello|yes|alright|right|first|next|finally|again"
            r"|instead(?! of)|btw|maybe|perhaps|rather(?! than)|sorry|oh|hmm|additionally|furthermore|moreover|in addition|besides|further|or)(?:[,\s]+)",
            "",
        ),
        (
            r"(?:thanks?(?: you)?(?: a lot| so much| very much)?|great(?: work)?(?: so far)?|perfect|nice(?: work)?|good(?: work| job)?|cool"
            r"|awesome|excellent)[,\s]+(?!enough\b)",
            "",
        ),
        (
            r"(?:my (?:mistake|bad)|lgtm|never ?mind|scratch that|no worries|hold on|one more thing|sounds good)\s*[,.:–—-]+\s*",
            "",
        ),
        (r"(?:i|we)(?:'d| would) rather not (?:see|have|read) ", "drop "),
        (r"no, (?=\w)", ""),
        (
            r"if (?:possible|you can|you could|you have room|there(?:'s| is) room|it fits|need be|you don't mind),? ",
            "",
        ),
        (
            r"(?:do|have) you (?:have|got) (?=(?:the )?(?:source|code|body|implementation|definition|text)\b)",
            "show ",
        ),
        (r"before (?:i|we) \w+(?: \w+){0,4}, ", ""),
        (
            r"(?:after|once|when) (?:i|you|we)(?:'re| are| have) (?:done|ready|finished)(?: with (?:it|this|that))?, ",
            "",
        ),
        (r"(?:before|after|while|when) \w+ing(?: \w+){0,4}, ", ""),
        (
            rf"{_SELF} (?:like|want|need|have) to (?:make|be) sure(?: that)? (?:i|we) (?:know|understand|see|have) ",
            "list ",
        ),
        (r"(?:i|we) (?:do not|don't) (?:understand|know|see|get) (?=why|where|who|how)", ""),
        (
            r"(?:what|how) about (?=(?:the |its )?(?:callers?|usages|tests|imports|importers|history|dependencies|callees) (?:of|for) )",
            "",
        ),
        (r"(?:show )?(?:an? |just )?(?:little|bit) (?:bit )?(?=less|more|fewer)", ""),
        (r"only (?=.+ itself$)", "show "),
        (r"(?:oops|ouch|hm+|uh|erm?|ah)[,.!\s]+", ""),
        (r"(?:next|more|now|further|wanted|missing)\s*:\s*", "show "),
        (r"there(?:'s| is) (?=no need)", ""),
        (r"(?:i|we) (?:do not|don't) (?:think|believe)(?: that)? (.+?) (is|are) (?!not)", r"\1 \2 not "),
        (r"neither (.+?) nor (.+?) (?:is|are|was|were) ", r"\1 and \2 are not "),
        (r"(?:(?:that|this|it) (?:was|is|'s) (?:wrong|bad|not good|too much)|looks good),\s+", ""),
        (
            r"(?:can|could|would|will) you(?: (?:please|kindly|also|maybe|perhaps|now))*(?: be so kind as to)? ",
            "",
        ),
        (r"(?:you|we) (?:can|could|may|might|should)(?: (?:please|also|safely|just|now))* ", ""),
        (
            r"(?:can|could|may|might) (?:i|we)(?: (?:please|also|now))* (?:have|get(?! rid)|see|read|look at) ",
            "show ",
        ),
        (r"(?:it would be|it'd be|that would be) \w+ if you (?:could|would|can) ", ""),
        (r"(?:i think|i believe|i guess|i suppose|it seems)(?: that)?,? ", ""),
        (
            r"(?:to|in order to) (?:be able to )?(?:write|make|fix|do|solve|understand|answer|implement|change|debug|finish|see)\b(?: \S+){1,6}?,? (?=(?:i|we)(?:'d| would)? (?:also |still |really )?(?:need|want|like)|please|show|give)",
            "",
        ),
        (r"(?:for (?:this|that)|because of (?:this|that)),? ", ""),
        (r"(?:i|we) (?:should|must|have to|ought to)(?: also| now)? ", ""),
        (r"(?:can|could|may) (?:i|we) (?=get rid)", ""),
        (r"(?:let's|let us|let me|lemme) ", ""),
        (
            rf"{_SELF} (?:like|love|prefer|want|need|wish|have) (?:(?:for )?you )?to (?:know|find out|understand|learn)(?: about)? (?=who|what|why|where|which|how|when)",
            "",
        ),
        (rf"{_SELF} (?:only|just) (?:want|need|like|care about)(?: to (?:see|read|look at|have))? ", "only "),
        (rf"{_SELF} (?:want|need|like|love)(?: to (?:see|have|read|look at))? (?:only|just) ", "only "),
        (rf"{_SELF} (?:like|love|prefer|want|need|wish|have) (?:(?:for )?you )?to ", ""),
        (rf"{_SELF} (?:want|need|like|require|lack) ", "show "),
        (r"(?:tell|let) me (?:know )?(?=who|what|why|where|which|how|when|whether)", ""),
        (
            r"(?:(?:do|can) you (?:know|tell me)|i wonder|find out|say) (?=who|what|why|where|which|how|when)",
            "",
        ),
        (r"(?:show|see|give)(?: me)? (?=(?:who|which|why)\s)", ""),
        (r"(?:its) (outline|signatures?|structure|interface|api)\b", r"the \1 of it"),
    )
)
_SUFFIXES: Final = re.compile(
    r"(?:[,\s]+(?:please|for me|thanks|thank you|thx|if possible|now|instead|too|as well|also|for now|though|still|from now on"
    r"|(?:to|from|in|into|of) (?:the|this|your) (?:context|map|packet|answer|menu)|in there|in here|in it|before (?:i|we) (?:can )?(?:start|begin|go on|continue)"
    r"|,? which (?:i|we) (?:also |still )?(?:need|want|miss)(?: to see)?|so far|afterwards|in the first place|would be (?:fine|good|great|nice|perfect)|any ?more|any longer|right now|at once))$",
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
