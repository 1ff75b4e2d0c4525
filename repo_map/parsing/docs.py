"""Where the documentation of a definition stands: a docstring, or the comment block right above."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from repo_map.parsing.definitions import Found

_DOCSTRING: Final = re.compile(
    rb"""[rRuU]?(?:"{3}(?:[^"\\]|\\.|"(?!""))*"{3}|'{3}(?:[^'\\]|\\.|'(?!''))*'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    rb"[ \t]*(?=[#\r\n;]|\Z)",
    re.S,
)
_SLASHES: Final = (b"//",)
_HASH: Final = (b"# ", b"##", b"#\t")
_LINE_COMMENTS: Final[dict[str, tuple[bytes, ...]]] = {
    "ruby": _HASH,
    "bash": _HASH,
    "elixir": _HASH,
    "yaml": _HASH,
    "toml": _HASH,
    "hcl": (*_HASH, *_SLASHES),
    "php": (*_HASH, *_SLASHES),
    "lua": (b"--",),
    "sql": (b"--",),
}
_WITHOUT_BLOCKS: Final = frozenset({"ruby", "bash", "elixir", "yaml", "toml", "lua"})
_WITH_DOCSTRING: Final = frozenset({"function", "method", "class"})
_LONGEST_BLOCK: Final = 400


def docstring_lines(source: bytes, body_byte: int) -> tuple[int, int]:
    """Return first and last line (1-based) of the string that opens a Python body, (0, 0) without one."""
    if body_byte < 0 or (found := _DOCSTRING.match(source, body_byte)) is None:
        return 0, 0
    first = source.count(b"\n", 0, body_byte) + 1
    return first, first + found[0].count(b"\n")


def doc_finder(source: bytes, language: str) -> Callable[[Found], tuple[int, int]]:
    """Return what tells a find's documentation, as first and last line, (0, 0) where there is none."""
    if language == "python":
        return lambda item: (
            docstring_lines(source, item.body_byte) if item.kind in _WITH_DOCSTRING else (0, 0)
        )
    comments = CommentFinder(source, language)
    if language == "elixir":
        return lambda item: (
            comments.attribute(item.start, item.sig_start, item.sig_end)
            or comments.above(item.start, item.sig_start)
        )
    return lambda item: comments.above(item.start, item.sig_start)


class CommentFinder:
    """Finds the comment block that stands right above a row of one file."""

    def __init__(self, source: bytes, language: str) -> None:
        self._lines = source.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        self._marks = _LINE_COMMENTS.get(language, _SLASHES)
        self._has_blocks = language not in _WITHOUT_BLOCKS

    def above(self, start: int, sig_start: int) -> tuple[int, int]:
        """Return first and last line (1-based) of the comment above row ``start``, (0, 0) without one.

        Between attributes and signature (Rust allows it) a comment counts as well.
        """
        found = self._block(start - 1) if start > 0 else (0, 0)
        if found == (0, 0) and sig_start > start + 1:
            found = self._block(sig_start - 1, start)
        return found

    def attribute(self, start: int, sig_start: int, sig_end: int) -> tuple[int, int] | None:
        """Return the lines of Elixir's ``@doc`` before a signature, or of the ``@moduledoc`` after it."""
        for row in (*range(start, sig_start), sig_end + 1):
            line = self._lines[row].strip() if row < len(self._lines) else b""
            if line.startswith((b"@doc ", b"@moduledoc ")) and not line.endswith(b"false"):
                last = row
                if line.count(b'"""') == 1:
                    last = next(
                        (r for r in range(row + 1, len(self._lines)) if b'"""' in self._lines[r]), row
                    )
                return row + 1, last + 1
        return None

    def _block(self, row: int, floor: int = 0) -> tuple[int, int]:
        line = self._lines[row].strip()
        if not line.startswith(self._marks) and not line.endswith(b"*/"):
            return 0, 0
        last = row
        while row >= floor and last - row < _LONGEST_BLOCK:
            line = self._lines[row].strip()
            if line.startswith(self._marks):
                row -= 1
            elif line.endswith(b"*/") and self._has_blocks:
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
