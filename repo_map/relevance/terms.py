"""Words in, terms out: identifiers kept whole and split into their parts, English stems, noise dropped."""

from __future__ import annotations

import re
from functools import lru_cache

import Stemmer

_WORD = re.compile(r"[A-Za-z_\u00c0-\u024f][A-Za-z0-9_\u00c0-\u024f]*|[^\W\dA-Za-z_\u00c0-\u024f]+")
"""Scripts without spaces run into identifiers: the two are kept apart."""
_ASCII_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_UNSEGMENTED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LONGEST_WORD = 80
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
_STEM = Stemmer.Stemmer("english", 0)


def words(text: str) -> list[str]:
    """Return the identifiers and words of ``text`` in order, numbers left out."""
    # The class of all scripts' letters is three times slower than a range.
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


@lru_cache(maxsize=1 << 15)
def terms_of(word: str) -> tuple[str, ...]:
    """Return the terms one word stands for: itself and, where it is compound, its stemmed parts.

    ``cacheKeys`` and ``cache_keys`` both give ``("cachekeys", "cach", "key")``; a stop word gives none.
    """
    if len(word) > _LONGEST_WORD:
        return ()
    if not word.isascii() and _UNSEGMENTED.search(word):
        # Chinese, Japanese and Korean run words together: neighbouring pairs of characters stand for words.
        return tuple(dict.fromkeys(word[at : at + 2] for at in range(max(1, len(word) - 1))))
    whole = word.replace("_", "").lower()
    if len(whole) < 2 or whole in _STOP:
        return ()
    parts = _PART.findall(word)
    if len(parts) < 2 and (not parts or len(parts[0]) == len(whole)):
        return (_STEM.stemWord(whole),)
    stems = (_STEM.stemWord(part) for part in map(str.lower, parts) if len(part) > 1 and part not in _STOP)
    return tuple(dict.fromkeys((whole, *stems)))
