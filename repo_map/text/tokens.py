"""The only token count: real byte-pair encodings whose vocabularies ship in the wheel and work offline."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from repo_map.text.vocabulary import Vocabularies

TokenEncoding = Literal["cl100k", "o200k", "both"]
"""``both`` counts with each and takes the larger, so that a text fits whichever tokenizer its reader uses."""

DEFAULT_ENCODING: TokenEncoding = "both"
_VOCABULARIES: dict[TokenEncoding, tuple[str, ...]] = {
    "cl100k": ("cl100k_base",),
    "o200k": ("o200k_base",),
    "both": ("cl100k_base", "o200k_base"),
}


_RARE_WORD = "zxqvk_wjpt"
_KEPT = "vocabularies-1"
_reading = Lock()
_kept: list[Vocabularies] = []
"""What counts plain texts without the tokenizers, once it is recalled."""


def _tokenizer(vocabulary: str) -> Any:
    with _reading:  # Of several threads one reads, and the others wait.
        return _read(vocabulary)


@cache
def _read(vocabulary: str) -> Any:
    from splintr import Tokenizer  # noqa: PLC0415 - a vocabulary takes 30 ms and 30 MB

    return Tokenizer.from_pretrained(vocabulary)


def load(folder: Path | None = None) -> None:
    """Get ready to count: recall what ``keep`` kept in a cache folder, else load the tokenizers.

    These take two fifths of a second, with what they build when they first meet a word that they lack. Other
    threads run on meanwhile: encoding several texts at once lets them, encoding one does not.
    """
    if _kept or (folder is not None and _recalled(folder)):
        return
    for name in _VOCABULARIES[DEFAULT_ENCODING]:
        _tokenizer(name).encode_batch([_RARE_WORD])


def _recalled(folder: Path) -> bool:
    """Recall what ``keep`` kept, and tell whether there is anything."""
    from repo_map.derived_arrays import recall_arrays  # noqa: PLC0415 - a server starts without numpy
    from repo_map.text.vocabulary import Vocabularies  # noqa: PLC0415 - a server starts without numpy

    if (arrays := recall_arrays(folder, _KEPT)) is not None:
        _kept.append(Vocabularies(arrays))
    return arrays is not None


def keep(folder: Path) -> None:
    """Keep in a cache folder what counts without the tokenizers, for this process and others; takes .4 s."""
    from repo_map.derived_arrays import keep_arrays  # noqa: PLC0415 - a server starts without numpy
    from repo_map.text.vocabulary import TOKENS, arrays_of  # noqa: PLC0415 - a server starts without numpy

    if _kept or _recalled(folder):
        return
    tokens = [
        [_tokenizer(name).decode_token_bytes(rank) for rank in range(many)] for name, many in TOKENS.items()
    ]
    keep_arrays(folder, _KEPT, [array for each in tokens for array in arrays_of(each)])
    if _recalled(folder):
        _read.cache_clear()


def counts(text: str, encoding: TokenEncoding = DEFAULT_ENCODING) -> tuple[int, ...]:
    """Return the number of tokens of ``text`` by each vocabulary of an encoding.

    Special-token lookalikes count as ordinary text. No token of these vocabularies spans a line break that a
    letter follows, so texts that end with a line break and start with a letter have additive counts.
    """
    if _kept and encoding == DEFAULT_ENCODING and (found := _kept[0].counts(text)) is not None:
        return found
    return tuple(len(_tokenizer(name).encode_ordinary(text)) for name in _VOCABULARIES[encoding])


def count(text: str, encoding: TokenEncoding = DEFAULT_ENCODING) -> int:
    """Return the number of tokens of ``text``; for ``both``, the larger of the two counts."""
    return max(counts(text, encoding))
