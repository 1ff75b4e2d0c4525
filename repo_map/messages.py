"""Text that somebody else wrote beside text of ours: only what can be seen, between markers that hold."""

from __future__ import annotations

import re
from typing import Final

BEGIN: Final = "<<<repository text"
END: Final = "repository text>>>"

# Read as the markers by a model: other capitals, several blanks, a dash or a line break between, wide signs.
_NEAR_WORDS = re.compile(r"repository[\W_]{0,8}texts?", re.IGNORECASE)
_NEAR_MARKER = re.compile(
    r"(?P<opening>(?:[<\uff1c\ufe64\u2039\u00ab]\s{0,3}){2,12})?(?P<words>repository[\W_]{0,8}texts?)"
    r"(?P<closing>(?:\s{0,3}[>\uff1e\ufe65\u203a\u00bb]){2,12})?",
    re.IGNORECASE,
)

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
    return _NEAR_MARKER.sub(_broken, text) if _NEAR_WORDS.search(text) else text


def _broken(found: re.Match[str]) -> str:
    opening, words, closing = found["opening"] or "", found["words"], found["closing"] or ""
    opened = "".join(f"{sign} " for sign in opening if not sign.isspace())
    closed = "".join(f" {sign}" for sign in closing if not sign.isspace())
    return f"{opened}{words}{closed}"


def unwritten(error: OSError) -> str:
    """Return what to tell of an output that takes no more."""
    return f"The output can't be written: {error.strerror or error}; make room there, or write elsewhere."
