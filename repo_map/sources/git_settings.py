"""What a settings file of git says, read as git reads it: another reading misses what git obeys."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BOM = "\ufeff"
_BETWEEN = re.compile(r"(?:[ \t\r\n]|[#;][^\n]*)*")
_HEADER = re.compile(r'\[([A-Za-z0-9.-]*)(?:[ \t\r]+"(?:\\[^\n]|[^"\\\n])*")?\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(=|(?=\n)|\Z)")
_PIECE = re.compile(
    r'"(?P<quoted>(?:\\[\s\S]|[^"\\\n])*)"|\\(?P<escaped>[\s\S])|[#;][^\n]*'
    r'|(?P<space>[ \t\r]+)|(?P<plain>[^"\\#; \t\r\n]+)'
)
_ESCAPED = re.compile(r"\\([\s\S])")
_MEANT = {"\n": "", "t": "\t", "b": "\b", "n": "\n", "\\": "\\", '"': '"'}


def parse_settings(text: str) -> Iterator[tuple[str, str]]:
    """Yield the settings of a file as ``section.key`` in lower case, without the subsection, and value.

    It ends where git would refuse the file. A value that versions of git read in two ways comes twice.
    """
    text = text.removeprefix(_BOM).replace("\r\n", "\n")
    section, at = "", 0
    while (at := _end(_BETWEEN, text, at)) < len(text):
        if header := _HEADER.match(text, at):
            section, at = header[1].lower(), header.end()
            continue
        key = _KEY.match(text, at)
        if key is None:
            return
        name, at = f"{section}.{key[1].lower()}", key.end()
        if not key[2]:
            yield name, ""
            continue
        try:
            pieces, at = _pieces(text, at)
        except (KeyError, ValueError):
            return
        spaced = "".join(
            " " * len(piece) if piece.isspace() and is_bare else piece for piece, is_bare in pieces
        )
        kept = "".join(piece for piece, _ in pieces)
        # Git hands a value on as text that a NUL ends.
        for value in dict.fromkeys((kept, spaced)):
            yield name, value.partition("\0")[0]


def _pieces(text: str, at: int) -> tuple[list[tuple[str, bool]], int]:
    """Return the pieces of the value at a position, each with whether it is bare space, and where it ends.

    Raises ``KeyError`` for an escape that git does not know, ``ValueError`` for a quote that stays open.
    """
    pieces: list[tuple[str, bool]] = []
    while piece := _PIECE.match(text, at):
        at = piece.end()
        if (space := piece["space"]) is not None:
            pieces.append((space, True))
        elif piece["quoted"] is not None:
            pieces.append((_ESCAPED.sub(lambda found: _MEANT[found[1]], piece["quoted"]), False))
        elif piece["escaped"] is not None:
            pieces.append((_MEANT[piece["escaped"]], False))
        elif piece["plain"] is not None:
            pieces.append((piece["plain"], False))
    if at < len(text) and text[at] != "\n":
        raise ValueError(at)
    while pieces and pieces[-1][1]:
        pieces.pop()
    while pieces and pieces[0][1]:
        pieces.pop(0)
    return pieces, at


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
