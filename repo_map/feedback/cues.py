"""Cues: what a clause is about where no form fits: one word that says what is wanted, names, and small words."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from repo_map.feedback.operations import Operation
from repo_map.feedback.sentences import HELD, Clause

_SMALL: Final = frozenset(
    (
        "the a an of for to in on at by with from into me us you your my our i we it that this these those there here "
        "please kindly also too as well now then so really very would could can will might may should do does did is are "
        "was were be been has have had mind appreciate like love want need able if possible some any all full whole "
        "complete entire text source code body implementation definition content contents file files function functions "
        "method methods class classes struct trait interface type module package context packet map answer sent have got "
        "what which who where when how why anything anyone anybody something thing things next recently lately last ever "
        "actually exactly still else i'd you'd we'd i'll let's whether about don't-mind tell know list name find say "
        "which's what's who's anywhere currently everything helpful useful be great nice good keep just one more"
    ).split()
)
_QUESTION: Final = re.compile(
    r"(?:who|what|which|where|when|why|how|is|are|do|does|did|has|have|was|were|would|could|tell|list|name|find|say|whose)\b",
    re.I,
)
_NEGATED: Final = re.compile(
    r"\b(?:not|no|never|without|nor|neither|isn't|aren't|don't|doesn't|won't|can't|instead|but|except|unless|if not)\b",
    re.I,
)
_REPORTED: Final = re.compile(
    r"\b(?:i|we)(?:'ve| have| had| already)(?: already| just| now)* (?:read|seen|viewed|looked|reviewed|checked|opened|added|included)\b",
    re.I,
)
_ASKED: Final = (
    (Operation.WHY, r"why|reasons?|selected|chosen|picked"),
    (Operation.IMPACT, r"breaks?|affects?|affected|impact|impacted"),
    (Operation.TESTS, r"tests?|tested|covered|coverage"),
    (
        Operation.CLASSES,
        r"extends?|extending|inherits?|inheriting|implements?|implementing|derives?|derived|subclass(?:es)?|superclass(?:es)?|hierarchy",
    ),
    (Operation.IMPORTS, r"imports?|imported|importing"),
    (Operation.HISTORY, r"history|commits?|changed|modified|edited|touched|blame"),
    (
        Operation.CALLERS,
        r"calls?|called|calling|uses?|used|using|invokes?|invoked|depends?|relies|callers?|usages?",
    ),
    (Operation.WHERE, r"where|located|defined|lives?|definition"),
)
_WISHED: Final = (
    (Operation.ONLY, r"only|solely|exclusively|just keep"),
    (
        Operation.OUT,
        r"drop|dropping|remove|removing|exclude|excluding|omit|omitting|skip|hide|hiding|ignore|ignoring|discard|prune",
    ),
    (Operation.OUTLINE, r"outlines?|signatures?|skeleton"),
    (
        Operation.WHOLE,
        r"show|showing|shown|add|adding|include|including|included|see|seeing|view|display|give|giving|gimme|expand|extend|append|pull"
        r"|bring|fetch|provide|providing|appreciate|useful|helpful|print|look|read|open",
    ),
)
_BESIDE: Final = ("tests?", "callers?|usages?")
_SIDES: Final = (Operation.TESTS, Operation.CALLERS)


class Cue(NamedTuple):
    """What a clause seems to want."""

    operation: Operation
    is_question: bool
    words: str
    """What is left of it: the names."""


def cue_of(clause: Clause) -> Cue | None:
    """Return what a clause wants by its only cue; None where it has none, several, or says anything else.

    Whatever is neither the cue nor a small word has to be a name: that is for the caller to find out.
    """
    text = clause.text
    if _NEGATED.search(text) or _REPORTED.search(text):
        return None
    asked = clause.is_asked or _QUESTION.match(text) is not None
    is_polite = re.match(r"(?:would|could|can|will) (?:you|i|we)\b|mind\b", text, re.I) is not None
    if asked and not is_polite:
        for operation, words in _ASKED:
            if found := re.search(rf"\b(?:{words})\b", text, re.I):
                rest = _rest(text, words, *(each for _, each in _ASKED[4:]))
                return Cue(_turned(operation, text, found), True, rest) if rest else None
        return None
    wanted = [
        (operation, words) for operation, words in _WISHED if re.search(rf"\b(?:{words})\b", text, re.I)
    ]
    if len(wanted) != 1:
        return None
    if len(re.findall(rf"\b(?:{'|'.join(_BESIDE)}) (?:of|for)\b", text, re.I)) > 1:
        return None
    operation, words = wanted[0]
    if operation is Operation.WHOLE:
        for side, beside in zip(_SIDES, _BESIDE, strict=True):
            if re.search(rf"\b(?:{beside}) (?:of|for)\b", text, re.I):
                operation, words = side, f"{words}|{beside}"
    rest = _rest(text, words)
    return Cue(operation, False, rest) if rest else None


def _turned(operation: Operation, text: str, verb: re.Match[str]) -> Operation:
    """Return the operation that the order of name and verb means: who calls it, or what it calls."""
    name = re.search(HELD, text)
    is_before = name is not None and name.start() < verb.start()
    if verb[0].lower() in ("used", "called", "invoked") and not re.search(
        r"\b(?:has|have|had|'ve)\b", text, re.I
    ):
        return operation
    is_passive = re.search(r"\b(?:is|are|was|were|gets?|being|been)\b.*\w+ed\b", text, re.I) is not None
    if operation is Operation.CALLERS and is_before and not is_passive:
        return Operation.USES
    if operation is Operation.IMPORTS and (not is_before or is_passive):
        return Operation.IMPORTERS
    return operation


def _rest(text: str, *cues: str) -> str:
    """Return a text without cues and small words, what is listed in it kept apart."""
    for words in cues:
        text = re.sub(rf"\b(?:{words})\b", " ", text, flags=re.I)
    kept = [word for word in re.findall(rf"[\w'/.-]+|{HELD}|,", text) if word.lower() not in _SMALL]
    return re.sub(r"^(?:,|and|or)\s|\s(?:,|and|or)$", "", " ".join(kept)).strip(" ,")
