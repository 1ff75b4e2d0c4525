"""How each language writes comments, strings and identifiers: enough to count names in a piece of source.

Every pattern is unrolled and possessive, so that no input makes it backtrack. An unterminated string ends
with its line, an unterminated block with the piece.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

_IDENTIFIER: Final = rb"([A-Za-z_\x80-\xff][\w\x80-\xff]*+)"
_SCRIPT_IDENTIFIER: Final = rb"([A-Za-z_$\x80-\xff][\w$\x80-\xff]*+)"
_NUMBER: Final = rb"\d[\w.]*+"
_DOUBLE: Final = rb'"(?:[^"\\\n]++|\\.)*+"?'
_SINGLE: Final = rb"'(?:[^'\\\n]++|\\.)*+'?"
_DOUBLE_LINES: Final = rb'"(?:[^"\\]++|\\.)*+"?'
_SINGLE_LINES: Final = rb"'(?:[^'\\]++|\\.)*+'?"
_QUOTED: Final = rb"'[^']*+'?"
_BACKTICK: Final = rb"`(?:[^`\\]++|\\.)*+`?"
_TRIPLE: Final = rb'"""(?:[^"\\]++|\\.|"(?!""))*+(?:""")?'
_TRIPLE_SINGLE: Final = rb"'''(?:[^'\\]++|\\.|'(?!''))*+(?:''')?"
_LETTER: Final = rb"'(?:\\.[^'\n]{0,8}+|[^'\\\n][\x80-\xbf]*+)'"
_VERBATIM: Final = rb'@"(?:[^"]++|"")*+"?'
_SLASHES: Final = rb"//[^\n]*+"
_BLOCK: Final = rb"/\*(?:[^*]++|\*(?!/))*+(?:\*/)?"
_HASH: Final = rb"#[^\n]*+"
_SHELL_HASH: Final = rb"(?<![^\s;])#[^\n]*+"
_DASHES: Final = rb"--[^\n]*+"
_LUA_BLOCK: Final = rb"(?:--)?\[\[(?:[^\]]++|\](?!\]))*+(?:\]\])?"


class _Writing(NamedTuple):
    """How one family of languages writes what is no code."""

    skipped: tuple[bytes, ...]
    marker: bytes = b""
    """What a piece holds if code stands inside its strings."""
    inside: bytes = b""
    """The code inside a string."""
    prefixed: bool = False
    """Whether letters right before a quote belong to the string (``f"…"``)."""
    identifier: bytes = _IDENTIFIER


_C_FAMILY: Final = (_SLASHES, _BLOCK, _DOUBLE, _SINGLE)
_DOLLAR: Final = rb"\$\{([^{}]*+)"
_SCRIPT: Final = _Writing(
    (_SLASHES, _BLOCK, _DOUBLE, _SINGLE, _BACKTICK), b"${", _DOLLAR, identifier=_SCRIPT_IDENTIFIER
)
_C: Final = _Writing(_C_FAMILY, prefixed=True)
_WRITINGS: Final[dict[str, _Writing]] = {
    "python": _Writing(
        (_HASH, _TRIPLE, _TRIPLE_SINGLE, _DOUBLE, _SINGLE), b"{", rb"\{([A-Za-z_][^{}!:\"']*+)", prefixed=True
    ),
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "go": _Writing((*_C_FAMILY, rb"`[^`]*+`?")),
    "rust": _Writing((_SLASHES, _BLOCK, _DOUBLE_LINES, _LETTER), b"{", rb"\{([a-z_]\w*+)", prefixed=True),
    "java": _Writing((_SLASHES, _BLOCK, _TRIPLE, _DOUBLE, _SINGLE)),
    "kotlin": _Writing((_SLASHES, _BLOCK, _TRIPLE, _DOUBLE, _LETTER), b"$", rb"\$\{?([A-Za-z_][^{}\"$ ]*+)"),
    "scala": _Writing((_SLASHES, _BLOCK, _TRIPLE, _DOUBLE, _LETTER), b"$", rb"\$\{?([A-Za-z_][^{}\"$ ]*+)"),
    "c": _C,
    "cpp": _C,
    "csharp": _Writing((_SLASHES, _BLOCK, _VERBATIM, _DOUBLE, _LETTER), b'$"', rb"\{([A-Za-z_][^{}:\"]*+)"),
    "ruby": _Writing((_HASH, _DOUBLE_LINES, _SINGLE_LINES), b"#{", rb"#\{([^{}]*+)"),
    "php": _Writing((_SLASHES, rb"#(?!\[)[^\n]*+", _BLOCK, _DOUBLE_LINES, _SINGLE_LINES), b"$", rb"\$(\w++)"),
    "swift": _Writing((_SLASHES, _BLOCK, _TRIPLE, _DOUBLE), b"\\(", rb"\\\(([^()]*+)"),
    "bash": _Writing((_SHELL_HASH, _QUOTED)),
    "lua": _Writing((_LUA_BLOCK, _DASHES, _DOUBLE, _SINGLE)),
    "elixir": _Writing((_HASH, _TRIPLE, _DOUBLE_LINES, _SINGLE), b"#{", rb"#\{([^{}]*+)"),
    "hcl": _Writing((_HASH, _SLASHES, _BLOCK, _DOUBLE), b"${", _DOLLAR),
    "sql": _Writing((_DASHES, _BLOCK, _QUOTED)),
}

Lexicon = Callable[[bytes], list[bytes]]


@cache
def lexicon_of(language: str) -> Lexicon | None:
    """Return what lists a piece's identifiers, an empty one for each thing skipped; None for data."""
    if (writing := _WRITINGS.get(language)) is None:
        return None
    identifier = writing.identifier + (rb"(?![\"'])" if writing.prefixed else b"")
    names: Lexicon = re.compile(b"|".join((identifier, *writing.skipped, _NUMBER)), re.S).findall
    if not writing.marker:
        return names
    marker, skipped = writing.marker, re.compile(b"|".join(writing.skipped), re.S)
    inside: Lexicon = re.compile(writing.inside, re.S).findall

    def code_of(text: re.Match[bytes]) -> bytes:
        written = text[0]
        if written[:1] in b"\"'`@" and marker in written:
            # The quotes stay, so that the letters before them are still no name.
            return b'"" ' + b" ".join(inside(written)) + b" "
        return b" "

    def names_also_in_strings(piece: bytes) -> list[bytes]:
        return names(skipped.sub(code_of, piece) if marker in piece else piece)

    return names_also_in_strings
