"""How each language writes comments, strings and identifiers: enough to count names in a piece of source."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_IDENTIFIER: Final = rb"([A-Za-z_$\x80-\xff][\w$\x80-\xff]*)"
_NUMBER: Final = rb"\d[\w.]*"
_DOUBLE: Final = rb'"(?:[^"\\\n]|\\.)*"?'
_SINGLE: Final = rb"'(?:[^'\\\n]|\\.)*'?"
_C_COMMENTS: Final = rb"//[^\n]*|/\*.*?(?:\*/|\Z)"
_TRIPLE: Final = rb'"""(?:[^\\]|\\.)*?(?:"""|\Z)'
_TRIPLE_SINGLE: Final = rb"'''(?:[^\\]|\\.)*?(?:'''|\Z)"
_BACKTICK: Final = rb"`(?:[^`\\]|\\.)*`?"
_LETTER: Final = rb"'(?:\\.[^'\n]{0,8}|[^'\\\n][\x80-\xbf]*)'"

_SKIPPED: Final[dict[str, tuple[bytes, ...]]] = {
    "python": (rb"#[^\n]*", _TRIPLE, _TRIPLE_SINGLE, _DOUBLE, _SINGLE),
    "javascript": (_C_COMMENTS, _DOUBLE, _SINGLE, _BACKTICK),
    "go": (_C_COMMENTS, _DOUBLE, _SINGLE, rb"`[^`]*`?"),
    "rust": (_C_COMMENTS, rb'\bb?r(#*)"', _DOUBLE, _LETTER),
    "java": (_C_COMMENTS, _TRIPLE, _DOUBLE, _SINGLE),
    "c": (_C_COMMENTS, _DOUBLE, _SINGLE),
}
_SAME: Final = {"typescript": "javascript", "tsx": "javascript", "cpp": "c"}


class Lexicon:
    """Finds the identifiers of one language."""

    def __init__(self, language: str) -> None:
        skipped = _SKIPPED.get(_SAME.get(language, language), _SKIPPED["c"])
        self._pattern = re.compile(
            b"|".join((*(s for s in skipped if b"(#" not in s), _NUMBER, _IDENTIFIER)), re.S
        )

    def identifiers(self, piece: bytes) -> list[bytes]:
        """List the identifiers of a piece in order, repeats included."""
        return [name for name in self._pattern.findall(piece) if name]


@cache
def lexicon_of(language: str) -> Lexicon:
    """Return the lexicon of a language."""
    return Lexicon(language)
