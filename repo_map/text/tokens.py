"""The only token count: real byte-pair encodings whose vocabularies ship in the wheel and work offline."""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import Any, Literal

TokenEncoding = Literal["cl100k", "o200k", "both"]
"""``both`` counts with each and takes the larger, so that a text fits whichever tokenizer its reader uses."""

DEFAULT_ENCODING: TokenEncoding = "both"
_VOCABULARIES: dict[TokenEncoding, tuple[str, ...]] = {
    "cl100k": ("cl100k_base",),
    "o200k": ("o200k_base",),
    "both": ("cl100k_base", "o200k_base"),
}


_RARE_WORD = "zxqvk_wjpt"
_reading = Lock()


def _tokenizer(vocabulary: str) -> Any:
    with _reading:  # Of several threads one reads, and the others wait.
        return _read(vocabulary)


@cache
def _read(vocabulary: str) -> Any:
    from splintr import Tokenizer  # noqa: PLC0415 - a vocabulary takes 30 ms and 30 MB

    return Tokenizer.from_pretrained(vocabulary)


def load(encoding: TokenEncoding = DEFAULT_ENCODING) -> None:
    """Load the vocabularies of an encoding, with what they build when they first meet a word that they lack.

    Takes two fifths of a second, during which other threads run on: encoding several texts at once lets them,
    encoding one does not.
    """
    for name in _VOCABULARIES[encoding]:
        _tokenizer(name).encode_batch([_RARE_WORD])


def counts(text: str, encoding: TokenEncoding = DEFAULT_ENCODING) -> tuple[int, ...]:
    """Return the number of tokens of ``text`` by each vocabulary of an encoding.

    Special-token lookalikes count as ordinary text. No token of these vocabularies spans a line break that a
    letter follows, so texts that end with a line break and start with a letter have additive counts.
    """
    return tuple(len(_tokenizer(name).encode_ordinary(text)) for name in _VOCABULARIES[encoding])


def count(text: str, encoding: TokenEncoding = DEFAULT_ENCODING) -> int:
    """Return the number of tokens of ``text``; for ``both``, the larger of the two counts."""
    return max(counts(text, encoding))
