"""Sentences: names set aside, cut into clauses, and each clause without what is said by the way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from repo_map.feedback.amounts import names_numbers
from repo_map.feedback.asides import CHANGES, HELD, TAIL, WORK, bids_nothing, describes_only
from repo_map.feedback.operations import WORDS, pattern_of
from repo_map.feedback.table import TABLE, leads

_FIRST_HELD: Final = 0xE000
_MOST_HELD: Final = 1_000
MOST_SENTENCES: Final = 50
"""Sentences of one message that are read."""
MOST_LETTERS: Final = 400
"""Characters of a sentence that is read, each name in it counted as one."""


class Clause(NamedTuple):
    """A wish, or what else is said, in words; names in it are single characters."""

    text: str
    names: tuple[str, ...]
    """The names as they are written, by the number of their character."""
    is_asked: bool = False
    """It ends with a question mark."""
    is_begged: bool = False
    """Its sentence asks for something to be done, in the form of a question or not."""
    is_unread: bool = False
    """It is too long, or stands behind too many others, to be looked at."""

    def name(self, held: str) -> str:
        """Return what a character stands for, with its quotes."""
        return self.names[ord(held) - _FIRST_HELD]

    def written(self, text: str | None = None) -> str:
        """Return the words as they were written."""
        return re.sub(HELD, lambda match: self.name(match[0]), self.text if text is None else text)


_BLANKS: Final = re.compile(r"[^\S\n]+")
"""What stands between two words of a line; the grammar would try each part of a long run."""
QUOTES: Final = "`\"'“”„"
_FENCE: Final = re.compile(r"(?:^|(?<=\s))```[^\n`]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
"""Code between the marks of Markdown, the language beside the first one left out."""
_QUOTED: Final = r"`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”|„[^“”\n]+[“”]|(?<![\w])'[^'\n]+'(?!\w)"
_LINES: Final = r"(?::L?\d+(?:\s?[-–]\s?L?\d+)?)?"
_TOKEN: Final = re.compile(rf"{_QUOTED}|(?:\(\*?\w+\)\.|(?<!\S))?\S+")
_NAME_LIKE: Final = re.compile(
    r"[^\W\d_]\w*(?:(?:::|->|#)[\w~]+)+"  # Pool::connect, Cart#add
    r"|\(\*?\w+\)\.\w+"
    r"|[\w.*-]*[\w*\]})]/[^\s]*|\*\*?[./][^\s]+|\.{1,2}/\S+"  # a/b, **/*.md
    r"|\.[A-Za-z_][\w.-]*"  # .github
    r"|[\w-]+(?:\.[\w-]+)*\.[A-Za-z_][\w-]*|\*\.\w+"  # a.b
    r"|\w*_\w*"  # snake_case
    r"|[a-z]+[a-z0-9]*[A-Z]\w*|[A-Z]+[a-z0-9]+[A-Z]\w*|[A-Z]{2,}[a-z]\w*"  # camelCase
)
_ABBREVIATIONS: Final = frozenset({"e.g", "i.e", "etc.", "a.k.a", "and/or", "he/she", "vs."})
_TAIL: Final = re.compile(rf"{_LINES}$")
_WRITTEN: Final = tuple(
    (re.compile(pattern, flags), meant)
    for pattern, flags, meant in (
        (r"\bw/o\b", re.I, "without"),
        (r"\b(where|who|what)s\b", re.I, r"\1 is"),
        (r"(?<![\w\\\"'])(?:[\w.-]+\\)+[\w-]+\.\w+\b", 0, lambda found: found[0].replace("\\", "/")),
        (r"(?<!\S)@(?=[\w.-]+/[\w./-]+)", 0, ""),  # A file as editors let it be mentioned.
        (r"\btoken_budget\b", re.I, "token budget"),
        (r"(?<=\w) (?:n|\+|&) (?=[\w`\"])", 0, " and "),
        (r"\bFile \"([^\"\n]+)\", line (\d+)(?:, in \S+)?", 0, r"\1:\2"),  # A frame of a Python traceback.
        (r"(?<=\w)#L(\d+)(?:-L?(\d+))?\b", 0, lambda found: f":{'-'.join(filter(None, found.groups()))}"),
    )
)
"""Other ways to write what is said in words."""


def sentences(feedback: str) -> Iterator[tuple[Clause, ...]]:
    """Yield the clauses of each sentence of a feedback in order."""
    held, names = _hold(feedback)
    said = ""
    for at, (sentence, is_asked) in enumerate(_sentences(_BLANKS.sub(" ", held))):
        if at == MOST_SENTENCES or len(sentence) > MOST_LETTERS:
            yield (Clause(sentence, names, is_unread=True),)
            if at == MOST_SENTENCES:
                return
            continue
        parts = _clauses(sentence)
        for number, part in enumerate(parts):
            if _TURNS.search(said):
                # The other half of "instead" was taken away before.
                parts[number] = re.sub(r",? instead$", "", part, flags=re.I)
            said = f"{said} {part}"
        yield tuple(
            Clause(
                part,
                names,
                is_asked and number == len(parts),
                _BEGS.search(sentence) is not None,
            )
            for number, part in enumerate(parts, 1)
        )


def clauses(feedback: str) -> Iterator[Clause]:
    """Yield the clauses of a feedback in order."""
    return (clause for sentence in sentences(feedback) for clause in sentence)


def _hold(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text with each name in it set aside, and the names."""
    names: list[str] = []
    text = "".join(" " if _FIRST_HELD <= ord(each) <= 0xF8FF else each for each in text.replace("’", "'"))

    def hold(name: str) -> str:
        if len(names) >= _MOST_HELD:
            return name
        names.append(name)
        return chr(_FIRST_HELD + len(names) - 1)

    def code(match: re.Match[str]) -> str:
        inside = match[1]
        return f" {hold(chr(34) + inside + chr(34))} " if inside.strip(f"{QUOTES} \t\n") else " "

    def token(match: re.Match[str]) -> str:
        word = match[0]
        if word[0] in "`\"“„'" and word[-1] in "`\"”“'" and word.strip(f"{QUOTES} \t"):
            return hold(word) if len(word) > 1 else word
        core = word.rstrip(",;!?:")
        core = core if re.fullmatch(r"[\w./-]+\.\.+", core) is None else core.rstrip(".")
        core = core.rstrip(".") if not core.endswith("..") else core
        lead = core[: len(core) - len(core.lstrip("([{"))] if not core.startswith(("(*", "[")) else ""
        core = core[len(lead) :]
        tail = ""
        while core.endswith((")", "]", "}")) and core.count("(") < core.count(")"):
            core, tail = core[:-1], core[-1] + tail
        owned = re.search(r"(?<=\w)'s?$", core)
        if owned is not None and _NAME_LIKE.fullmatch(core[: owned.start()]):
            word = word[: len(lead) + owned.start()] + word[len(lead) + owned.end() :]
            core = core[: owned.start()]
        bare = _TAIL.sub("", core)
        is_name = _NAME_LIKE.fullmatch(bare.removesuffix("()")) or re.fullmatch(r"[A-Za-z_]\w*\(\)", bare)
        if "'" in core or core.lower() in _ABBREVIATIONS or not is_name:
            return word
        return lead + hold(core) + tail + word[len(lead) + len(core) + len(tail) :]

    text = _FENCE.sub(code, text)
    for written, meant in _WRITTEN:
        text = written.sub(meant, text)
    return _TOKEN.sub(token, text), tuple(names)


_END: Final = re.compile(r"([.!?…]+)(?:\s+|$)|\n+|;")


def _sentences(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the sentences, and whether each is asked; who corrects himself has not said what went before."""
    found: list[tuple[str, bool]] = []
    start = 0
    for end in [*_END.finditer(text), None]:
        part = text[start : end.start() if end else len(text)].strip(" ,\t")
        start = end.end() if end else len(text)
        part = re.sub(r"^[-–—*•]\s+|\s+[-–—]$", "", part)
        if not part:
            continue
        if re.match(r"(?:sorry|i mean|or rather|i meant)\b[,\s]+", part, re.I) and found:
            found.pop()
        found.append((part, bool(end and end[1] and "?" in end[1])))
    return iter(found)


_BEGS: Final = re.compile(r"\b(?:can|could|would|will|may|please|let's)\b", re.I)
_TURNS: Final = re.compile(rf"\b(?:{WORDS['drop']}|don't need|undo|scrap)\b", re.I)
_RELATION: Final = r"(?:definition|callers?|usages|uses|tests|imports|importers|history|dependencies|callees)"
_OF_IT: Final = re.compile(
    rf"^((?:{WORDS['show']}) .+?)(?:,? and |, )(?:its|their) ({_RELATION})$", re.I | re.DOTALL
)
_EXCEPT: Final = re.compile(
    rf"^((?:{WORDS['drop']}|{WORDS['not']} {WORDS['show']}) .+?),? (?:except(?: for)?|but not) (.+)$",
    re.I | re.DOTALL,
)
_EVERYTHING: Final = re.compile(r"\b(?:everything|anything|all|all files|nothing)(?: else)?$", re.I)
_REASON: Final = re.compile(
    r"^(.+?)(?:,? (?:because|since) (?:it|they|i|we|there|that|the \w+|" + HELD + r")(?!\w)[^;]+"
    rf"|,? so (?:that )?(?:i|we) (?:can|could)\b[^;]+"
    rf"|(?<!going)(?<!about)(?<!trying)(?<!need)(?<!have)(?<!want)(?<!like),? (?:in order )?to {WORK}\b[^;]+"
    r"|,? for (?:my|the|this) (?:fix|task|change|bug|issue))$",
    re.I | re.DOTALL,
)
"""Why something is wished: names in it are not."""
_RELATIONS: Final = re.compile(rf"^(.*?)({_RELATION}) and ({_RELATION}) (of|for) (.+)$", re.I | re.DOTALL)
_INSTEAD: Final = re.compile(rf"^(?:instead of|rather than) (.+?),? ({WORDS['show']} .+)$", re.I | re.DOTALL)
_OWN: Final = re.compile(
    r"(?<!to )\b(?:its|their) (?:full )?(implementation|source|body|code|outline|signatures?)\b", re.I
)
_CUT: Final = re.compile(
    r"(?:,\s*|\s+)(?:and|but|so|then|and then|and also|also)\s+|\s*,\s*|\s*:\s+|\s+[-–—]\s+", re.I
)


@cache
def _whole_sentences() -> tuple[re.Pattern[str], ...]:
    """Return the forms that are about no name: what has one is one clause."""
    return tuple(pattern_of(form) for row in TABLE for form in row.forms if "{}" not in form)


_SELF: Final = r"(?:i|we)(?:'d| would|'ll| will| do)?(?: also| now| still| really| just)*"
_BEFORE: Final = tuple(
    (re.compile(rf"^(?:{pattern})", re.IGNORECASE), instead)
    for pattern, instead in (
        (
            r"(?:(?:please|pls|plz|kindly|yo|nah|now|also|then|and|so|but|ok(?:ay)?|well|actually|hey|hi|hello|yes"
            r"|right|first|next|again|sorry|oh|hmm|oops|thanks?(?: you)?|lgtm"
            r"|(?:great|perfect|nice|good)(?: (?:work|start))?(?: so far)?)[\s,.!:–—-]+)+(?!$)",
            "",
        ),
        (
            r"(?:no|one more(?: thing)?|another thing|never ?mind|scratch that|my mistake|in that case"
            r"|(?:that|this|it) (?:was|is) (?:wrong|bad|not good)|if (?:possible|you (?:can|have room)))\s*"
            r"[,.!:–—-]+\s*(?!$)",
            "",
        ),
        (rf"(?:in order )?to (?:be able to )?{WORK}(?: {TAIL})?,? (?=(?:i|we)\b|please|show|give)", ""),
        (r"(?:can|could|would|will) (?:you|u)(?: (?:please|also|kindly|just|now))* (?!not\b|rather\b)", ""),
        (r"(?:you|we) (?:can|may|should)(?: (?:please|also|safely|just|now))* (?!not\b)", ""),
        (r"(?:can|could|may) (?:i|we)(?: (?:please|also|just|now))* (?=have|get|see|read|look at)", ""),
        (r"(?:i think|i believe|i guess|it seems)(?: that)?,? |(?:let's|let us|let me)(?: also| now)? ", ""),
        (r"tell me (?:know )?(?=who|what|why|where|which|how|when|more)", ""),
        (rf"{_SELF} (?:want|need|like|love|care about) (?:only|just) ", "only "),
        (rf"{_SELF} (?:only|just) (?:want|need|like|care about)(?: to (?:see|read|have))? ", "only "),
        (
            rf"{_SELF} (?:like|love|want|need) (?:you )?to (?:know|understand|see) (?=who|what|which)",
            "",
        ),
        (rf"{_SELF} (?:like|love|want|need|wish) (?:you )?to(?: also| now)? (?!{CHANGES}\b)", ""),
        (rf"{_SELF} (?:want|need|like|require)(?: see)? ", "show "),
        (r"(?:show )?(?:a )?(?:little|bit) (?:bit )?(?=less|more)|more\s*:\s*", ""),
        (r"(?:know|find out) (?=who|what|which|where|why|how)", ""),
    )
)
_AFTER: Final = re.compile(
    r"[,\s]+(?:please|pls|plz|for me|thanks|thank you|now|too|as well|also|for now|still|so far"
    r"|right now|any ?more|any longer|from now on|next|if possible|afterwards|side by side|for comparison"
    r"|at all|a (?:bit|little)|would be (?:fine|good|great)|in the first place|in (?:there|here|it)"
    r"|(?:to|from|in|into|of) (?:the|this) (?:context|map|packet|answer)"
    r"|before (?:i|we) (?:can )?(?:start|begin|go on))$",
    re.IGNORECASE,
)


def plain(clause: str) -> str:
    """Return a clause without greetings, requests and thanks around it."""
    text = re.sub(r"^[-–—*•]\s+|\s+[-–—]$", "", clause.strip()).strip(" ,.!?\t:")
    while not any(form.fullmatch(text) for form in _whole_sentences()):
        before = text
        for pattern, instead in _BEFORE:
            if pattern.sub("", text).strip():
                text = pattern.sub(instead, text).strip(" ,.!?\t:")
        if (tail := _AFTER.search(text)) is not None and tail.start() > 0:
            text = text[: tail.start()].strip(" ,.!?")
        if text == before:
            break
    return text


def _clauses(sentence: str) -> list[str]:
    """Cut a sentence where another wish begins."""
    sentence = plain(sentence)
    if re.match(r"(?:unless|if)\b", sentence, re.I):
        # Whether it holds nobody here can tell.
        return [sentence]
    if names_numbers(sentence) or any(form.fullmatch(sentence) for form in _whole_sentences()):
        return [sentence]
    if (several := _RELATIONS.match(sentence)) is not None:
        before, one, other, preposition, about = several.groups()
        return [f"{before}{relation} {preposition} {about}" for relation in (one, other)]
    if (beside := _OF_IT.match(sentence)) is not None:
        return [*_clauses(beside[1]), f"show {beside[2]} of it"]
    if (spared := _EXCEPT.match(sentence)) is not None and not _EVERYTHING.search(spared[1]):
        return [spared[1], f"show {spared[2]}"]
    if (swap := _INSTEAD.match(sentence)) is not None:
        return [f"drop {swap[1]}", *_clauses(swap[2])]
    parts = (_without_reason(part) for part in _parts(_OWN.sub(r"\1 of it", sentence)))
    return [part for part in parts if part and part not in ("please", "thanks")] or [sentence]


def _without_reason(part: str) -> str:
    reason = _REASON.match(plain(part))
    return plain(reason[1]) if reason is not None and describes_only(part[reason.end(1) :]) else plain(part)


def _parts(sentence: str) -> list[str]:
    """Return the parts of a sentence, cut before each wish that begins."""
    parts: list[str] = []
    start = 0
    for cut in _CUT.finditer(sentence):
        if cut.start() < start or not _begins(sentence[cut.end() :], cut[0]):
            continue
        parts.append(sentence[start : cut.start()])
        start = cut.end()
    return [*parts, sentence[start:]]


def _begins(text: str, cut: str) -> bool:
    """Say whether a wish or a statement of its own begins a text."""
    text = plain(text)
    if cut.strip() == "," and _SUBJECT.match(text):
        return True
    # "X and Y was …" may be said of both.
    is_apart = "and" not in cut or _PRONOUN.match(text) is not None
    return leads().match(text) is not None or (is_apart and is_statement(text))


_PRONOUN: Final = re.compile(r"(?:it|they|i|we|this|that|there|because|since)\b", re.I)
_SUBJECT: Final = re.compile(rf"(?:the )?[\w{HELD[1:-1]}]+(?: \w+)? (?:is|are|isn't|aren't|can)\b", re.I)
_VERB: Final = (
    r"(?:am|is|are|was|were|has|have|had|fails?|failed|seems?|looks?|did|does|didn't|doesn't|isn't|wasn't|aren't|helps?"
    r"|crash(?:es|ed)?|returns?|raises?|throws?|breaks?|happens?|works?|leaks?|lives?|handles?|suspect|think|need|know"
    r"|see|touch|start|go)"
)
_STATES: Final = re.compile(
    rf"(?:because |since |before |after |now that )?"
    rf"(?:(?:it|that|this|they|there|i|we)(?:'s|'re|'m|'ve|'ll|n't)? (?:.* )?"
    rf"|(?:the )?[\w{HELD[1:-1]}]+(?: \w+)? ){_VERB}\b.*|(?:it|they|i|we)'(?:s|re|m|ve) .*",
    re.I,
)


def is_statement(text: str) -> bool:
    """Say whether a clause states something, and neither asks nor bids."""
    return _STATES.fullmatch(text) is not None and leads().match(text) is None and bids_nothing(text)
