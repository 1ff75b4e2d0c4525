"""Wildcards as regular expressions that never run away, whoever wrote the pattern.

What stands between two stars is matched where it first occurs, and never tried anywhere else: a later place
would only leave less for what follows. So ``*a*a*a*b`` takes time in proportion to the name.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from repo_map.errors import FlightPlanError

MOST_LOOSE = 2


class Wild(Enum):
    """What stands for more than one character."""

    STAR = "*"
    """Any run within a name."""
    FOLDERS = "**/"
    """Any number of folders, none included; it stands at the start of a name."""
    ANYTHING = "**"
    """Any run, across folders."""


Token = str | Wild
"""An expression for exactly one character, or a wildcard."""


def expression(tokens: Sequence[Token], *, within: str = "[^/]") -> str:
    """Return the expression for a pattern without alternatives; ``within`` is what a star may cover.

    Raises FlightPlanError where runs across folders stand in more places than can be matched quickly.
    """
    if sum(token is Wild.ANYTHING for token in tokens[:-1]) > MOST_LOOSE:
        raise FlightPlanError(
            f"A glob has `**` within names in more than {MOST_LOOSE} places; use `**/` between folders."
        )
    pieces = _cut(tokens, Wild.FOLDERS)
    written = [_names(pieces[0], within, more=len(pieces) > 1)]
    for number, piece in enumerate(pieces[1:], 2):
        is_last = number == len(pieces)
        loose = Wild.ANYTHING in piece[:-1] or Wild.ANYTHING in pieces[-1][:-1]
        inner = _names(piece, within, more=not is_last)
        written.append(f"(?:[^/]+/)*{inner}" if is_last or loose else f"(?>(?:[^/]+/)*?{inner})")
    return "".join(written)


def _names(tokens: Sequence[Token], within: str, *, more: bool) -> str:
    """Return the expression for what stands between two runs of folders."""
    chunks = _cut(tokens, Wild.STAR)
    written = [_plain(chunks[0])]
    for number, chunk in enumerate(chunks[1:], 2):
        text = _plain(chunk)
        is_settled = number < len(chunks) or more
        closed = text and is_settled and Wild.ANYTHING not in tokens
        written.append(f"(?>{within}*?{text})" if closed else f"{within}*{text}")
    return "".join(written)


def _plain(tokens: Sequence[Token]) -> str:
    return "".join(".*" if isinstance(token, Wild) else token for token in tokens)


def _cut(tokens: Sequence[Token], at: Wild) -> list[list[Token]]:
    pieces: list[list[Token]] = [[]]
    for token in tokens:
        if token is at:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces
