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
        (rf"(?:do|would|could) you mind{_ADVERBS} (?=\w+ing\b)", ""),
        (
            r"(who|what|where|why|how|which) (?:the (?:hell|heck|fuck)|on earth|exactly|actually|in the world) ",
            r"\1 ",
        ),
        (r"(?:i|we) (?:mean|meant) ", "show "),
        (r"(?:(?:i|we) wonder|check|tell me|let me know|see) (?:whether|if) (.+?) (is|are) ", r"\2 \1 "),
        (
            r"(?:reduce the noise|save (?:some )?(?:tokens|space|room)|make (?:some )?room|free (?:some )?(?:space|tokens)) by (?=dropping|removing|excluding|skipping|hiding|omitting)",
            "",
        ),
        (r"sorry (?:for|about) \w+ \w+(?:, | but )", ""),
        (r"would it be possible that (?:you )?", ""),
        (
            r"if (?:space|the budget|budget|room|there is space|it)(?: allows| permits| is left)?,? (?:also )?(?=show|add|include|open)",
            "",
        ),
        (
            r"(?:based on|judging (?:by|from)|looking at|given|going by|from|in|for|as|on) (?:the |this |that |your |my |a )?(?:next |first |last |second )?(?:step|task|outline|outlines|packet|output|answer|context|results?|map|list|menu|above|reference|start|look|note|glance|review)(?: above| so far)?, ",
            "",
        ),
        (r"(?:it is|is it|would it be|it would be) possible (?:for you )?to ", ""),
        (r"be so kind (?:as |and )?(?:to )?", ""),
        (
            r"(?:i|we)(?:'d| would) be (?:very |most |really |so )?(?:thankful|grateful|happy|glad|obliged) if you (?:could |would |can )?",
            "",
        ),
        (r"do the needful and ", ""),
        (r"to (?=(?:show|add|drop|remove|include|see|open)\b)", ""),
        (r"(?:i|we) (?:want|wish|ask|need)(?: you)? (?:that )?you (?:to )?", ""),
        (rf"{_SELF} (?:like|want|need|have|prefer) (?:to )?understand (?=how \S+ (?:is|are) used)", ""),
        (r"(?:need|want|gotta see) (?!to\b)", "show "),
        (rf"{_SELF} rather not (?:see|have|read) ", "drop "),
        (rf"{_SELF} rather (?:see|have|read) ", "show "),
        (
            r"(?:if (?:possible|you can|you could|you have room|there(?:'s| is) (?:still )?room|it fits|need be|you don't mind|that's ok(?:ay)?|i may|it's no trouble)|when you (?:can|get a chance|have time)),? ",
            "",
        ),
        (
            r"(?:do|have) you (?:have|got) (?=(?:the )?(?:source|code|body|implementation|definition|text)\b)",
            "show ",
        ),
        (rf"(?:before|while|when) (?:(?:i|we)(?: can| will|'ll|'m| am)? )?{WORK}{TAIL}, ", ""),
        (
            r"before (?:i|we) (?:forget|go on|continue|start|begin|do anything|touch (?:it|this|anything)|make (?:the|any) changes?), ",
            "",
        ),
        (rf"(?:in order )?to (?:be able to )?{WORK}(?: {TAIL})?,? (?=(?:i|we)\b|please|show|give)", ""),
        (
            rf"{_SELF} (?:like|want|need|have) to (?:make|be) sure(?: that)? (?:i|we) (?:know|understand|see|have) ",
            "list ",
        ),
        (rf"(?:i|we) (?:do not|don't) (?:understand|know|see|get) {_ASKS}", ""),
        (rf"(?:what|how) about (?={_RELATION})", ""),
        (r"(?:show )?(?:an? |just )?(?:little|bit|tad) (?:bit )?(?=less|more|fewer)", ""),
        (r"only (?=.+ itself$)", "show "),
        (
            r"just (?=(?:show|give|add|open|include|tell|list|undo|drop|remove|finish|stop)\b(?! (?:me )?only))",
            "",
        ),
        (
            r"(?:next|more|one more|another one|now|further|wanted|missing|show|add|open|include)\s*:\s*",
            "show ",
        ),
        (r"(?:drop|remove|exclude|skip|not needed|unneeded|irrelevant)\s*:\s*", "drop "),
        (r"(?:question|q)\s*:\s*", ""),
        (r"there(?:'s| is) (?=no need)", ""),
        (r"(?:i|we) (?:do not|don't) (?:think|believe)(?: that)? (.+?) (is|are) (?!not)", r"\1 \2 not "),
        (r"neither (.+?) nor (.+?) (?:is|are|was|were) ", r"\1 and \2 are not "),
        (
            rf"(?:can|could|would|will) (?:you|u)(?: all)?{_ADVERBS}(?: be so kind (?:as to|and))?(?: go ahead and)? (?!not\b|rather\b)",
            "",
        ),
        (
            r"(?:is there )?any (?:chance|way)(?: that)? (?:you|i|we) (?:can|could|might)(?: get| have)? ",
            "show ",
        ),
        (r"show (?=(?:show|add|include|drop|remove|see|tell|list|open|give|skip|hide)\b)", ""),
        (
            r"(?:i was|i'm|i am) (?:just )?wondering (?:if (?:you|we|i) (?:can|could|would|might)(?: get| have| see)? |whether you (?:can|could|would) )",
            "show ",
        ),
        (rf"(?:i was|i'm|i am) (?:just )?(?:wondering|curious)(?: about)?,? {_ASKS}", ""),
        (
            r"(?:go ahead and|feel free to|make sure (?:to|you)|be sure to|remember to|try to|start (?:by|with) (?=\w+ing)|help me (?:to )?(?=see|find|understand)|time to|you (?:have|need) to|you'll have to) ",
            "",
        ),
        (r"(?:you|we) (?:can|may|should|must)(?: (?:please|also|safely|just|now|probably))* (?!not\b)", ""),
        (
            rf"(?:can|could|may|might|shall) (?:i|we){_ADVERBS} (?:have|get(?! rid)|see|read|look at|take a look at) ",
            "show ",
        ),
        (r"(?:can|could|may) (?:i|we) (?=get rid)", ""),
        (
            r"(?:it would be|it'd be|that would be|would be) (?:really |very |so )?(?:great|nice|good|helpful|useful|cool|kind|lovely|awesome|perfect|best)(?: of you)? (?:if (?:you|i|we) (?:could|would|can)(?: also| please)?|to) ",
            "show ",
        ),
        (rf"{_SELF} appreciate (?:it )?(?:if you (?:could|would|can) )?(?:seeing |having )?", "show "),
        (r"(?:i think|i believe|i guess|i suppose|it seems)(?: that)?,? ", ""),
        (r"(?:i|we) (?:should|must|have to|ought to)(?: also| now| probably| really)? ", ""),
        (r"(?:let's|let us|let me|lemme)(?: also| now| first| just)? ", ""),
        (
            rf"{_SELF} (?:like|love|prefer|want|need|wish|have|curious)? ?(?:(?:for )?you )?(?:to )?(?:know|find out|understand|learn|see)(?: about)? (?=who|what|why|which|when|where (?:is|are)|how (?:is|are|does|do)\b)",
            "",
        ),
        (rf"{_SELF} (?:only|just) (?:want|need|like|care about)(?: to (?:see|read|look at|have))? ", "only "),
        (rf"{_SELF} (?:want|need|like|love)(?: to (?:see|have|read|look at))? (?:only|just) ", "only "),
        (
            rf"{_SELF} (?:like|love|prefer|want|need|wish|have) (?:(?:for )?you )?to{_ADVERBS} (?!{CHANGES}\b)",
            "",
        ),
        (rf"{_SELF} (?:want|need|like|require|lack)(?: see| look at)? ", "show "),
        (rf"(?:tell|let) me (?:know )?{_ASKS}", ""),
        (
            r"(?:(?:do|can) you (?:know|tell me|say)|i wonder|find out|say|tell me|remind me|explain(?: to me)?|check) (?=who|what (?!does)|which|where|why)",
            "",
        ),
        (r"(?:show|see|give)(?: me)? (?=(?:who|which|why)\s)", ""),
        (
            r"(?:show|tell|find)(?: me)? (?=where \S+ (?:is|are|gets) (?:used|called|referenced|set|defined|declared)$)",
            "",
        ),
        (r"(?:give|show) to me ", "show "),
        (
            r"(?:take|have|get|show)(?: me)? (?:a|an?other) (?:closer |quick |good |better )?look (?:at|into) ",
            "show ",
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
