"""Targets: what the words of a clause are about, name by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from repo_map import globs
from repo_map.feedback.coverage import HELD, tells
from repo_map.feedback.names import (
    Target,
    find_alike,
    find_identifier,
    find_target,
    find_text,
    is_prose,
    lines_of,
    named_by,
)
from repo_map.feedback.operations import TAKES_AWAY, Operation
from repo_map.feedback.sentences import QUOTES, Clause

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

MOST_SEARCHES: Final = 100
"""Searches through the repository for what one message names."""
_FILE_NOUNS: Final = r"files?|folders?|director(?:y|ies)|modules?|packages?|repo(?:sitory)?|crates?|sources"
_CODE_NOUNS: Final = (
    r"functions?|methods?|class(?:es)?|structs?|traits?|interfaces?|types?|enums?|constants?|variables?|symbols?"
    r"|fields?|macros?|fixtures?|routes?|keys?|helpers?|components?|services?|hooks?|config"
)
_TEXT_NOUNS: Final = r"strings?|texts?|literals?|messages?|lines?|errors?|log messages?|error messages?"
_SOURCE_NOUNS: Final = r"(?:full |whole |complete |entire |actual |exact )*(?:source(?: code)?|code|text|bod(?:y|ies)|implementations?|definitions?|contents?|logic|details)"
_ARTICLES: Final = r"(?:(?:the|an?|all|all of|both|every|each|any|those|these|this|that|your|my|our|whole|full|complete|entire|existing|named|called)\s+)*"
_BEFORE: Final = re.compile(
    rf"^{_ARTICLES}(?:(?:{_FILE_NOUNS}|{_CODE_NOUNS}|{_TEXT_NOUNS}|(?:config|test|source|unit)(?: files?| cases?)?)\s+(?:(?:called|named)\s+)?)?",
    re.IGNORECASE,
)
_WHERE_IT_IS: Final = r"here|there|please|at all|too|as well|also|included|anymore|any more|in (?:the )?(?:map|context|plan|packet|repo|repository)"
_FULLY: Final = r"in full|in detail|fully|whole|wholly|completely|entirely"
_TOLD: Final = r"ranked first|ranked(?: so)? (?:high|low)|first|at the top|on top|missing|left out|not shown|shown|defined|declared|implemented|located|somewhere|anywhere"


_ARTICLE: Final = re.compile(f"^{_ARTICLES}", re.IGNORECASE)
_EACH: Final = re.compile(r"(?:both|all|each|every)\b", re.IGNORECASE)
_BOTH: Final = 2
_POINTS: Final = re.compile(r"(?:those|these|this|that)\b", re.IGNORECASE)
_FILE_NOUN: Final = re.compile(rf"\b(?:{_FILE_NOUNS})\b", re.IGNORECASE)
_CODE_NOUN: Final = re.compile(rf"\b(?!config)(?:{_CODE_NOUNS})\b", re.IGNORECASE)
_NOUN_AFTER: Final = re.compile(rf"\s+(?:{_FILE_NOUNS}|{_CODE_NOUNS})$", re.IGNORECASE)


class _Around(NamedTuple):
    """What may stand around a name, for what is wished of it."""

    before: re.Pattern[str]
    after: re.Pattern[str]


def _around(before: str, after: str) -> _Around:
    return _Around(
        re.compile(rf"^(?:{before})", re.IGNORECASE), re.compile(rf"\s+(?:{after})$", re.IGNORECASE)
    )


_ASKED: Final = _around(rf"{_ARTICLES}(?:{_SOURCE_NOUNS}) (?:of|for|in|from)\s+", f"{_WHERE_IT_IS}|{_TOLD}")
_SHOWN: Final = _around(
    rf"{_ARTICLES}(?:{_SOURCE_NOUNS}|everything|anything|whatever|files?|lines?) (?:of|for|in|from|under|inside|within|below|around|about)\s+",
    f"{_WHERE_IT_IS}|{_FULLY}|{_SOURCE_NOUNS}|again",
)
_CUT: Final = _around(
    r"(?:the |all |all of )*(?:everything|anything|all|stuff|code|files?|sources?) (?:of|in|from|under|inside|within|below|beneath|about)\s+(?:the\s+)?",
    f"{_WHERE_IT_IS}|code|stuff|sources?|again",
)
_SPLIT: Final = re.compile(
    r"\s*,\s*(?:and\s+|or\s+|nor\s+)?|\s+(?:and|or|nor|plus|&|\+|as well as|along with|together with)\s+(?:of\s+)?"
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
_NOUNS: Final = f"{_FILE_NOUNS}|{_CODE_NOUNS}|{_TEXT_NOUNS}|{_SOURCE_NOUNS}"
_IT: Final = re.compile(
    rf"(?:it|that|this|(?:that|this|the same) (?:one|{_NOUNS})"
    r"|where (?:it|that|this) (?:is|was|gets) (?:raised|thrown|handled|set|defined))",
    re.I,
)
_THEY: Final = re.compile(
    rf"(?:they|them|(?:both|all)(?: of (?:them|these|those))?|those|these|(?:these|those) (?:ones|two|{_NOUNS}))",
    re.I,
)
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
        self._among_words = False
        """Whether a name may be a parameter, an attribute or a local, which are told by where they stand."""
        self.answered = False
        """Whether what was named last was asked about, so that "them" may mean what the answer lists."""
        self._found: dict[tuple[object, ...], Target] = {}
        self._searches = MOST_SEARCHES

    def all_in(
        self, clause: Clause, words: str, operation: Operation, *, is_question: bool = False
    ) -> tuple[Target, ...]:
        """Return what words name, thing by thing; nothing where any word of them is no part of a name."""
        found: list[Target] = []
        around = _ASKED if is_question else _CUT if operation in TAKES_AWAY else _SHOWN
        texts = operation in (Operation.WHOLE, Operation.WHERE)
        self._among_words = is_question and operation in (Operation.CALLERS, Operation.WHERE)
        if not is_question and operation is not Operation.OUT and re.search(r"\bor\b", words, re.I):
            # Which of them is wished nobody here can tell.
            return ()
        parts = [part for each in _SPLIT.split(words) if (part := each.strip(" \t,:;!?"))]
        is_both = len(parts) == 1 and re.match(r"both\b", words, re.I) is not None
        for part in parts:
            targets = self._in_part(clause, part, around, texts=texts)
            if not targets or (
                is_both and sum(len(each.patterns) + len(each.places) for each in targets) != _BOTH
            ):
                return ()
            found += targets
        return tuple(dict.fromkeys(found))

    @property
    def is_spent(self) -> bool:
        """Whether as much was searched for as one message may."""
        return self._searches <= 0

    def _look(self, find: Callable[..., Target], *given: Any, **how: bool) -> Target:
        """Return what a search finds, each thing once and no more than one message may search for."""
        key = (find, *given, *how.items())
        if key not in self._found:
            if self.is_spent:
                return Target(given[0])
            self._searches -= 1
            self._found[key] = find(self._index, *given, **how)
        return self._found[key]

    def text(self, text: str) -> Target:
        """Return the lines of a text, those on screen first."""
        return self._look(find_text, text, self.shown)

    def one(self, written: str) -> Target:
        """Return what one name means, as it is written."""
        self._among_words = False
        return self._of_name(written, texts=False)

    def of_argument(self, name: str, operation: Operation) -> Target:
        """Return what a name means that was given as a value: what is taken away is named to the letter."""
        if self._index.file_id(name) is not None:
            return Target(name, (globs.escape(name),), name=name)
        if (target := self._known(name, among_all=False)) or operation is Operation.OUT:
            return target
        if operation in (Operation.CALLERS, Operation.WHERE) and (
            standing := self._look(find_identifier, name, self.shown)
        ):
            return standing
        return self._look(find_alike, name, is_written=True).among(self.shown)

    def unknown_in(self, clause: Clause, words: str) -> list[str]:
        """Return the names in words that nothing bears; none where the words are more than names."""
        parts = [part for each in _SPLIT.split(words) if (part := each.strip(" \t,:;!?"))]
        bare = [min(_strippings(part, _ASKED), key=len) for part in parts]
        if not all(re.fullmatch(HELD, each) or _is_plain_name(each) for each in bare):
            return []
        names = [clause.name(each).strip(QUOTES) if re.fullmatch(HELD, each) else each for each in bare]
        return [name for name in names if not self.one(name)]

    def _in_part(self, clause: Clause, part: str, around: _Around, *, texts: bool) -> tuple[Target, ...]:
        numbered = _NUMBERED.match(part)
        after = None if numbered else _NUMBERED_AFTER.match(part)
        if numbered or after:
            file, first, last = (
                (numbered[3], numbered[1], numbered[2]) if numbered else (after[1], after[2], after[3])  # type: ignore[index]
            )
            target = self._of_words(clause, file, _SHOWN, texts=False)
            return _some(lines_of(self._index, target, int(first), int(last or first)))
        for words in _strippings(part, around):
            if (is_it := _IT.fullmatch(words)) or _THEY.fullmatch(words):
                fits = bool(is_it) == (len(self.last) == 1) or self._is_several(self.last) or self.answered
                self.referred = bool(self.last) and fits
                return self.last if fits else ()
        if target := self._of_words(clause, part, around, texts=texts):
            return (target,)
        if (within := _WITHIN.match(part)) is not None:
            inner = self._of_words(clause, within[1], around, texts=texts, among_all=True)
            outer = self._of_words(clause, within[2], _CUT, texts=False)
            if inner and outer.patterns:
                return _some(self._inside(inner, outer))
            # To take a member from its class may be said of the code itself.
            if inner.places and outer.places and around is not _CUT:
                owners = {place.name for place in outer.places}
                members = tuple(each for each in inner.places if each.name.rpartition(".")[0] in owners)
                name = " ".join(dict.fromkeys(each.name for each in members))
                return _some(inner._replace(places=members, name=name))
        return ()

    def _inside(self, inner: Target, outer: Target) -> Target:
        """Return the part of what a target names that stands in the files of another."""
        paths = named_by(self._index, outer.patterns)
        places = tuple(place for place in inner.places if place.path in paths)
        spans = tuple(span for span in inner.spans if span.path in paths)
        both = sorted(paths & named_by(self._index, inner.patterns))
        name = " ".join(both) or " ".join(dict.fromkeys(place.name for place in places)) or inner.name
        return inner._replace(patterns=tuple(map(globs.escape, both)), places=places, spans=spans, name=name)

    def _is_several(self, targets: Sequence[Target]) -> bool:
        """Say whether one target is many files, which may be called "it" as well as "them"."""
        if len(targets) != 1:
            return False
        return len(named_by(self._index, targets[0].patterns)) > 1 or len(targets[0].places) > 1

    def _of_words(
        self, clause: Clause, words: str, around: _Around, *, texts: bool, among_all: bool = False
    ) -> Target:
        """Return what words name, what surrounds a name left out; nothing where more than that is said."""
        found = _strippings(words, around)
        among_all = among_all or _EACH.match(words) is not None
        for stripped in found:
            if re.fullmatch(HELD, stripped):
                return self._of_name(clause.name(stripped), texts=texts, among_all=among_all)
            if not re.search(HELD, stripped) and (
                target := _of_code(self._known(stripped, among_all=among_all))
            ):
                # "The retry helper" is no file that is called `retry`, and "those tests" are not all tests.
                if target.places and _FILE_NOUN.search(words):
                    target = self._known(f"{stripped}/", among_all=among_all)
                if around is _CUT and target.places and self._look(find_target, f"{stripped}/"):
                    # A folder is called so too: which of them goes nobody here can tell.
                    return Target(words)
                is_other = bool(target.patterns and _CODE_NOUN.search(words)) or _POINTS.match(words)
                return Target(words) if is_other else target
        if self._among_words and (standing := self._look(find_identifier, found[-1], self.shown)):
            return standing
        if re.fullmatch(r"\w{4,}", found[-1]) and not _NO_NAME.fullmatch(found[-1]):
            return _of_code(self._look(find_alike, found[-1], is_written=False)).among(self.shown)
        return Target(words)

    def _of_name(self, written: str, *, texts: bool, among_all: bool = False) -> Target:
        is_quoted = written[:1] in QUOTES and len(written) > 2
        name = written[1:-1].strip() if is_quoted else written
        if target := self._known(name, among_all=among_all):
            return target
        if texts and is_quoted and written[0] != "`" and (found := self.text(name)):
            return found
        if self._among_words and (found := self._look(find_identifier, name, self.shown)):
            return found
        if not re.search(r"\s", name) and (alike := self._look(find_alike, name, is_written=True)):
            return alike if among_all else alike.among(self.shown)
        if texts and (is_quoted or "." in name or "_" in name):
            return self.text(name)
        return Target(name)

    def _known(self, name: str, *, among_all: bool) -> Target:
        target = self._look(find_target, name)
        return target if among_all else target.among(self.shown)


def _some(target: Target) -> tuple[Target, ...]:
    return (target,) if target else ()


def _of_code(target: Target) -> Target:
    """Return a target that plain words name without the headings of texts, which are plain words too."""
    places = tuple(place for place in target.places if not is_prose(place.path))
    return target if places or not target.places else Target(target.words)


def _strippings(words: str, around: _Around) -> list[str]:
    """Return words, then with less and less of what may surround a name."""
    texts = [_trim(words)]
    for text in texts:
        shorter = (
            around.after.sub("", text),
            _NOUN_AFTER.sub("", text),
            around.before.sub("", text, count=1),
            _BEFORE.sub("", text, count=1),
            _ARTICLE.sub("", text, count=1),
        )
        texts += [each for trimmed in shorter if (each := _trim(trimmed)) and each not in texts]
    return texts


def _trim(words: str) -> str:
    # A dot may begin a name: `.github`.
    return words.strip(" \t,:!?").rstrip(" \t,.:!?")


_REFERS: Final = re.compile(
    r"\b(?:it|its|them|they|their|this|these|those|not|no|never|n't|everything else|anything else|something else|to (?:fix|do|change|write|make)|nobody|no one|nothing|none|most|least|longest|largest|biggest|smallest"
    r"|longer|larger|than|exactly|calls?|called|imports?|imported|inherits?|extends?|tested|untested|unused|covered"
    r"|bugs?|problems?|issues?|mistakes?|solutions?|web|internet|online|alternatives?|better|best|way to|ways to|yourself|you)\b",
    re.IGNORECASE,
)


def describes(words: str) -> bool:
    """Say whether words describe something: more than names, without what restricts, negates or refers."""
    told = re.sub(rf"{HELD}|\b(?:the|an?|any|some|all|and|or|{_NOUNS})\b|[^\w]", " ", words, flags=re.I)
    return bool(told.strip()) and tells(words) and _REFERS.search(words) is None


_NO_NAME: Final = re.compile(
    rf"(?:(?:any|every|some|no)(?:thing|body|one|where)|here|there|what|who|more|else|all|both|none|rest|same|other"
    rf"|{_NOUNS}|its|their|them|they|those|these|that|this)",
    re.IGNORECASE,
)
"""What no one takes for the name of something in the code."""


def _is_plain_name(word: str) -> bool:
    """Say whether a word that stands where a name does may well be one."""
    return re.fullmatch(r"[^\W\d_]\w{2,}", word) is not None and not _NO_NAME.fullmatch(word)


def subject_of(words: str) -> str:
    """Return words that describe what is looked for, without an article before them."""
    return re.sub(r"^(?:the|an?|any|some|also)\s+", "", words.strip(" ,.!?"), flags=re.I)


def spelled(target: Target) -> str:
    """Return a target as it is told to the user, in backticks."""
    names = target.name.split(" ") if not target.name.startswith('"') else [target.name]
    if target.places:
        names = list(dict.fromkeys(f"{place.name} ({place.path})" for place in target.places))
    elif target.name.startswith("{"):
        names = list(map(globs.plain, target.patterns))
    shown = ", ".join(f"`{name}`" for name in names[:4])
    return shown if len(names) <= 4 else f"{shown} and {len(names) - 4} more"
