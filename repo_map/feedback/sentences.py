"""Sentences: names set aside, cut into clauses, and each clause without what is said by the way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from repo_map.feedback.amounts import names_numbers
from repo_map.feedback.coverage import ASIDE, CHANGES, HELD, WORK, only_tells
from repo_map.feedback.operations import WORDS
from repo_map.feedback.politeness import plain, whole_sentences
from repo_map.feedback.spelling import nearly
from repo_map.feedback.table import leads, vocabulary

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
    goes_on: bool = False
    """It adds to what was said before it: "and the docs", "what about the docs?", "the docs too"."""
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

    def about(self, text: str) -> Clause:
        """Return other words with the same names."""
        return self._replace(text=text)


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
        (r"\b(where|who|what|how)s\b", re.I, r"\1 is"),
        (r"(?<![\w\\\"'])(?:[\w.-]+\\)+[\w-]+\.\w+\b", 0, lambda found: found[0].replace("\\", "/")),
        (r"(?<!\S)@(?=[\w.-]+/[\w./-]+)", 0, ""),  # A file as editors let it be mentioned.
        (r"\b(?:pls|plz|plse)\b", re.I, "please"),
        (r"\bit's(?= (?!enough|sufficient|all\b))", re.I, "it is"),
        (r",\s*please\s*,\s*", re.I, ", "),
        (r"(?<=\w) (?:n|'n'|\+|&) (?=[\w`\"])", 0, " and "),
        (r"\b(token|map)_budget\s*(?:=|:|to)?\s*(?=\d)", re.I, r"\1 budget "),
        (r"\bFile \"([^\"\n]+)\", line (\d+)(?:, in \S+)?", 0, r"\1:\2"),  # A frame of a Python traceback.
        (
            r"(?<=\w)#L(\d+)(?:-L?(\d+))?\b",
            0,
            lambda found: f":{found[1]}" + (f"-{found[2]}" if found[2] else ""),
        ),
    )
)
"""Other ways to write what is said in words."""
_SIGNED: Final = (
    (re.compile(r"(?:(?<=\s)|^)\+\s?(?=[\w`\"./*])"), "; show "),
    (re.compile(r"(?:(?<=\s)|^)-(?=[\w`\"./*])(?!\d)"), "; drop "),
)
"""``-tests +Session.send``, of a text that begins so."""


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
        parts = _clauses(_without_instead(sentence, said))
        said = f"{said} {sentence}"
        yield tuple(
            Clause(
                part,
                names,
                is_asked and at == len(parts) - 1,
                at == 0 and _GOES_ON.search(sentence) is not None,
                _BEGS.search(sentence) is not None,
            )
            for at, part in enumerate(parts)
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
    for written, meant in (*_WRITTEN, *(_SIGNED if text.lstrip().startswith(("+", "-")) else ())):
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


_INSTEAD: Final = re.compile(
    r"^(?:instead of|rather than|in place of) (.+?),? ((?:show|use|include|give me|take|open|add)\b.+)$",
    re.I | re.DOTALL,
)
_TURNS: Final = re.compile(rf"\b(?:{WORDS['drop']}|{WORDS['not']}|undo|revert)\b", re.I)
_GOES_ON: Final = re.compile(
    r"^(?:and|also|plus|or|nor|then|likewise|(?:and )?(?:what|how) about|(?:the )?same (?:for|with|goes for))\b|\b(?:too|as well|also|either|likewise)$",
    re.I,
)
_BEGS: Final = re.compile(r"\b(?:can|could|would|will|may|might|shall|please|possible|mind|let's)\b", re.I)
_ALONE_INSTEAD: Final = re.compile(r"^instead,? |,? instead$|\binstead(?= (?:of )?[.,;]|,)", re.I)


def _without_instead(sentence: str, said: str) -> str:
    """Return a sentence without an "instead" whose other half was wished before it."""
    alone = _ALONE_INSTEAD.search(sentence)
    if alone is None:
        return sentence
    before = re.split(r",| and ", sentence[: alone.start()])[:-1]
    if not _TURNS.search(" ".join((said, *before))):
        return sentence
    return f"{sentence[: alone.start()]}{sentence[alone.end() :]}".strip()


_EXCEPT: Final = re.compile(
    r"^(.*?),? (?:except(?: for)?|apart from|but not) (?!that\b)(.+)$", re.I | re.DOTALL
)
_EVERYTHING: Final = re.compile(r"\b(?:everything|anything|all|all files|the rest|nothing)(?: else)?$", re.I)
_RELATION: Final = r"(?:definition|callers?|usages|uses|tests|imports|importers|history|dependencies|callees|hierarchy|call sites)"
_DECLINED: Final = re.compile(
    r"(?:(?:i |we )?(?:don't|do not)(?: \w+)?(?: me)?|never mind|not|without|no)(?: the| its| their| any)? "
    r"(?:(?:callers?|usages|importers|imports|history|dependencies|callees|hierarchy|call sites)(?: (?:of|for) .+)?"
    r"|(?<=its )tests|(?<=their )tests)",
    re.I,
)
"""What stands in a relation comes only where it is wished: beside another wish, to decline it changes nothing."""
_OWNED: Final = re.compile(
    rf"\b(?:the )?(\w+)'s ({_RELATION}|implementation|source|body|code|definition|outline|signatures?)\b",
    re.I,
)
_OWN_SOURCE: Final = re.compile(
    r"(?<!to )\b(?:its|their) (?:full )?(outline|signatures?|structure|interface|api|implementation|source(?: code)?|body|code|definition)\b",
    re.I,
)
_NOT_BODIES: Final = re.compile(
    r",? (?:and |but )?(?:not|without|(?:i|we) (?:don't|do not) need) (?:the |its |their )?(?:full |whole )?(?:bodies|body|implementations?|code|source|details)$",
    re.I,
)
_REASON: Final = re.compile(
    rf"^(.+?)(?:,? (?:because|as|since|given that) (?:it|they|i|we|there|that|this|{HELD}|(?:the|its|their|my|our|these|those) \w+)(?:'s|'re|'m|'ll|\s)(?!\w+$){ASIDE}"
    rf"|,? so (?:that )?(?:i|we) (?:can|could|may|will|know|understand)\b{ASIDE}"
    rf"|(?<!going)(?<!about)(?<!planning)(?<!trying)(?<!need)(?<!have)(?<!want)(?<!like)(?<!how),? (?:in order to|to be able to|to) {WORK}\b{ASIDE}"
    rf"|,? for (?:my|the|this|that) (?:\w+ )?(?:fix|task|change|bug|issue|review|refactoring|ticket|patch|pr|test i)(?: \w+)?"
    rf"|, which (?:is|are|was|were|has|have|had|does|calls|uses|handles|the|it|they|you|{HELD})(?!\w){ASIDE})$",
    re.I | re.DOTALL,
)
"""Why something is wished: names in it are not."""
_BESIDE: Final = re.compile(
    rf"^((?:show|include|add|open|give me|see|read)\b(?: me)? (?!(?:the )?{_RELATION} ).+?)(?:, and |, | and )((?:the )?{_RELATION} (?:of|for) .+|(?:its|their) {_RELATION})$",
    re.I | re.DOTALL,
)
_MANNERED: Final = re.compile(
    rf"[\w{HELD[1:-1]} ]+\s*[:,]\s*(?:just |only )?(?:an? |the )?{WORDS['outline']}(?: only)?", re.I
)
"""What is meant, then how it is to be shown: "tests: outline only"."""
_CONTRAST: Final = re.compile(r"^not (.+?),? but (?!not )(?:also |rather )?(.+)$", re.I | re.DOTALL)
_CORRECTION: Final = re.compile(rf"not ({HELD}),? ({HELD})", re.I)
_RELATIONS: Final = re.compile(
    rf"^((?:\w+ ){{0,3}}?)((?:the )?{_RELATION}(?:(?:, and |, | and )(?:the )?{_RELATION})+) (of|for) (.+)$",
    re.I | re.DOTALL,
)
_CUT: Final = re.compile(
    r"(?:,\s*|\s+)(?:and|but|so|then|and then|but then|however|and also|but also|also|plus)\s+|\s*,\s*|\s*:\s+|\s+[-–—]\s+",
    re.I,
)


def _clauses(sentence: str) -> list[str]:
    """Cut a sentence where another wish begins."""
    sentence = plain(sentence)
    if re.match(rf"unless\b|if\b.+,\s*(?:then |please |just )*{WORDS['drop']}\b", sentence, re.I):
        # Whether it holds nobody here can tell.
        return [sentence]
    sentence = _direct(sentence)
    if (
        why := re.fullmatch(rf"({HELD})\s*[-–—:,]?\s*(why|where)(?: is (?:it|this|that))?", sentence, re.I)
    ) is not None:
        return [f"{why[2]} is {why[1]}"]
    if _MANNERED.fullmatch(sentence) is not None:
        return [sentence]
    if (contrast := _CONTRAST.match(sentence) or _CORRECTION.fullmatch(sentence)) is not None:
        return [f"drop {contrast[1]}", *_clauses(f"show {contrast[2]}")]
    if names_numbers(sentence) or any(form.fullmatch(sentence) for form in whole_sentences()):
        return [sentence]
    if (several := _RELATIONS.match(sentence)) is not None:
        each = re.split(r",? and |, ", several[2])
        return [f"{several[1]}{relation} {several[3]} {several[4]}" for relation in each]
    if (swap := _INSTEAD.match(sentence)) is not None:
        return [f"drop {swap[1]}", *_clauses(swap[2])]
    parts = [_without_reason(part) for part in _parts(sentence)]
    found = [each for part in parts for each in _spread(part) if each]
    return [each for each in found if _DECLINED.fullmatch(each) is None] or found


def _without_reason(part: str) -> str:
    told = _REASON.match(part)
    if told is None or (re.search(r"\band\b", part[told.end(1) :]) and _TURNS.search(part[told.end(1) :])):
        return plain(part)
    return plain(told[1])


def _direct(sentence: str) -> str:
    """Return a sentence with its asides as the plain wish that they come to."""
    sentence = _OWNED.sub(r"the \2 of \1", sentence)
    sentence = _OWN_SOURCE.sub(r"the \1 of it", sentence)
    is_outline = re.search(rf"\b{WORDS['outline']}\b", sentence, re.I) is not None
    return _NOT_BODIES.sub("", sentence) if is_outline else sentence


def _parts(sentence: str) -> list[str]:
    """Return the parts of a sentence, cut before each wish that begins."""
    parts: list[str] = []
    start = 0
    for cut in _CUT.finditer(sentence):
        if cut.start() < start:
            continue
        before, after = sentence[start : cut.start()], sentence[cut.end() :]
        if not _begins(after, cut[0]):
            continue
        start = cut.end()
        # What leads up to a wish with a colon says why it is wished.
        if ":" not in cut[0] or re.search(HELD, before) or not only_tells(before):
            parts.append(before)
    return [*parts, sentence[start:]]


def _begins(text: str, cut: str) -> bool:
    """Say whether a wish of its own begins a text."""
    if re.match(r"(?:tell|let) me\b|(?:i|we) (?:think|believe|guess|suppose)\b", text, re.I):
        return True
    text = plain(text)
    if re.fullmatch(r"nothing (?:else|more)", text, re.I):
        return False
    if re.match(r"(?:it|they)'(?:s|re) |(?:i|we) (?:know|already|have|don't need) ", text, re.I):
        return True
    if re.match(
        r"not\s|(?:they|it|these|those) (?:is|are|was|were|has|have|does|do|don't|doesn't|isn't|aren't)\s",
        text,
        re.I,
    ):
        return True
    if cut.strip() == "," and re.match(r"(?:it|they) (?:\w+ ){1,3}\w+$", text, re.I):
        return True
    if re.match(r"(?:all|the|my|an?|its?|this|that)\b(?!')", text, re.I) and "but" not in cut:
        # An item of an enumeration.
        return bool(
            re.match(rf"(?:that(?:'s| is| will)|no more|the (?!{_RELATION} )\w+ of it\b)", text, re.I)
        )
    if re.match(r"the rest of .+ as ", text, re.I):
        return True
    return leads().match(text) is not None or (
        "," in cut and re.match(r"(?:its|the)\s+\w+.*\b(?:is|are) enough$", text, re.I) is not None
    )


def _spread(clause: str) -> list[str]:
    """Return the clauses that one of several halves stands for."""
    if (beside := _BESIDE.match(clause)) is not None:
        relation = re.sub(r"^(?:its|their) (.+)$", r"the \1 of it", beside[2], flags=re.I)
        return [beside[1], f"show {relation}"]
    if (spared := _EXCEPT.match(clause)) is not None and not _EVERYTHING.search(spared[1]):
        if re.match(rf"(?:{WORDS['drop']}|{WORDS['not']} {WORDS['show']})\b", spared[1], re.I):
            return [spared[1], f"show {spared[2]}"]
        if re.match(rf"{WORDS['show']}\b", spared[1], re.I):
            return [spared[1], f"drop {spared[2]}"]
    return [clause]


_NO_STATEMENT: Final = re.compile(
    r"(?:who|what|which|where|when|why|how|is|are|does|do|did|can|could|would|should|will|no|not only|only|just|please|don't|dont|never"
    r"|instead|rather|let)\b",
    re.I,
)
_STATES: Final = re.compile(
    r"(?:^(?:that|this|it|they|there) |^(?:because|since|as|before|after|while) (?:i|we|it|they|the|this|that) |\b(?:lives?|calls?|uses?|needs|contains?|handles?|keeps?|sends?|stores?|pushes|leaks?|depends?|means?|matters?|belongs?|hangs?|blocks?|loses?|starts?|stops?)\b|^(?:i|we) (?:(?:just|already|also|now|still|really|do) )*(?:\w+ed|have|had|am|are|was|were|see|saw|think|suspect|know|ran|got|found|guess|believe|work|did|made|wrote|read|feel|assume|notice|hope)\b|^(?:i|we)'(?:ve|m|re)\b|\b(?:is|are|was|were|has|have|had|fails?|failed|seems?|looks?"
    r"|did|does|didn't|doesn't|crash(?:es|ed)?|returns?|raises?|throws?|breaks?|happens?|reported|work(?:s|ed)?)\b)",
    re.I,
)


_CODE: Final = re.compile(
    r"\s*(?:(?:def|class|func|fn|impl|struct|type|interface|trait|enum|void|public|private|protected|static|export|const|async|function)\s+\S"
    r"|\S+.*\(.*\)|@\w)"
)


def looks_like_code(text: str) -> bool:
    """Say whether words may be a line of source."""
    return len(text.split()) > 1 and _CODE.match(text) is not None


def is_statement(clause: Clause) -> bool:
    """Say whether a clause tells something, and neither asks nor bids."""
    if re.fullmatch(
        r"not (?:(?:that|this|it|these|those)(?: one)?|enough|helpful|quite|good|right|yet)"
        r"|(?:that|this|it) (?:wasn't|isn't|was not|is not|didn't|did not) (?:\w+ )?(?:help(?:ful)?|useful|right|good|it|enough|what i (?:wanted|meant|asked for))",
        clause.text,
        re.I,
    ):
        return True
    if re.match(
        rf"(?:i|we)(?:'d| would)? (?:like|want|need|have) to {CHANGES}\b.*|(?:i've|i have|we've) seen enough of (?:the )?{HELD}|(?:i'm|i am|we're|we are) (?:(?:done|finished|through) with .*{HELD}|(?:going|about|planning|trying) to )"
        rf"|(?:i'll|i will|we'll|let me) (?:start|begin|work|go|continue|look|focus)(?: with| at| on| first)* .*{HELD}$",
        clause.text,
        re.I,
    ):
        return True
    is_told = re.match(r"(?:it|they|i|we)\b", clause.text, re.I) is not None
    if re.match(
        r"(?:i|we) (?:can )?(?:see|understand|notice|noticed)(?: now)?(?: that)? (?!if|how|why|what)",
        clause.text,
        re.I,
    ):
        return only_tells(clause.text)
    if (clause.is_asked and not is_told) or _NO_STATEMENT.match(clause.text) or leads().match(clause.text):
        return False
    return _STATES.search(clause.text) is not None and only_tells(clause.text)


_OWN_WORDS: Final = frozenset(
    (
        "move sort port copy form lock text tests best rest cost case base name same some more most here there then than "
        "these those them they what that this call calls tell test fix run build make take give keep leave like list last "
        "lost left right line lines long look loop load loads read real reach write wrote wrong drop prop stop step steps shop "
        "shot show slow how now new note none node nose core cover over other others order rather either never ever every "
        "even only once one two ten few many much may must use used user users uses using us change charge chance"
    ).split()
)
"""Words that look like slips of words that steering knows, and are none."""


def spelled_right(clause: Clause, known: frozenset[str]) -> Clause:
    """Return a clause with its misspelt words as words that steering knows; ``known`` are more of those.

    A letter too many, one too few or two that changed places are slips; another letter makes another word.
    """
    words = {*vocabulary(), "please", "could", "would", *known}

    def right(match: re.Match[str]) -> str:
        word = match[0].lower()
        if word in words or word in _OWN_WORDS:
            return match[0]
        meant = nearly(word, sorted(words))
        if word[:-1] == meant and word[-1] in "sdrn":
            # Another form of the word, not a slip.
            return match[0]
        is_slip = len(meant) != len(word) or sorted(meant) == sorted(word) or len(word) >= _LONG
        return meant if meant and is_slip else match[0]

    return clause.about(plain(re.sub(r"\b[A-Za-z]{3,}\b(?!')", right, clause.text)))


_LONG: Final = 7
"""Letters from which on one that is wrong still tells the word."""
