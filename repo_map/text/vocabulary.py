"""Counts by vocabularies kept as arrays, for texts that need no table of Unicode: most source needs none.

A tokenizer takes a sixth of a second and 30 MB to get ready, more than a whole answer has to count. The
arrays hold the same tokens by a hash of their bytes. A text is cut into words, and their bytes are merged, as
the tokenizer does it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

_MOST_WORDS: Final = 50_000
_LONGEST: Final = 256
"""Characters that are merged here: the time that it takes grows by their square."""
_UPPER: Final = "A-ZÀ-ÖØ-Þ"
_LOWER: Final = "a-zµß-öø-ÿ"
_SIGNS: Final = "¡-©«-±´¶-¸»¿×÷‐-‧‰-⁞←-⏿─-❵➔-➿"
"""What is neither letter, mark, digit nor white space."""
_PLAIN: Final = re.compile(rf"[\t\n\r -~{_UPPER}{_LOWER}{_SIGNS}]*")
_LETTER: Final = f"{_UPPER}{_LOWER}"
_SIGN: Final = rf"[^\s0-9{_LETTER}]"
_AHEAD: Final = rf"[^\r\n0-9{_LETTER}]?"
"""What may stand before the letters of a word and belong to it."""
_CONTRACTED: Final = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
_WORDS: Final = {
    "cl100k_base": re.compile(
        rf"{_CONTRACTED}|{_AHEAD}[{_LETTER}]+|[0-9]{{1,3}}| ?{_SIGN}+[\r\n]*|\s+\Z|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "o200k_base": re.compile(
        rf"{_AHEAD}[{_UPPER}]*[{_LOWER}]+{_CONTRACTED}?|{_AHEAD}[{_UPPER}]+[{_LOWER}]*{_CONTRACTED}?"
        rf"|[0-9]{{1,3}}| ?{_SIGN}+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}
"""What cuts a plain text into words, by vocabulary: its own pattern, with the classes of plain characters."""
TOKENS: Final = {"cl100k_base": 100_256, "o200k_base": 199_998}
"""How many tokens each vocabulary has that are not special; they come by rank."""
_PIECES: Final = re.compile(
    rf"{_AHEAD}[{_LETTER}]+{_CONTRACTED}?|[0-9]{{1,3}}"
    rf"| ?{_SIGN}+(?:(?<={_SIGN})[\r\n]+/\S*)*(?:(?<={_SIGN})[\r\n]+)?|\s+\Z|\s*[\r\n]+|\s+(?!\S)|\s"
)
"""What cuts a plain text only where the words of each vocabulary end."""
_NEXT: Final = 1 << 32
"""What the second vocabulary's count is multiplied by, so that both are summed at once."""


class Vocabularies:
    """The tokens of both vocabularies."""

    def __init__(self, arrays: Sequence[NDArray[Any]]) -> None:
        """``arrays`` are those that ``arrays_of`` made of each vocabulary, one after the other."""
        each = len(arrays) // len(TOKENS)
        self._tables = [_Table(name, arrays[at * each :][:each]) for at, name in enumerate(TOKENS)]
        self._known: dict[str, int] = {}

    def counts(self, text: str) -> tuple[int, ...] | None:
        """Return the number of tokens by each vocabulary, None where it takes the tokenizers to tell."""
        if _PLAIN.fullmatch(text) is None:
            return None
        known, pieces = self._known, _PIECES.findall(text)
        try:
            whole = sum(map(known.__getitem__, pieces))
        except KeyError:
            if len(known) > _MOST_WORDS:
                known = self._known = {}
                for table in self._tables:
                    table.clear()
            for piece in pieces:
                if piece not in known:
                    if len(piece) > _LONGEST:
                        return None
                    first, second = (table.count(piece) for table in self._tables)
                    known[piece] = first + second * _NEXT
            whole = sum(map(known.__getitem__, pieces))
        return whole % _NEXT, whole // _NEXT


class _Table(dict[bytes, int]):
    """The rank of each run of bytes that was asked for, in one vocabulary: the number of all for no token."""

    def __init__(self, name: str, arrays: Sequence[NDArray[Any]]) -> None:
        super().__init__()
        buckets, ranks, starts, blob = arrays
        self._words = _WORDS[name]
        # Plain buffers give Python ints and bytes several times faster than numpy scalars.
        self._buckets, self._ranks = memoryview(buckets), memoryview(ranks)  # type: ignore[arg-type]
        self._starts, self._blob = memoryview(starts), memoryview(blob)  # type: ignore[arg-type]
        self._mask = len(buckets) - 2
        self._none = len(ranks)

    def count(self, piece: str) -> int:
        """Return the number of tokens of some words."""
        return sum(self._merged(word.encode()) for word in self._words.findall(piece))

    def _merged(self, word: bytes) -> int:
        """Return what is left of the bytes of a word once pairs are merged, those of the least rank first."""
        if self[word] < self._none:
            return 1
        cuts = list(range(len(word) + 1))
        pairs = [self[word[at : at + 2]] for at in range(len(word) - 1)]
        while pairs and (least := min(pairs)) < self._none:
            at = pairs.index(least)
            del cuts[at + 1], pairs[at]
            for left in (at - 1, at):
                if 0 <= left < len(pairs):
                    pairs[left] = self[word[cuts[left] : cuts[left + 2]]]
        return len(cuts) - 1

    def __missing__(self, token: bytes) -> int:
        bucket, starts = crc32(token) & self._mask, self._starts
        self[token] = self._none
        for row in range(self._buckets[bucket], self._buckets[bucket + 1]):
            if self._blob[starts[row] : starts[row + 1]] == token:
                self[token] = self._ranks[row]
        return self[token]


def arrays_of(tokens: Sequence[bytes]) -> tuple[NDArray[Any], ...]:
    """Return what a vocabulary is kept as; its tokens come by rank."""
    buckets = 1 << (len(tokens) - 1).bit_length()
    hashes = np.fromiter(map(crc32, tokens), np.uint32, len(tokens)) & np.uint32(buckets - 1)
    order = np.argsort(hashes, kind="stable")
    begins = np.searchsorted(hashes[order], np.arange(buckets + 1)).astype(np.uint32)
    ordered = [tokens[at] for at in order.tolist()]
    starts = np.zeros(len(tokens) + 1, np.uint32)
    np.cumsum(np.fromiter(map(len, ordered), np.uint32, len(ordered)), out=starts[1:])
    return begins, order.astype(np.uint32), starts, np.frombuffer(b"".join(ordered), np.uint8)
