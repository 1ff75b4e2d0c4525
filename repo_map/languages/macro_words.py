"""Macros of C++ that its grammar can't read, since only the preprocessor knows that they stand for no word.

``class API_EXPORT Router {`` would be a function called Router, and ``) API_NOEXCEPT {`` would leave the
namespaces around it open.
"""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = rb"(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*|[A-Z]*(?:API|EXPORT)[A-Z]*)(?:\([^()\n]*\))?"
_ATTRIBUTES: Final = rb"(?:\[\[[^\]\n]*\]\]\s*)?"
_HEAD: Final = re.compile(
    rb"\b(?:(class)|struct|union)[ \t]+" + _ATTRIBUTES + rb"(?P<macro>" + _NAME + rb")"
    rb"(?=\s+" + _ATTRIBUTES + rb"[A-Za-z_]\w*(?:<[^<>{};]*>|::\w+)*(?:\s+final)?\s*"
    # A struct of that name may also be the type of what is given values in braces.
    rb"(?::(?!:)|(?(1)\{|\{[ \t]*(?:$|//|/\*))))",
    re.M,
)
"""Between the word ``class`` and the name of a class that is written here."""
_TAIL: Final = re.compile(
    rb"\)[ \t]*(?:const[ \t]*)?(?:"
    rb"(?P<macro>[A-Z][A-Z0-9]*_[A-Z0-9_]*|NOEXCEPT)(?=[ \t]*\{)"
    rb"|(?:\n[ \t]{4,})?(?P<guard>(?:[A-Z0-9]+_)*"
    rb"(?:LOCKS?_REQUIRED|LOCKS?_EXCLUDED|REQUIRES|EXCLUDES|NOEXCEPT)_?"
    rb"(?:\([^()\n]*\))?)(?=\s*(?:\{|;)))"
)
"""Between the parameters of a function and its body, or its end where it is only announced."""


def without_macro_words(source: bytes) -> bytes:
    """Return a source with blanks for such macros, so that every byte keeps its place."""
    return _TAIL.sub(_blanked, _HEAD.sub(_blanked, source))


def _blanked(match: re.Match[bytes]) -> bytes:
    group = next(name for name, text in match.groupdict().items() if text)
    start, end = (at - match.start() for at in match.span(group))
    return match[0][:start] + b" " * (end - start) + match[0][end:]
