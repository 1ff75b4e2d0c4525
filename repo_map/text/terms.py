"""Split code into tokenize and stemmed terms, and count them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain, count
from typing import NamedTuple

import numpy as np
import Stemmer
from numpy.typing import NDArray

_WORD = re.compile(r"[A-Za-z_\u00c0-\u024f][A-Za-z0-9_\u00c0-\u024f]*|[^\W\dA-Za-z_\u00c0-\u024f]+")
"""Scripts without spaces run into identifiers: the two are separated."""
_ASCII_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_UNSEGMENTED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MAX_WORD_CHARS = 80
_STOP = frozenset(
    re.findall(
        r"\S+",
        """
        a an the and or nor not of to in into is it its that this these those for from on onto with
        as be been being am are was were but if then else elif by at we you they he she i me my our
        your their there here what which who how why when where all any some no yes also just only
        than so such out up down over after before same other more most very can could should would
        will may might must shall have has had having do does did doing done use uses using used get
        got see like via per etc eg ie vs self cls def fn func function let const var void public
        private protected
        """,
    )
)
stem: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord
"""Return the stem of an English word of lower case."""


def tokenize(text: str) -> list[str]:
    """Return the identifiers and tokenize of ``text`` in order, numbers left out."""
    # The class of all scripts' letters is three times slower than a range.
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def terms_in(text: str) -> frozenset[str]:
    """Return the terms of ``text``."""
    return frozenset(term for word in tokenize(text) for term in terms_of(word))


@lru_cache(maxsize=1 << 17)
def terms_of(word: str) -> tuple[str, ...]:
    """Return the terms of a word: itself and, if it is compound, its stemmed parts.

    ``cacheKeys`` and ``cache_keys`` both give ``("cachekeys", "cach", "key")``; a stop word gives none.
    """
    if len(word) > _MAX_WORD_CHARS:
        return ()
    if word.isascii():
        if word.islower() and word.isalpha():  # Most tokenize of a text: in one part, as they are.
            return (stem(word),) if len(word) > 1 and word not in _STOP else ()
    elif _UNSEGMENTED.search(word):
        # Chinese, Japanese and Korean have no spaces: pairs of neighbouring characters are used as tokenize.
        return tuple(dict.fromkeys(word[at : at + 2] for at in range(max(1, len(word) - 1))))
    whole = word.replace("_", "").lower()
    if len(whole) < 2 or whole in _STOP:
        return ()
    parts = _PART.findall(word)
    if not parts and whole == word:
        return (whole,)  # A word without any letter of English has none of its endings.
    if len(parts) < 2 and (not parts or len(parts[0]) == len(whole)):
        return (stem(whole),)
    terms: dict[str, None] = {whole: None}
    terms.update(dict.fromkeys(map(_stem_of_part, parts)))
    terms.pop("", None)
    return tuple(terms)


@lru_cache(maxsize=1 << 14)
def _stem_of_part(part: str) -> str:
    """Return the stem of a part of a word, ``""`` of a stop word or letter: few parts make many tokenize."""
    lower = part.lower()
    return stem(lower) if len(lower) > 1 and lower not in _STOP else ""


FIELDS = 5
"""Name, signature, docs, strings and body: each unit has one slot of tokenize for each."""
_MAX_COUNT = 255


class TermPostings(NamedTuple):
    """One row per unit, field and term, in this order."""

    terms: list[str]
    """The vocabulary, sorted."""
    units: NDArray[np.int64]
    fields: NDArray[np.uint8]
    term_ids: NDArray[np.int64]
    """Positions in ``terms``."""
    counts: NDArray[np.uint8]
    """Occurrences, capped at 255."""


def count_terms(texts: Sequence[str]) -> TermPostings:
    """Count the terms of units; ``texts`` holds the text of each field of each unit in turn."""
    of_word: defaultdict[str, int] = defaultdict(count().__next__)
    word, slot = _read(texts, of_word)
    terms_by_word = [terms_of(each if each[0] > "9" else each.lstrip(_DIGITS)) for each in of_word]
    vocabulary = sorted(set(chain.from_iterable(terms_by_word)))
    of_term = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
    flat = np.fromiter(map(of_term.__getitem__, chain.from_iterable(terms_by_word)), np.int64)
    per_word = np.fromiter(map(len, terms_by_word), np.int64, len(terms_by_word))
    repeats = per_word[word]
    # Each word stands for the stretch of `flat` that holds its terms.
    ends = np.cumsum(repeats)
    first = (np.cumsum(per_word) - per_word)[word] - (ends - repeats)
    term = flat[np.repeat(first, repeats) + np.arange(ends[-1] if len(ends) else 0)]
    keys = np.repeat(slot, repeats) * max(len(vocabulary), 1) + term
    keys, counts = np.unique(keys, return_counts=True)
    slot, term = np.divmod(keys, max(len(vocabulary), 1))
    unit, field = np.divmod(slot, FIELDS)
    capped = np.minimum(counts, _MAX_COUNT).astype(np.uint8)
    return TermPostings(vocabulary, unit, field.astype(np.uint8), term, capped)


_DIGITS = "0123456789"
_END = "\0"
_ASCII_BLANKED = "".join(
    chr(code) if chr(code) in f"{_END}_" or chr(code).isalnum() else " " for code in range(128)
)
"""What each ASCII character is for splitting: no part of a word is a blank."""


def _read(
    texts: Sequence[str], of_word: defaultdict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ids of all tokenize in texts, in no order, and the position of each one's text.

    A word may have digits before it, which are none of it. ASCII texts are split at once, in half the time.
    """
    plain = [at for at, text in enumerate(texts) if text and text.isascii()]
    joined = f" {_END} ".join([texts[at] for at in plain])
    if joined.count(_END) >= max(len(plain), 1):
        joined = f" {_END} ".join([texts[at].replace(_END, " ") for at in plain])
    tokens = joined.translate(_ASCII_BLANKED).split()
    ids = np.fromiter(map(of_word.__getitem__, tokens), np.int64, len(tokens))
    ends = np.flatnonzero(ids == of_word[_END])
    lengths = np.diff(ends, prepend=-1, append=len(ids)) - 1
    found = [np.delete(ids, ends)]
    slots = [np.repeat(np.asarray(plain, np.int64), lengths) if plain else ids]
    for at, text in enumerate(texts):
        if not text.isascii():
            inside = _WORD.findall(text)
            found.append(np.fromiter(map(of_word.__getitem__, inside), np.int64, len(inside)))
            slots.append(np.full(len(inside), at))
    return np.concatenate(found), np.concatenate(slots)
