"""Where a goal quotes the code: docstrings, comments, messages, lines, word for word."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from repo_map.arrays import distinct
from repo_map.ranking.corpus import Corpus, Ints
from repo_map.ranking.goal import GoalPart, ParsedGoal, Passage
from repo_map.ranking.priors import are_main
from repo_map.text.terms import terms_of
from repo_map.text.units import STRINGS


class _Least(NamedTuple):
    """From what on words in a row count as a quotation."""

    telling: int
    """Words that are no stop words."""
    total: int
    """Words, the telling ones counted twice."""


_LEAST = {
    GoalPart.TITLE: _Least(4, 10),
    GoalPart.PROSE: _Least(4, 10),
    GoalPart.INLINE: _Least(2, 7),
    GoalPart.CODE: _Least(5, 11),
    GoalPart.ERROR: _Least(2, 7),
}
"""What stands in quotation marks or in an error is a quotation sooner than what people write themselves."""
_WHOLE = _Least(3, 7)
"""For a sentence that stands whole in the code."""
_MESSAGE = _Least(2, 6)
"""For a message of the code, its variables left out."""
_OUTRIGHT = {GoalPart.TITLE: _Least(3, 7), GoalPart.ERROR: _Least(2, 7)}
_NEARLY_WHOLE = 0.6
_LONGEST_WINDOW = 12
_MOST_WORDS = 600
_MOST_PLACES = 8
"""Units that may hold a run of words: more of them, and it is a turn of phrase."""
_MOST_READ = 40
"""Units that are read for one goal."""
_MOST_QUOTED = 3
_MOST_TEMPLATES = 10
"""Units whose messages are compared with one of the goal's."""
_LONGEST_FILL = 120
_LONGEST_PASSAGE = 2_000
"""Characters."""
_BETWEEN = r"[\W_]{1,80}"
_WORD = re.compile(r"[^\W_]+")
_LITERAL = re.compile(r"\"((?:\\.|[^\"\\\n]){8,400})\"|'((?:\\.|[^'\\\n]){8,400})'|`((?:\\.|[^`\\]){8,400})`")
_VARIABLE = re.compile(
    r"%(?:\(\w+\))?[-+ #0-9.*]*(?:hh?|ll?|z|j)?[a-zA-Z]|\$\{[^{}]*\}|#\{[^{}]*\}|\{[^{}]*\}|\$\w+|\\\(\w+\)"
)
"""What stands for a value in a message: ``%s``, ``{}``, ``{name!r}``, ``${name}``, ``#{name}``."""


class Quotation(NamedTuple):
    """A unit that says what the goal says, word for word."""

    file: int
    unit: int
    text: str
    """What both say, as the goal wrote it."""
    words: int
    is_outright: bool = False
    """Whether it is a title or a message, nearly whole, and stands in main code: what the goal is about."""


def find_quotations(corpus: Corpus, goal: ParsedGoal) -> tuple[Quotation, ...]:
    """Return the units that the goal quotes, the longest quotation first; at most three places of each.

    Only units whose indexed words allow it are read, a bounded number of them. Places in main code go before
    those in tests, documents and copies, which repeat what code says.
    """
    if not goal.passages:
        return ()
    search = _Search(corpus, goal)
    found = [*search.runs(), *search.messages()]
    longest: dict[int, Quotation] = {}
    for each in found:
        if each.unit not in longest or each.words > longest[each.unit].words:
            longest[each.unit] = each
    kept = sorted(longest.values(), key=lambda each: (-each.is_outright, -each.words, each.unit))
    if not kept:
        return ()
    main = are_main(
        corpus, np.array([each.file for each in kept]), np.zeros(len(corpus.index.paths), np.bool_)
    )
    in_main = [each for each, is_main in zip(kept, main.tolist(), strict=True) if is_main]
    kept = in_main or [each._replace(is_outright=False) for each in kept]
    # A shorter quotation than the longest may be a turn of phrase.
    best = [each for each in kept if each.words > kept[0].words // 2]
    return tuple(best) if len(best) <= _MOST_QUOTED else tuple(_clear_winners(best))


def _clear_winners(best: Sequence[Quotation]) -> Iterator[Quotation]:
    ahead = [each for each in best if each.words == best[0].words]
    if len(ahead) <= _MOST_QUOTED:
        yield from ahead


class _Window(NamedTuple):
    passage: Passage
    spans: tuple[tuple[int, int], ...]
    """Where each word of the passage stands in it."""
    first: int
    end: int
    places: Ints
    """Units that hold every telling word of it."""


class _Search:
    """Looks for one goal's words in one corpus; what it reads is bounded."""

    def __init__(self, corpus: Corpus, goal: ParsedGoal) -> None:
        self._corpus = corpus
        self._goal = goal
        self._texts: dict[int, str] = {}
        self._rows: dict[int, str] = {}

    def runs(self) -> Iterator[Quotation]:
        """Yield where words of a passage stand in a row."""
        windows = sorted(self._windows(), key=lambda each: len(each.places))
        held: dict[tuple[Passage, int], list[_Window]] = {}
        for window in windows:
            for unit in window.places.tolist():
                if self._said(window) in self._words(unit):
                    held.setdefault((window.passage, unit), []).append(window)
        for (passage, unit), parts in held.items():
            for first, end in _joined(parts):
                text = passage.text[parts[0].spans[first][0] : parts[0].spans[end - 1][1]]
                yield self._quotation(unit, text, passage)

    def messages(self) -> Iterator[Quotation]:
        """Yield where a message of the code, filled in, stands in a passage."""
        for passage in self._goal.passages:
            if passage.part in (GoalPart.ERROR, GoalPart.TITLE, GoalPart.PROSE):
                said = frozenset(_WORD.findall(passage.text.lower()))
                for unit in self._with_messages(passage):
                    for literal in _LITERAL.findall(self._text(unit)):
                        if quoted := _filled("".join(literal), passage.text, said):
                            yield self._quotation(unit, quoted, passage)

    def _quotation(self, unit: int, text: str, passage: Passage) -> Quotation:
        said = _WORD.findall(text)
        least = _OUTRIGHT.get(passage.part)
        is_outright = (
            least is not None
            and _are_enough(sum(bool(_terms(word)) for word in said), len(said), least)
            and len(said) >= _NEARLY_WHOLE * len(_WORD.findall(passage.text))
        )
        return Quotation(int(self._corpus.file_of_unit[unit]), unit, text, len(said), is_outright)

    def _windows(self) -> Iterator[_Window]:
        count = 0
        for passage in self._goal.passages:
            found = list(_WORD.finditer(passage.text))
            count += len(found)
            if count > _MOST_WORDS:
                return
            spans = tuple(word.span() for word in found)
            telling = [_terms(word[0]) for word in found]
            for first, end in _bounds([bool(each) for each in telling], _LEAST[passage.part]):
                places = self._places(term for terms in telling[first:end] for term in terms)
                if 0 < len(places) <= _MOST_PLACES:
                    yield _Window(passage, spans, first, end, places)

    def _places(self, terms: Iterable[str]) -> Ints:
        held = [self._units_of.get(term, _NOWHERE) for term in dict.fromkeys(terms)]
        held.sort(key=len)
        places = held[0] if held else _NOWHERE
        for each in held[1:]:
            if not len(places):
                break
            places = np.intersect1d(places, each, assume_unique=True)
        return places

    def _with_messages(self, passage: Passage) -> list[int]:
        """Return the units whose strings hold the most of the passage's rare words."""
        worth: dict[int, float] = {}
        number: dict[int, int] = {}
        for term in dict.fromkeys(term for word in _WORD.findall(passage.text) for term in _terms(word)):
            units = self._strings_of.get(term, _NOWHERE)
            for unit in units.tolist() if len(units) <= 400 else ():
                worth[unit] = worth.get(unit, 0.0) + 1.0 / (1.0 + len(units)) ** 0.5
                number[unit] = number.get(unit, 0) + 1
        likely = [unit for unit, count in number.items() if count >= _MESSAGE.telling]
        return sorted(likely, key=lambda unit: (-worth[unit], unit))[:_MOST_TEMPLATES]

    @cached_property
    def _units_of(self) -> dict[str, Ints]:
        return {term: distinct(units) for term, (units, _) in self._postings.items()}

    @cached_property
    def _strings_of(self) -> dict[str, Ints]:
        return {term: distinct(units[fields == STRINGS]) for term, (units, fields) in self._postings.items()}

    @cached_property
    def _postings(self) -> dict[str, tuple[Ints, Ints]]:
        """Term of the passages → the units and fields of its postings."""
        index = self._corpus.index
        passages = self._goal.passages
        said = dict.fromkeys(
            term for each in passages for word in _WORD.findall(each.text) for term in _terms(word)
        )
        ids = {found: term for term in said if (found := index.terms.get(term)) is not None}
        wanted = np.zeros(len(index.terms) + 1, np.bool_)
        wanted[list(ids)] = True
        at = np.flatnonzero(wanted[index.postings.term])
        terms = index.postings.term[at]
        units = np.searchsorted(index.postings.unit_start, at, side="right") - 1
        order = np.argsort(terms, kind="stable")
        ends = np.flatnonzero(np.diff(terms[order])) + 1
        return {
            ids[int(terms[part[0]])]: (units[part], index.postings.field[at[part]].astype(np.int64))
            for part in np.split(order, ends)
            if len(part)
        }

    def _said(self, window: _Window) -> str:
        return _in_a_row(window.passage.text[a:b] for a, b in window.spans[window.first : window.end])

    def _words(self, unit: int) -> str:
        """Return a unit's words in a row, in lower case."""
        if unit not in self._rows:
            self._rows[unit] = _in_a_row(_WORD.findall(self._text(unit)))
        return self._rows[unit]

    def _text(self, unit: int) -> str:
        """Return a unit's source, empty once enough was read."""
        if unit not in self._texts:
            if len(self._texts) >= _MOST_READ:
                return ""
            index = self._corpus.index
            content = index.sources.content(int(self._corpus.file_of_unit[unit]))
            lines = content.decode("utf-8", "replace").split("\n")
            self._texts[unit] = "\n".join(
                lines[int(index.units.start[unit]) - 1 : int(index.units.end[unit])]
            )
        return self._texts[unit]


_NOWHERE = np.zeros(0, np.int64)


def _terms(word: str) -> tuple[str, ...]:
    """Return what the index knows a telling word by, nothing for numbers, stop words and short words."""
    return terms_of(word)[:1] if len(word) > 2 and not word[0].isdigit() else ()


def _bounds(telling: Sequence[bool], least: _Least) -> Iterator[tuple[int, int]]:
    """Yield the shortest stretches of words that may be a quotation, one from each telling word on."""
    for first in range(len(telling)):
        if first and not telling[first]:
            continue
        number = 0
        for end in range(first + 1, min(first + _LONGEST_WINDOW, len(telling)) + 1):
            number += telling[end - 1]
            is_whole = not first and end == len(telling)
            if _are_enough(number, end - first, least) or (
                is_whole and _are_enough(number, end - first, _WHOLE)
            ):
                yield first, end
                break


def _are_enough(telling: int, words: int, least: _Least) -> bool:
    return telling >= least.telling and words + telling >= least.total


def _joined(parts: Sequence[_Window]) -> Iterator[tuple[int, int]]:
    """Join stretches that overlap."""
    spans = sorted((each.first, each.end) for each in parts)
    first, end = spans[0]
    for a, b in spans[1:]:
        if a >= end:
            yield first, end
            first, end = a, b
        end = max(end, b)
    yield first, end


def _in_a_row(said: Iterable[str]) -> str:
    return f" {' '.join(said)} ".lower()


def _filled(message: str, text: str, words_of_text: Collection[str]) -> str:
    """Return the part of the text that is the code's message with values for its variables, else nothing."""
    parts = [_WORD.findall(part) for part in _VARIABLE.split(message.replace("\\n", " "))]
    said = [word for part in parts for word in part]
    if not _are_enough(sum(bool(_terms(word)) for word in said), len(said), _MESSAGE):
        return ""
    if not all(word.lower() in words_of_text for word in said):
        return ""
    pieces = [_BETWEEN.join(map(re.escape, part)) for part in parts if part]
    # Each value ends at the first place where the message goes on: nothing is tried twice.
    rest = "".join(rf"(?>.{{1,{_LONGEST_FILL}}}?{piece})" for piece in pieces[1:])
    found = re.search(rf"(?<![^\W_]){pieces[0]}{rest}(?![^\W_])", text[:_LONGEST_PASSAGE], re.IGNORECASE)
    return found[0] if found else ""
