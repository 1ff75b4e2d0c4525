"""JSON as PostgreSQL takes it: it reads no part of a document that holds U+0000 or half a character.

Both are told by a mark and a character behind it, within the text, so that whatever JSON can say comes back.
"""

from __future__ import annotations

import re
from typing import Final

_MARK: Final = r"\ue000"
_CODES: Final = {"e000": "e001", "0000": "e002"}
_DECODED: Final = {code: character for character, code in _CODES.items()}
_HALF: Final = 0xE800 - 0xD800
"""From half a character to what tells it."""
_NEEDS: Final = re.compile(r"\\u(?:0000|e000|d[89a-f])")
_ESCAPES: Final = re.compile(
    r"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\u(0000|e000|d[89a-f][0-9a-f]{2})|\\."
)
_MARKS: Final = re.compile(r"\\ue000\\u(e[0-9a-f]{3})|\\.")


def as_stored(text: str) -> str:
    """Return JSON in ASCII, as ``json.dumps`` writes it, as it is stored."""
    return _ESCAPES.sub(_encode, text) if _NEEDS.search(text) else text


def as_written(text: str) -> str:
    """Return stored JSON as it was."""
    return _MARKS.sub(_decode, text) if _MARK in text else text


def _encode(escape: re.Match[str]) -> str:
    code = escape[1]
    if code is None:
        return escape[0]
    return rf"{_MARK}\u{_CODES.get(code) or format(int(code, 16) + _HALF, '04x')}"


def _decode(mark: re.Match[str]) -> str:
    code = mark[1]
    if code is None:
        return mark[0]
    return rf"\u{_DECODED.get(code) or format(int(code, 16) - _HALF, '04x')}"
