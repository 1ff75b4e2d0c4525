"""Where the documentation of a definition stands: a docstring, or the comment block right above."""

from __future__ import annotations

import re
from typing import Final

_DOCSTRING: Final = re.compile(
    rb"""[rRuU]?(?:"{3}(?:[^"\\]|\\.|"(?!""))*"{3}|'{3}(?:[^'\\]|\\.|'(?!''))*'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    rb"[ \t]*(?=[#\r\n;]|\Z)",
    re.S,
)
_LINE_COMMENTS: Final[dict[str, tuple[bytes, ...]]] = {}
_SLASHES: Final = (b"//",)
_LONGEST_BLOCK: Final = 400


def docstring_lines(source: bytes, body_byte: int) -> tuple[int, int]:
    """Return first and last line (1-based) of the string that opens a Python body, (0, 0) without one."""
    if body_byte < 0 or (found := _DOCSTRING.match(source, body_byte)) is None:
        return 0, 0
    first = source.count(b"\n", 0, body_byte) + 1
    return first, first + found[0].count(b"\n")


class CommentFinder:
    """Finds the comment block that stands right above a row of one file."""

    def __init__(self, source: bytes, language: str) -> None:
        self._lines = source.split(b"\n")
        self._marks = _LINE_COMMENTS.get(language, _SLASHES)

    def above(self, start: int, sig_start: int) -> tuple[int, int]:
        """Return first and last line (1-based) of the comment above row ``start``, (0, 0) without one.

        Between attributes and signature (Rust allows it) a comment counts as well.
        """
        found = self._block(start - 1)
        if found == (0, 0) and sig_start > start + 1:
            found = self._block(sig_start - 1, start)
        return found

    def _block(self, row: int, floor: int = 0) -> tuple[int, int]:
        last = row
        while row >= floor and last - row < _LONGEST_BLOCK:
            line = self._lines[row].strip()
            if line.startswith(self._marks):
                row -= 1
            elif line.endswith(b"*/") and self._marks is _SLASHES:
                opening = self._opening(row, floor)
                if opening < 0:
                    break
                row = opening - 1
            else:
                break
        return (row + 2, last + 1) if row < last else (0, 0)

    def _opening(self, row: int, floor: int) -> int:
        """Return the row where the block comment that ends at ``row`` opens, -1 where it follows code."""
        for above in range(row, max(floor, row - _LONGEST_BLOCK) - 1, -1):
            line = self._lines[above].strip()
            if b"/*" in line:
                return above if line.startswith(b"/*") else -1
        return -1
