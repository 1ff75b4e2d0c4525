"""Find the messages and other text that a goal repeats word for word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from repo_map.ranking.corpus import Corpus, Ints
from repo_map.ranking.goal import ParsedGoal
from repo_map.ranking.priors import are_main
from repo_map.text.terms import terms_of

_WORD: Final = re.compile(r"[^\W_]+")
_MESSAGE, _SENTENCE = (2, 4), (4, 6)
"""Words of a run that are no stop words, and words: of quoted text and errors, and of the title."""
_VALUE: Final = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|\b\d[\w.]*")
"""What a message has in the place of a variable, and"""
_VARIABLE: Final = re.compile(r"%(?:\(\w+\))?[-+ #0-9.*]*[a-zA-Z]|\$?\{[^{}\n]*\}|#\{[^{}\n]*\}")
"""how the code writes the variable."""
_MAX_WORDS: Final = 400
_MAX_UNITS: Final = 8
"""Units that may contain a run of words: with more of them it is a turn of phrase."""
_MAX_READ: Final = 24
_MAX_FOUND: Final = 3


def find_literals(corpus: Corpus, goal: ParsedGoal) -> list[int]:
    """Return the units that contain the goal's quoted text, error messages or title, at most three.

    A message of the code may have values filled in, so runs of some words are compared. Code comes before
    tests and documents, which repeat what it says.
    """
    runs = [run for text in goal.messages for run in _runs(_VALUE.sub(" ", text), *_MESSAGE)]
    runs = [*runs, *_runs(goal.title, *_SENTENCE)][:_MAX_WORDS]
    units_of: dict[str, Ints] = {}
    texts: dict[int, str] = {}
    hits: Counter[int] = Counter()
    for run in runs:
        for unit in _units_with(corpus, run, units_of):
            if unit not in texts and len(texts) < _MAX_READ:
                texts[unit] = _joined(_WORD.findall(_text(corpus, unit)))
            if unit in texts and _joined(run) in texts[unit]:
                hits[unit] += 1
    if not hits:
        return []
    units = np.array(sorted(hits), np.int64)
    main = are_main(corpus, corpus.file_of_unit[units], np.zeros(len(corpus.index.paths), np.bool_))
    kept = (units[main] if main.any() else units).tolist()
    most = max(hits[unit] for unit in kept)
    best = [unit for unit in kept if hits[unit] > most // 2]
    return best if len(best) <= _MAX_FOUND else []


def _runs(text: str, telling: int, total: int) -> Iterator[list[str]]:
    """Yield the shortest runs of words that have enough telling ones, one from each word on."""
    words = _WORD.findall(text)
    for first in range(len(words)):
        number = 0
        for end in range(first + 1, len(words) + 1):
            number += bool(_terms(words[end - 1]))
            if number >= telling and end - first >= total:
                yield words[first:end]
                break


def _terms(word: str) -> tuple[str, ...]:
    return terms_of(word)[:1] if len(word) > 2 and not word[0].isdigit() else ()


def _units_with(corpus: Corpus, run: Sequence[str], units_of: dict[str, Ints]) -> list[int]:
    found: Ints | None = None
    for term in dict.fromkeys(term for word in run for term in _terms(word)):
        if term not in units_of:
            units_of[term] = corpus.units_with(term)
        known = units_of[term]
        found = known if found is None else np.intersect1d(found, known, assume_unique=True)
        if not len(found):
            return []
    return found.tolist() if found is not None and len(found) <= _MAX_UNITS else []


def _text(corpus: Corpus, unit: int) -> str:
    index = corpus.index
    lines = index.sources.text(int(corpus.file_of_unit[unit])).split("\n")
    text = "\n".join(lines[int(index.units.start[unit]) - 1 : int(index.units.end[unit])])
    return _VARIABLE.sub(" ", text)


def _joined(words: Sequence[str]) -> str:
    return f" {' '.join(words)} ".lower()
