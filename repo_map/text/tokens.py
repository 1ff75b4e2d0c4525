"""Count tokens with the byte-pair encodings cl100k and o200k, whose vocabularies ship in a wheel."""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import Any, Final

from repo_map.cache import return_arrays_when_freed

VOCABULARIES: Final = ("cl100k_base", "o200k_base")
"""A text is counted with each, so that it fits whichever tokenizer its reader uses."""
_RARE_WORD = "zxqvk_wjpt"
_loading = Lock()


def load() -> None:
    """Load the tokenizers, with the tables that they build for the first rare word: 0.4 s of CPU, 60 MB.

    Other threads run meanwhile: encoding several texts at once releases the interpreter.
    """
    for name in VOCABULARIES:
        _tokenizer(name).encode_batch([_RARE_WORD])


def counts(text: str) -> tuple[int, ...]:
    """Return the number of tokens of ``text`` by each vocabulary.

    Special-token lookalikes count as ordinary text. No token of these vocabularies spans a line break that a
    letter follows, so texts that end with a line break and start with a letter have additive counts.
    """
    return tuple(len(_tokenizer(name).encode_ordinary(text)) for name in VOCABULARIES)


def count(text: str) -> int:
    """Return the number of tokens of ``text``, by the larger of the counts."""
    return max(counts(text))


def _tokenizer(vocabulary: str) -> Any:
    with _loading:  # Of several threads one loads, and the others wait.
        return _load(vocabulary)


@cache
def _load(vocabulary: str) -> Any:
    from splintr import Tokenizer  # noqa: PLC0415 - see ``load``

    return_arrays_when_freed()
    return Tokenizer.from_pretrained(vocabulary)
