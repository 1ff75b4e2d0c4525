"""Targets: what the words of a clause are about, name by name."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from repo_map import globs
from repo_map.feedback.names import Target, find_alike, find_target, find_text, lines_of, named_by
from repo_map.feedback.sentences import HELD, Clause

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

_NOUNS: Final = (
    r"files?|folders?|director(?:y|ies)|functions?|methods?|class(?:es)?|modules?|packages?|structs?|traits?|interfaces?"
    r"|types?|enums?|constants?|variables?|symbols?|strings?|texts?|literals?|messages?|lines?|stuff|code|source|sources"
    r"|bod(?:y|ies)|implementations?|definitions?|contents?|test|helpers?|parts?|config file|test file|repo(?:sitory)?"
)
_BEFORE: Final = re.compile(
    rf"^(?:(?:the|an?|any|all|some|every|each|those|these|this|that|both|your|my|our|of|about|from|in|on|under|below|beneath"
    rf"|inside|within|around|anything|everything|whatever|whole|full|complete|entire|more|only|just|also|named|called|too"
    rf"|related to|concerning|regarding|{_NOUNS})\s+)+",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    rf"\s+(?:{_NOUNS}|here|there|please|in full|in detail|fully|whole|wholly|completely|entirely|in (?:the )?(?:map|context|plan)"
    r"|included|shown|at all|ranked first|ranked(?: so)? (?:high|low)|first|at the top|on top|missing|left out|not shown"
    r"|defined|declared|implemented|located|again|back|too|as well|also|alone|itself|somewhere|anywhere|anymore|any more)$",
    re.IGNORECASE,
)
_SPLIT: Final = re.compile(
    r"\s*,\s*(?:and\s+|or\s+|nor\s+)?|\s+(?:and|or|nor|plus|&|\+|as well as|along with|together with)\s+"
    rf"|(?<={HELD})\s+(?={HELD})"
)
_NUMBERED: Final = re.compile(
    r"^lines?\s+(\d+)(?:\s*(?:-|–|to|through|and|until)\s*(\d+))?\s+(?:of|in|from)\s+(.+)$", re.I
)
_NUMBERED_AFTER: Final = re.compile(
    r"^(.+?),?\s+(?:from\s+)?lines?\s+(\d+)(?:\s*(?:-|–|to|through|and|until|till)\s*(?:lines?\s+)?(\d+))?$",
    re.I,
)
_WITHIN: Final = re.compile(r"^(.+?)\s+(?:in|of|from|inside|within|on)\s+(.+)$", re.I | re.DOTALL)
_FIRST_LINES: Final = re.compile(r"^(?:the )?first (\d+) lines (?:of|in|from) (.+)$", re.I)
_SEVERAL_LINES: Final = re.compile(
    r"^((?:the )?(?:whole )?)lines? (\d+(?: ?(?:-|–|to) ?\d+)?(?:(?:, and |, | and )\d+(?: ?(?:-|–|to) ?\d+)?)+) (?:of|in|from) (.+)$",
    re.I,
)
_IT: Final = re.compile(
    rf"(?:it|they|(?:both|all)(?: of (?:them|these|those))?|that|this|them|those|these|(?:that|this|the same) (?:one|{_NOUNS})|(?:these|those) (?:ones|{_NOUNS})"
    r"|where (?:it|that|this) (?:is|was|gets) (?:raised|thrown|handled|set|defined|used|called))",
    re.I,
)
_OTHERS: Final = re.compile(
    r"(?:everything|anything|all|whatever|whoever|every \w+|any \w+|the \w+)(?: else)? (?:that|which|who)\b",
    re.I,
)
"""More than what is named before it: "show it and everything that extends it"."""
_BESIDE_IT: Final = re.compile(
    r"\b(?:callers?|callees|usages|dependencies|importers|imports|history|commits?|log|subclass(?:es)?|superclass(?:es)?|hierarchy)"
    rf" (?:of|for|to|that|in|from|touching)\b|\b(?:after|before|above|below|next to|beside|following|preceding)\s+{HELD}"
    rf"|\b(?:that|which) {HELD} (?:is|(?:belong|live|extend|inherit|implement|import|call|use|need)s?)\b|\b(?:without|unlike) \w",
    re.I,
)


def is_beside(words: str) -> bool:
    """Say whether words mean something beside what they name: "the function after `Session.send`"."""
    return _BESIDE_IT.search(words) is not None


_QUOTES: Final = "`\"'“”„"
_IS_TEXT: Final = re.compile(r"[\s\"'=<>%]|^[^`]*[\"“„']")


class Named:
    """What the words of one feedback name, what is on screen first."""

    def __init__(self, index: RepoIndex, shown: Collection[str]) -> None:
        self._index = index
        self.shown = frozenset(shown)
        self.last: tuple[Target, ...] = ()
        """What was named last, which ``it`` means."""
        self.referred = False
        """Whether ``it`` was read since this was set."""

    def all_in(
        self, clause: Clause, words: str, *, anywhere: bool = False, texts: bool = False
    ) -> tuple[Target, ...]:
        """Return what words name, thing by thing; nothing where any of them names nothing.

        Args:
            clause: the clause that they are of.
            words: them, with names set aside.
            anywhere: whether names count wherever they stand, whatever else is said.
            texts: whether a quoted text means the places where it stands.
        """
        found: list[Target] = []
        if (several := _SEVERAL_LINES.match(words)) is not None:
            each_of = re.split(r",? and |, ", several[2])
            return tuple(
                target
                for lines in each_of
                for target in self._in_part(clause, f"lines {lines} of {several[3]}", texts=False)
            )
        parts = [part for each in _SPLIT.split(words) if (part := each.strip(" \t,:;!?"))]
        for part in parts:
            targets = self._in_part(clause, part, texts=texts)
            if not targets and found and _OTHERS.match(part):
                return ()
            if not targets and anywhere:
                targets = tuple(
                    target
                    for held in re.findall(HELD, part)
                    if (target := self._of_name(clause.name(held), texts=texts))
                )
            if not targets and anywhere and len(part.split()) > 1 and not re.search(HELD, part) and found:
                # What else is said of what was named: "…, which is cut off".
                continue
            if not targets:
                return ()
            found += targets
        return tuple(dict.fromkeys(found))

    def one(self, written: str) -> Target:
        """Return what one name means, as it is written."""
        return self._of_name(written, texts=False)

    def _in_part(self, clause: Clause, part: str, *, texts: bool) -> tuple[Target, ...]:
        if (first_lines := _FIRST_LINES.match(part)) is not None:
            part = f"lines 1-{first_lines[1]} of {first_lines[2]}"
        numbered = _NUMBERED.match(part)
        after = None if numbered else _NUMBERED_AFTER.match(part)
        if numbered or after:
            file, first, last = (
                (numbered[3], numbered[1], numbered[2]) if numbered else (after[1], after[2], after[3])  # type: ignore[index]
            )
            target = self._of_words(clause, file, texts=False)
            return _some(lines_of(self._index, target, int(first), int(last or first)))
        if any(map(_IT.fullmatch, _strippings(part))):
            self.referred = self.referred or bool(self.last)
            return self.last
        if target := self._of_words(clause, part, texts=texts):
            return (target,)
        if (within := _WITHIN.match(part)) is not None:
            inner = self._of_words(clause, within[1], texts=texts, among_all=True)
            outer = self._of_words(clause, within[2], texts=False)
            if inner and outer.patterns:
                paths = named_by(self._index, outer.patterns)
                places = tuple(place for place in inner.places if place.path in paths)
                spans = tuple(span for span in inner.spans if span.path in paths)
                return _some(inner._replace(patterns=(), places=places, spans=spans))
        return ()

    def _of_words(self, clause: Clause, words: str, *, texts: bool, among_all: bool = False) -> Target:
        """Return what words name, what surrounds a name left out; nothing where more than that is said."""
        for stripped in _strippings(words):
            if re.fullmatch(HELD, stripped):
                return self._of_name(clause.name(stripped), texts=texts, among_all=among_all)
            if re.search(HELD, stripped):
                continue
            if target := self._known(stripped, among_all=among_all):
                return target
        bare = _strip(words)
        if re.fullmatch(r"\w{4,}", bare):
            return find_alike(self._index, bare, is_written=False).among(self.shown)
        return Target(words)

    def _of_name(self, written: str, *, texts: bool, among_all: bool = False) -> Target:
        is_quoted = written[0] in _QUOTES and len(written) > 2
        name = written[1:-1].strip() if is_quoted else written
        if target := self._known(name, among_all=among_all):
            return target
        if texts and is_quoted and written[0] != "`" and (found := find_text(self._index, name, self.shown)):
            return found
        if not re.search(r"\s", name) and (alike := find_alike(self._index, name, is_written=True)):
            return alike if among_all else alike.among(self.shown)
        if texts and (is_quoted or "." in name or "_" in name):
            return find_text(self._index, name, self.shown)
        return Target(name)

    def _known(self, name: str, *, among_all: bool) -> Target:
        target = find_target(self._index, name)
        return target if among_all else target.among(self.shown)


def _some(target: Target) -> tuple[Target, ...]:
    return (target,) if target else ()


def _strippings(words: str) -> list[str]:
    """Return words, then with less and less of what surrounds a name."""
    found = [_trim(words)]
    text = found[0]
    while True:
        shorter = _trim(_AFTER.sub("", text)) or text
        if shorter == text:
            shorter = _trim(re.sub(r"^\S+\s+", "", text)) if _BEFORE.match(text) else text
        if shorter == text:
            return found
        text = shorter
        found.append(text)


def _strip(words: str) -> str:
    return _strippings(words)[-1]


def _trim(words: str) -> str:
    # A dot may begin a name: `.github`.
    return words.strip(" \t,:!?").rstrip(" \t,.:!?")


def subject_of(clause: Clause, words: str) -> str:
    """Return words that describe what is looked for, as they were written, without an article before them."""
    return re.sub(r"^(?:the|an?|any|some|also)\s+", "", clause.written(words).strip(" ,.!?"), flags=re.I)


def is_subject(words: str) -> bool:
    """Say whether words describe something, rather than being one name that is none here."""
    bare = re.sub(rf"{HELD}|\b(?:the|an?|any|some|all|and|or|{_NOUNS})\b|[^\w]", " ", words, flags=re.I)
    return len(bare.split()) >= 2


def spelled(target: Target) -> str:
    """Return a target as it is told to the user, in backticks."""
    names = target.name.split(" ") if not target.name.startswith('"') else [target.name]
    if target.places:
        names = list(dict.fromkeys(f"{place.name} ({place.path})" for place in target.places))
    elif target.name.startswith("{"):
        names = list(map(globs.plain, target.patterns))
    shown = ", ".join(f"`{name}`" for name in names[:4])
    return shown if len(names) <= 4 else f"{shown} and {len(names) - 4} more"
