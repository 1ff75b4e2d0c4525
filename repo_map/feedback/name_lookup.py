"""Targets: what the words of a clause are about, name by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from repo_map import globs
from repo_map.feedback.asides import HELD, describes_only
from repo_map.feedback.names import (
    Referent,
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
_OF_FILES: Final = frozenset(
    "file files folder folders directory module modules package packages crate".split()
)
_OF_CODE: Final = frozenset(
    """
    function functions method methods class classes struct trait interface type types enum constant variable
    symbol field macro fixture key helper component service string text line error
    """.split()
)
_OF_KINDS: Final = frozenset({"test", "config"})
_OF_SOURCE: Final = frozenset(
    "source code body bodies implementation definition definitions contents logic lines".split()
)
_ASIDES: Final = frozenset(
    """
    the a an all of both every each any your my our existing called named in from for under inside within
    below around about here there included too also as well please again code source files sources stuff
    """.split()
)
"""Words around a name that narrow nothing, whatever is wished."""
_SHOWN: Final = _ASIDES | _OF_SOURCE | frozenset("full whole complete entire fully completely detail".split())
"""The same for what is to be shown: a part of a definition is not taken away for the whole."""
_NOUNS: Final = _OF_FILES | _OF_CODE | _OF_SOURCE
_MOST_ASIDES: Final = 9
"""Words that are left out around a name, at most."""
_PREPOSITIONS: Final = frozenset("in from for of under inside within below around about on at".split())
_EACH: Final = re.compile(r"(?:both|all|each|every)\b", re.IGNORECASE)
_BOTH: Final = 2
_SPLIT: Final = re.compile(
    r"\s*,\s*(?:and\s+|or\s+|nor\s+)?|\s+(?:and|or|nor|&|\+|as well as|along with)\s+(?:of\s+)?"
    rf"|(?<={HELD})\s+(?={HELD})"
)
_LINES: Final = r"lines?\s+(?P<first>\d+)(?:\s*(?:-|–|to|through)\s*(?:line\s+)?(?P<last>\d+))?"
_NUMBERED: Final = re.compile(rf"^{_LINES}\s+(?:of|in|from)\s+(?P<file>.+)$", re.I)
_NUMBERED_AFTER: Final = re.compile(rf"^(?P<file>.+?),?\s+(?:from\s+)?{_LINES}$", re.I)
_WITHIN: Final = re.compile(r"^(.+?)\s+(?:in|of|from|inside)\s+(.+)$", re.I | re.DOTALL)
_NOUN: Final = "|".join(sorted(_NOUNS))
_IT: Final = re.compile(rf"(?:it|that|this|(?:that|this|the same) (?:one|{_NOUN}))", re.I)
_THEY: Final = re.compile(
    rf"(?:they|them|(?:both|all)(?: of (?:them|these|those))?|those|these|(?:these|those) (?:ones|{_NOUN}))",
    re.I,
)


class NameLookup:
    """What the words of one feedback name, what is on screen first."""

    def __init__(self, index: RepoIndex, shown: Collection[str]) -> None:
        self._index = index
        self.shown = frozenset(shown)
        self.last: tuple[Referent, ...] = ()
        """What was named last, which ``it`` means."""
        self.referred = False
        """Whether ``it`` was read since this was set."""
        self._among_words = False
        """Whether a name may be a parameter, an attribute or a local, described by where they stand."""
        self.answered = False
        """Whether what was named last was asked about, so that "them" may mean what the answer lists."""
        self._found: dict[tuple[object, ...], Referent] = {}
        self._searches = MOST_SEARCHES

    def all_in(
        self, clause: Clause, words: str, operation: Operation, *, is_question: bool = False
    ) -> tuple[Referent, ...]:
        """Return what words name, thing by thing; nothing where any word of them is no part of a name."""
        found: list[Referent] = []
        asides = _SHOWN if is_question or operation not in TAKES_AWAY else _ASIDES
        texts = operation in (Operation.WHOLE, Operation.WHERE)
        self._among_words = is_question and operation in (Operation.CALLERS, Operation.WHERE)
        if not is_question and operation is not Operation.OUT and re.search(r"\bor\b", words, re.I):
            # Which of them is wished nobody here can tell.
            return ()
        parts = [part for each in _SPLIT.split(words) if (part := each.strip(" \t,:;!?"))]
        is_both = len(parts) == 1 and re.match(r"both\b", words, re.I) is not None
        for part in parts:
            targets = self._in_part(clause, part, asides, texts=texts)
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

    def _look(self, find: Callable[..., Referent], *given: Any) -> Referent:
        """Return what a search finds, each thing once and no more than one message may search for."""
        key = (find, *given)
        if key not in self._found:
            if self.is_spent:
                return Referent(given[0])
            self._searches -= 1
            self._found[key] = find(self._index, *given)
        return self._found[key]

    def text(self, text: str) -> Referent:
        """Return the lines of a text, those on screen first."""
        return self._look(find_text, text, self.shown)

    def one(self, written: str) -> Referent:
        """Return what one name means, as it is written."""
        self._among_words = False
        return self._of_name(written, texts=False)

    def on_screen(self, written: str) -> Referent | None:
        """Return what a name means to the letter, if it is shown; None for anything else."""
        found = self._known(written.strip(QUOTES), among_all=False)
        paths = named_by(self._index, found.patterns) | set(found.paths)
        return None if paths.isdisjoint(self.shown) else found

    def of_argument(self, name: str, operation: Operation) -> Referent:
        """Return what a name means that was given as a value: what is taken away is named to the letter."""
        if self._index.file_id(name) is not None:
            return Referent(name, (globs.escape(name),), name=name)
        if (target := self._known(name, among_all=False)) or operation is Operation.OUT:
            return target
        if operation in (Operation.CALLERS, Operation.WHERE) and (
            standing := self._look(find_identifier, name, self.shown)
        ):
            return standing
        return self._look(find_alike, name).among(self.shown)

    def unknown_in(self, clause: Clause, words: str) -> list[str]:
        """Return the names in words that nothing bears; none where the words are more than names."""
        parts = [part for each in _SPLIT.split(words) if (part := each.strip(" \t,:;!?"))]
        bare = [min(_windows(part, _SHOWN), key=len) for part in parts]
        if not all(re.fullmatch(HELD, each) or _is_plain_name(each) for each in bare):
            return []
        names = [clause.name(each).strip(QUOTES) if re.fullmatch(HELD, each) else each for each in bare]
        return [name for name in names if not self.one(name)]

    def _in_part(
        self, clause: Clause, part: str, asides: frozenset[str], *, texts: bool
    ) -> tuple[Referent, ...]:
        if (numbered := _NUMBERED.match(part) or _NUMBERED_AFTER.match(part)) is not None:
            target = self._of_words(clause, numbered["file"], _SHOWN, texts=False)
            first = int(numbered["first"])
            return _some(lines_of(self._index, target, first, int(numbered["last"] or first)))
        for words in _windows(part, asides):
            if (is_it := _IT.fullmatch(words)) or _THEY.fullmatch(words):
                fits = bool(is_it) == (len(self.last) == 1) or self._is_several(self.last) or self.answered
                self.referred = bool(self.last) and fits
                return self.last if fits else ()
        if target := self._of_words(clause, part, asides, texts=texts):
            return (target,)
        if (within := _WITHIN.match(part)) is not None:
            inner = self._of_words(clause, within[1], asides, texts=texts, among_all=True)
            outer = self._of_words(clause, within[2], _ASIDES, texts=False)
            if inner and outer.patterns:
                return _some(self._inside(inner, outer))
            # To take a member from its class may be said of the code itself.
            if inner.places and outer.places and asides is not _ASIDES:
                owners = {place.name for place in outer.places}
                members = tuple(each for each in inner.places if each.name.rpartition(".")[0] in owners)
                name = " ".join(dict.fromkeys(each.name for each in members))
                return _some(inner._replace(places=members, name=name))
        return ()

    def _inside(self, inner: Referent, outer: Referent) -> Referent:
        """Return the part of what a target names that stands in the files of another."""
        paths = named_by(self._index, outer.patterns)
        places = tuple(place for place in inner.places if place.path in paths)
        spans = tuple(span for span in inner.spans if span.path in paths)
        both = sorted(paths & named_by(self._index, inner.patterns))
        name = " ".join(both) or " ".join(dict.fromkeys(place.name for place in places)) or inner.name
        return inner._replace(patterns=tuple(map(globs.escape, both)), places=places, spans=spans, name=name)

    def _is_several(self, targets: Sequence[Referent]) -> bool:
        """Say whether one target is many files, which may be called "it" as well as "them"."""
        if len(targets) != 1:
            return False
        return len(named_by(self._index, targets[0].patterns)) > 1 or len(targets[0].places) > 1

    def _of_words(
        self, clause: Clause, words: str, asides: frozenset[str], *, texts: bool, among_all: bool = False
    ) -> Referent:
        """Return what words name, what surrounds a name left out; nothing where more than that is said."""
        among_all = among_all or _EACH.match(words) is not None
        said = words.lower().split()
        if asides is _ASIDES and said[:1] and said[0] in _PREPOSITIONS:
            # To "drop in" something is to add it.
            return Referent(words)
        bare = words
        for bare in _windows(words, asides):
            if re.fullmatch(HELD, bare):
                return self._of_name(clause.name(bare), texts=texts, among_all=among_all)
            if re.search(HELD, bare) or not (target := _of_code(self._known(bare, among_all=among_all))):
                continue
            # "The retry helper" is no file that is called `retry`.
            if target.places and not _OF_FILES.isdisjoint(said):
                target = self._known(f"{bare}/", among_all=among_all)
            if asides is _ASIDES and target.places and self._look(find_target, f"{bare}/"):
                # A folder is called so too: which of them goes nobody here can tell.
                return Referent(words)
            return Referent(words) if target.patterns and not _OF_CODE.isdisjoint(said) else target
        if self._among_words and (standing := self._look(find_identifier, bare, self.shown)):
            return standing
        # What is taken away is named to the letter.
        if asides is not _ASIDES and re.fullmatch(r"\w{4,}", bare) and not _NO_NAME.fullmatch(bare):
            return _of_code(self._look(find_alike, bare)).among(self.shown)
        return Referent(words)

    def _of_name(self, written: str, *, texts: bool, among_all: bool = False) -> Referent:
        is_quoted = written[:1] in QUOTES and len(written) > 2
        name = written[1:-1].strip() if is_quoted else written
        if target := self._known(name, among_all=among_all):
            return target
        if texts and is_quoted and written[0] != "`" and (found := self.text(name)):
            return found
        if self._among_words and (found := self._look(find_identifier, name, self.shown)):
            return found
        if not re.search(r"\s", name) and (alike := self._look(find_alike, name)):
            return alike if among_all else alike.among(self.shown)
        if texts and (is_quoted or "." in name or "_" in name):
            return self.text(name)
        return Referent(name)

    def _known(self, name: str, *, among_all: bool) -> Referent:
        target = self._look(find_target, name)
        return target if among_all else target.among(self.shown)


def _some(target: Referent) -> tuple[Referent, ...]:
    return (target,) if target else ()


def _of_code(target: Referent) -> Referent:
    """Return a target that plain words name without the headings of texts, which are plain words too."""
    places = tuple(place for place in target.places if not is_prose(place.path))
    return target if places or not target.places else Referent(target.words)


def _windows(words: str, asides: frozenset[str]) -> Iterator[str]:
    """Yield words, then with less and less of what may surround a name."""
    # A dot may begin a name: `.github`.
    parts = words.strip(" \t,:!?").rstrip(" \t,.:!?").split()
    may_go = [part.lower() in asides | _OF_FILES | _OF_CODE for part in parts]
    may_lead = [each or part.lower() in _OF_KINDS for each, part in zip(may_go, parts, strict=True)]
    for gone in range(min(len(parts), _MOST_ASIDES)):
        for before in range(gone, -1, -1):
            after = len(parts) - gone + before
            if all(may_lead[:before]) and all(may_go[after:]):
                yield " ".join(parts[before:after])


_REFERS: Final = re.compile(
    r"\b(?:it|its|them|they|their|this|these|those|not|no|never|n't|to (?:fix|do|change|write|make)|nobody"
    r"|nothing|none|most|least|than|calls?|called|imports?|inherits?|extends?|untested|unused|bugs?|problems?"
    r"|issues?|better|best|you)\b",
    re.IGNORECASE,
)


def describes(words: str) -> bool:
    """Say whether words describe something: more than names, without what restricts, negates or refers."""
    described = re.sub(rf"{HELD}|\b(?:the|an?|any|some|all|and|or|{_NOUN})\b|[^\w]", " ", words, flags=re.I)
    return bool(described.strip()) and describes_only(words) and _REFERS.search(words) is None


_NO_NAME: Final = re.compile(
    rf"(?:(?:any|every|some|no)(?:thing|body|one|where)|here|there|what|who|more|else|all|both|none|rest|same|other"
    rf"|{_NOUN}|its|their|them|they|those|these|that|this)",
    re.IGNORECASE,
)
"""What no one takes for the name of something in the code."""


def _is_plain_name(word: str) -> bool:
    """Say whether a word that stands where a name does may well be one."""
    return re.fullmatch(r"[^\W\d_]\w{2,}", word) is not None and not _NO_NAME.fullmatch(word)


def subject_of(words: str) -> str:
    """Return words that describe what is looked for, without an article before them."""
    return re.sub(r"^(?:the|an?|any|some|also)\s+", "", words.strip(" ,.!?"), flags=re.I)
