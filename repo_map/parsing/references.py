"""References by grammar, or by word where there is no grammar."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

from repo_map.languages.registry import KEYWORDS
from repo_map.parsing.definitions import Found
from repo_map.parsing.values import Reference

# Beyond ASCII every character may be part of a name: names are compared here, not validated.
_FLAGS: Final = re.DOTALL | re.ASCII
_IDENTIFIER: Final = r"([A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*+)"
_SCRIPT_IDENTIFIER: Final = r"([A-Za-z_$\x80-\U0010ffff][\w$\x80-\U0010ffff]*+)"
_NUMBER: Final = r"\d[\w.]*+"
_DOUBLE: Final = r'"(?:[^"\\\n]++|\\.)*+"?'
_SINGLE: Final = r"'(?:[^'\\\n]++|\\.)*+'?"
_DOUBLE_LINES: Final = r'"(?:[^"\\]++|\\.)*+"?'
_SINGLE_LINES: Final = r"'(?:[^'\\]++|\\.)*+'?"
_QUOTED: Final = r"'[^']*+'?"
_BACKTICK: Final = r"`(?:[^`\\]++|\\.)*+`?"
_TRIPLE: Final = r'"""(?:[^"\\]++|\\.|"(?!""))*+(?:""")?'
_TRIPLE_SINGLE: Final = r"'''(?:[^'\\]++|\\.|'(?!''))*+(?:''')?"
_LETTER: Final = r"'(?:\\.[^'\n]{0,8}+|[^'\\\n])'"
_VERBATIM: Final = r'@"(?:[^"]++|"")*+"?'
_SLASHES: Final = r"//[^\n]*+"
_BLOCK: Final = r"/\*(?:[^*]++|\*(?!/))*+(?:\*/)?"
_HASH: Final = r"#[^\n]*+"
_SHELL_HASH: Final = r"(?<![^\s;])#[^\n]*+"
_DASHES: Final = r"--[^\n]*+"
_LUA_BLOCK: Final = r"(?:--)?\[\[(?:[^\]]++|\](?!\]))*+(?:\]\])?"


class _Writing(NamedTuple):
    """How one family of languages writes what is no code."""

    skipped: tuple[str, ...]
    markers: tuple[str, ...] = ()
    """What a piece holds if code may stand inside its strings."""
    inside: str = ""
    """The code inside a string."""
    prefixed: bool = False
    """Whether letters right before a quote belong to the string (``f"…"``)."""
    identifier: str = _IDENTIFIER


_C_FAMILY: Final = (_SLASHES, _BLOCK, _DOUBLE, _SINGLE)
_DOLLAR: Final = r"\$\{([^{}]*+)"
_SCRIPT: Final = _Writing(
    (_SLASHES, _BLOCK, _DOUBLE, _SINGLE, _BACKTICK), ("${",), _DOLLAR, identifier=_SCRIPT_IDENTIFIER
)
_C: Final = _Writing(_C_FAMILY, prefixed=True)
_WRITINGS: Final[dict[str, _Writing]] = {
    "python": _Writing(
        (_HASH, _TRIPLE, _TRIPLE_SINGLE, _DOUBLE, _SINGLE),
        ('f"', "f'"),
        r"\{([A-Za-z_][^{}!:\"']*+)",
        prefixed=True,
    ),
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "go": _Writing((*_C_FAMILY, r"`[^`]*+`?")),
    "rust": _Writing((_SLASHES, _BLOCK, _DOUBLE_LINES, _LETTER), ('!("',), r"\{([a-z_]\w*+)", prefixed=True),
    "java": _Writing((_SLASHES, _BLOCK, _TRIPLE, _DOUBLE, _SINGLE)),
    "kotlin": _Writing((_SLASHES, _BLOCK, _TRIPLE, _DOUBLE, _LETTER), ("$",), r"\$\{?([A-Za-z_][^{}\"$ ]*+)"),
    "scala": _Writing((_SLASHES, _BLOCK, _TRIPLE, _DOUBLE, _LETTER), ("$",), r"\$\{?([A-Za-z_][^{}\"$ ]*+)"),
    "c": _C,
    "cpp": _C,
    "csharp": _Writing((_SLASHES, _BLOCK, _VERBATIM, _DOUBLE, _LETTER), ('$"',), r"\{([A-Za-z_][^{}:\"]*+)"),
    "ruby": _Writing((_HASH, _DOUBLE_LINES, _SINGLE_LINES), ("#{",), r"#\{([^{}]*+)"),
    "php": _Writing((_SLASHES, r"#(?!\[)[^\n]*+", _BLOCK, _DOUBLE_LINES, _SINGLE_LINES), ('"',), r"\$(\w++)"),
    "swift": _Writing((_SLASHES, _BLOCK, _TRIPLE, _DOUBLE), ("\\(",), r"\\\(([^()]*+)"),
    "bash": _Writing((_SHELL_HASH, _QUOTED)),
    "lua": _Writing((_LUA_BLOCK, _DASHES, _DOUBLE, _SINGLE)),
    "elixir": _Writing((_HASH, _TRIPLE, _DOUBLE_LINES, _SINGLE), ("#{",), r"#\{([^{}]*+)"),
    "hcl": _Writing((_HASH, _SLASHES, _BLOCK, _DOUBLE), ("${",), _DOLLAR),
    "sql": _Writing((_DASHES, _BLOCK, _QUOTED)),
}

Lexicon = Callable[[str], list[str]]


@cache
def lexicon_of(language: str) -> Lexicon | None:
    """Return what lists a piece's identifiers, an empty one for each thing skipped; None for data."""
    if (writing := _WRITINGS.get(language)) is None:
        return None
    identifier = writing.identifier + (r"(?![\"'])" if writing.prefixed else "")
    names: Lexicon = re.compile("|".join((identifier, *writing.skipped, _NUMBER)), _FLAGS).findall
    if not writing.markers:
        return names
    markers, skipped = writing.markers, re.compile("|".join(writing.skipped), _FLAGS)
    inside: Lexicon = re.compile(writing.inside, _FLAGS).findall

    def code_of(text: re.Match[str]) -> str:
        written = text[0]
        if written[:1] in "\"'`@":
            # The quotes stay, so that the letters before them are still no name.
            return '"" ' + " ".join(inside(written)) + " "
        return " "

    def names_also_in_strings(piece: str) -> list[str]:
        return names(skipped.sub(code_of, piece) if any(map(piece.__contains__, markers)) else piece)

    return names_also_in_strings


def find_references(source: bytes, found: list[Found], language: str) -> list[Reference]:
    """Count the names used in each definition, outside comments and strings, its own name left out."""
    if (identifiers := lexicon_of(language)) is None:
        return []
    # What the lexicon skips, it lists as an empty name.
    ignored = KEYWORDS.get(language, frozenset()) | {""}
    references: list[Reference] = []
    new = tuple.__new__
    for owner, piece in enumerate(_own_text(source, found), start=-1):
        counts = Counter(identifiers(piece.decode("utf-8", "replace")))
        if owner >= 0:
            own = found[owner].name.rpartition(".")[2]
            if own in counts:
                counts[own] -= 1
        references += [
            new(Reference, (name, owner, count))
            for name, count in counts.items()
            if count and name not in ignored
        ]
    return references


def _own_text(source: bytes, found: list[Found]) -> list[bytes]:
    """Return the bytes outside all definitions, then those of each definition outside nested ones."""
    pieces: list[list[bytes]] = [[] for _ in range(len(found) + 1)]
    open_: list[tuple[int, int]] = []
    at = 0
    for index, item in enumerate(found, start=1):
        start = item.start_byte
        while open_ and open_[-1][0] <= start:
            end, owner = open_.pop()
            if end > at:
                pieces[owner].append(source[at:end])
                at = end
        if start > at:
            pieces[open_[-1][1] if open_ else 0].append(source[at:start])
            at = start
        open_.append((-item.minus_end_byte, index))
    for end, owner in reversed(open_):
        if end > at:
            pieces[owner].append(source[at:end])
            at = end
    pieces[0].append(source[at:])
    return [b"\n".join(parts) for parts in pieces]
