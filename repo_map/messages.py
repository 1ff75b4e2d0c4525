"""Text that somebody else wrote beside text of ours: only what can be seen, between markers that hold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Final

BEGIN: Final = "<<<repository text"
END: Final = "repository text>>>"

# Read as the markers by a model: other capitals and letters that look alike, several blanks, a dash or a line
# break between, marks of emphasis, signs of other scripts or as HTML writes them.
_NEAR_WORDS = re.compile(r"repository[\W_]{0,24}texts?", re.IGNORECASE)
_OPENS = "(?:[<\uff1c\ufe64\u2039\u00ab\u226a\u22d8\u276e\u2770\u27e8\u27ea\u3008\u300a]|&(?:lt|#60|#x3c);)"
_CLOSES = "(?:[>\uff1e\ufe65\u203a\u00bb\u226b\u22d9\u276f\u2771\u27e9\u27eb\u3009\u300b]|&(?:gt|#62|#x3e);)"
_OPENING = re.compile(rf"(?:{_OPENS}[\s*_`~|-]{{0,12}}){{2,80}}\Z", re.IGNORECASE)
_CLOSING = re.compile(rf"(?:[\s*_`~|-]{{0,12}}{_CLOSES}){{2,80}}", re.IGNORECASE)
_SIGN = re.compile(r"&#?\w{2,3};|\S")
_AROUND = 80
"""Characters before and behind the words in which their signs are looked for."""
_ALIKE = {
    "a": "\u0430",
    "e": "\u0435\u0454\u04bd",
    "o": "\u043e\u03bf\u0585",
    "p": "\u0440\u03c1",
    "s": "\u0455",
}
_ALIKE |= {
    "i": "\u0456\u03b9\u0131",
    "t": "\u0442\u03c4",
    "x": "\u0445\u03c7",
    "y": "\u0443\u04af\u03b3",
    "r": "\u0433",
}
"""Small letters of other scripts by the Latin one that they look like."""
_WRITTEN_APART = ((0x1D400, 0x1D6A4), (0xFF21, 0xFF5B), (0x24B6, 0x24EA))
"""Latin letters once more: of mathematics, as wide as a sign, and within circles."""

_EMOJI = "\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"
_CURSIVE = (
    "\u0600-\u08ff\u0900-\u0dff\u0e80-\u109f\u1780-\u18af\ua840-\ua87f"
    "\U00010d00-\U00010fff\U00011000-\U00011fff"
)
"""Scripts in which a joiner between two letters changes how both are written."""
_UNSEEN = re.compile(
    # Controls, with which terminal escapes begin, but for tab and newline; lone surrogates.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]"
    # Line separators and the marks that reorder text.
    "|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
    # What takes no room: soft hyphens, joiners, fillers, invisible operators, annotations, tags.
    "|[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0]"
    "|[\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    # A variation selector stays once behind a sign that has two looks, a joiner between two that join.
    f"|[\ufe00-\ufe0d]|[\ufe0e\ufe0f](?<![{_EMOJI}0-9#*].)"
    f"|\u200c(?:(?<![{_CURSIVE}].)|(?![{_CURSIVE}]))"
    f"|\u200d(?:(?<![{_CURSIVE}{_EMOJI}\ufe0f].)|(?![{_CURSIVE}{_EMOJI}]))"
)


def printable(text: str) -> str:
    """Return a text without what a terminal would act on and what nobody sees but a model."""
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub("", text)


def is_printable(name: str) -> bool:
    """Tell whether all of a name can be seen, on one line and without a tab."""
    return "\n" not in name and "\t" not in name and printable(name) == name


def one_line(text: str) -> str:
    """Return a text that stays on one line: with a space for every run of white space."""
    return " ".join(printable(text).split())


def few(texts: Sequence[str]) -> str:
    """Return the first three of some texts, and how many more there are."""
    shown = ", ".join(texts[:3])
    return shown if len(texts) <= 3 else f"{shown} and {len(texts) - 3:,} more"


def counted(number: int, noun: str) -> str:
    """Return ``1 step``, ``2 steps``: a number and what it counts, which takes an ``s`` for several."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def agreed(number: int, noun: str, one: str, several: str) -> str:
    """Return ``1 file was``, ``2 files were``: a number, what it counts, and the verb that agrees with it."""
    return f"{counted(number, noun)} {one if number == 1 else several}"


def quoted(text: str, before_lines: str = "") -> str:
    """Return a text between the markers, with whatever imitates them broken up.

    ``before_lines`` stands before each marker: what begins a comment where a program is to read the whole.
    """
    return f"{before_lines}{BEGIN}\n{without_markers(text)}\n{before_lines}{END}"


def without_markers(text: str) -> str:
    """Return a text in which nothing reads as a marker, however its letters and blanks are written."""
    latin = text if text.isascii() else text.translate(_latin_letters())
    parts: list[str] = []
    done = 0
    for words in _NEAR_WORDS.finditer(latin):
        at, end = words.span()
        opening = _OPENING.search(latin, max(done, at - _AROUND), at)
        closing = _CLOSING.match(latin, end, end + _AROUND)
        if opening is not None:
            signs = "".join(f"{sign} " for sign in _SIGN.findall(text, opening.start(), at))
            parts += [text[done : opening.start()], signs]
            done = at
        if closing is not None:
            signs = "".join(f" {sign}" for sign in _SIGN.findall(text, end, closing.end()))
            parts += [text[done:end], signs]
            done = closing.end()
    return "".join(parts) + text[done:]


@cache
def _latin_letters() -> dict[int, str]:
    """Return which Latin letter a sign of one letter stands for."""
    found = {ord(sign): letter for letter, signs in _ALIKE.items() for sign in signs + signs.upper()}
    for first, last in _WRITTEN_APART:
        found |= {sign: unicodedata.normalize("NFKC", chr(sign)) for sign in range(first, last)}
    return {sign: letter for sign, letter in found.items() if len(letter) == 1}


def unwritten(error: OSError) -> str:
    """Return what to tell of an output that takes no more."""
    return f"The output can't be written: {error.strerror or error}; make room there, or write elsewhere."
