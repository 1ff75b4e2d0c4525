"""Text in messages: a repository's without invisible characters, between markers; plurals; how to install."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final

BEGIN: Final = "<<<repository text"
END: Final = "repository text"
_MARK_DIGITS: Final = 8
_PRODUCT: Final = "git+https://github.com/repo-navigator/repo-navigator"
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
    # Zero-width characters: soft hyphens, joiners, fillers, invisible operators, annotations, tags.
    "|[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0]"
    "|[\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    # A variation selector stays once behind a sign that has two looks, a joiner between two that join.
    f"|[\ufe00-\ufe0d]|[\ufe0e\ufe0f](?<![{_EMOJI}0-9#*].)"
    f"|\u200c(?:(?<![{_CURSIVE}].)|(?![{_CURSIVE}]))"
    f"|\u200d(?:(?<![{_CURSIVE}{_EMOJI}\ufe0f].)|(?![{_CURSIVE}{_EMOJI}]))"
)


def install_command(extra: str) -> str:
    """Return the command that installs the product again, with one of its extras."""
    return f"pipx install --force 'repo-navigator[{extra}] @ {_PRODUCT}'"


def printable(text: str) -> str:
    """Return a text without terminal escapes and without characters that only a model sees."""
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub("", text)


def is_printable(name: str) -> bool:
    """Return True if a name is visible as a whole, on one line and without a tab."""
    return "\n" not in name and "\t" not in name and printable(name) == name


def one_line(text: str) -> str:
    """Return a text on one line, with a space for every run of white space."""
    return " ".join(printable(text).split())


def first_three(texts: Sequence[str]) -> str:
    """Return the first three texts, and the number of the others."""
    shown = ", ".join(texts[:3])
    return shown if len(texts) <= 3 else f"{shown} and {len(texts) - 3:,} more"


def plural(number: int, noun: str) -> str:
    """Return a number and its noun with a plural ``s``: ``1 step``, ``2 steps``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def plural_verb(number: int, noun: str, one: str, several: str) -> str:
    """Return a number, its noun and the verb that agrees with it: ``1 file was``, ``2 files were``."""
    return f"{plural(number, noun)} {one if number == 1 else several}"


def quoted(text: str, before_lines: str = "") -> str:
    """Return a text between its markers, which hold the start of its own hash: no text can forge them.

    ``before_lines`` begins each marker's line, such as ``# `` in a file that a program reads.
    """
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK_DIGITS]
    return f"{before_lines}{BEGIN} {mark}\n{text}\n{before_lines}{END} {mark}>>>"


def output_error(error: OSError) -> str:
    """Return the message for an output that can't be written."""
    return f"The output can't be written: {error.strerror or error}; make room there, or write elsewhere."
